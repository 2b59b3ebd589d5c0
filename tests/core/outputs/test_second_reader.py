"""The two readers of form agree on outputs that hold nothing hidden, and where they do not, the place is named."""

import collections
import dataclasses
import datetime
import decimal
import operator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

import audit
from audit import PrivacyClaim, Verdict, per_call
from audit.outputs.coverage import find_disagreements
from audit.outputs.encode import encode
from audit.outputs.fingerprint import identify

PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))


@dataclasses.dataclass
class Release:
    x: float
    tags: list = dataclasses.field(default_factory=list)


def fitted(rng):
    return LinearRegression().fit(rng.normal(size=(20, 2)), rng.normal(size=20))


HONEST = {
    "dataclass": lambda rng: Release(rng.random()),
    "series": lambda rng: pd.Series(rng.random(3), index=["a", "b", "c"]),
    "group": lambda rng: pd.DataFrame({"x": rng.random(9), "k": rng.choice(["a", "b"], 9)}).groupby("k").x.sum(),
    "summary": lambda rng: pd.DataFrame({"x": rng.random(9)}).describe(),
    "dates": lambda rng: pd.Series(rng.random(3), index=pd.date_range("2020", periods=3)),
    "time stamp": lambda rng: pd.Timestamp("2020") + pd.Timedelta(seconds=rng.random() * 1e6),
    "optional integers": lambda rng: pd.Series([1, None, int(rng.integers(5))], dtype="Int64"),
    "polars": lambda rng: pl.DataFrame({"x": rng.random(3), "k": ["a", "b", "c"]}),
    "arrow": lambda rng: pa.table({"x": rng.random(3), "k": ["a", "b", "c"]}),
    "fitted": fitted,
    "sparse": lambda rng: sparse.csr_matrix(rng.random((2, 2))),
    "counter": lambda rng: collections.Counter({"a": int(rng.integers(3)), "b": int(rng.integers(3))}),
    "decimal": lambda rng: decimal.Decimal(repr(rng.random())),
    "date": lambda rng: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=rng.random() * 1e6),
    "masked": lambda rng: np.ma.array(rng.random(3), mask=rng.random(3) < 0.5),
    "list": lambda rng: rng.random(int(rng.integers(5))).tolist(),
}


@pytest.mark.parametrize("draw", HONEST.values(), ids=HONEST)
def test_the_readers_agree(draw):
    rng = np.random.default_rng(3)
    assert find_disagreements([encode([draw(rng) for _ in range(100)], 100) for _ in range(2)]) == ()


REGISTRY = {}


class Handle:
    """An object that keeps its content in a table outside of it, as objects of other languages do."""

    def __init__(self, x, name):
        self.x = x
        REGISTRY[id(self)] = name

    def __reduce__(self):
        return Handle, (self.x, REGISTRY[id(self)])


kept = []


def handle(data, rng):
    kept.append(Handle(float(rng.laplace(scale=4)), "b" if data.sum() else "a"))
    return kept[-1]


def test_a_place_that_the_first_reader_does_not_see_bars_a_pass():
    result = audit.check_privacy(per_call(handle), PrivacyClaim(1.0), [PAIR], budget=20_000, tolerance=1.5, workers=0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "output[1]" in result.reason


def named(**attributes):
    return type("Release", (), attributes)()


class Beside:
    """A descriptor that keeps the value of an instance beside it, of the last one that was set."""

    def __init__(self):
        self.values = {}

    def __get__(self, instance, owner=None):
        return self if instance is None else self.values[id(instance)]

    def __set__(self, instance, value):
        self.values = {id(instance): value}


class Checked:
    """A descriptor that keeps nothing itself."""

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, float(value))


def reported(descriptor):
    kind = type("Report", (), {"exact": descriptor})
    if hasattr(descriptor, "__set_name__"):
        descriptor.__set_name__(kind, "exact")

    def mechanism(data, rng):
        report = kind()
        report.x, report.exact = rng.laplace(), data.sum() * isinstance(descriptor, Beside)
        return report

    return mechanism


@pytest.mark.parametrize(
    ("descriptor", "verdict"), [(Beside(), Verdict.INCONCLUSIVE), (Checked(), Verdict.PASS)], ids=["beside", "checked"]
)
def test_what_a_descriptor_keeps_is_looked_at(descriptor, verdict):
    mechanism = per_call(reported(descriptor))
    assert audit.check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=20_000, tolerance=1.5).verdict is verdict


SEEN = {
    "attribute of a class": (named(n=0), named(n=1)),
    "class": (type(named(n=0)), type(named(n=1))),
    "defaults of a named tuple": tuple(collections.namedtuple("T", "x", defaults=[n])(1.0) for n in (0, 1)),
    "object of C": (operator.itemgetter(0), operator.itemgetter(1)),
    "unused category": tuple(pd.Series(pd.Categorical(["a"], categories=["a", *more])) for more in ("", "b")),
    "unused level": tuple(
        pd.Series([1.0], index=pd.MultiIndex(levels=[["a", *more], ["x"]], codes=[[0], [0]])) for more in ("", "b")
    ),
    "name of the columns": tuple(pd.DataFrame([[1.0]], columns=pd.Index(["x"], name=name)) for name in "ab"),
    "value under a mask": tuple(
        pd.Series(pd.arrays.IntegerArray(np.array([0, n]), np.array([False, True]))) for n in (0, 1)
    ),
    "dictionary of Arrow": tuple(
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a", *more])) for more in ("", "b")
    ),
    "chunks of Arrow": (pa.chunked_array([[1, 2]]), pa.chunked_array([[1], [2]])),
    "order in polars": (pl.Series("s", [1, 2]), pl.Series("s", [1, 2]).set_sorted()),
    "layout of an array": tuple(np.ones((2, 2), order=order) for order in "CF"),
}


@pytest.mark.parametrize("pair", SEEN.values(), ids=SEEN)
def test_what_a_caller_sees_makes_two_outputs(pair):
    left, right = (encode([{"x": 1.0, "y": value}] * 2, 2) for value in pair)
    assert identify(pair[0]) != identify(pair[1])
    assert left.keys()[0] != right.keys()[0]
