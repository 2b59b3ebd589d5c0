"""The inputs that every query meets: one table of cases, with the reason where a case does not apply to a query.

A case of a table of records is the records that both sides share and two records, `a` and `b`, that differ: under
substitution the sides hold one of them each, under add/remove one side lacks `a`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from audit.extensions.conformance.queries import RELATIONS, TABLES, Query

Rank = Literal["usual", "parameters", "edge", "unusual"]  # class of a failure: A and B, again, C, and D
BIG, WHOLE, LARGEST = 2.0**50, 2**53, 1e308
SUBNORMAL = 5e-324


class InputPair(NamedTuple):
    """Hold the two sides of an input, and the parameters that it needs."""

    left: Any
    right: Any
    changes: Mapping[str, Any] = {}

    def sides(self, relation: str) -> InputPair:
        """Return the same: only tables of records depend on the relation."""
        return self


class RecordsPair(NamedTuple):
    """Hold the records that both sides share, and the records that differ."""

    common: list[Any]
    a: Any
    b: Any
    changes: Mapping[str, Any] = {}
    at: int = -1  # place of the record that differs: the last, or the first

    def sides(self, relation: str) -> InputPair:
        """Return the two datasets under a relation, the number of records being public under substitution."""
        left, right = ([*self.common, each] if self.at else [each, *self.common] for each in (self.a, self.b))
        changes = {**self.changes, "size": len(left)}
        return InputPair(left, right if relation == "substitution" else self.common, changes)


Inputs = Mapping[str, Sequence[RecordsPair | InputPair]]  # by input of the query

_ROW, _FAR_ROW = [0.1, 0.2], [-0.6, -0.8]
PLAIN = {  # for each table: seven records, and two that differ as much as records can
    "numbers": RecordsPair([0.5, 0.25, 0.75, 0.5, 0.125, 0.875, 0.5], 1.0, 0.0),
    "categories": RecordsPair(["a", "b", "a", "a", "b", "c", "a"], "b", "c"),
    "rows": RecordsPair([_ROW] * 7, [0.6, 0.8], _FAR_ROW),
    "labeled": RecordsPair([[_ROW, 0], [_FAR_ROW, 1]] * 3 + [[_ROW, 0]], [[0.6, 0.8], 1], [[0.6, 0.8], 0]),
}
USUAL: Inputs = {
    **{name: [plain, RecordsPair([plain.b] * 7, plain.a, plain.b)] for name, plain in PLAIN.items()},
    "labeled": [PLAIN["labeled"]],  # records of one class are odd
    "value": [InputPair(0.0, 1.0), InputPair(-0.5, 0.5)],
    "integer": [InputPair(0, 1), InputPair(5, 4)],
    "scores": [InputPair([3.0, 2.0, 1.0], [2.0, 3.0, 2.0]), InputPair([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])],
    "answers": [InputPair([0.0, 1.0, 3.0], [1.0, 2.0, 2.0]), InputPair([3.0, 0.0], [2.0, 0.0])],
    "record": [InputPair("a", "b"), InputPair("c", "a")],
}


@dataclass(frozen=True)
class Case:
    """A row of the table: its name, the class of its failures, its inputs, and the one relation that it needs."""

    name: str
    rank: Rank
    inputs: Inputs
    relation: str | None = None

    @property
    def is_usual(self) -> bool:
        """True if a wrong calibration would show, at usual or at other parameters."""
        return self.rank in ("usual", "parameters")

    def instances(self, query: Query, relation: str) -> list[InputPair] | str:
        """Return the inputs of a query, or the reason why there are none."""
        if query.input not in self.inputs:
            return f"no input of the query ({query.input}) has such a value"
        needed = RELATIONS if self.relation is None else (self.relation,)
        if query.input in TABLES and relation not in needed:
            return f"needs {' or '.join(needed)}"
        return [pair.sides(relation) for pair in self.inputs[query.input]]


def _at(name: str, *values: float, inputs: Sequence[str] = tuple(USUAL)) -> Inputs:
    """Return the first usual inputs at some values of a parameter."""
    return {each: [USUAL[each][0]._replace(changes={name: value}) for value in values] for each in inputs}


def _change_keys(*keys: str) -> Inputs:
    """Return usual tables and records whose public keys are others; the first and the last key differ most."""
    first, last, changes = keys[0], keys[-1], {"categories": keys, "k": min(2, len(keys))}
    tables = [RecordsPair([first] * 7, last, first, changes), RecordsPair([*keys] * 2, last, first, changes)]
    alone = len(keys) == 1  # then no two records differ
    return {"categories": tables} if alone else {"categories": tables, "record": [InputPair(first, last, changes)]}


def _with(**odd: Any) -> Inputs:
    """Return tables that hold an odd record: as the one that differs, and among those that do not."""
    return {
        name: [
            RecordsPair(PLAIN[name].common, record, PLAIN[name].a),
            RecordsPair([record, *PLAIN[name].common], PLAIN[name].a, PLAIN[name].b),
        ]
        for name, record in odd.items()
    }


def _special(value: float) -> Inputs:
    return _with(numbers=value, rows=[value, 0.0], labeled=[[value, 0.0], 1])


def _integers(lower: int, upper: int, *tables: tuple[list[int], int, int]) -> Inputs:
    changes = {"lower": lower, "upper": upper, "whole": True}
    return {"numbers": [RecordsPair(*table, changes) for table in tables]}


def _bound_numbers(common: list[float], a: float, b: float, **changes: float) -> Inputs:
    return {"numbers": [RecordsPair(common, a, b, changes)]}


def _list_close_bounds(ulps: int, size: int) -> Inputs:
    """Return numbers whose bounds are few units in the last place apart, so that sums round by more than a record."""
    low = 2.0**30
    high = low + ulps * math.ulp(low)
    changes, some = {"lower": low, "upper": high}, random.Random(size * 8 + ulps)  # fixed: the same records each time
    shuffled = [[some.choice((low, high)) for _ in range(size - 1)] for _ in range(5)]
    last = [[low] * (size - 1), [high] * (size - 1), *shuffled]
    pairs = [RecordsPair(common, low, high, changes) for common in last]
    return {"numbers": [*pairs, *(RecordsPair(common, low, high, changes, 0) for common in shuffled)]}


_NATIVE = ("value", "integer")  # inputs of queries that are noise with a parameter of its own
_WRAP = 2**63 - 1
_ALONE = {name: [RecordsPair([], plain.a, plain.b)] for name, plain in PLAIN.items()}
_SOME = random.Random(0)  # fixed: the same parameters in each run
_RANDOM = [math.exp(_SOME.uniform(math.log(0.1), math.log(4))) for _ in range(8)]
_OFFSET: dict[str, Any] = {"lower": BIG, "upper": BIG + 1}

_INPUTS: dict[Rank, dict[str, Inputs]] = {
    "usual": {"ordinary": USUAL},
    "parameters": {
        "epsilon 1, 2, 3": _at("epsilon", 1, 2, 3),
        "epsilon 5, 6, 7, 10": _at("epsilon", 5, 6, 7, 10),
        "epsilon 1/3, 1.5, .1": _at("epsilon", 1 / 3, 1.5, 0.1),
        "epsilon at and beside powers of two": _at("epsilon", 0.5, 0.25, 0.501, 4.0),
        "tiny epsilon": _at("epsilon", 1e-3, 1e-6),
        "round scales": _at("scale", 1, 2, 3, 5, 6, 7, 10, inputs=_NATIVE),
        "scales at and beside powers of two": _at("scale", 0.5, 4, 8, 4.001, 1 / 3, 1.5, inputs=_NATIVE),
        "one key": _change_keys("a"),
        "two keys": _change_keys("a", "b"),
        "keys of unequal length": _change_keys("a", "bb", "cccccccc"),
        "keys beyond ASCII": _change_keys("a", "\u00df", "\u65e5\u672c"),
        "keys that are numbers": _change_keys("1", "02", "10"),
        "random parameters": _at("epsilon", *_RANDOM),
    },
    "edge": {
        "empty": _ALONE,
        "one record": _ALONE,
        "constant column": {
            "numbers": [RecordsPair([0.5] * 7, 0.5, 1.0)],
            "rows": [RecordsPair([[0.5, 0.0]] * 7, [0.5, 0.0], [0.5, 0.5])],
            "labeled": [RecordsPair([[[0.5, 0.0], 0]] * 7, [[0.5, 0.0], 0], [[0.5, 0.5], 0])],
        },
        "rare class": {
            "labeled": [RecordsPair([[_ROW, 0]] * 7, [_ROW, 1], [_ROW, 0])],
            "categories": [RecordsPair(["a"] * 7, "c", "a")],
        },
        "NaN": _special(math.nan),
        "infinity": _special(math.inf),
        "minus infinity": _special(-math.inf),
        "minus zero": {
            **_special(-0.0),
            "value": [InputPair(-0.0, 1.0), InputPair(-0.0, 0.0)],
            "scores": [InputPair([-0.0, 0.0], [0.0, 0.0])],
        },
        "missing value": _with(numbers=None, categories=None, rows=[None, 0.0], labeled=[[None, 0.0], 1]),
        "out of bounds": _with(numbers=101.0, rows=[60.0, 80.0], labeled=[[60.0, 80.0], 1]),
        "unseen category": {
            **_with(categories="elsewhere"),
            "record": [InputPair("a", "elsewhere"), InputPair("elsewhere", "nowhere")],
        },
        "unseen label": {"labeled": [RecordsPair(PLAIN["labeled"].common, [_ROW, 7], [_ROW, 0])]},
        "long and empty text": {
            "categories": [RecordsPair(PLAIN["categories"].common, text, "a") for text in ("x" * 10_000, "")],
            "record": [InputPair("x" * 10_000, "a"), InputPair("", "a")],
        },
        "another type": _with(numbers="0.5", categories=1, rows=["0.5", 0.0]),
        "truth value among numbers": {"numbers": [PLAIN["numbers"]._replace(a=True)]},
        "ties": {"scores": [InputPair([1.0, 1.0], [0.0, 1.0])], "answers": [InputPair([2.0] * 3, [1.0] * 3)]},
        "one candidate": {"scores": [InputPair([0.0], [1.0])], "answers": [InputPair([2.0], [1.0])]},
        "32-bit limit": {
            **_integers(0, 2**24, ([2**24] * 127, 2**24, 0), ([2**24] * 127, 2**24 - 1, 2**24)),
            "integer": [InputPair(2**31 - 1, 2**31 - 2), InputPair(2**31 - 1, 2**31)],
        },
        "64-bit limit": {
            **_integers(0, 2**56, ([2**56] * 127, 2**56, 0), ([2**56] * 127, 2**56 - 1, 2**56)),
            "integer": [InputPair(_WRAP, _WRAP - 1), InputPair(-_WRAP, 1 - _WRAP)],
        },
        "wrap by one": {
            **_integers(0, _WRAP, ([_WRAP], 0, 1), ([1], _WRAP, _WRAP - 1)),
            "integer": [InputPair(_WRAP, _WRAP + 1), InputPair(-_WRAP - 1, -_WRAP - 2)],
        },
    },
    "unusual": {
        "2^53 + 1": {
            **_integers(0, WHOLE + 2, ([WHOLE + 1] * 3, WHOLE + 1, 0), ([1] * 3, WHOLE + 1, 0)),
            "integer": [InputPair(WHOLE, WHOLE + 1), InputPair(WHOLE + 1, WHOLE + 2)],
        },
        "bounds of 1e308": {
            **_bound_numbers([LARGEST, -LARGEST] * 3, LARGEST, -LARGEST, lower=-LARGEST, upper=LARGEST),
            "value": [InputPair(LARGEST, 0.0, {"sensitivity": LARGEST})],
        },
        "subnormal bounds": {
            **_bound_numbers([0.0] * 7, SUBNORMAL, 0.0, upper=4 * SUBNORMAL),
            "value": [InputPair(SUBNORMAL, 0.0, {"sensitivity": SUBNORMAL})],
        },
        **{
            f"bounds {ulps} ulp{'s' * (ulps > 1)} apart, {size} records": _list_close_bounds(ulps, size)
            for ulps in (1, 2, 4)
            for size in (16, 64, 1024)
        },
        "offset column": {
            "numbers": [
                RecordsPair([BIG + 0.25] * 1023, BIG + a, BIG + b, _OFFSET) for a, b in ((0.25, 0.5), (0.0, 1.0))
            ]
        },
    },
}
_NEEDED = {"one key": "add/remove", "empty": "add/remove", "one record": "substitution"}
CASES = {
    name: Case(name, rank, inputs, _NEEDED.get(name)) for rank, rows in _INPUTS.items() for name, inputs in rows.items()
}
