"""The codec: every kind of output becomes numbers and texts, equal outputs alike, different ones apart."""

import collections
import datetime
import decimal
import enum
import fractions
import operator
import threading
import types
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import BadBatch, BadLength
from audit.outputs.encode import Outputs, Reading, concatenate, encode
from audit.outputs.walk import Raised, identify


class Held:
    """An object whose `repr` says nothing."""

    def __init__(self, **fields):
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self):
        return "Held"


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Slotted"


class Number(float):
    """A number that can hold attributes."""


class Hidden(Held):
    """Claims to have no attributes."""

    def __getattribute__(self, name):
        if name == "__dict__":
            return {}
        return super().__getattribute__(name)


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0


class Color(enum.Enum):
    RED = 1
    BLUE = 2


Pair = collections.namedtuple("Pair", "a b")
Couple = collections.namedtuple("Couple", "a c")
NAN = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float).tolist()
NOON = datetime.datetime(2020, 1, 1, 12)


def number_with(**fields):
    number = Number(1.0)
    number.__dict__.update(fields)
    return number


def raised(error, **fields):
    error.__dict__.update(fields)
    return Raised(error)


def caused(error, cause):
    error.__cause__ = cause
    return Raised(error)


class Tagged(np.ndarray):
    pass


def tagged(number):
    array = np.zeros(2).view(Tagged)
    array.tag = number
    return array


def circle(length):
    found = [length]
    found.append(found)
    return found


def with_attrs(frame, **attrs):
    frame.attrs.update(attrs)
    return frame


ARROW = pa.table({"n": [1.5], "s": ["a"]})
APART = [  # values of which a caller can tell any two apart
    *(1, 1.0, True, np.int64(1), np.int32(1), np.float64(1), np.float32(1), np.bool_(True), complex(1), "1", b"1"),
    *(decimal.Decimal(1), decimal.Decimal("1.0"), fractions.Fraction(1), number_with(), number_with(x=1), Color.RED),
    *(np.longdouble(1), np.complex64(1), 0.0, -0.0, 5e-324, np.nextafter(1.0, 2), Color.BLUE),
    *(None, NotImplemented, ...),
    *(*NAN, float("inf"), complex(0.0, -0.0), complex(-0.0, 0.0), complex(float("nan"), 1), 2**60, 2**60 + 1, 2**400),
    *(10**40, 10**40 + 1, -(2**60), -(2**60) - 1, np.array(NAN[:2]), np.array(2 * NAN[:1])),
    *(tagged(1), tagged(2)),
    *(NOON.replace(microsecond=1), datetime.timedelta(microseconds=1), datetime.timedelta(0)),
    *("nan", "None", "", "x" * 300, "x" * 300 + "y", "x at 0x1", "x at 0x2", "\udc80", np.str_("1"), bytearray(b"1")),
    *([], (), {}, set(), frozenset(), [1], (1,), [1.0], [True], [[1]], [(1,)], {1}, frozenset({1}), [1, 2], [2, 1]),
    *({"a": 1}, {"a": 1.0}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {1: "a"}, {"1": "a"}, {True: "a"}, {"a": None}),
    *(collections.OrderedDict(a=1), collections.Counter(a=1), collections.defaultdict(int, a=1)),
    *(collections.defaultdict(list, a=1), collections.deque([1]), collections.deque([1], maxlen=3), range(3), range(4)),
    *(Pair(1, 2), Couple(1, 2), (1, 2), Point(1.0), Point(1.0, 2.0), Held(x=1), Held(x=2), Held(y=1), Held(x=1, y=1)),
    *(Held(y=1, x=1), Hidden(x=1), Hidden(x=2), Slotted(1), Slotted(2), types.SimpleNamespace(x=1), Held(x=[1, 2])),
    *(np.zeros(2), np.zeros(2, np.float32), np.zeros(2, int), np.zeros(2, ">i8"), np.zeros((2, 1)), np.zeros((1, 2))),
    *(np.zeros(0), np.zeros(3)),
    *([2**53 + more, *99 * [0.5]] for more in (0, 1, 3, 4)),
    *(np.array([1], np.longdouble), np.nextafter(np.array([1], np.longdouble), 2)),
    *(np.array([0.0, -0.0]), np.array([0, None]), np.array([0, 1], object), np.array(["a"]), np.array([b"a"])),
    *(np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 3], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])),
    *(np.ma.array([1, 2], mask=[0, 1], fill_value=7), np.array([1, 2]).view(np.recarray), np.array([(1, 2)], "i4,i4")),
    *(NOON, NOON.replace(fold=1), NOON.replace(tzinfo=datetime.UTC), NOON.date(), NOON.time(), NOON.replace(second=1)),
    *(datetime.timedelta(1), datetime.timedelta(2), pd.Timestamp(NOON), pd.Timestamp(NOON) + pd.Timedelta(1, "ns")),
    *(pd.Timestamp(NOON, tz="UTC"), pd.Timestamp(NOON, tz="GMT"), pd.Timestamp(NOON).as_unit("s")),
    *(np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "s"), np.timedelta64(1, "s"), pd.NaT, pd.NA),
    *(pd.Series([1, 2]), pd.Series([1, 2], index=[1, 2]), pd.Series([1, 2], name="n"), pd.Series([1.0, 2.0])),
    *(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), pd.DataFrame({"a": [2]})),
    pd.DataFrame({"a": [1]}, index=[5]),
    *(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [2], "a": [1]}), pd.Index([1, 2]), pd.Categorical(["a"])),
    *(Raised(ValueError("1")), Raised(ValueError(1)), Raised(ValueError("1", 2)), Raised(TypeError("1"))),
    *(raised(ValueError("1"), code=3), caused(ValueError("1"), KeyError(2)), ValueError("1"), int, float, len, max),
    *(circle(1), circle(2), lambda: 1, lambda: 2, np, slice(1), slice(2), object),
    *(with_attrs(pd.Series([1, 2]), secret=1), pa.chunked_array([[1, 2]]), pa.chunked_array([[1], [2]])),
    *(pd.Series(pd.Categorical(["a"], categories=["a", *more])) for more in ("", "b")),
    *(pd.Series([1.0], index=pd.MultiIndex(levels=[["a", *more], ["x"]], codes=[[0], [0]])) for more in ("", "b")),
    *(pd.DataFrame([[1.0]], columns=pd.Index(["x"], name=name)) for name in "ab"),
    *(pd.Series(pd.arrays.IntegerArray(np.array([0, n]), np.array([False, True]))) for n in (0, 1)),  # under a mask
    *(pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a", *more])) for more in ("", "b")),
    *(pl.Series("s", [1, 2]), pl.Series("s", [1, 2]).set_sorted(), operator.itemgetter(0), operator.itemgetter(1)),
    *(collections.namedtuple("T", "x", defaults=[n])(1.0) for n in (0, 1)),
    *(made for n in (0, 1) for kind in [type("Release", (), {"n": n})] for made in (kind, kind())),
    *(np.array([1, 1], dtype=object), np.array([1.0, 1.0], dtype=object), np.array([1.0, 1.0])),
    *(np.ones((2, 2)), np.ones((2, 2), order="F"), np.frombuffer(np.ones(2).tobytes())),
    *(ARROW, pa.table({"n": [1.5], "s": ["b"]}), pa.table({"s": ["a"], "n": [1.5]}), ARROW.to_batches()[0]),
    *(pa.table({"n": pa.array([1.5], pa.float32()), "s": ["a"]}), ARROW.replace_schema_metadata({"k": "v"})),
    *(ARROW.to_pydict(), pa.scalar(1), pa.scalar(2), pa.scalar(1.0), pa.array([1]), pa.array([1, 2])),
]


@pytest.mark.parametrize("hold", [lambda value: value, lambda value: {"x": 1.0, "y": value}], ids=["alone", "held"])
def test_what_a_caller_can_tell_apart_is_apart(hold):
    for find in (lambda value: int(Outputs.keys(encode([value], 1))[0]), identify):
        keys = [find(hold(value)) for value in APART]
        alike = [(APART[i], APART[keys.index(key)]) for i, key in enumerate(keys) if keys.index(key) != i]
        assert not alike


def test_in_one_batch_too_where_each_is_known_again():
    batch = encode([*APART, *APART], 2 * len(APART))
    keys = Outputs.keys(Reading.of([batch]).read(batch)).tolist()
    assert len(set(keys)) == len(APART)
    assert keys[: len(APART)] == keys[len(APART) :]


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"x", "y", "z"},
        lambda: Held(x=[1, {"a": 2}]),
        lambda: object(),
        lambda: Raised(ValueError("same")),
        lambda: pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
        lambda: np.arange(1000).astype(object),
        lambda: lambda x: x + 1,
    ],
)
def test_equal_outputs_at_other_addresses_are_alike(make):
    keys = Outputs.keys(encode([make(), make()], 2))
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    "batch",
    [
        (np.zeros(3), np.zeros(3, np.float32)),
        (np.zeros(3), np.zeros(3, int)),
        (np.zeros(3), [0.0] * 3),
        ([0.0] * 3, (0.0,) * 3),
        (np.zeros((3, 1)), np.zeros(3)),
        (np.zeros((3, 4)), np.zeros((3, 2, 2))),
        (pd.Series(np.zeros(3)), np.zeros(3)),
        (pd.Series(np.zeros(3)), pd.Series(np.zeros(3), name="x")),
        (pd.Series(np.zeros(3)), pd.Series(np.zeros(3), index=[1, 2, 3])),
        (pd.Series(np.zeros(3)), pd.Series(np.zeros(3), index=pd.RangeIndex(5, 8))),
        (np.ma.array(np.zeros(3)), np.zeros(3)),
        (np.array(["a"] * 3), ["a"] * 3),
        (np.zeros(3, "datetime64[s]"), np.zeros(3, "datetime64[D]")),
    ],
    ids=lambda batch: " and ".join(type(part).__name__ for part in batch),
)
def test_containers_of_batches_are_part_of_the_output(batch):
    left, right = (encode(part, 3) for part in batch)
    reading = Reading.of([left, right])
    assert not set(Outputs.keys(reading.read(left)).tolist()) & set(Outputs.keys(reading.read(right)).tolist())


LIVE = [np.random.default_rng(0), np.random.RandomState(0), (x for x in ()), threading.Lock(), memoryview(b"x")]


@pytest.mark.parametrize("value", LIVE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: [1.0, x], lambda x: {"a": {"b": x}}, lambda x: Held(source=x), lambda x: (x, "a")]
)
def test_what_cannot_be_kept_is_named(value, wrap):
    with pytest.raises(BadBatch, match=f"cannot be examined: output.* is a .*{type(value).__name__}"):
        encode([wrap(value)], 1)


@pytest.mark.parametrize("levels", [201, 5_000])
def test_what_is_nested_too_deep_is_said(levels):
    deep: list = [1.0]
    for _ in range(levels - 1):
        deep = [deep]
    with pytest.raises(BadBatch, match="nested deeper than 200 levels"):
        encode([deep], 1)
    if levels == 201:
        assert encode(deep, 1).numbers.shape == (1,)  # one level less


def test_code_of_the_output_is_not_run_where_its_content_can_be_read():
    class Rude(Held):
        def __repr__(self):
            raise RuntimeError("no")

        __str__ = __len__ = __iter__ = __eq__ = __reduce_ex__ = __getstate__ = __repr__
        __hash__ = None

    assert encode([Rude(x=1.5)], 1).numbers.tolist() == [1.5]


def test_columns_have_the_names_of_their_places():
    row = {"n": 1.5, "deep": [{"b": (1, 2.5)}], "label": "yes", "when": NOON, "p": Pair(1, 2), "v": np.zeros(3)}
    row["t"] = ARROW
    batch = encode([row, row | {"n": 2.5, "label": "no"}], 2)
    reading = Reading.of([batch])
    assert [reading.label(i) for i in range(3)] == ['output["n"]', 'len(output["label"])', 'output["label"]']
    names = [name for name, _ in batch.names]
    assert names[:3] == ['["n"]', '["deep"][0]["b"][0]', '["deep"][0]["b"][1]']
    assert {'["p"].a', '["p"].b', '["v"]', '["when"]', '["t"]["n"]'} < set(names)


@pytest.mark.parametrize(
    ("outputs", "is_named"),
    [([{"n": 1.5}, {"n": 2.5}], True), ([(1.5, "a"), (2.5, "b")], True), ([1.5, 2.5], False), (np.eye(2), False)],
)
def test_events_name_the_places_of_structures_only(outputs, is_named):
    assert Reading.of([encode(outputs, 2)]).is_named is is_named


@pytest.mark.parametrize(
    "batches",
    [
        [np.zeros((2, 2)), np.zeros((2, 3))],
        [np.zeros(2), np.zeros((2, 3))],
        [[{f"k{at}": 0.5 for at in range(start, start + 60)}] for start in range(0, 300, 60)],
    ],
    ids=["vectors of two lengths", "numbers and vectors", "300 keys"],
)
def test_outputs_without_columns_in_common_are_symbols(batches):
    assert Reading.of([encode(batch, len(batch)) for batch in batches]).ragged


def test_a_type_that_varies_becomes_a_column_of_codes():
    left, right = encode([1, 2, 3], 3), encode([1.0, 2.0, 3.0], 3)
    reading = Reading.of([left, right])
    assert reading.coded == ("type(output)",)
    codes = [reading.read(part).numbers[:, 1] for part in (left, right)]
    assert len(set(codes[0])) == len(set(codes[1])) == 1
    assert codes[0][0] != codes[1][0]


def test_nan_is_a_symbol_and_its_place_in_a_vector_a_text():
    assert encode(np.array([1.0, np.nan]), 2).symbols.table == ("nan",)
    batch = encode(np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, 1.0]]), 3)
    assert [batch.texts["nan(output)"].at(row) for row in range(3)] == ["nan in 1", "nan in 0", None]
    assert batch.numbers.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    assert batch.count("nan") == 2


@pytest.mark.parametrize("raw", [None, 3.0, "abc", {1, 2, 3}, np.float64(1), (x for x in range(3)), np.array(3)])
def test_what_has_no_rows_is_no_batch(raw):
    with pytest.raises(BadBatch) as caught:
        encode(raw, 3)
    assert not isinstance(caught.value, BadLength)


values = st.recursive(
    st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=3), st.booleans(), st.binary(max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3), st.tuples(inner, inner)
    ),
    max_leaves=6,
)


@given(st.lists(values, min_size=1, max_size=8), st.integers(0, 8))
def test_joining_parts_is_encoding_the_whole(rows, cut):
    cut = min(cut, len(rows))
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    joined = concatenate([encode(part, len(part)) for part in parts])
    whole = encode(rows, len(rows))
    same = [
        [a == b for b in keys] for keys in (Outputs.keys(joined).tolist(), Outputs.keys(whole).tolist()) for a in keys
    ]
    assert len(joined) == len(whole) == len(same) // 2
    assert same[: len(rows)] == same[len(rows) :]


def test_outputs_of_another_structure_are_symbols_in_the_columns_of_the_training_outputs():
    reading = Reading.of([encode(np.zeros((4, 2)), 4)])
    other = reading.read(encode(np.zeros((4, 3)), 4))
    assert other.symbolic.all()
    assert other.numbers.shape == (4, 2)


STRUCTURES = [
    (1.5, [2.5, 1.0]),
    ([1.5], [1.5, 2.5]),
    ({"n": 1.0, "v": [1.0, 2.0]}, {"n": 1.0, "v": [1.0, 2.0, 3.0]}),
    ([1.0, 2.0], [1.0, 2]),
    (3, 2**70),
    (np.zeros(2), np.zeros(3)),
    (1.5, {"n": 1.5}),
    (1.5, None),
    ({"n": 1.5}, {"n": 1.5, "m": 2.5}),
    (datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)),
]


@pytest.mark.parametrize("pair", STRUCTURES, ids=map(repr, STRUCTURES))
@pytest.mark.parametrize("seen", [(0,), (1,), (0, 1)])
def test_how_an_output_is_read_does_not_depend_on_its_batch(pair, seen):
    """Else an event of a whole call would be taken for one of a single output, and a true claim could FAIL."""
    training = encode([pair[number] for number in seen] * 3, 3 * len(seen))
    reading = Reading.of([concatenate([training, training])])
    for rows in ([0], [1], [0, 1], [1, 0, 0], [1, 1]):
        batch = reading.read(encode([pair[row] for row in rows], len(rows)))
        alone = [reading.read(encode([pair[row]], 1)) for row in rows]
        assert batch.keys().tolist() == [int(one.keys()[0]) for one in alone]
        np.testing.assert_array_equal(batch.numbers, np.concatenate([one.numbers for one in alone]))


@given(st.lists(values, min_size=1, max_size=6), st.lists(values, min_size=1, max_size=6))
def test_nor_does_it_for_any_outputs(training, rows):
    reading = Reading.of([encode(training, len(training))])
    alone = [reading.read(encode([row], 1)) for row in rows]
    assert reading.read(encode(rows, len(rows))).keys().tolist() == [int(one.keys()[0]) for one in alone]


@pytest.mark.parametrize(
    "equal",
    [
        (
            {1: 2.5},
            {True: 2.5},
            {1.0: 2.5},
            {np.int64(1): 2.5},
            {decimal.Decimal("1.0"): 2.5},
            {fractions.Fraction(1): 2.5},
        ),
        ({0.0: 2.5}, {-0.0: 2.5}),
        ({"a": 2.5}, {np.str_("a"): 2.5}),
        ({1: np.datetime64(5, "s")}, {1: np.datetime64(5, "ms")}, {1: np.timedelta64(5, "s")}),  # in their units
        ({NOON: 2.5}, {NOON.replace(fold=1): 2.5}),
        ({None: 2.5}, {b"": 2.5}, {NOON.date(): 2.5}),  # not equal
    ],
)
def test_keys_that_are_equal_but_not_alike_are_told_apart(equal):
    assert all(encode([row], 1).symbols is None for row in equal)
    assert len(set(encode(list(equal), len(equal)).keys().tolist())) == len(equal)


def test_padding_between_fields_is_no_part_of_an_array():
    """Trees of scikit-learn leave it as the memory was."""
    kind = np.dtype([("value", "f8"), ("flag", "u1")], align=True)

    def made(padding, value):
        array = np.full(16 * 200, padding, np.uint8).view(kind)
        array["value"], array["flag"] = value, 1
        return array

    assert identify(made(0, 1.0)) == identify(made(7, 1.0)) != identify(made(0, 2.0))


def test_transcripts_that_are_equal_but_of_other_types_are_told_apart():
    """Python has True == 1: what was read once must not stand for the other."""
    rows = [(True, "a"), (1, "a"), (True, "a"), (None,), (1, "a")]
    keys = encode(rows, len(rows)).keys().tolist()
    assert keys[0] == keys[2] != keys[1] == keys[4] != keys[3]
