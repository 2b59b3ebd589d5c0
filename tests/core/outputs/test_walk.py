"""All that read objects agree on what the whole object is; plain tables are read together as one by one."""

import dataclasses
import functools
import types
from collections import deque, namedtuple

import numpy as np
import pytest

from audit.mechanism.call import collect
from audit.outputs import columns
from audit.outputs.encode import concatenate, encode
from audit.outputs.tables import PlainTable, restore
from audit.outputs.walk import identify, walk


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def told(self):
        """Return nothing."""


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


def defaulted(value):
    def function(first=value):
        return first

    return function


def keyword(value):
    def function(*, first=value):
        return first

    return function


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
    "slots with names like those of C": SlotLikeThoseOfC,
    "dataclass": Record,
    "named tuple": namedtuple("Named", "value"),
    "subclass that hides its entries": lambda value: Listed([value]),
    "closure": enclosed,
    "default": defaulted,
    "keyword": keyword,
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


pd = pytest.importorskip("pandas")


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
