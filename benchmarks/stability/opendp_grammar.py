"""Draw random programs of OpenDP's data frames, and two datasets that are neighbors under the metric of each.

No bug is named here: constructors, constants and metrics are those of the library's documentation.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

NAMES = ("i", "f", "s", "id")  # columns of every frame
KINDS = dict(zip(NAMES, ("int", "float", "str", "int"), strict=True))
DTYPES = {"int": "pl.Int64", "float": "pl.Float64", "str": "pl.String", "bool": "pl.Boolean"}
CASTS = {
    "int": ("pl.Int64", "pl.Int32", "pl.Int8", "pl.UInt32"),
    "float": ("pl.Float64", "pl.Float32"),
    "str": ("pl.String",),
    "bool": ("pl.Boolean",),
}
VALUES: Mapping[str, tuple[Any, ...]] = {
    "int": (0, 1, -1, 2, 3, 7, 10, 100, 300, -10, 2**31 - 1, 2**31, 2**40, -(2**62)),
    "float": (0.0, 1.0, -1.0, 0.5, 3.0, 10.0, -10.0, 1e6, 1e17, 1e38, -1e38, 1e300, math.nan),
    "str": ("", "a", "b", "1", "-2.5", "nan", "true"),
    "bool": (True, False),
}
BOUNDS = {
    "int": ((0, 1), (0, 10), (-10, 10), (-3, 7)),
    "float": ((0.0, 1.0), (-10.0, 10.0), (0.0, 1e38), (-1e38, 1e38)),
}
ARITHMETIC = ("+", "-", "*", "//", "%", "/")
COMPARED = ("<", "<=", "==", "!=", ">", ">=")
AGGREGATES = ("sum", "sum", "count", "len", "null_count", "n_unique")
INVARIANTS = ((None, "lengths"), (None, "keys", "keys", "lengths", "lengths"))  # of all rows, of groups
METRICS = ("symmetric", "symmetric", "frame", "identifier")


class Program(NamedTuple):
    """A query and what is declared of its data; facts are read from the pair."""

    steps: tuple[Any, ...]
    group: str | None
    keys: tuple[Any, ...] | None  # public ones, joined
    aggregates: tuple[Any, ...]  # (what, expression, bounds)
    metric: str
    measure: str  # "max_divergence" or "zero_concentrated_divergence"
    invariant: str | None
    margins: tuple[str, ...]  # which descriptors are declared
    nullable: tuple[str, ...]  # columns declared so without need


def _literal(source: random.Random, kind: str) -> Any:
    return ("lit", source.choice(VALUES[kind]))


def _expression(source: random.Random, kind: str, depth: int) -> Any:
    """Return an expression of about a type: the library judges whether it fits."""
    if depth <= 0 or source.random() < 0.15:
        own = [name for name in NAMES[:3] if KINDS[name] == kind]
        if own and source.random() < 0.9:
            return ("col", own[0])
        return (
            _literal(source, kind)
            if source.random() < 0.3
            else ("cast", ("col", source.choice(NAMES[:3])), *_cast(source, kind))
        )
    inner = _expression(source, kind, depth - 1)
    if kind == "bool":
        what = source.choice(
            ("compare", "compare", "is_null", "is_not_null", "is_nan", "is_finite", "not", "both", "cast")
        )
        other = source.choice(("int", "float", "str"))
        child = _expression(source, other, depth - 1)
        if what == "compare":
            return (what, source.choice(COMPARED), child, _leaf(source, other))
        if what in ("is_null", "is_not_null"):
            return (what, child)
        if what in ("is_nan", "is_finite"):
            return (what, _expression(source, "float", depth - 1))
        if what == "not":
            return (what, inner)
        if what == "both":
            return (what, source.choice("&|^"), inner, _expression(source, kind, depth - 1))
        return (what, child, *_cast(source, kind))
    choices = ["fill_null", "fill_null", "cast"]
    if kind == "int":
        choices += ["arithmetic", "clip", "cut"]
    if kind == "float":
        choices += ["arithmetic", "clip", "fill_nan", "fill_nan"]
    what = source.choice(choices)
    if what == "cast":
        return (
            what,
            _expression(source, source.choice(("int", "float", "str", "bool")), depth - 1),
            *_cast(source, kind),
        )
    if what == "arithmetic":
        return (what, source.choice(ARITHMETIC), inner, _leaf(source, kind))
    if what == "clip":
        return (what, inner, *source.choice(BOUNDS[kind]))
    if what == "cut":
        breaks = sorted(source.sample((-10.0, 0.0, 0.5, 1.0, 3.0), source.randint(1, 2)))
        return ("to_physical", (what, _expression(source, source.choice(("int", "float")), depth - 1), tuple(breaks)))
    return (what, inner, _leaf(source, kind) if source.random() < 0.2 else _literal(source, kind))


def _leaf(source: random.Random, kind: str) -> Any:
    own = [name for name in NAMES[:3] if KINDS[name] == kind]
    if own and source.random() < 0.3:
        column = ("col", own[0])
        return ("fill_null", column, _literal(source, kind)) if source.random() < 0.5 else column
    return _literal(source, kind)


def _cast(source: random.Random, kind: str) -> tuple[str, bool]:
    return source.choice(CASTS[kind]), source.random() < 0.05


def draw_steps(source: random.Random, metric: str, group: str | None) -> tuple[Any, ...]:
    """Return steps; rows of users are limited first, without which the library knows no sensitivity."""
    steps = tuple(_step(source, metric) for _ in range(source.choice((0, 0, 1, 2, 3))))
    if metric != "identifier":
        return steps
    if group is None or source.random() < 0.5:
        return (("truncate", (), source.randint(1, 2)), *steps)
    return (("truncate", (group,), source.randint(1, 2)), ("truncate_groups", (group,), source.randint(1, 2)), *steps)


def _step(source: random.Random, metric: str) -> Any:
    if metric == "identifier" and source.random() < 0.2:
        by = source.choice(((), ("i",), ("s",)))
        if by and source.random() < 0.5:
            return ("truncate_groups", by, source.randint(1, 2))
        return ("truncate", by, source.randint(1, 2))
    if source.random() < 0.35:
        return ("filter", _expression(source, "bool", 2))
    name = source.choice(NAMES[:3])
    return ("with", name, _expression(source, KINDS[name], source.randint(1, 3)))


def draw_aggregate(source: random.Random) -> Any:
    what = source.choice(AGGREGATES)
    kind = source.choice(("int", "float")) if what == "sum" else source.choice(("int", "float", "str", "bool"))
    if what == "len":
        return (what, None, None)
    expression = _expression(source, kind, source.randint(0, 3))
    if what != "sum":
        return (what, expression, None)
    if source.random() < 0.7:  # the library wants no missing values
        if kind == "float":
            expression = ("fill_nan", expression, ("lit", source.choice((0.0, 1.0))))
        expression = ("fill_null", expression, _literal(source, kind))
    return (what, expression, source.choice(BOUNDS[kind]))


def _row(source: random.Random) -> tuple[Any, ...]:
    values = [None if source.random() < 0.12 else source.choice(VALUES[KINDS[name]]) for name in NAMES[:3]]
    return (*values, source.randint(0, 3))


def draw_pair(source: random.Random, metric: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    few = [_row(source) for _ in range(source.randint(1, 3))]
    rows = [
        source.choice(few) if source.random() < 0.5 else _row(source)
        for _ in range(source.choice((0, 1, 2, 3, 4, 8, 12)))
    ]
    right = list(rows)
    if metric == "identifier":
        user = source.randint(0, 3)
        right = [row for row in rows if row[3] != user]
        if source.random() < 0.3:
            right += [(*_row(source)[:3], user) for _ in range(source.randint(1, 3))]
    else:
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            if right and source.random() < 0.6:
                del right[source.randrange(len(right))]
            if source.random() < 0.6:
                right.insert(source.randint(0, len(right)), _row(source))
    return (tuple(rows), tuple(right)) if source.random() < 0.5 else (tuple(right), tuple(rows))
