"""The inputs that every query meets: one table of cases, with the reason where a case does not apply to a query.

A case of a table of records is the records that both sides share and two records, `a` and `b`, that differ: under
substitution the sides hold one of them each, under add/remove one side lacks `a`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from audit.extensions.conformance.queries import TABLES, Query

Rank = Literal["usual", "parameters", "edge", "unusual"]  # class of a failure: A and B, again, C, and D
BIG, WHOLE, LARGEST = 2.0**50, 2**53, 1e308
SUBNORMAL = 5e-324


class InputPair(NamedTuple):
    """Hold the parameters that an input needs, and the two sides."""

    changes: Mapping[str, Any]
    left: Any
    right: Any


class RecordsPair(NamedTuple):
    """Records that both sides share, and the records that differ."""

    common: list[Any]
    a: Any
    b: Any
    changes: Mapping[str, Any] = {}
    at: int = -1  # place of the record that differs: the last, or the first

    def sides(self, relation: str) -> InputPair:
        """Return the two datasets under a relation, the number of records being public under substitution."""
        left, right = ([*self.common, each] if self.at else [each, *self.common] for each in (self.a, self.b))
        return InputPair(
            {**self.changes, "size": len(left)}, left, right if relation == "substitution" else self.common
        )


_ROW, _FAR_ROW = [0.1, 0.2], [-0.6, -0.8]
PLAIN = {  # for each table: seven records, and two that differ as much as records can
    "numbers": RecordsPair([0.5, 0.25, 0.75, 0.5, 0.125, 0.875, 0.5], 1.0, 0.0),
    "categories": RecordsPair(["a", "b", "a", "a", "b", "c", "a"], "b", "c"),
    "rows": RecordsPair([_ROW] * 7, [0.6, 0.8], _FAR_ROW),
    "labeled": RecordsPair([[_ROW, 0], [_FAR_ROW, 1]] * 3 + [[_ROW, 0]], [[0.6, 0.8], 1], [[0.6, 0.8], 0]),
}
OTHERS: dict[str, list[tuple[Any, Any]]] = {  # usual inputs that are not tables
    "value": [(0.0, 1.0), (-0.5, 0.5)],
    "integer": [(0, 1), (5, 4)],
    "scores": [([3.0, 2.0, 1.0], [2.0, 3.0, 2.0]), ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])],
    "answers": [([0.0, 1.0, 3.0], [1.0, 2.0, 2.0]), ([3.0, 0.0], [2.0, 0.0])],
    "record": [("a", "b"), ("c", "a")],
}


def usual(query: Query, relation: str) -> list[InputPair]:
    """Return the usual inputs of a query."""
    if query.input in TABLES:
        plain = PLAIN[query.input]
        equal = [] if query.input == "labeled" else [RecordsPair([plain.b] * 7, plain.a, plain.b)]  # one class is odd
        return [each.sides(relation) for each in (plain, *equal)]
    return [InputPair({}, left, right) for left, right in OTHERS[query.input]]


@dataclass(frozen=True)
class Case:
    """A row of the table: its name, the class of its failures, and the maker of its inputs by input of the query."""

    name: str
    rank: Rank
    inputs: Mapping[str, Callable[[Query, str], list[InputPair]]]
    why_not: str = "the query's input holds no such value"  # where it does not apply
    relations: tuple[str, ...] = field(default=("substitution", "add/remove"))

    def instances(self, query: Query, relation: str) -> list[InputPair] | str:
        """Return the inputs of a query, or the reason why there are none."""
        if query.input not in self.inputs:
            return self.why_not
        if query.input in TABLES and relation not in self.relations:
            return f"needs {' or '.join(self.relations)}"
        return self.inputs[query.input](query, relation) or self.why_not


def _records(*inputs: str, **found: Callable[[RecordsPair], list[RecordsPair]]) -> dict[str, Any]:
    """Return the maker of the instances of tables from functions of their plain records, by input."""

    def made(make: Callable[[RecordsPair], list[RecordsPair]]) -> Callable[[Query, str], list[InputPair]]:
        return lambda query, relation: [each.sides(relation) for each in make(PLAIN[query.input])]

    return {name: made(make) for name, make in found.items()} | {name: made(found["all"]) for name in inputs}


def _pairs(**found: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return the maker of the instances of inputs that are not tables: (left, right) or (left, right, changes)."""

    def made(pairs: list[tuple[Any, ...]]) -> Callable[[Query, str], list[InputPair]]:
        return lambda query, relation: [InputPair(pair[2] if len(pair) > 2 else {}, *pair[:2]) for pair in pairs]

    return {name: made(pairs) for name, pairs in found.items()}


def _with(record: Callable[[Any], Any], *, twice: bool = True) -> Callable[[RecordsPair], list[RecordsPair]]:
    """Return a function that puts a value into a record: as the record that differs, and among those that do not."""

    def make(plain: RecordsPair) -> list[RecordsPair]:
        odd = record(plain)
        return [RecordsPair(plain.common, odd, plain.a)] + (
            [RecordsPair([odd, *plain.common], plain.a, plain.b)] * twice
        )

    return make


def _special(value: float) -> dict[str, Any]:
    """Return the records that hold one special number."""
    return _records(
        numbers=_with(lambda _: value),
        rows=_with(lambda _: [value, 0.0]),
        labeled=_with(lambda _: [[value, 0.0], 1]),
    )


def _ulps(ulps: int, size: int) -> dict[str, Any]:
    """Return numbers whose bounds are few units in the last place apart, so that sums round by more than a record."""
    low = 2.0**30
    high = low
    for _ in range(ulps):
        high = math.nextafter(high, math.inf)
    changes, some = {"lower": low, "upper": high}, random.Random(size * 8 + ulps)  # fixed: the same records each time

    def make(_: RecordsPair) -> list[RecordsPair]:
        shuffled = [[some.choice((low, high)) for _ in range(size - 1)] for _ in range(5)]
        found = [
            RecordsPair(common, low, high, changes) for common in ([low] * (size - 1), [high] * (size - 1), *shuffled)
        ]
        return [*found, *(RecordsPair(common, low, high, changes, 0) for common in shuffled)]

    return _records(numbers=make)


def _offset(_: RecordsPair) -> list[RecordsPair]:
    common, changes = [BIG + 0.25] * 1023, {"lower": BIG, "upper": BIG + 1}
    return [RecordsPair(common, BIG + 0.25, BIG + 0.5, changes), RecordsPair(common, BIG, BIG + 1, changes)]


def _integers(
    lower: int, upper: int, *tables: tuple[list[int], int, int]
) -> Callable[[RecordsPair], list[RecordsPair]]:
    changes = {"lower": lower, "upper": upper, "whole": True}
    return lambda _: [RecordsPair(list(common), a, b, changes) for common, a, b in tables]


def _reordered(query: Query, relation: str) -> list[InputPair]:
    """Return the same numbers in two orders: few units in the last place apart, where sums depend on the order."""
    low = 2.0**30
    near = [low, math.nextafter(low, math.inf), math.nextafter(math.nextafter(low, math.inf), math.inf)]
    some = random.Random(3)
    left = [some.choice(near) for _ in range(64)]
    changes = {"lower": low, "upper": near[-1], "size": 64}
    orders = [sorted(left), sorted(left, reverse=True), *(some.sample(left, 64) for _ in range(6))]
    return [InputPair(changes, left, order) for order in orders if order != left]


def _varied(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usual inputs at other parameters, for every query."""

    def made(query: Query, relation: str) -> list[InputPair]:
        return [
            InputPair({**change, **instance.changes}, instance.left, instance.right)
            for change in changes
            for instance in usual(query, relation)[:1]
        ]

    return dict.fromkeys((*TABLES, *OTHERS), made)


def _keyed(*keys: str) -> dict[str, Any]:
    """Return usual tables and records whose public keys are others; the first and the last key differ most."""
    first, last, changes = keys[0], keys[-1], {"categories": keys, "k": min(2, len(keys))}
    pairs = [RecordsPair([first] * 7, last, first, changes), RecordsPair([*keys] * 2, last, first, changes)]
    alone = len(keys) == 1  # then no two records differ
    return _records(categories=lambda _: pairs) | ({} if alone else _pairs(record=[(first, last, changes)]))


def _native(*scales: float) -> dict[str, Any]:
    """Return the usual inputs at parameters of the noise itself."""
    return {
        name: lambda query, relation: (
            [InputPair({"scale": scale}, *OTHERS[query.input][0]) for scale in scales] if query.native else []
        )
        for name in ("value", "integer")
    }


def _random(query: Query, relation: str) -> list[InputPair]:
    """Return usual inputs at random parameters, the same in each run."""
    some = random.Random(query.name)
    first = usual(query, relation)[0]
    return [
        InputPair({**first.changes, "epsilon": math.exp(some.uniform(math.log(0.1), math.log(4)))}, *first[1:])
        for _ in range(8)
    ]


def _epsilons(*values: float) -> dict[str, Any]:
    return _varied(*({"epsilon": value} for value in values))


_NO_TABLE = "the query's input is no table of records"
_NO_KEYS = "the query has no keys"
_NO_NOISE = "the query has no parameter of its own noise"
_WRAP = 2**63 - 1


def _rows() -> Iterator[Case]:
    tables = TABLES
    yield Case("ordinary", "usual", dict.fromkeys((*TABLES, *OTHERS), usual))
    yield Case("epsilon 1, 2, 3", "parameters", _epsilons(1, 2, 3))
    yield Case("epsilon 5, 6, 7, 10", "parameters", _epsilons(5, 6, 7, 10))
    yield Case("epsilon 1/3, 1.5, .1", "parameters", _epsilons(1 / 3, 1.5, 0.1))
    yield Case("epsilon at and beside powers of two", "parameters", _epsilons(0.5, 0.25, 0.501, 4.0))
    yield Case("tiny epsilon", "parameters", _epsilons(1e-3, 1e-6))
    yield Case("round scales", "parameters", _native(1, 2, 3, 5, 6, 7, 10), _NO_NOISE)
    yield Case("scales at and beside powers of two", "parameters", _native(0.5, 4, 8, 4.001, 1 / 3, 1.5), _NO_NOISE)
    yield Case("one key", "parameters", _keyed("a"), _NO_KEYS, ("add/remove",))
    yield Case("two keys", "parameters", _keyed("a", "b"), _NO_KEYS)
    yield Case("keys of unequal length", "parameters", _keyed("a", "bb", "cccccccc"), _NO_KEYS)
    yield Case("keys beyond ASCII", "parameters", _keyed("a", "\u00df", "\u65e5\u672c"), _NO_KEYS)
    yield Case("keys that are numbers", "parameters", _keyed("1", "02", "10"), _NO_KEYS)
    yield Case("random parameters", "parameters", dict.fromkeys((*TABLES, *OTHERS), _random))
    yield Case(
        "empty", "edge", _records(*tables, all=lambda p: [RecordsPair([], p.a, p.b)]), _NO_TABLE, ("add/remove",)
    )
    yield Case(
        "one record", "edge", _records(*tables, all=lambda p: [RecordsPair([], p.a, p.b)]), _NO_TABLE, ("substitution",)
    )
    yield Case("constant column", "edge", _records(
        numbers=lambda p: [RecordsPair([0.5] * 7, 0.5, 1.0)],
        rows=lambda p: [RecordsPair([[0.5, 0.0]] * 7, [0.5, 0.0], [0.5, 0.5])],
        labeled=lambda p: [RecordsPair([[[0.5, 0.0], 0]] * 7, [[0.5, 0.0], 0], [[0.5, 0.5], 0])],
    ))  # fmt: skip
    yield Case("rare class", "edge", _records(
        labeled=lambda p: [RecordsPair([[_ROW, 0]] * 7, [_ROW, 1], [_ROW, 0])],
        categories=lambda p: [RecordsPair(["a"] * 7, "c", "a")],
    ))  # fmt: skip
    yield Case("NaN", "edge", _special(math.nan))
    yield Case("infinity", "edge", _special(math.inf))
    yield Case("minus infinity", "edge", _special(-math.inf))
    zeros: dict[str, Any] = {"value": [(-0.0, 1.0), (-0.0, 0.0)], "scores": [([-0.0, 0.0], [0.0, 0.0])]}
    yield Case("minus zero", "edge", _special(-0.0) | _pairs(**zeros))
    yield Case("missing value", "edge", _records(
        numbers=_with(lambda p: None), categories=_with(lambda p: None),
        rows=_with(lambda p: [None, 0.0]), labeled=_with(lambda p: [[None, 0.0], 1]),
    ))  # fmt: skip
    yield Case("out of bounds", "edge", _records(
        numbers=_with(lambda p: 101.0), rows=_with(lambda p: [60.0, 80.0]), labeled=_with(lambda p: [[60.0, 80.0], 1])
    ))  # fmt: skip
    yield Case("unseen category", "edge", _records(categories=_with(lambda p: "elsewhere"))
               | _pairs(record=[("a", "elsewhere"), ("elsewhere", "nowhere")]))  # fmt: skip
    yield Case("unseen label", "edge", _records(labeled=lambda p: [RecordsPair(p.common, [_ROW, 7], [_ROW, 0])]))
    yield Case("long and empty text", "edge", _records(
        categories=lambda p: [RecordsPair(p.common, "x" * 10_000, "a"), RecordsPair(p.common, "", "a")]
    ) | _pairs(record=[("x" * 10_000, "a"), ("", "a")]))  # fmt: skip
    yield Case("another type", "edge", _records(
        numbers=_with(lambda p: "0.5"), categories=_with(lambda p: 1), rows=_with(lambda p: ["0.5", 0.0])
    ))  # fmt: skip
    yield Case("truth value among numbers", "edge", _records(numbers=lambda p: [RecordsPair(p.common, True, p.b)]))
    yield Case("ties", "edge", _pairs(scores=[([1.0, 1.0], [0.0, 1.0])], answers=[([2.0] * 3, [1.0] * 3)]),
               "the query compares no scores")  # fmt: skip
    yield Case("one candidate", "edge", _pairs(scores=[([0.0], [1.0])], answers=[([2.0], [1.0])]),
               "the query compares no scores")  # fmt: skip
    yield Case("32-bit limit", "edge", _records(numbers=_integers(
        0, 2**24, ([2**24] * 127, 2**24, 0), ([2**24] * 127, 2**24 - 1, 2**24)
    )) | _pairs(integer=[(2**31 - 1, 2**31 - 2), (2**31 - 1, 2**31)]))  # fmt: skip
    yield Case("64-bit limit", "edge", _records(numbers=_integers(
        0, 2**56, ([2**56] * 127, 2**56, 0), ([2**56] * 127, 2**56 - 1, 2**56)
    )) | _pairs(integer=[(_WRAP, _WRAP - 1), (-_WRAP, 1 - _WRAP)]))  # fmt: skip
    yield Case("wrap by one", "edge", _records(numbers=_integers(0, _WRAP, ([_WRAP], 0, 1), ([1], _WRAP, _WRAP - 1)))
               | _pairs(integer=[(_WRAP, _WRAP + 1), (-_WRAP - 1, -_WRAP - 2)]))  # fmt: skip
    yield Case("2^53 + 1", "unusual", _records(numbers=_integers(
        0, WHOLE + 2, ([WHOLE + 1] * 3, WHOLE + 1, 0), ([1] * 3, WHOLE + 1, 0)
    )) | _pairs(integer=[(WHOLE, WHOLE + 1), (WHOLE + 1, WHOLE + 2)]))  # fmt: skip
    yield Case("bounds of 1e308", "unusual", _records(
        numbers=lambda p: [
            RecordsPair([LARGEST, -LARGEST] * 3, LARGEST, -LARGEST, {"lower": -LARGEST, "upper": LARGEST})
        ]
    ) | _pairs(value=[(LARGEST, 0.0, {"sensitivity": LARGEST})]))  # fmt: skip
    yield Case("subnormal bounds", "unusual", _records(
        numbers=lambda p: [RecordsPair([0.0] * 7, SUBNORMAL, 0.0, {"upper": 4 * SUBNORMAL})]
    ) | _pairs(value=[(SUBNORMAL, 0.0, {"sensitivity": SUBNORMAL})]))  # fmt: skip
    for ulps in (1, 2, 4):
        for size in (16, 64, 1024):
            yield Case(f"bounds {ulps} ulp{'s' * (ulps > 1)} apart, {size} records", "unusual", _ulps(ulps, size))
    yield Case("offset column", "unusual", _records(numbers=_offset))
    yield Case("another order", "unusual", {"numbers": _reordered}, "the query's sums do not depend on the order")


CASES: dict[str, Case] = {case.name: case for case in _rows()}
