"""Random programs of OpenDP's data frames, held to the library's own accountant without drawing noise.

`python -m benchmarks.stability.opendp_queries [--seconds 300] [--seed 0] [--python PYTHON] [--known FILE]`
prints the counts and a script for each distinct signature. PYTHON has the packages of `opendp_queries.txt`.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ["RUST_BACKTRACE"] = "0"  # before the import: a refusal costs a hundred times as much with it
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from audit.checks.stability.programs import Case, Query, RefusedError, hunt, work
from benchmarks.stability.opendp_grammar import (
    DTYPES,
    INVARIANTS,
    KINDS,
    METRICS,
    NAMES,
    VALUES,
    Program,
    draw_aggregate,
    draw_pair,
    draw_steps,
)

SILENT = 1e-100  # a scale of 0 is refused


def _text(node: Any) -> str:
    """Return an expression as Python."""
    what, *rest = node
    if what == "col":
        return f"pl.col({rest[0]!r})"
    if what == "lit":
        return f"pl.lit({_value(rest[0])})"
    if what in ("compare", "arithmetic", "both"):
        return f"({_text(rest[1])} {rest[0]} {_text(rest[2])})"
    if what == "not":
        return f"~{_text(rest[0])}"
    inner = _text(rest[0])
    if what == "cast":
        return f"{inner}.cast({rest[1]}, strict={rest[2]})"
    if what == "cut":
        return f"{inner}.cut({list(rest[1])})"
    if what == "clip":
        return f"{inner}.clip({rest[1]!r}, {rest[2]!r})"
    if what in ("fill_null", "fill_nan"):
        return f"{inner}.{what}({_text(rest[1])})"
    return f"{inner}.{what}()"


def _value(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and math.isnan(value) else repr(value)


def _step_text(step: Any) -> str:
    what, *rest = step
    if what == "filter":
        return f".filter({_text(rest[0])})"
    if what == "with":
        return f".with_columns({rest[0]}={_text(rest[1])})"
    by, k = rest
    if what == "truncate":
        return f".filter(pl.int_range(pl.len()).over({', '.join(map(repr, ('id', *by)))}) < {k})"
    return f".filter(pl.struct({', '.join(map(repr, by))}).rank('dense').over('id') < {k + 1})"


def _aggregate_text(place: int, aggregate: Any) -> str:
    what, expression, bounds = aggregate
    name = f'.alias("c{place}")'
    if what == "len":
        return f"dp.len(signed=True){name}"
    given = f"{bounds}" if what == "sum" else "signed=True"
    return f"{_text(expression)}.dp.{what}({given}){name}"


def _plan_text(program: Program) -> str:
    aggregates = ", ".join(_aggregate_text(place, each) for place, each in enumerate(program.aggregates))
    steps = "".join(map(_step_text, program.steps))
    if program.group is None:
        return f"frame{steps}.select({aggregates})"
    plan = f"frame{steps}.group_by({program.group!r}).agg({aggregates})"
    if program.keys is None:
        return plan
    keys = f"pl.LazyFrame({{{program.group!r}: {list(program.keys)!r}}})"
    return f'{keys}.join({plan}, on={program.group!r}, how="left")'


def _key(value: Any) -> str:
    return repr(value)


def _changed(left: Any, right: Any) -> int:
    """Return the symmetric distance of two collections of rows, as multisets; NaN equals NaN."""
    one, other = Counter(map(_key, left)), Counter(map(_key, right))
    return sum(((one - other) + (other - one)).values())


def distance(case: Case) -> int:
    """Return the distance of a pair: rows of one side only, or users.

    A user whose rows changed counts 2, as the library's text on identifier distances has it: the user leaves and
    another comes.
    """
    if case.program.metric != "identifier":
        return _changed(case.left, case.right)
    users = {row[3] for row in (*case.left, *case.right)}
    total = 0
    for user in users:
        one, other = ([row for row in side if row[3] == user] for side in (case.left, case.right))
        total += 0 if not _changed(one, other) else 1 + bool(one and other)
    return total


def _groups(rows: Any, group: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(_key(row[NAMES.index(group)]), []).append(row)
    return found


def _margin_texts(case: Case) -> list[str]:
    """Return what holds of both datasets, tightly, of what the program declares."""
    program, texts = case.program, []
    sizes = [len(case.left), len(case.right)]
    settings = [f"max_length={max(*sizes, 1)}"] if "length" in program.margins else []
    if program.invariant == "lengths" and sizes[0] == sizes[1]:
        settings.append('invariant="lengths"')
    if settings:
        texts.append(f"by=[], {', '.join(settings)}")
    if program.group is None:
        return texts
    left, right = (_groups(side, program.group) for side in (case.left, case.right))
    longest = max((len(rows) for side in (left, right) for rows in side.values()), default=1)
    settings = [f"max_length={longest}"] if "group length" in program.margins else []
    if "groups" in program.margins:
        settings.append(f"max_groups={max(len(left), len(right), 1)}")
    if program.invariant and set(left) == set(right):
        equal = all(len(left[key]) == len(right[key]) for key in left)
        settings.append(f'invariant="{program.invariant if equal else "keys"}"')
    return [*texts, f"by=[{program.group!r}], {', '.join(settings)}"] if settings else texts


def _column_text(case: Case, name: str) -> str:
    place, kind = NAMES.index(name), KINDS[name]
    values = [row[place] for row in (*case.left, *case.right)]
    atom = {"int": 'T="i64"', "float": 'T="f64"', "str": 'T="String"'}[kind]
    nan = kind == "float" and (
        name in case.program.nullable or any(isinstance(v, float) and math.isnan(v) for v in values)
    )
    text = f"dp.atom_domain({atom}{f', nan={nan}' if kind == 'float' else ''})"
    null = name != "id" and (name in case.program.nullable or None in values)
    return f"dp.series_domain({name!r}, {f'dp.option_domain({text})' if null else text})"


def _domain_text(case: Case) -> str:
    text = f"dp.lazyframe_domain([{', '.join(_column_text(case, name) for name in NAMES)}])"
    for margin in _margin_texts(case):
        text = f"dp.with_margin({text}, dp.polars.Margin({margin}))"
    return text


def _metric_text(program: Program) -> str:
    if program.metric == "identifier":
        return 'dp.symmetric_id_distance(identifier=pl.col("id"))'
    return "dp.symmetric_distance()" if program.metric == "symmetric" else "dp.frame_distance(dp.symmetric_distance())"


def _distance_text(case: Case) -> str:
    total, program = distance(case), case.program
    if program.metric != "frame":
        return str(total)
    bounds = [f"dp.polars.Bound(per_group={total})"]
    if program.group is not None:
        left, right = (_groups(side, program.group) for side in (case.left, case.right))
        changes = [_changed(left.get(key, ()), right.get(key, ())) for key in {*left, *right}]
        most, moved = max(changes, default=0), sum(change > 0 for change in changes)
        bounds.append(f"dp.polars.Bound(by=[{program.group!r}], per_group={most}, num_groups={moved})")
    return f"[{', '.join(bounds)}]"


def _frame_text(rows: Any) -> str:
    columns = ", ".join(f'"{name}": [{", ".join(_value(row[at]) for row in rows)}]' for at, name in enumerate(NAMES))
    return f"pl.LazyFrame({{{columns}}}, schema=schema)"


class OpenDPFrames:
    """OpenDP's data frames as a library of queries."""

    def __init__(self) -> None:
        import opendp.prelude as dp
        import polars as pl

        warnings.simplefilter("ignore")
        dp.enable_features("contrib", "honest-but-curious")
        self.schema = {name: getattr(pl, DTYPES[KINDS[name]][3:]) for name in NAMES}
        self.names = {"dp": dp, "pl": pl, "schema": self.schema, "frame": pl.LazyFrame(schema=self.schema)}

    def draw(self, source: random.Random) -> Case:
        """Return a program and a pair."""
        metric = source.choice(METRICS)
        group = source.choice((None, None, None, "i", "s"))
        keys = None
        if group is not None and source.random() < 0.4:
            keys = tuple(source.sample(VALUES[KINDS[group]][:5], 2))
        program = Program(
            steps=draw_steps(source, metric, group),
            group=group,
            keys=keys,
            aggregates=tuple(draw_aggregate(source) for _ in range(source.choice((1, 1, 1, 2)))),
            metric=metric,
            measure=source.choice(("max_divergence", "zero_concentrated_divergence")),
            invariant=None if keys else source.choice(INVARIANTS[group is not None]),
            margins=tuple(each for each in ("length", "group length", "groups") if source.random() < 0.85),
            nullable=tuple(name for name in NAMES if source.random() < 0.2),
        )
        return Case(program, *draw_pair(source, metric))

    def build(self, case: Case) -> Query:
        """Build the query without noise."""
        try:
            plan = eval(_plan_text(case.program), self.names)
            domain, metric = eval(_domain_text(case), self.names), eval(_metric_text(case.program), self.names)
            dp = self.names["dp"]
            measure = getattr(dp, case.program.measure)()
            query = dp.m.make_private_lazyframe(domain, metric, measure, plan, SILENT)
            claim = query.map(eval(_distance_text(case), self.names))
        except Exception as error:  # the library refuses, or the constructors of data frames do
            raise RefusedError(str(error)) from None
        if not math.isfinite(claim):
            raise RefusedError("no finite claim")

        def scales() -> Mapping[str, float]:
            table = dp.summarize_polars_measurement(query)
            return dict(zip(table["column"], table["scale"], strict=True))

        group, order = case.program.group, 1 if case.program.measure == "max_divergence" else 2
        return Query(claim, lambda rows: self._cells(query, rows, group), scales, order, group is not None)

    def _cells(self, query: Any, rows: Any, group: str | None) -> Mapping[str, Any]:
        columns = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
        table = query(self.names["pl"].LazyFrame(columns, schema=self.schema)).collect()
        if group is None:
            return {name: table[name][0] for name in table.columns}
        cells = {}
        for row in table.iter_rows(named=True):
            key = _key(row.pop(group))
            cells.update({f"{name}:{key}": value for name, value in row.items()})
        return cells

    def smaller(self, program: Program) -> Iterator[Program]:
        """Yield programs with a step, an aggregate, an operator or a declaration less."""
        for name in ("steps", "aggregates"):
            parts = getattr(program, name)
            for at in range(len(parts)):
                if len(parts) > (name == "aggregates"):
                    yield program._replace(**{name: parts[:at] + parts[at + 1 :]})
        if program.group is not None:
            yield program._replace(group=None, keys=None)
        for change in ({"nullable": ()}, {"invariant": None}, {"margins": ()}, {"metric": "symmetric"}, {"keys": None}):
            if any(getattr(program, name) != value for name, value in change.items()):
                yield program._replace(**change)
        for at, aggregate in enumerate(program.aggregates):
            for other in _inner(aggregate[1]):
                new = (aggregate[0], other, aggregate[2])
                yield program._replace(aggregates=(*program.aggregates[:at], new, *program.aggregates[at + 1 :]))
        for at, step in enumerate(program.steps):
            if step[0] in ("with", "filter"):
                for other in _inner(step[-1]):
                    yield program._replace(steps=(*program.steps[:at], (*step[:-1], other), *program.steps[at + 1 :]))

    def signature(self, program: Program) -> tuple[str, ...]:
        """Return the operators and declarations that are left."""
        found = {f".{aggregate[0]}" for aggregate in program.aggregates} | {step[0] for step in program.steps}
        for expression in (
            *(each[1] for each in program.aggregates),
            *(s[-1] for s in program.steps if s[0] in ("with", "filter")),
        ):
            found |= _operators(expression)
        declared = [program.invariant, *program.margins]
        found |= {f"[{each}]" for each in declared if each} | ({"group"} if program.group else set())
        found |= {"join"} if program.keys else set()
        return tuple(sorted(found | ({f"[{program.metric}]"} if program.metric != "symmetric" else set())))

    def script(self, case: Case) -> str:
        """Return a script of at most fifteen lines."""
        schema = ", ".join(f'"{name}": {DTYPES[KINDS[name]]}' for name in NAMES)
        return "\n".join(
            (
                "import math, polars as pl, opendp.prelude as dp",
                'dp.enable_features("contrib", "honest-but-curious")',
                f"schema = {{{schema}}}",
                f"x = {_frame_text(case.left)}",
                f"y = {_frame_text(case.right)}  # at distance {_distance_text(case)}",
                "frame = pl.LazyFrame(schema=schema)",
                f"domain = {_domain_text(case)}",
                f"query = {_plan_text(case.program)}",
                f"space, measure = (domain, {_metric_text(case.program)}), dp.{case.program.measure}()",
                f"quiet, noisy = (dp.m.make_private_lazyframe(*space, measure, query, k) for k in ({SILENT}, 1.0))",
                f'print("claimed at scale 1:", noisy.map({_distance_text(case)}))',
                'print("noise:", dp.summarize_polars_measurement(noisy))',
                "print(quiet(x).collect(), quiet(y).collect())",
            )
        )


def _inner(node: Any) -> Iterator[Any]:
    """Yield the parts of an expression in its place, then the expression with smaller parts."""
    if not isinstance(node, tuple):
        return
    for part in node[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            yield part
    for at, part in enumerate(node):
        if at and isinstance(part, tuple) and part and isinstance(part[0], str):
            for other in _inner(part):
                yield (*node[:at], other, *node[at + 1 :])


def _operators(node: Any) -> set[str]:
    if not isinstance(node, tuple) or not node or not isinstance(node[0], str):
        return set()
    own = {f"{node[0]}{node[1]}" if node[0] == "arithmetic" else node[0]} - {"col", "lit"}
    return own.union(*(_operators(part) for part in node[1:])) if node[0] != "lit" else own


def main() -> None:
    if sys.argv[1:2] == ["work"]:
        seed, state, journal, seconds, *known = sys.argv[2:]
        work(OpenDPFrames(), int(seed), Path(state), Path(journal), float(seconds), known)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--known", type=Path, help="signatures that are no news, one a line")
    asked = parser.parse_args()
    known = asked.known.read_text().splitlines() if asked.known else []
    command = [asked.python, "-m", "benchmarks.stability.opendp_queries", "work"]
    found = hunt(command, seed=asked.seed, seconds=asked.seconds, known=known)
    rate = found.accepted / max(found.seconds, 1e-9)
    print(
        f"{found.programs:,} programs in {found.seconds:.0f} CPU s, "
        f"{found.accepted:,} accepted ({rate:.0f} a CPU second)"
    )
    print(f"{found.compared:,} compared, {found.grouped:,} of groups, {len(found.aborts)} aborts, {found.raw} flags")
    for name, flags in sorted(found.causes().items(), key=lambda cause: -len(cause[1])):
        shortest = min(flags, key=lambda flag: len(flag.script))
        print(
            f"\n## {len(flags)} x {name}: {shortest.attained:.3g} > {shortest.claim:.3g}; {shortest.said}"
            f"\n{shortest.script}"
        )
    sys.exit(any(flag.kind == "loss" for flag in found.flags))


if __name__ == "__main__":
    main()
