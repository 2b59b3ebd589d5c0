"""Findings of a conformance table: statuses of cells by looks and results of checks, and saved tables."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from audit import Verdict
from audit.api import InvalidArgument, StatedLaw, document
from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.cells import Cell, CellPart, FirstLook
from audit.extensions.conformance.library import Library
from audit.extensions.conformance.queries import QUERIES

STATUSES = {  # accusations first, then passes: the first one of its cells is that of a query
    "FAIL A": "on usual inputs, and no guess was wrong: as without noise",
    "FAIL B": "on usual inputs: more is lost than is claimed",
    "FAIL C": "on an input at the edge of the usual domain",
    "FAIL D": "on an input outside of the usual domain",
    "undecided": "the audit could not decide, for the reason shown",
    "does not return": "a call took longer than the limit",
    "PASS": "no violation above the printed epsilon found",
    "screened": "tested briefly: only a leak that shows in a few thousand outputs would have been caught",
    "excluded": "fails, where the documentation excludes the input",
    "raises on both": "the library refuses both inputs alike",
    "refused": "the library refuses the public parameters",
    "does not apply": "the case has no meaning for the query",
    "not offered": "the library has no such query",
}
FORMAT = "conformance 1"
_CLASS = {"edge": "FAIL C", "unusual": "FAIL D"}
_SEVERITY = ("PASS", "screened", "undecided", "excluded", "FAIL D", "FAIL C", "FAIL B", "FAIL A")  # of parts of a cell
_SHORT = 16  # records that are written one by one


class Finding(NamedTuple):
    """Finding of a cell, as plain data: a row of the saved table."""

    library: str
    query: str
    case: str
    status: str  # a key of `STATUSES`
    reason: str
    pairs: int = 0
    claimed: float | None = None
    bound: float | None = None  # certified epsilon, of a failure
    resolution: float | None = None  # the coarsest of its parameters, beside the claim
    left: str = ""
    right: str = ""
    seconds: float = 0.0  # of checks, by the clock

    @property
    def fails(self) -> bool:
        """Return whether the cell accuses the library."""
        return self.status.startswith("FAIL")

    @property
    def is_open(self) -> bool:
        """Return whether the audit could not decide."""
        return self.status in ("undecided", "does not return")


def settle(cell: Cell, status: str, reason: str, **known: Any) -> Finding:
    """Return the finding of a cell."""
    return Finding(cell.library.name, cell.query, cell.case, status, reason, **known)


def judge_looks(cell: Cell, looks: Sequence[FirstLook | str]) -> Finding | None:
    """Return the finding of a cell that needs no outputs; a text in place of a look says why there is none."""
    for look in looks:
        if isinstance(look, str):
            return settle(cell, "does not return" if "took longer" in look else "undecided", look)
    known = [look for look in looks if isinstance(look, FirstLook)]
    if all(look.refused for look in known):
        return settle(cell, "refused", known[0].refused)
    if all(look.refused or look.raises for look in known):
        return settle(cell, "raises on both", next(look.raises for look in known if look.raises))
    return None


def judge_parts(asked: Sequence[tuple[CellPart, FirstLook, Any]], refused: int = 0) -> Finding:
    """Return the finding of a cell by its looks and results of checks: the worst of its parts, with the pairs of all.

    `refused` counts the settings that the library refused or at which both sides raised, which the reason then says.
    """
    findings = [_judge_part(*each) for each in asked]
    worst = max(findings, key=_badness)
    said = f"; {refused} of {refused + len(findings)} settings are refused or raise" if refused else ""
    pairs, seconds = sum(each.pairs for each in findings), sum(each.seconds for each in findings)
    return worst._replace(reason=worst.reason + said, pairs=pairs, seconds=round(seconds, 2))


def _badness(finding: Finding) -> tuple[int, float]:
    """Rank by status, then by the bound of a failure, or by the resolution beside the claim."""
    coarse = math.inf if finding.resolution is None else finding.resolution / (finding.claimed or 1.0)
    return _SEVERITY.index(finding.status), coarse if finding.bound is None else finding.bound


def _judge_part(part: CellPart, seen: FirstLook, result: Any) -> Finding:
    claimed = result.check.claim.point.epsilon
    known: dict[str, Any] = {"pairs": len(part.instances), "claimed": claimed, "seconds": result.seconds}
    if result.verdict is Verdict.FAIL or seen.exceeds:
        return _accuse(part, seen, result, known)
    known["resolution"] = result.resolution if math.isfinite(result.resolution) else None
    if result.verdict is Verdict.PASS:
        return settle(part.cell, "PASS", result.reason, **known)
    return settle(part.cell, "screened" if _was_looked_at(result.evidence) else "undecided", result.reason, **known)


def _was_looked_at(evidence: Any) -> bool:
    """Return whether a game read the outputs and lacked nothing but their number, or all outputs were the same."""
    if evidence.failure or set(evidence.anomalies) - {"constant"} or evidence.by(StatedLaw):
        return False
    if (game := evidence.game) is None or "constant" in evidence.anomalies:
        return "constant" in evidence.anomalies
    return not game.unread and (game.is_general or bool(evidence.need))  # the missing evidence is more outputs


def _accuse(part: CellPart, seen: FirstLook, result: Any, known: dict[str, Any]) -> Finding:
    cell, game, is_refuted = part.cell, result.evidence.game, result.verdict is Verdict.FAIL
    pair, how, bound = game.pair if is_refuted and game else seen.pair, "certified epsilon", result.epsilon_lower_bound
    if is_refuted and result.basis == "law":  # by the law that the outputs follow
        worst = max(result.evidence.by(StatedLaw).laws, key=lambda law: law.epsilon_lower_bound)
        pair, how, bound = worst.pair, "epsilon of the documented law", worst.epsilon_lower_bound
    left, right, _ = part.instances[pair]
    quotes = [cell.library.find_exclusion(cell.query, part.parameters, side) for side in (left, right)]
    clauses = [*dict.fromkeys(filter(None, quotes))]
    if seen.exceeds:
        clauses.insert(
            0, f"without noise the value moves by {seen.excess:.4g} times the sensitivity that the noise assumes"
        )
    if is_refuted:
        clauses.insert(0, f"{how} >= {bound:.4g}, claimed {known['claimed']:.4g}")
        known["bound"] = bound
    by_rank = _CLASS.get(cell.row.rank, "FAIL A" if is_refuted and game and not game.counts.wrong else "FAIL B")
    status = "excluded" if any(quotes) else by_rank
    return settle(cell, status, "; ".join(clauses), left=write_input(left), right=write_input(right), **known)


def write_input(side: Any) -> str:
    """Return the code of an input: a list of more than 16 records as sums of repeated ones."""
    if not isinstance(side, list) or len(side) <= _SHORT:
        return repr(side)
    runs = [(text, len(list(same))) for text, same in groupby(map(repr, side))]
    return " + ".join(f"[{text}]" + (f" * {times}" if times > 1 else "") for text, times in runs)


def list_missing(library: Library, queries: Iterable[str] = QUERIES) -> list[Finding]:
    """Return one finding for each query that a library does not offer."""
    return [Finding(library.name, name, "", "not offered", "") for name in queries if name not in library.answers]


def count_statuses(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many cells have each status, the worst first."""
    counts = Counter(finding.status for finding in findings)
    return {status: counts[status] for status in STATUSES if counts[status]}


def save(path: Path, library: Library, findings: Iterable[Finding]) -> None:
    """Write the table of a library as JSON; of the same release, cells that were not asked again are kept."""
    cells = {(each.query, each.case): each for each in findings if each.case}
    if path.is_file():
        head, earlier = load(path)
        if head["version"] == library.version:
            kept = {(each.query, each.case): each for each in earlier if each.case and each.query in library.answers}
            cells = {**kept, **cells}
    order = {name: place for place, name in enumerate((*QUERIES, *CASES))}
    rows = [*cells.values(), *list_missing(library)]
    rows.sort(key=lambda each: (order[each.query], order.get(each.case, -1)))
    head = {"format": FORMAT, "library": library.name, "version": library.version, "relation": library.relation}
    quotes = {name: answer.quote for name, answer in library.answers.items() if answer.quote != library.quote}
    plain = [{name: value for name, value in row._asdict().items() if value not in (None, "", 0, 0.0)} for row in rows]
    document.write_whole(
        path, json.dumps({**head, "quote": library.quote, "quotes": quotes, "cells": plain}, indent=1) + "\n"
    )


def load(path: Path) -> tuple[dict[str, Any], list[Finding]]:
    """Read a saved table: its subject, and its findings.

    Raises
    ------
    InvalidArgument
        For a file of another format.
    """
    saved = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise InvalidArgument(f"{path} holds no table: type dp-audit conformance TARGET --out DIR")
    try:
        rows = [Finding(**{"reason": "", "case": "", **row}) for row in saved.pop("cells")]
    except (KeyError, TypeError) as error:
        raise InvalidArgument(f"{path} holds cells of another form ({error}): ask the library again") from None
    return saved, rows
