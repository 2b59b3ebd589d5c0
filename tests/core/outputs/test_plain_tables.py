"""Plain tables of pandas are read together, and no otherwise than one by one."""

import numpy as np
import pytest

from audit.mechanism.call import collect
from audit.outputs import columns
from audit.outputs.encode import concatenate, encode
from audit.outputs.tables import PlainTable, restore
from audit.outputs.walk import identify

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


@pytest.mark.parametrize("make", LABELED.values(), ids=LABELED)
def test_a_series_with_other_labels_is_another_output(make):
    outputs = encode([pd.Series({"a": 0.5}), make(0.5)], 2)
    assert len(set(outputs.keys().tolist())) == 2


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_a_table_that_shows_something_else_is_another_output(make):
    outputs = encode([TABLES["frame"](0.5), make(0.5)], 2)
    assert len(set(outputs.keys().tolist())) == 2


@pytest.mark.parametrize(("other", "kind"), [(TABLES["labeled frame"], pd.DataFrame), (TABLES["frame"], PlainTable)])
def test_tables_are_collected_as_plain_if_all_are(other, kind):
    tables = iter([TABLES["frame"](1.0), other(2.0)])
    assert {*map(type, collect(lambda: next(tables), 2, keeps_plain=True))} == {kind}


def test_plain_tables_beside_a_batch_of_others_are_the_same_outputs():
    short, long = [pd.Series([0.5]), pd.Series([1.5])], [pd.Series([0.5, 1.0])]
    plain = [*map(columns.make_keeper(short[0]), short)]
    read = [concatenate([encode(values, 2), encode(long, 1)]).keys() for values in (short, plain)]
    assert np.array_equal(*read)
