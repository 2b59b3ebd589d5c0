"""Screen whole queries without statistics: run both datasets without noise, and compare what moved with the claim.

A library states itself in a `QueryLibrary`: how programs are drawn, built and made smaller. `screen` compares one
program on one pair, `shrunk` makes program and pair smaller together, and `work` and `hunt` do so in processes that
restart, since a library may abort its process.
"""

from __future__ import annotations

import json
import math
import os
import random
import resource
import struct
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

RUNS = 5  # on each dataset, before what differs is believed
ROUNDING = 1e-6  # share of the claim up to which an excess counts as rounding
MOST_RAISED = 5  # exceptions that are shrunk in a process: they are frequent, and no violation of a claim
TRIES = 400  # smaller cases that are tried while shrinking
ENOUGH = 3  # flags that are shrunk to one signature in a process
_STATE = struct.Struct("qqqqd")  # next program, accepted, compared on both sides, of a group, CPU seconds
Row = tuple[Any, ...]
Cells = Mapping[str, Any]


@dataclass(frozen=True)
class Withheld:
    """Hold an answer that a threshold withholds: its key may be in one dataset only."""

    value: Any


class RefusedError(Exception):
    """The library does not build a program, or states no finite claim: nothing to hold it to."""


@dataclass(frozen=True)
class Case:
    """A program as nested tuples, and the two datasets it runs on."""

    program: Any
    left: tuple[Row, ...]
    right: tuple[Row, ...]


@dataclass(frozen=True)
class Query:
    """A built program: what it claims of its pair, what it answers without noise, and the noise it was scaled for."""

    claim: float  # privacy loss of the pair, as the library's accountant states it
    run: Callable[[tuple[Row, ...]], Cells]  # answers by name, aligned by keys
    scales: Callable[[], Mapping[str, float]]  # of the noise by name, or by the part before the first ":"
    order: int = 1  # 1 where losses are |d| / scale (Laplace), 2 where they are d^2 / (2 scale^2) (Gaussian)
    grouped: bool = False
    noise: float = 0.0  # scales up to which a difference may be noise that could not be removed


@dataclass(frozen=True)
class QueryViolation:
    """Hold how a claim was broken: the kind, both numbers, and the case as text."""

    kind: str  # "loss", "rounding", "support", "exception", "nondeterministic"
    claim: float
    attained: float
    said: str
    signature: tuple[str, ...] = ()
    script: str = ""
    number: int = -1
    rows: tuple[int, int] = (-1, -1)
    case: str = ""


class QueryLibrary(Protocol):
    """State how a library of private queries draws, builds and shrinks its programs."""

    def draw(self, source: random.Random) -> Case:
        """Return a program with two datasets."""

    def build(self, case: Case) -> Query:
        """Build a program at a scale near 0, with facts about margins and distances that are read from the pair."""

    def smaller(self, program: Any) -> Iterator[Any]:
        """Yield simpler programs, the simplest first."""

    def signature(self, program: Any) -> tuple[str, ...]:
        """Return the operators of a program, without constants and names."""

    def script(self, case: Case) -> str:
        """Return lines of Python that show a case with the library alone."""


@dataclass
class ScreenCounts:
    """Count what a screen was asked."""

    accepted: int = 0
    compared: int = 0
    grouped: int = 0
    shrunk: Counter[str] = field(default_factory=Counter)  # kinds and signatures of flags


def screen(library: QueryLibrary, case: Case, seen: ScreenCounts | None = None) -> QueryViolation | None:
    """Return how a program breaks its claim on its pair without noise, or None.

    Answers that differ are asked for again, five times on each dataset: a query that differs from itself has no
    sensitivity, and that is a kind of its own.
    """
    seen = ScreenCounts() if seen is None else seen
    try:
        query = library.build(case)
    except RefusedError:
        return None
    seen.accepted += 1
    seen.grouped += query.grouped
    left, right = _answer(query, case.left), _answer(query, case.right)
    if isinstance(left, str) and isinstance(right, str):
        return None
    seen.compared += 1
    found = None if left == right else _compared(query, left, right)
    if found is None:
        return None
    for rows, first in ((case.left, left), (case.right, right)):
        again = [_answer(query, rows) for _ in range(RUNS - 1)]
        differs = [other for answer in again if (other := _compared(query, first, answer)) is not None]
        if differs:
            kind = "exception" if differs[0].kind == "exception" else "nondeterministic"
            return QueryViolation(kind, query.claim, math.inf, "differs from itself on one dataset")
    return found


def _answer(query: Query, rows: tuple[Row, ...]) -> Cells | str:
    try:
        return query.run(rows)
    except Exception as error:
        return f"raised {type(error).__name__}: {str(error)[:200]}"


def _compared(query: Query, left: Cells | str, right: Cells | str) -> QueryViolation | None:
    if isinstance(left, str) or isinstance(right, str):
        if isinstance(left, str) and isinstance(right, str):
            return None
        return QueryViolation("exception", query.claim, math.inf, left if isinstance(left, str) else str(right))
    left, right = _visible(left, right), _visible(right, left)
    if set(left) != set(right):
        return QueryViolation(
            "support", query.claim, math.inf, f"answers of one dataset only: {sorted(set(left) ^ set(right))}"
        )
    scales, attained, moved = query.scales(), 0.0, []
    for name, one in left.items():
        other, scale = right[name], scales.get(name.partition(":")[0])
        if _is_number(one) != _is_number(other):
            return QueryViolation("support", query.claim, math.inf, f"{name}: {one!r} and {other!r}")
        if not _is_number(one):
            continue
        if scale is None:
            raise RefusedError
        distance = _range(one, other) / query.order if isinstance(one, tuple) else abs(one - other)
        if distance <= query.noise * scale:
            continue
        ratio = distance / scale if scale else math.inf
        attained += ratio if query.order == 1 else ratio * ratio / 2
        moved.append(f"{name}: {one!r} and {other!r}")
    if attained <= query.claim * (1 + 1e-12):
        return None
    kind = "rounding" if attained <= query.claim * (1 + ROUNDING) else "loss"
    return QueryViolation(kind, query.claim, attained, "; ".join(moved)[:300])


def _visible(side: Cells, other: Cells) -> Cells:
    """Return the answers that are released, and those that are withheld but have the other side's beside them."""
    kept = ((name, value) for name, value in side.items() if name in other or not isinstance(value, Withheld))
    return {name: value.value if isinstance(value, Withheld) else value for name, value in kept}


def _range(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the range distance of scores: a selection at Gumbel noise costs (range / scale)^2 / 8."""
    moved = [after - before for before, after in zip(one, other, strict=True)]
    return max(moved) - min(moved)


def _is_number(value: Any) -> bool:
    """Return whether an answer is a number, or the scores of which the least is selected."""
    return isinstance(value, tuple) or (value is not None and math.isfinite(value))


def shrunk(library: QueryLibrary, case: Case, flag: QueryViolation) -> tuple[Case, QueryViolation]:
    """Return a smaller case with a flag of the same kind: rows and steps are left out while it stays."""
    tries, changed = TRIES, True
    while changed and tries > 0:
        changed = False
        for smaller in _smaller(library, case):
            tries -= 1
            found = screen(library, smaller)
            if found is not None and found.kind == flag.kind:
                case, flag, changed = smaller, found, True
                break
            if tries <= 0:
                break
    return case, flag


def _smaller(library: QueryLibrary, case: Case) -> Iterator[Case]:
    for size in (8, 4, 2, 1):  # runs of rows first: the pair is long where sums go wrong
        for at in range(0, max(len(case.left), len(case.right)), size):
            left, right = (side[:at] + side[at + size :] for side in (case.left, case.right))
            for pair in ((left, right), (left, case.right), (case.left, right)):
                if pair != (case.left, case.right) and pair[0] != pair[1]:
                    yield Case(case.program, *pair)
    for program in library.smaller(case.program):
        yield replace(case, program=program)


def covered(known: Iterable[str], kind: str, signature: Iterable[str]) -> str | None:
    """Return the first line of those known whose kind is this one and whose operators are all in a signature.

    A line is a kind and operators, those that must be absent with a minus sign before them.
    """
    has = set(signature)
    for line in known:
        first, *tokens = line.split()
        absent = {token[1:] for token in tokens if token.startswith("-")}
        if first == kind and has.issuperset(token for token in tokens if token[0] != "-") and not has & absent:
            return line
    return None


def work(
    library: QueryLibrary, seed: int, state: Path, journal: Path, seconds: float, known: Sequence[str] = ()
) -> None:
    """Screen programs from the one that the state names, until the CPU seconds of all processes so far are used up."""
    with state.open("r+b") as file, journal.open("a", encoding="utf-8") as found:
        number, accepted, compared, grouped, spent = _STATE.unpack(file.read(_STATE.size))
        seen, started = ScreenCounts(accepted, compared, grouped), time.process_time() - spent
        while (used := time.process_time() - started) < seconds:
            line = _STATE.pack(number + 1, seen.accepted, seen.compared, seen.grouped, used)
            os.pwrite(file.fileno(), line, 0)  # before the program runs: it may abort the process
            _work_on(library, seed, number, seen, found, known)
            number += 1


def _work_on(
    library: QueryLibrary, seed: int, number: int, seen: ScreenCounts, found: Any, known: Sequence[str]
) -> None:
    case = library.draw(random.Random(f"{seed}/{number}"))
    try:
        flag = screen(library, case, seen)
        if flag is None:
            return
        signature = library.signature(case.program)
        print(json.dumps(asdict(replace(flag, number=number, signature=signature))), file=found, flush=True)
        often = (line for line, count in seen.shrunk.items() if count >= ENOUGH)
        if covered((*known, *often), flag.kind, signature):
            return
        if flag.kind == "exception" and sum(line.startswith("exception") for line in seen.shrunk) >= MOST_RAISED:
            return
        case, flag = shrunk(library, case, flag)
    except RefusedError:
        return
    signature = library.signature(case.program)
    seen.shrunk[" ".join((flag.kind, *signature))] += 1
    size = len(case.left), len(case.right)
    whole = replace(flag, signature=signature, script=library.script(case), number=number, rows=size, case=repr(case))
    print(json.dumps(asdict(whole)), file=found, flush=True)


@dataclass(frozen=True)
class HuntReport:
    """Hold the programs and counts of a hunt, and the flags that were shrunk."""

    programs: int
    accepted: int
    compared: int
    grouped: int
    seconds: float  # of CPU, without the imports of workers that were started again
    aborts: tuple[int, ...]  # numbers of programs that ended their process
    flags: tuple[QueryViolation, ...]
    raw: tuple[QueryViolation, ...]  # flags before shrinking, those of causes that are known among them


def hunt(command: Sequence[str], *, seed: int, seconds: float, known: Sequence[str] = (), first: int = 0) -> HuntReport:
    """Run a worker and start it again after each abort, with the program after the one that ended it.

    The command is called with ``seed state journal seconds known...`` and passes them to `work`. The first program is
    the one of this number, so that a run goes on where another ended.
    """
    aborts: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        state, journal = Path(folder, "state"), Path(folder, "journal")
        state.write_bytes(_STATE.pack(first, 0, 0, 0, 0.0))
        journal.touch()
        arguments = [str(seed), str(state), str(journal), str(seconds), *known]
        while subprocess.run([*command, *arguments], check=False, stderr=subprocess.DEVNULL).returncode:
            last = _STATE.unpack(state.read_bytes())[0] - 1
            if aborts[-1:] == [last] or last < first:
                raise RuntimeError(f"`command` must start a process that calls `work`, got {' '.join(command)!r}")
            aborts.append(last)
        number, accepted, compared, grouped, spent = _STATE.unpack(state.read_bytes())
        lines = [QueryViolation(**json.loads(line)) for line in journal.read_text(encoding="utf-8").splitlines()]
    lines = [replace(line, signature=tuple(line.signature), rows=tuple(line.rows)) for line in lines]
    flags, raw = (tuple(line for line in lines if bool(line.script) == whole) for whole in (True, False))
    return HuntReport(number - first, accepted, compared, grouped, spent, tuple(aborts), flags, raw)


def owners(tables: Sequence[Path]) -> dict[str, str]:
    """Return the causes of tables by the lines of their flags."""
    causes = [cause for table in tables for cause in tomllib.loads(table.read_text())["cause"]]
    return {line: cause["name"] for cause in causes for line in cause["flags"]}


def shortest(flags: Iterable[QueryViolation], owner: Mapping[str, str], most: int) -> dict[str, list[QueryViolation]]:
    """Return the shortest of the flags that were shrunk, by cause; what is in no table goes by its operators."""
    found: dict[str, list[QueryViolation]] = {}
    for flag in sorted((flag for flag in flags if flag.script), key=_length):
        line = covered(owner, flag.kind, flag.signature)
        name = owner[line] if line else _title(flag)
        if (line or flag.kind != "exception") and len(found.setdefault(name, [])) < most:
            found[name].append(flag)
    return found


def _title(flag: QueryViolation) -> str:
    return " ".join((flag.kind, *(token for token in flag.signature if token[0] != "[")))


def tabulate(
    command: Sequence[str],
    seed: int,
    seconds: float,
    tables: Sequence[Path],
    mask: bool,
    save: Path | None = None,
    first: int = 0,
) -> int:
    """Hunt and print counts, known causes that were met, and others with a script; return the number of the others.

    A table is a TOML file of causes with a `name`, the `lines` of the library, the public `issue`, and `flags`: a kind
    and operators each. A flag has the first cause that it fits.
    """
    owner = owners(tables)
    found = hunt(command, seed=seed, seconds=seconds, known=list(owner) if mask else (), first=first)
    if save:
        save.write_text("".join(f"{json.dumps(asdict(flag))}\n" for flag in (*found.flags, *found.raw)))
    used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    print(
        f"seed {seed}: {found.programs:,} programs in {found.seconds:.0f} CPU s ({used:.0f} with imports), "
        f"{found.accepted:,} accepted ({found.accepted / max(found.seconds, 1e-9):.0f} a CPU second), "
        f"{found.compared:,} compared, {found.grouped:,} of groups, {len(found.aborts)} aborts"
    )
    print("flags before shrinking:", dict(Counter(flag.kind for flag in found.raw)))
    explained = {flag.number for flag in found.flags if covered(owner, flag.kind, flag.signature)}
    raw = [flag for flag in found.raw if flag.kind != "exception" and not covered(owner, flag.kind, flag.signature)]
    left = [flag.number for flag in raw if flag.number not in explained]
    print(f"with the operators of known causes masked: {len(raw)} flags, of which shrinking explains all but {left}")
    met: dict[str, list[QueryViolation]] = {}
    others: dict[str, list[QueryViolation]] = {}
    for flag in (*found.flags, *(found.raw if mask else ())):
        line = covered(owner, flag.kind, flag.signature)
        if line:
            met.setdefault(owner[line], []).append(flag)
        elif flag.script:
            others.setdefault(_title(flag), []).append(flag)
    for name, flags in met.items():
        print(f"{len(flags):5} x {name}: {_shortest(flags)}")
    for name, flags in sorted(others.items(), key=lambda pair: -len(pair[1])):
        if name.startswith("exception"):
            continue  # true, and no violation of a claim: they are counted above
        print(f"\n{len(flags):5} x {name}: {_shortest(flags)}\n{min(flags, key=_length).script}")
    return sum(flag.kind != "exception" for flags in others.values() for flag in flags)


def _length(flag: QueryViolation) -> tuple[bool, int, int, int, int]:
    """Return what the shortest flag has least of: operators beside aggregates (".sum") and declarations, then rows.

    One that is more than rounding comes first.
    """
    operators = sum(token[0] not in ".[" for token in flag.signature)
    return flag.kind == "rounding", operators, sum(flag.rows), len(flag.signature), len(flag.script)


def _shortest(flags: Sequence[QueryViolation]) -> str:
    flag = min(flags, key=_length)
    rows = f"{flag.rows[0]} and {flag.rows[1]} rows" if flag.script else "not shrunk"
    broken = f"{flag.attained:.3g} > {flag.claim:.3g}; {flag.said}"
    return f"program {flag.number}, {' '.join(flag.signature)}, {rows}: {broken}"
