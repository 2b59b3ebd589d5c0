"""What is held anywhere is read: objects as a whole, numbers wherever they stand, plain tables together as one by one.

What is not read is named.
"""

import dataclasses
import functools
import types
from collections import deque, namedtuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

from audit.mechanism.call import collect
from audit.outputs import columns
from audit.outputs.encode import OutputForm, Reading, concatenate, count_texts, encode
from audit.outputs.tables import PlainTable, restore
from audit.outputs.walk import identify, walk


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def told(self):
        """Return nothing."""


class SlotsBelow(Slots):
    __slots__ = ()


class SlotLikeThoseOfC:
    __slots__ = ("__own__",)

    def __init__(self, value):
        self.__own__ = value


@dataclasses.dataclass
class Record:
    value: str


class Listed(list):
    def __iter__(self):
        return iter(())


class Failed(Exception):
    pass


def enclosed(value):
    return lambda: value


def noted(value):
    function = enclosed(None)
    function.note = value
    return function


def failed(value):
    error = Failed()
    error.value = value
    return error


def caused(value):
    error = Failed()
    error.__cause__ = ValueError(value)
    return error


HOLDERS = {
    "list": lambda value: [value],
    "tuple": lambda value: (1, (value,)),
    "key": lambda value: {value: 1},
    "value": lambda value: {"x": [value]},
    "set": lambda value: {value},
    "slots": Slots,
    "inherited slots": SlotsBelow,
    "slots with names like those of C": SlotLikeThoseOfC,
    "dataclass": Record,
    "named tuple": namedtuple("Named", "value"),
    "subclass that hides its entries": lambda value: Listed([value]),
    "closure": enclosed,
    "default": lambda value: lambda first=value: first,
    "keyword": lambda value: lambda *, first=value: first,
    "attribute of a function": noted,
    "method": lambda value: Slots(value).told,
    "argument of an exception": lambda value: Failed(value),
    "attribute of an exception": failed,
    "cause": caused,
    "objects in an array": lambda value: np.array([1, value, None], dtype=object),
    "namespace": lambda value: types.SimpleNamespace(value=value),
}
COPIED = {"deque": lambda value: deque([value]), "partial": lambda value: functools.partial(print, value)}


@pytest.mark.parametrize("hold", (HOLDERS | COPIED).values(), ids=HOLDERS | COPIED)
def test_what_is_held_shows(hold):
    one, same, other = hold("one"), hold("one"), hold("other")
    assert identify(one) == identify(same) != identify(other)
    keys = encode([one, same, other], 3).keys()
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_the_walk_meets_what_is_held_once(hold):
    held = hold("a marker")
    parts = list(walk(held))
    assert parts[0] is held
    assert sum(type(part) is str and part == "a marker" for part in parts) == 1


def test_circles_end():
    circle = [1]
    circle.append({"again": circle})
    assert sum(part is circle for part in walk(circle)) == 1
    assert "<same as output>" in identify(circle)


def with_attrs(table):
    table.attrs["n"] = 1
    return table


TABLES = {
    "frame": lambda x: pd.DataFrame({"a": [x]}),
    "two types": lambda x: pd.DataFrame({"a": [x], "n": [1]}),
    "two rows": lambda x: pd.DataFrame({"a": [x, 2.0]}),
    "series": lambda x: pd.Series([x]),
    "named": lambda x: pd.Series([x], name="a"),
    "labeled series": lambda x: pd.Series({"a": x, "b": 1.0}),
    "labeled frame": lambda x: pd.DataFrame({"n": [x, 1.0]}, index=["a", "b"]),
    "labels of objects": lambda x: pd.Series([x], index=pd.Index(["a"], dtype=object)),
    "many labels": lambda x: pd.Series({str(row): x for row in range(70)}),
}
OTHERS = {
    "another name": lambda x: pd.DataFrame({"b": [x]}),
    "another type": lambda x: pd.DataFrame({"a": [round(x)]}),
    "attributes": lambda x: with_attrs(pd.DataFrame({"a": [x]})),
    "an index": lambda x: pd.DataFrame({"a": [x]}, index=["i"]),
    "a name of the index": lambda x: pd.DataFrame({"a": [x]}, index=pd.RangeIndex(1, name="i")),
    "another start": lambda x: pd.DataFrame({"a": [x]}, index=pd.RangeIndex(1, 2)),
    "a name of the columns": lambda x: pd.DataFrame([[x]], columns=pd.Index(["a"], name="c")),
    "one row more": lambda x: pd.DataFrame({"a": [x, x]}),
    "duplicates": lambda x: pd.DataFrame({"a": [x]}).set_flags(allows_duplicate_labels=False),
    "a series": lambda x: pd.Series([x], name="a"),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_plain_tables_are_read_as_each_by_itself(make, monkeypatch):
    values = [make(x) for x in (0.5, -1.25, 3.0)]
    together = encode(values, 3)
    plain = [*map(columns.make_keeper(values[0]), values)]
    assert {*map(type, plain)} == {PlainTable}
    assert np.array_equal(encode(plain, 3).keys(), together.keys())
    assert [*map(identify, map(restore, plain))] == [*map(identify, values)]
    monkeypatch.setattr(columns, "make_keeper", lambda first: lambda value: value)
    alone = encode(values, 3)
    assert np.array_equal(together.numbers, alone.numbers)
    assert np.array_equal(together.keys(), alone.keys())


LABELED = {
    "another label": lambda x: pd.Series({"c": x}),
    "labels of another type": lambda x: pd.Series([x], index=pd.Index(["a"], dtype=object)),
    "a name of the labels": lambda x: pd.Series([x], index=pd.Index(["a"], name="i")),
    "one label more": lambda x: pd.Series({"a": x, "b": x}),
    "a range": lambda x: pd.Series([x]),
}


@pytest.mark.parametrize("name", [*OTHERS, *LABELED])
def test_a_table_or_series_that_shows_something_else_is_another_output(name):
    first, make = (TABLES["frame"](0.5), OTHERS[name]) if name in OTHERS else (pd.Series({"a": 0.5}), LABELED[name])
    assert len(set(encode([first, make(0.5)], 2).keys().tolist())) == 2


@pytest.mark.parametrize(("other", "kind"), [(TABLES["labeled frame"], pd.DataFrame), (TABLES["frame"], PlainTable)])
def test_tables_are_collected_as_plain_if_all_are(other, kind):
    tables = iter([TABLES["frame"](1.0), other(2.0)])
    assert {*map(type, collect(lambda: next(tables), 2, keeps_plain=True))} == {kind}


def test_plain_tables_beside_a_batch_of_others_are_the_same_outputs():
    short, long = [pd.Series([0.5]), pd.Series([1.5])], [pd.Series([0.5, 1.0])]
    plain = [*map(columns.make_keeper(short[0]), short)]
    read = [concatenate([encode(values, 2), encode(long, 1)]).keys() for values in (short, plain)]
    assert np.array_equal(*read)


RNG = np.random.default_rng(5)


def read_whole(outputs):
    encoded = encode(outputs, len(outputs))
    return Reading.of([encoded]).read(encoded)


def numbers(outputs):
    return read_whole(outputs).numbers


DRAWN = RNG.normal(size=(4, 3))
CONTAINERS = {
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


@pytest.mark.parametrize("hold", CONTAINERS.values(), ids=CONTAINERS)
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
    apart = read_whole([*drawn_in, *mixed])
    assert len({*apart.texts["types(output)"].table}) == 2


def test_a_frame_is_its_columns_and_its_texts_are_codes():
    frame = pd.DataFrame({"x": DRAWN[:, 0], "group": ["a", "b", "a", "b"]})
    found = read_whole(frame)
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


def test_a_set_is_one_output_in_whatever_order_it_is_written():
    ways = [{0, 8}, {8, 0}]
    assert list(ways[0]) != list(ways[1])
    assert len(set(encode(ways, 2).keys().tolist())) == 1
