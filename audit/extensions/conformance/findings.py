"""Findings of a conformance table: statuses of cells, and the looks and results of checks that they follow from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from audit.api import StatedLaw, Verdict
from audit.extensions.conformance.cells import Cell, CellPart, FirstLook
from audit.extensions.conformance.library import LawfulCall

STATUSES = {  # accusations first, then passes: the first one of its cells is that of a query
    "FAIL A": "on usual inputs, and no guess was wrong: as without noise",
    "FAIL B": "on usual inputs: more is lost than is claimed",
    "FAIL C": "on an input at the edge of what is usual",
    "FAIL D": "on an input outside of the usual domain",
    "undecided": "the audit could not decide, for the reason shown",
    "does not return": "a call took longer than the limit",
    "PASS": "no violation above the printed epsilon found",
    "screened": "looked at briefly: only a leak that shows in at most a few thousand outputs would have come out",
    "excluded": "fails, where the documentation excludes the input",
    "raises on both": "the library refuses both inputs alike",
    "refused": "the library refuses the public parameters",
    "waived": "not asked, for the reason shown",
    "does not apply": "the case has no meaning for the query",
    "not offered": "the library has no such query",
}
_CLASS = {"edge": "FAIL C", "unusual": "FAIL D"}
RESOLVED = 1.3  # times the claim: a resolution within it is called fine
_SHORT = 16  # records that are written one by one


class Finding(NamedTuple):
    """Finding of a cell, as plain data: a row of the saved table."""

    library: str
    query: str
    case: str
    status: str  # a key of `STATUSES`
    reason: str
    pairs: int = 0
    resolved: int = 0  # pairs that would have shown `RESOLVED` times the claimed loss, by outputs or by a law
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


def settled(cell: Cell, looks: Sequence[FirstLook | str]) -> Finding | None:
    """Return the finding of a cell that needs no outputs; a text in place of a look says why there is none."""
    for look in looks:
        if isinstance(look, str):
            return finding(cell, "does not return" if "took longer" in look else "undecided", look)
    known = [look for look in looks if isinstance(look, FirstLook)]
    if all(look.refused for look in known):
        return finding(cell, "refused", known[0].refused)
    if all(look.refused or look.raises for look in known):
        return finding(cell, "raises on both", next(look.raises for look in known if look.raises))
    return None


def finding(cell: Cell, status: str, reason: str, **known: Any) -> Finding:
    """Return the finding of a cell."""
    return Finding(cell.library.name, cell.query, cell.case, status, reason, **known)


def judged(asked: Sequence[tuple[CellPart, FirstLook, Any]], refused: int = 0) -> Finding:
    """Return the finding of a cell by its looks and results of checks: the worst of its parts, with the pairs of all.

    `refused` counts the settings that the library refused or at which both sides raised, which the reason then says.
    """
    found = [_of_part(*each) for each in asked]
    worst = max(found, key=_badness)
    reason = worst.reason + (f"; {refused} of {refused + len(found)} settings are refused or raise" if refused else "")
    return worst._replace(
        reason=reason, pairs=sum(each.pairs for each in found), resolved=sum(each.resolved for each in found),
        seconds=round(sum(each.seconds for each in found), 2),
    )  # fmt: skip


_SEVERITY = ("PASS", "screened", "undecided", "excluded", "FAIL D", "FAIL C", "FAIL B", "FAIL A")  # of parts of a cell


def _badness(found: Finding) -> tuple[int, float]:
    """Rank by status, then by the bound of a failure, or by the resolution beside the claim."""
    coarse = math.inf if found.resolution is None else found.resolution / (found.claimed or 1.0)
    return _SEVERITY.index(found.status), coarse if found.bound is None else found.bound


def _of_part(part: CellPart, seen: FirstLook, result: Any) -> Finding:
    claimed = result.check.claim.point.epsilon
    known: dict[str, Any] = {"pairs": len(part.instances), "claimed": claimed, "seconds": result.seconds}
    if result.verdict is Verdict.FAIL or seen.exceeds:
        return _failed(part, seen, result, known)
    known["resolution"] = result.resolution if math.isfinite(result.resolution) else None
    known["resolved"] = len(part.instances) if result.resolution <= RESOLVED * claimed else _followed(part, result)
    if result.verdict is Verdict.PASS:
        return finding(part.cell, "PASS", result.reason, **known)
    return finding(part.cell, "screened" if _was_looked_at(result.evidence) else "undecided", result.reason, **known)


def _followed(part: CellPart, result: Any) -> int:
    """Return the number of pairs whose outputs follow a law so closely that `RESOLVED` times the loss would show."""
    stated, mechanism = result.evidence.by(StatedLaw), part.mechanism
    if stated is None or result.verdict is not Verdict.PASS or not isinstance(mechanism, LawfulCall):
        return 0
    least = {law.pair: mechanism.distance(part.instances[law.pair].left, RESOLVED) for law in stated.laws}
    return sum(law.fit_resolution is not None and law.fit_resolution <= least[law.pair] for law in stated.laws)


def _was_looked_at(evidence: Any) -> bool:
    """Return whether a game read the outputs and lacked nothing but their number, or all outputs were the same."""
    if evidence.failure or set(evidence.anomalies) - {"constant"} or evidence.by(StatedLaw):
        return False
    if (game := evidence.game) is None or "constant" in evidence.anomalies:
        return "constant" in evidence.anomalies
    return not game.unread and (game.is_general or bool(evidence.need))  # the missing evidence is more outputs


def _failed(part: CellPart, seen: FirstLook, result: Any, known: dict[str, Any]) -> Finding:
    cell, game, is_refuted = part.cell, result.evidence.game, result.verdict is Verdict.FAIL
    pair, how, bound = game.pair if is_refuted and game else seen.pair, "certified epsilon", result.epsilon_lower_bound
    if is_refuted and result.basis == "law":  # by the law that the outputs follow
        worst = max(result.evidence.by(StatedLaw).laws, key=lambda law: law.epsilon_lower_bound)
        pair, how, bound = worst.pair, "epsilon of the documented law", worst.epsilon_lower_bound
    sides = part.instances[pair][1:]
    excluded = [cell.library.excluded(cell.query, part.parameters, side) for side in sides]
    said = [*dict.fromkeys(filter(None, excluded))]
    if seen.exceeds:
        said.insert(0, f"without noise the value moves by {seen.excess:.4g} times what the noise was scaled for")
    if is_refuted:
        said.insert(0, f"{how} >= {bound:.4g}, claimed {known['claimed']:.4g}")
        known["bound"] = bound
    by_rank = _CLASS.get(cell.row.rank, "FAIL A" if is_refuted and game and not game.counts.wrong else "FAIL B")
    status = "excluded" if any(excluded) else by_rank
    left, right = map(written, sides)
    return finding(cell, status, "; ".join(said), left=left, right=right, **known)


def written(side: Any) -> str:
    """Return the code of an input: a list of more than 16 records as sums of repeated ones."""
    if not isinstance(side, list) or len(side) <= _SHORT:
        return repr(side)
    runs = [(text, len(list(same))) for text, same in groupby(map(repr, side))]
    return " + ".join(f"[{text}]" + (f" * {times}" if times > 1 else "") for text, times in runs)


def as_rows(findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    """Yield findings as plain data."""
    for each in findings:
        yield {name: value for name, value in each._asdict().items() if value not in (None, "", 0, 0.0)}
