"""Numbers are read wherever they stand, in arrays, records, bytes, dicts and tables; what is not read is named."""

import types

import numpy as np
import pandas as pd
import polars as pl
import pytest

from audit.outputs.encode import OutputForm, Reading, count_texts, encode

RNG = np.random.default_rng(5)


def columns(outputs):
    encoded = encode(outputs, len(outputs))
    return Reading.of([encoded]).read(encoded)


def numbers(outputs):
    return columns(outputs).numbers


DRAWN = RNG.normal(size=(4, 3))
HOLDERS = {
    "namespace": lambda row: types.SimpleNamespace(a=row[0], b=row[1], c=row[2]),
    "array of objects": lambda row: np.array(row, dtype=object),
    "list of NumPy numbers": lambda row: list(map(np.float64, row)),
    "record": lambda row: np.array(tuple(row), dtype=[("a", float), ("b", float), ("c", float)])[()],
    "records": lambda row: np.array([tuple(row)], dtype=[("a", float), ("b", float), ("c", float)]),
    "series": lambda row: pd.Series(row, index=["x", "y", "z"]),
    "series of polars": lambda row: pl.Series("s", row),
    "frame": lambda row: pd.DataFrame([row], columns=["x", "y", "z"]),
    "frame of polars": lambda row: pl.DataFrame([row], schema=["x", "y", "z"], orient="row"),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_numbers_are_columns(hold):
    found = numbers([{"v": hold(row)} for row in DRAWN])
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(DRAWN, axis=1))


def test_bytes_of_one_length_are_numbers_and_others_are_texts():
    rows = RNG.integers(0, 256, size=(4, 8), dtype=np.uint8)
    np.testing.assert_array_equal(numbers([row.tobytes() for row in rows]), rows)
    assert encode([b"a", b"bc"], 2).mixed


@pytest.mark.parametrize("number", [float, np.float64])
def test_a_long_dict_with_the_same_keys_is_a_block(number):
    drawn = RNG.normal(size=(4, 100))
    drawn_in = [{f"bin {place}": number(x) for place, x in enumerate(row)} for row in drawn]
    np.testing.assert_array_equal(numbers(drawn_in), drawn)
    mixed = [{**row, "bin 7": 3} for row in drawn_in]
    assert numbers(mixed)[0, 7] == 3
    apart = columns([*drawn_in, *mixed])
    assert len({*apart.texts["types(output)"].table}) == 2


def test_a_frame_is_its_columns_and_its_texts_are_codes():
    frame = pd.DataFrame({"x": DRAWN[:, 0], "group": ["a", "b", "a", "b"]})
    found = columns(frame)
    np.testing.assert_array_equal(found.numbers[:, 0], DRAWN[:, 0])
    assert list(found.texts['output["group"]'].codes) == [0, 1, 0, 1]
    assert found.names[0] == ('["x"]', 0)


def places(rows):
    half = len(rows) // 2
    sides = [encode(part, half) for part in (rows[:half], rows[half:])]
    reading = Reading.of(sides)
    texts = count_texts(sides, [reading.read(side) for side in sides], reading.coded, ("str:",))
    return OutputForm(1, places=len(texts), texts=texts).unread


def test_texts_that_do_not_repeat_are_named():
    rows = [{"x": float(number), "code": f"{number:032x}", "kind": "ab"[number % 2]} for number in range(400)]
    assert places(rows) == ('output["code"]',)
    assert places([{**row, "code": "0"} for row in rows]) == ()
    assert places([{**row, "code": "xy"[row["x"] < 200]} for row in rows]) == ()


def test_objects_that_do_not_repeat_are_named_unless_their_structure_is_read():
    rows = [f"{number:032x}" for number in range(400)]
    assert places(rows) == ()
    assert places([frozenset([row]) for row in rows]) == ("output",)
    assert places([row if number % 200 else frozenset([row]) for number, row in enumerate(rows)]) == ()  # 1 of 200


def test_a_class_with_the_name_of_a_table_is_read_by_its_attributes():
    class Table:
        def __init__(self, secret):
            self.secret = secret

        def to_pydict(self):
            return {}

    Table.__module__ = "pyarrow.lib"
    np.testing.assert_array_equal(numbers([Table(x) for x in (1.0, 2.0)]), [1.0, 2.0])


def test_a_minus_zero_beside_another_number_is_seen():
    left, right = (encode([(x, zero) for x in (1.0, 2.0)], 2) for zero in (0.0, -0.0))
    assert Reading.of([left, right]).coded == ("minus zero(output)",)


def cell():
    return None if RNG.random() < 0.4 else float(RNG.normal())


SUPPRESSED = {
    "dict": lambda: {key: cell() for key in "abc"},
    "list": lambda: [cell() for _ in range(3)],
    "list of integers": lambda: [None if RNG.random() < 0.4 else int(RNG.integers(9)) for _ in range(3)],
    "optional keys": lambda: {key: cell() for key in "abc" if RNG.random() < 0.5},
    "lists in a dict": lambda: {"x": (cell(), cell()), "y": [{"z": cell()}]},
    "integers of any size": lambda: [int(RNG.integers(9)) + (int(RNG.integers(9)) << 70), cell()],
    "long list": lambda: [cell() for _ in range(70)],
}


@pytest.mark.parametrize("suppressed", SUPPRESSED.values(), ids=SUPPRESSED)
def test_cells_that_may_be_none_are_read_together_as_each_is_read_alone(suppressed):
    """A structure for every set of cells that is None would have to be read by itself: 4,096 of 12 cells."""
    rows = [suppressed() for _ in range(100)]
    together, alone = encode(rows, len(rows)), [encode([row], 1) for row in rows]
    assert not together.mixed
    reading = Reading.of([together, *alone])
    found = reading.read(together)
    for row, one in enumerate(map(reading.read, alone)):
        np.testing.assert_array_equal(found.numbers[row], one.numbers[0])
        assert (found.symbols and found.symbols.at(row)) == (one.symbols and one.symbols.at(0))
    assert len(set(found.keys().tolist())) == len(set(map(repr, rows)))
