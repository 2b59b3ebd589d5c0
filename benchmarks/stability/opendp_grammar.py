"""Draw random programs of OpenDP's data frames, and two datasets that are neighbors under the metric of each.

No bug is named here: constructors, constants and metrics are those of the library's documentation. Every kind of
expression that the planner accepts is drawn, and ends of the ranges of types stand among the constants.
"""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

KINDS = {"i": "int", "f": "float", "s": "str", "d": "date", "id": "int"}  # columns of every frame
NAMES = tuple(KINDS)
DATA = NAMES[:-1]
DTYPES = {"int": "pl.Int64", "float": "pl.Float64", "str": "pl.String", "date": "pl.Date"}
CASTS = {
    "int": ("pl.Int64", "pl.Int64", "pl.Int32", "pl.Int16", "pl.Int8", "pl.UInt32", "pl.UInt64"),
    "float": ("pl.Float64", "pl.Float32"),
    "str": ("pl.String",),
    "bool": ("pl.Boolean",),
    "date": ("pl.Date", "pl.Date", 'pl.Datetime("us")'),
}
VALUES: Mapping[str, tuple[Any, ...]] = {
    "int": (0, 0, 1, -1, 2, 3, 10, 100, 300, -10, 2**30, 2**30, 2**31 - 1, 2**31, 2**40, -(2**62)),
    "float": (
        0.0,
        1.0,
        -1.0,
        0.5,
        3.0,
        10.0,
        -10.0,
        1e6,
        1e17,
        3e38,
        -3e38,
        1e300,
        math.inf,
        -math.inf,
        math.nan,
        math.nan,
    ),
    "str": ("", "a", "b", "1", "-2.5", "nan", "true", "2024-02-29"),
    "bool": (True, False),
    "date": (
        datetime.date(1970, 1, 1),
        datetime.date(1969, 12, 31),
        datetime.date(2024, 2, 29),
        datetime.date(9999, 12, 31),
        datetime.date(1, 1, 1),
    ),
}
BOUNDS = {
    "int": ((0, 1), (0, 10), (-10, 10), (-3, 7), *((0, 2**30),) * 3, (-(2**31), 2**31 - 1)),
    "float": ((0.0, 1.0), (-10.0, 10.0), (0.0, 3e38), (-3e38, 3e38)),
}
ARITHMETIC = ("+", "-", "*", "//", "%", "/")
COMPARED = ("<", "<=", "==", "!=", ">", ">=")
PARTS_OF_DATES = ("year", "month", "day", "ordinal_day", "weekday", "quarter", "century")
AGGREGATES = (*("sum",) * 5, "count", "count", "len", "size", "null_count", "n_unique")
SPELLED = (
    "sum",
    "count",
    "len",
    "null_count",
    "n_unique",
)  # aggregates that may be spelled out: the library then adds nothing to them
SUMMARIES = ("first", "last", "max", "min", "sum", "n_unique", "len")  # of the rows of a group
QUANTILES = {0.5: (1, 2), 0.25: (1, 4), 0.75: (3, 4), 0.0: (0, 1), 1.0: (1, 1)}  # as fractions
INVARIANTS = ((None, "lengths"), (None, "keys", "keys", "lengths", "lengths"))  # of all rows, of groups
# Descriptors and how often they are declared; lengths are those of the pair, or twice as long
MARGINS = {"length": 0.95, "group length": 0.9, "groups": 0.9, "longer": 0.5}
USERS = ("identifier", "change_one_identifier")  # metrics on users
NEW = 3  # a user who is in no dataset before another is replaced
REPLACED = ("change_one", "hamming")  # on datasets of one size
METRICS = (*("symmetric", "frame", "identifier") * 2, *REPLACED, "insert_delete", "change_one_identifier")


class Program(NamedTuple):
    """A query and what is declared of its data; facts are read from the pair."""

    steps: tuple[Any, ...]
    group: tuple[Any, ...]  # expressions; empty for a select
    keys: tuple[Any, ...] | None  # public ones, joined
    joined: int  # on how many columns of the group
    aggregates: tuple[Any, ...]  # (what, expression, bounds); what is spelled out has "plain " before it
    metric: str
    measure: str  # "max_divergence" or "zero_concentrated_divergence"
    invariant: str | None
    margins: tuple[str, ...]  # which descriptors are declared
    nullable: tuple[str, ...]  # columns declared so without need
    threshold: int | None = None  # of rows in a group whose key is private; the measure then has a delta


def _literal(source: random.Random, kind: str) -> Any:
    """Return a constant; of dates a column, since the library takes no constants of this type."""
    return ("col", "d") if kind == "date" else ("lit", source.choice(VALUES[kind]))


def _column(kind: str) -> Any:
    return next((("col", name) for name in DATA if KINDS[name] == kind), None)


def _cast(source: random.Random, kind: str, child: Any) -> Any:
    return ("cast", child, source.choice(CASTS[kind]), source.random() < 0.05)


def _leaf(source: random.Random, kind: str) -> Any:
    column = _column(kind)
    if column is None or source.random() < 0.6:
        return _literal(source, kind)
    return ("fill_null", column, _literal(source, kind)) if source.random() < 0.5 else column


def _expression(source: random.Random, kind: str, depth: int) -> Any:
    """Return an expression of about a type: the library judges whether it fits."""
    if depth <= 0 or source.random() < 0.15:
        return _shallow(source, kind)
    if source.random() < 0.15:
        return _replaced(source, kind, depth)
    return {"bool": _truth, "date": _date}.get(kind, _number_or_text)(source, kind, depth)


def _shallow(source: random.Random, kind: str) -> Any:
    column = _column(kind)
    if column is not None and source.random() < (0.5 if kind == "date" else 0.9):
        return column
    if source.random() < 0.3:
        return _literal(source, kind)
    return _cast(source, kind, ("col", source.choice(DATA)))


def _replaced(source: random.Random, kind: str, depth: int) -> Any:
    """Return a table of replacements, with or without a default."""
    values = (*VALUES[kind], None)
    old = tuple(source.sample(values, source.randint(1, 2)))
    child = _expression(source, kind, depth - 1)
    if source.random() < 0.5:
        return ("replace", child, old, (source.choice(values),))
    return ("replace_strict", child, old, (source.choice(VALUES[kind]),), source.choice(values))


def _truth(source: random.Random, kind: str, depth: int) -> Any:
    what = source.choice(("compare", "compare", "is_null", "is_not_null", "is_nan", "is_finite", "not", "both", "cast"))
    other = source.choice(("int", "float", "str", "date"))
    if what == "compare":
        return (what, source.choice(COMPARED), _expression(source, other, depth - 1), _leaf(source, other))
    if what in ("is_null", "is_not_null"):
        return (what, _expression(source, other, depth - 1))
    if what in ("is_nan", "is_finite"):
        return (what, _expression(source, "float", depth - 1))
    if what == "not":
        return (what, _expression(source, kind, depth - 1))
    if what == "both":
        return (what, source.choice("&|^"), _expression(source, kind, depth - 1), _expression(source, kind, depth - 1))
    return _cast(source, kind, _expression(source, other, depth - 1))


def _date(source: random.Random, kind: str, depth: int) -> Any:
    what = source.choice(("fill_null", "cast", "cast", "parse"))
    if what == "cast":
        return _cast(source, kind, _expression(source, source.choice(("int", "date")), depth - 1))
    if what == "parse":
        return (what, _expression(source, "str", depth - 1), source.choice(CASTS[kind]))
    return (what, _expression(source, kind, depth - 1), _literal(source, kind))


def _number_or_text(source: random.Random, kind: str, depth: int) -> Any:
    choices = ["fill_null", "fill_null", "cast", "cast"]
    if kind == "int":
        choices += ["arithmetic", "arithmetic", "clip", "physical", "physical", "part"]
    if kind == "float":
        choices += ["arithmetic", "clip", "fill_nan", "fill_nan"]
    what = source.choice(choices)
    if what == "cast":
        other = kind if source.random() < 0.5 else source.choice(tuple(VALUES))  # a cast to another width, or type
        return _cast(source, kind, _expression(source, other, depth - 1))
    if what == "arithmetic":
        return (what, source.choice(ARITHMETIC), _expression(source, kind, depth - 1), _leaf(source, kind))
    if what == "clip":
        return (what, _expression(source, kind, depth - 1), *source.choice(BOUNDS[kind]))
    if what == "part":
        return (what, _expression(source, "date", depth - 1), source.choice(PARTS_OF_DATES))
    if what == "physical":
        inner = _expression(source, "date", depth - 1) if source.random() < 0.6 else _cut(source, depth)
        return ("to_physical", inner)
    inner = _expression(source, kind, depth - 1)
    return (what, inner, _leaf(source, kind) if source.random() < 0.2 else _literal(source, kind))


def _cut(source: random.Random, depth: int) -> Any:
    breaks = sorted(source.sample((-10.0, 0.0, 0.5, 1.0, 3.0), source.randint(1, 2)))
    return ("cut", _expression(source, source.choice(("int", "float")), depth - 1), tuple(breaks))


def draw_steps(source: random.Random, metric: str, group: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return steps; rows of users are limited first, without which the library knows no sensitivity."""
    steps = tuple(_step(source, metric, group) for _ in range(source.choice((0, 0, 0, 1, 1, 2))))
    if metric not in USERS:
        return steps
    named = tuple(node[1] for node in group if node[0] == "col")
    if not named or source.random() < 0.3:
        return (_truncate(source, ()), *steps)
    limited = (_truncate(source, named), ("truncate_groups", named, source.randint(1, 2)))
    return (*(limited if source.random() < 0.7 else limited[::-1]), *steps)


def _truncate(source: random.Random, by: tuple[str, ...]) -> Any:
    if source.random() < 0.2:
        return ("collapse", ("id", *by), tuple((name, source.choice(SUMMARIES)) for name in DATA if name not in by))
    return ("truncate", by, source.randint(1, 2))


def _step(source: random.Random, metric: str, group: tuple[Any, ...]) -> Any:
    draw = source.random()
    if draw < 0.3:
        return ("filter", _expression(source, "bool", 2))
    if draw < 0.4 and metric not in USERS:
        by = source.choice((("i",), ("s",), ("i", "s")))
        return ("collapse", by, tuple((name, source.choice(SUMMARIES)) for name in NAMES if name not in by))
    keys = [node[1] for node in group if node[0] == "col"]
    name = source.choice(keys if keys and source.random() < 0.5 else DATA)
    what = "select" if draw < 0.5 and metric not in USERS else "with"
    constant = source.random() < 0.2
    return (what, name, _literal(source, KINDS[name]) if constant else _expression(source, KINDS[name], 1))


def draw_group(source: random.Random) -> tuple[Any, ...]:
    """Return grouping expressions: mostly columns, also two of them, or something that is computed from one."""
    draw = source.random()
    if draw < 0.5:
        return ()
    if draw < 0.85:
        return (("col", source.choice(("i", "s", "s"))),)
    if draw < 0.93:
        return (("col", "i"), ("col", "s"))
    return (_expression(source, "bool", 1),)


def draw_keys(source: random.Random, group: tuple[Any, ...], steps: Any) -> tuple[tuple[Any, ...] | None, int]:
    """Return public keys of a group, or none, and on how many of its columns they are joined."""
    if any(node[0] != "col" for node in group) or not group or source.random() < 0.5:
        return None, 0
    joined = len(group) if source.random() < 0.7 else 1
    own = _constants(steps)
    rows = {
        tuple(source.choice((*VALUES[KINDS[name]][:4], *own[KINDS[name]] * 4)) for _, name in group[:joined])
        for _ in range(2)
    }
    return tuple(sorted(rows, key=repr)), joined


def draw_aggregate(source: random.Random) -> Any:
    """Return what is released, of which expression, and within which bounds; sometimes spelled out."""
    what = source.choice(AGGREGATES)
    plain = "plain " if what in SPELLED and source.random() < 0.4 else ""
    if what == "len":
        return (plain + what, None, None)
    kind = source.choice(("int", "float")) if what == "sum" else source.choice(tuple(VALUES))
    expression = _expression(source, kind, source.choice((0, 1, 2, 2)))
    if what in ("count", "n_unique") and source.random() < 0.2:
        expression = _cut(source, 2)
    if what == "count" and source.random() < 0.5:  # what has no missing values may be counted for free
        expression = _around(expression, lambda node: ("fill_null", node, _literal(source, KINDS[node[1]])))
    if what == "sum" and source.random() < 0.8:  # the library wants no missing values
        if kind == "float":
            expression = ("fill_nan", expression, ("lit", source.choice((0.0, 1.0))))
        expression = ("fill_null", expression, _literal(source, kind))
    if source.random() < 0.12:
        shorter = source.choice(("drop_nulls", "where", "drop_nans" if kind == "float" else "drop_nulls"))
        expression = (shorter, expression, *((_expression(source, "bool", 1),) if shorter == "where" else ()))
    return (plain + what, expression, source.choice(BOUNDS[kind]) if what == "sum" else None)


def widened(source: random.Random, program: Program) -> Program:
    """Return a program with quantiles, or with private keys and a threshold, in place of a part.

    With a threshold the noise is Gaussian: the tail of Laplace noise overflows at scales near 0.
    """
    aggregates = tuple(_quantile(source) if source.random() < 0.4 else each for each in program.aggregates)
    if not program.group or source.random() < 0.3:
        return program._replace(aggregates=aggregates)
    counted = (("len", None, None), *aggregates[:1]) if source.random() < 0.9 else aggregates
    threshold = source.choice((1, 2, 2, 3, 3, 4, 8))
    plain = program._replace(aggregates=counted, keys=None, joined=0, invariant=None, threshold=threshold)
    return plain._replace(measure="zero_concentrated_divergence")


def _quantile(source: random.Random) -> Any:
    kind = source.choice(("int", "float"))
    expression = _expression(source, kind, source.choice((0, 1, 2)))
    if kind == "float":
        expression = ("fill_nan", expression, ("lit", source.choice((0.0, 1.0))))
    if source.random() < 0.8:
        expression = ("fill_null", expression, _literal(source, kind))
    values = [value for value in VALUES[kind] if math.isfinite(value)]
    candidates = tuple(sorted({source.choice(values) for _ in range(4)}))
    return ("quantile", expression, (source.choice(tuple(QUANTILES)), candidates))


def _around(node: Any, wrapped: Any) -> Any:
    """Return an expression with its columns wrapped."""
    if not is_node(node):
        return node
    return wrapped(node) if node[0] == "col" else (node[0], *(_around(part, wrapped) for part in node[1:]))


def is_node(value: Any) -> bool:
    """Return whether a part of an expression is an expression."""
    return isinstance(value, tuple) and bool(value) and value[0] in NODES


PLAIN = ("drop_nulls", "drop_nans", "is_null", "is_not_null", "is_nan", "is_finite", "not", "to_physical")
GIVEN = ("cast", "fill_null", "fill_nan", "clip", "cut", "part", "parse", "replace", "replace_strict", "where")
NODES = frozenset(("col", "lit", "compare", "arithmetic", "both", *PLAIN, *GIVEN))


Pools = Mapping[str, tuple[Any, ...]]


def _constants(node: Any) -> Mapping[str, tuple[Any, ...]]:
    """Return the constants of a part of a program by type, bounds among them."""
    found: dict[str, tuple[Any, ...]] = dict.fromkeys(VALUES, ())
    for part in _scalars(node):
        kind = {int: "int", float: "float", str: "str"}.get(type(part))
        if kind:
            found[kind] += (part,)
    return found


def _scalars(node: Any) -> Iterator[Any]:
    if is_node(node) and node[0] == "lit":
        yield node[1]
    elif isinstance(node, tuple):
        for part in node:
            yield from _scalars(part)
    elif isinstance(node, (int, float)):
        yield node


def _pools(source: random.Random, program: Program) -> Pools:
    """Return the values of each column: all of its type, or two of them, so that sums of equal ones grow large.

    Constants of the program are preferred, and both of its bounds.
    """
    own = _constants((program.steps, program.aggregates))
    sums = (each for each in program.aggregates if each[0].endswith("sum"))
    bounds = {"int": (), "float": ()} | {type(each[2][0]).__name__: each[2] for each in sums}
    pools = {}
    for name in DATA:
        of_type, of_program, draw = VALUES[KINDS[name]], own[KINDS[name]], source.random()
        two = [source.choice(of_program if of_program and source.random() < 0.6 else of_type) for _ in range(2)]
        pools[name] = tuple(two) if draw < 0.4 else (*of_type, *of_program)
        if draw > 0.8 and bounds.get(KINDS[name]):
            pools[name] = bounds[KINDS[name]]
    return pools


def _row(source: random.Random, pools: Pools) -> tuple[Any, ...]:
    values = [None if source.random() < 0.12 else source.choice(pools[name]) for name in DATA]
    return (*values, source.randint(0, 2))


def draw_pair(source: random.Random, program: Program) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return two datasets that differ in few rows, or in those of a user, and keep what is declared invariant."""
    pools = _pools(source, program)
    few = [_row(source, pools) for _ in range(source.randint(1, 3))]
    size = source.choice((0, 1, 1, 2, 2, 3, 4, 4, 8, 8))
    rows = [source.choice(few) if source.random() < 0.5 else _row(source, pools) for _ in range(size)]
    changed = _without_user if program.metric in USERS else _changed
    right = changed(source, rows, program, pools)
    return (tuple(rows), tuple(right)) if source.random() < 0.5 else (tuple(right), tuple(rows))


def _without_user(source: random.Random, rows: list[Any], program: Program, pools: Pools) -> list[Any]:
    if not rows:
        rows.append(_row(source, pools))
    user, another = source.choice(rows)[-1], program.metric == "change_one_identifier"
    right = [row for row in rows if row[-1] != user]
    if another or source.random() < 0.2:
        new = NEW if another else user
        right += [(*_row(source, pools)[:-1], new) for _ in range(source.randint(1, 3))]
    return right


def _changed(source: random.Random, rows: list[Any], program: Program, pools: Pools) -> list[Any]:
    right, replaced = list(rows), program.metric in REPLACED or program.invariant == "lengths"
    if replaced and not right:
        rows.append(_row(source, pools))
        right = list(rows)
    kept = [NAMES.index(node[1]) for node in program.group if node[0] == "col" and program.invariant]
    less = source.choice((0.0, 0.5, 1.0))  # of rows that are added or removed, the share of those removed
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        new = _row(source, pools)
        at = source.randrange(len(right)) if right else 0
        if replaced or (right and source.random() < 0.2):
            right[at] = tuple(right[at][k] if k in kept else value for k, value in enumerate(new))
        elif right and source.random() < less:
            del right[at]
        else:
            right.insert(at, new)
    return right
