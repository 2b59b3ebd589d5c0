"""Random programs of OpenDP's data frames, held to the library's own accountant without drawing noise.

`python -m benchmarks.stability.opendp_queries [--seconds 300] [--seed 0] [--python PYTHON] [--mask]` prints the counts,
the causes of `opendp_causes.toml` that it met, and a script for each signature that is in no table.
`--save FILE` keeps the flags. `... play FILE` plays the game on the shortest flags of each cause, `... again FILE`
screens the shortest ones in another release: both run where the library is. PYTHON has what `opendp_queries.txt` lists.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import inspect
import json
import math
import os
import random
import statistics
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["RUST_BACKTRACE"] = "0"  # before the import: a refusal costs a hundred times as much with it
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from benchmarks.stability import opendp_grammar as grammar
from benchmarks.stability.opendp_facts import (
    column_texts,
    distance_text,
    domain_text,
    frame_text,
    key_text,
    margin_texts,
    metric_text,
)
from benchmarks.stability.opendp_grammar import DTYPES, KINDS, NAMES, Program, is_node
from benchmarks.stability.opendp_text import group_names, measure_text, plan_text, values_text
from benchmarks.stability.programs import (
    ROUNDING,
    Case,
    Cells,
    Query,
    QueryViolation,
    RefusedError,
    Withheld,
    owners,
    screen,
    shortest,
    tabulate,
    work,
)

EARLIER = {"max_length": "max_partition_length", "max_groups": "max_num_partitions", "invariant": "public_info"}
SILENT = 1e-100  # a scale of 0 is refused
MOST_DELTA = 1e-3  # that is claimed at this scale: a claim that is near 1 says nothing
NOISE = 100.0  # scales that its noise does not exceed
CLEAR = 4.0  # times the claim in rho, which is twice the claim of a Gaussian shift: seen in a few thousand outputs
MOST = 4  # rows on a side of a case that is made clearer
CAUSES = Path(__file__).with_name("opendp_causes.toml")


class OpenDPFrames:
    """OpenDP's data frames as a library of queries."""

    def __init__(self, wide: bool = False) -> None:
        import opendp.prelude as dp
        import polars as pl

        self.wide = wide  # with quantiles and thresholds
        warnings.simplefilter("ignore")
        dp.enable_features("contrib", "honest-but-curious")
        self.schema = {name: getattr(pl, DTYPES[KINDS[name]][3:]) for name in NAMES}
        frame = pl.LazyFrame(schema=self.schema)
        self.names = {"dp": dp, "pl": pl, "datetime": datetime, "schema": self.schema, "frame": frame}
        named_now = "invariant" in inspect.signature(dp.polars.Margin).parameters  # not before 0.14
        self.renamed = {} if named_now else EARLIER
        self.made: dict[str, Any] = {}
        self.signed = "signed=True" if "signed" in inspect.signature(dp.len).parameters else ""  # not before 0.16

    def draw(self, source: random.Random) -> Case:
        """Return a program and a pair."""
        metric, group = source.choice(grammar.METRICS), grammar.draw_group(source)
        steps = grammar.draw_steps(source, metric, group)
        keys, joined = grammar.draw_keys(source, group, steps)
        program = Program(
            steps=steps,
            group=group,
            keys=keys,
            joined=joined,
            aggregates=tuple(grammar.draw_aggregate(source) for _ in range(source.choice((1, 1, 1, 2)))),
            metric=metric,
            measure=source.choice(("max_divergence", "zero_concentrated_divergence")),
            invariant=None if keys else source.choice(grammar.INVARIANTS[bool(group)]),
            margins=tuple(each for each, share in grammar.MARGINS.items() if source.random() < share),
            nullable=tuple(name for name in NAMES if source.random() < 0.1),
        )
        program = grammar.widened(source, program) if self.wide else program
        return Case(program, *grammar.draw_pair(source, program))

    def measurement(self, case: Case, scale: float) -> tuple[Any, Any]:
        """Return the measurement at a scale, and its claim for the pair."""
        query = self.private(case, scale, case.program.threshold)
        try:
            return query, query.map(eval(distance_text(case), self.names))
        except Exception as error:
            raise RefusedError(str(error)) from None

    def private(self, case: Case, scale: float, threshold: int | None) -> Any:
        """Return the measurement at a scale and a threshold."""
        try:
            dp, plan = self.names["dp"], eval(plan_text(case.program, self.signed), self.names)
            domain = dp.lazyframe_domain([self._made(text) for text in column_texts(case)])
            for margin in margin_texts(case):
                for name, earlier in self.renamed.items():
                    margin = margin.replace(f"{name}=", f"{earlier}=")
                domain = dp.with_margin(domain, eval(f"dp.polars.Margin({margin})", self.names))
            metric, measure = self._made(metric_text(case.program)), self._made(measure_text(case.program))
            return dp.m.make_private_lazyframe(domain, metric, measure, plan, scale, threshold)
        except Exception as error:  # the library refuses, or the constructors of data frames do
            raise RefusedError(str(error)) from None

    def _made(self, text: str) -> Any:
        """Return what a text evaluates to, made once: it does not change."""
        if text not in self.made:
            self.made[text] = eval(text, self.names)
        return self.made[text]

    def build(self, case: Case) -> Query:
        """Build the query without noise."""
        program = case.program
        query, claim = self.measurement(case, SILENT)
        claim, delta = claim if isinstance(claim, tuple) else (claim, 0.0)
        if not math.isfinite(claim) or delta > MOST_DELTA:
            raise RefusedError("no finite claim")
        whole = None if program.threshold is None else self.private(case, SILENT, 0)

        def scales() -> Mapping[str, float]:
            table = self.names["dp"].summarize_polars_measurement(query)
            return dict(zip(table["column"], table["scale"], strict=True))

        def run(rows: Any) -> Cells:
            found = self._scored(program, rows, self.cells(query, rows, group))
            if whole is None:
                return found
            everything = self._scored(program, rows, self.cells(whole, rows, group))
            return {name: Withheld(value) for name, value in everything.items()} | found

        group, order = group_names(program.group), 1 if program.measure == "max_divergence" else 2
        return Query(claim, run, scales, order, bool(group), NOISE)

    def _scored(self, program: Program, rows: Any, cells: Cells) -> Cells:
        """Return answers with the scores of all candidates in place of the one that is selected.

        By the library's text, candidate c scores the distance of the rows below c from their share alpha of those
        that do not equal c; noise is added to the scores, in units of the denominator of alpha.
        """
        found, group = dict(cells), group_names(program.group)
        for place, (what, _, given) in enumerate(program.aggregates):
            if what != "quantile":
                continue
            name, values = f"c{place}", {}
            table = eval(values_text(program, place), {**self.names, "frame": self._frame(rows)}).collect()
            if not group:
                values[name] = table[name].to_list()
            for row in table.iter_rows(named=True) if group else ():
                key = ", ".join(key_text(row[each]) for each in group)
                values[f"{name}:{key}"] = row[name]
            for cell in [cell for cell in found if cell.partition(":")[0] == name and found[cell] is not None]:
                found[cell] = _scores(values.get(cell, []), *given)
        return found

    def _frame(self, rows: Any) -> Any:
        columns = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
        return self.names["pl"].LazyFrame(columns, schema=self.schema)

    def cells(self, query: Any, rows: Any, group: Any) -> Cells:
        """Return the answers of a query by name, or by name and group."""
        table = query(self._frame(rows)).collect()
        if not group:
            return {name: table[name][0] for name in table.columns}
        found = {}
        for row in table.iter_rows(named=True):
            key = ", ".join(key_text(row.pop(name)) for name in group)
            found.update({f"{name}:{key}": value for name, value in row.items()})
        return found

    def smaller(self, program: Program) -> Iterator[Program]:
        """Yield programs with a step, an aggregate, an operator or a declaration less."""
        for name in ("steps", "aggregates"):
            parts = getattr(program, name)
            for at in range(len(parts)):
                if len(parts) > (name == "aggregates"):
                    yield program._replace(**{name: parts[:at] + parts[at + 1 :]})
        if program.group:
            yield program._replace(group=(), keys=None)
            if len(program.group) > 1 and program.joined != 1:
                yield program._replace(group=program.group[:1], keys=None)
        plain = {"nullable": (), "invariant": None, "margins": (), "metric": "symmetric", "keys": None}
        plain |= {"threshold": None}
        for name, value in plain.items():
            if getattr(program, name) != value:
                yield program._replace(**{name: value})
        if len(program.group) == 1:
            yield from (program._replace(group=(other,)) for other in _inner(program.group[0]))
            if program.group[0][0] not in ("col", "is_null"):
                yield from (program._replace(group=(("is_null", ("col", name)),)) for name in grammar.DATA)
        for at, aggregate in enumerate(program.aggregates):
            for other in _simpler(aggregate[1]):
                new = (aggregate[0], other, aggregate[2])
                yield program._replace(aggregates=(*program.aggregates[:at], new, *program.aggregates[at + 1 :]))
        for at, step in enumerate(program.steps):
            if step[0] in ("with", "filter", "select"):
                for other in _simpler(step[-1]):
                    yield program._replace(steps=(*program.steps[:at], (*step[:-1], other), *program.steps[at + 1 :]))

    def signature(self, program: Program) -> tuple[str, ...]:
        """Return the operators and declarations that are left."""
        found = {f".{aggregate[0].removeprefix('plain ')}" for aggregate in program.aggregates}
        found |= {"plain" for aggregate in program.aggregates if aggregate[0].startswith("plain ")}
        found |= {step[0] for step in program.steps}
        steps = (step[-1] for step in program.steps if step[0] in ("with", "filter", "select"))
        for expression in (*(each[1] for each in program.aggregates), *steps, *program.group):
            found |= _operators(expression)
        found |= {f"[{each.replace(' ', '-')}]" for each in (program.invariant, *program.margins) if each}
        found |= {"[threshold]"} if program.threshold is not None else set()
        found |= {"[lengths]"} if program.metric in grammar.REPLACED else set()  # sizes are invariant under these
        found |= {"group"} if program.group else set()
        found |= {"two-keys"} if len(program.group) > 1 else set()
        found |= {"computed-key"} if any(node[0] != "col" for node in program.group) else set()
        if program.keys:
            found |= {"join" if program.joined == len(program.group) else "join-on-some"}
        return tuple(sorted(found | {f"[{program.metric}]"}))

    def script(self, case: Case) -> str:
        """Return a script of at most fifteen lines."""
        schema = ", ".join(f'"{name}": {DTYPES[KINDS[name]]}' for name in NAMES)
        return "\n".join(
            (
                "import datetime, polars as pl, opendp.prelude as dp",
                'dp.enable_features("contrib", "honest-but-curious")',
                f"schema = {{{schema}}}",
                f"x = {frame_text(case.left)}",
                f"y = {frame_text(case.right)}  # at distance {distance_text(case)}",
                "frame = pl.LazyFrame(schema=schema)",
                f"domain = {domain_text(case)}",
                f"query = {plan_text(case.program, self.signed)}",
                f"space, measure = (domain, {metric_text(case.program)}), {measure_text(case.program)}",
                f"make = lambda k: dp.m.make_private_lazyframe(*space, measure, query, k, {case.program.threshold})",
                f"quiet, noisy = make({SILENT}), make(1.0)",
                f'print("claimed at scale 1:", noisy.map({distance_text(case)}))',
                'print("noise:", dp.summarize_polars_measurement(noisy))',
                "print(quiet(x).collect(), quiet(y).collect())",
            )
        )


def _scores(values: Sequence[Any], alpha: float, candidates: Sequence[float]) -> tuple[int, ...]:
    candidates, share, of = [float(each) for each in candidates], *grammar.QUANTILES[alpha]
    middle = statistics.median(candidates)  # what the library takes for missing values
    filled = [middle if value is None else float(value) for value in values]
    below = [sum(value < one for value in filled) for one in candidates]
    other = [sum(value != one for value in filled) for one in candidates]
    return tuple(abs(of * low - share * rest) for low, rest in zip(below, other, strict=True))


def _simpler(node: Any) -> Iterator[Any]:
    """Yield plain columns, then smaller expressions."""
    if is_node(node) and node[0] != "col":
        yield from (("col", name) for name in grammar.DATA)
    yield from _inner(node)


def _inner(node: Any) -> Iterator[Any]:
    """Yield the parts of an expression in its place, then the expression with smaller parts."""
    if not is_node(node):
        return
    yield from (part for part in node[1:] if is_node(part))
    for at, part in enumerate(node):
        if at and is_node(part):
            for other in _inner(part):
                yield (*node[:at], other, *node[at + 1 :])


def _operators(node: Any) -> set[str]:
    if not is_node(node):
        return set()
    found = {f"{node[0]}{node[1]}" if node[0] == "arithmetic" else node[0]} - {"col", "lit"}
    found |= {"nan"} if any(isinstance(part, float) and math.isnan(part) for part in node[1:]) else set()
    if node[0] in ("cast", "parse") and node[2] in ("pl.Float32", "pl.Date", 'pl.Datetime("us")', "pl.UInt32"):
        found |= {f"to:{node[2][3:].partition('(')[0]}"}
    return found.union(*(_operators(part) for part in node[1:]))


def read(path: Path, tables: Sequence[Path], most: int) -> dict[str, list[tuple[QueryViolation, Case]]]:
    """Return flags of a file and their cases by cause, the shortest of each."""
    flags = (QueryViolation(**json.loads(line)) for line in path.read_text().splitlines())
    names = {"Case": Case, "Program": Program, "datetime": datetime, "nan": math.nan, "inf": math.inf}
    found = shortest(flags, owners(tables), most)
    return {cause: [(flag, eval(flag.case, names)) for flag in each] for cause, each in found.items()}


def play(path: Path, tables: Sequence[Path]) -> None:
    """Play the game on the shortest flags of each cause until one fails, at what the library's accountant claims."""
    library = OpenDPFrames()
    for cause, flags in read(path, tables, 3).items():
        for shown, shorter in flags:
            case, flag = clearer(library, shorter, shown)
            scale, claimed, result = _game(library, case)
            if str(result.verdict) == "FAIL":
                break
        print(f"\n## {cause}: {result.verdict} at scale {scale:.3g}, where {claimed:.3g} is claimed: {result.reason}")
        rows = f"{len(case.left)} and {len(case.right)} rows"
        print(f"# {rows}: {flag.kind}, {flag.attained:.3g} > {flag.claim:.3g}: {flag.said}")
        print(library.script(case), flush=True)


def clearer(library: OpenDPFrames, case: Case, flag: QueryViolation) -> tuple[Case, QueryViolation]:
    """Return a case with up to four rows on a side that breaks its claim by more, if few outputs show too little.

    Under zero-concentrated differential privacy a loss of twice the claim hardly differs from it. Rows that differ from
    those of the pair in one value are added as long as the factor grows.
    """
    if case.program.measure == "max_divergence" or flag.kind != "loss" or not flag.claim:
        return case, flag
    while flag.attained / flag.claim < CLEAR:
        found = ((longer, screen(library, longer)) for longer in _longer(case))
        kept = [(longer, other) for longer, other in found if other is not None and other.kind == "loss"]
        best = max(kept, key=lambda pair: pair[1].attained / pair[1].claim, default=(case, flag))
        if best[1].attained / best[1].claim <= flag.attained / flag.claim * (1 + ROUNDING):
            break
        case, flag = best
    return case, flag


def _longer(case: Case) -> Iterator[Case]:
    """Yield cases with a row more on the longer side, which is one of its rows but for a value."""
    name = "left" if len(case.left) > len(case.right) else "right"
    rows = getattr(case, name)
    for row in rows if len(rows) < MOST else ():
        for at, column in enumerate(grammar.DATA):
            for value in dict.fromkeys(grammar.VALUES[KINDS[column]]):
                yield dataclasses.replace(case, **{name: (*rows, (*row[:at], value, *row[at + 1 :]))})


def _game(library: OpenDPFrames, case: Case) -> tuple[float, float, Any]:
    from audit import Local, PrivacyClaim, ZeroConcentratedClaim, check_privacy, per_call

    if case.program.threshold is not None:  # the noise of the game need not be small: see `widened`
        case = dataclasses.replace(case, program=case.program._replace(measure="max_divergence"))
    pure = case.program.measure == "max_divergence"
    goal = 1.0 if pure else 0.5  # of the claim, where a scale attains it
    whole = library.measurement(case, 1.0)[1]
    scale = ((whole[0] if isinstance(whole, tuple) else whole) / goal) ** (1.0 if pure else 0.5) or 1.0
    query, claimed = library.measurement(case, scale)
    claimed, delta = claimed if isinstance(claimed, tuple) else (claimed, 0.0)
    group = group_names(case.program.group)

    def released(rows: Any) -> Any:
        return tuple(sorted(library.cells(query, rows, group).items()))

    kind = PrivacyClaim if pure or not claimed else ZeroConcentratedClaim
    more = {"delta": delta} if delta else {}
    claim = kind(claimed, **more, relation=Local())  # of two records: the pair is at the distance of the claim
    pairs = [(case.left, case.right)]
    return scale, claimed, check_privacy(per_call(released), claim, pairs, budget=4_000, significance=1e-4, seed=0)


def again(path: Path, tables: Sequence[Path]) -> None:
    """Screen flags of each cause in the release that is installed."""
    library = OpenDPFrames()
    for cause, flags in read(path, tables, 20).items():
        said: Counter[str] = Counter()
        for _, case in flags:
            try:
                library.build(case)
                found = screen(library, case)
                said[found.kind if found else "none"] += 1
            except RefusedError as error:
                said[f"refused: {' '.join(str(error).split())[:90]}"] += 1
        print(f"{cause}: {dict(said)}", flush=True)


def main() -> None:
    """Hunt, or do a part of it."""
    if sys.argv[1:2] in (["work"], ["wide"]):
        seed, state, journal, seconds, *known = sys.argv[2:]
        work(OpenDPFrames(sys.argv[1] == "wide"), int(seed), Path(state), Path(journal), float(seconds), known)
        return
    if sys.argv[1:2] in (["play"], ["again"]):
        path, *tables = map(Path, sys.argv[2:])
        (play if sys.argv[1] == "play" else again)(path, tables or [CAUSES])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first program, to go on with a run")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--causes", type=Path, nargs="*", default=[CAUSES], help="tables of causes that are known")
    parser.add_argument("--mask", action="store_true", help="shrink nothing that has the operators of a known cause")
    parser.add_argument("--wide", action="store_true", help="draw quantiles and thresholds as well")
    parser.add_argument("--save", type=Path, help="where to write all flags, a line of JSON each")
    asked = parser.parse_args()
    command = [asked.python, "-m", "benchmarks.stability.opendp_queries", "wide" if asked.wide else "work"]
    news = tabulate(command, asked.seed, asked.seconds, asked.causes, asked.mask, asked.save, asked.first)
    sys.exit(bool(news))


if __name__ == "__main__":
    main()
