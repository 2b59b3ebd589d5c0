"""The judgement of a rate by simulation: intervals of all means at once, and what they imply for the exponent."""

from __future__ import annotations

import math

import numpy as np

from audit.base.verdict import Verdict
from audit.checks.utility.curve import CurveEvidence
from audit.checks.utility.rate_terms import RateTerms, extrapolated, gap, inside, undecided
from audit.checks.utility.region import Region
from audit.checks.utility.regression import LogGrid
from audit.checks.utility.theorem import Interval, UtilityJudgment

DRIFT = 3.0  # times by which the change over half the grid is prolonged beyond it
STEADY = 2.0  # times by which an exponent below the claim must exceed its change over half the grid
UNDER_WAY = 0.5  # part of the predicted fall of the risk that must certainly be seen before a decay is too slow
BEND = 2.0  # margins by which the exponent may change over half the grid under a PASS


def judge_simulated(terms: RateTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
    """Judge simulated means.

    All bounds come from one joint region, which holds all means with probability at least 1 - significance, in finite
    samples. FAIL needs the exponent certainly outside the band, and a change between the halves of the grid that,
    prolonged, certainly does not lead there; for a decay that is too slow also that a decay is under way. PASS needs it
    certainly inside, and the halves certainly alike.
    """
    samples = [point.sample for point in evidence.points if point.sample is not None]
    region = Region(samples, significance)
    if region.unbounded:
        size = evidence.sizes[region.unbounded[0]]
        return undecided(
            f"the mean excess at n = {size} cannot be told from 0, or is not bounded: raise the budget, or tighten the "
            "support"
        )
    grid = LogGrid(np.log([point.reference or math.nan for point in evidence.points]), _weights(region.widths))
    low, high = region.bounds(grid.exponent())
    bend = region.bounds(grid.bend)
    found = (Interval("exponent", low, high), Interval("change over half the grid", *bend))
    shown = f"exponent in [{low:.4g}, {high:.4g}], claimed {terms}"
    off = gap(low, high, terms.band)
    if off != 0:
        upper_off = gap(*region.bounds(grid.exponent(grid.upper_half)), terms.band)
        if _cannot_close(min(off, upper_off, key=abs) if off * upper_off > 0 else 0.0, bend, low):
            if off > 0 and (late := _too_early(terms, region, grid)):
                return undecided(f"{shown}; {late}", found)
            reason = f"{shown}; over half the grid it changes by [{bend[0]:.3g}, {bend[1]:.3g}], too little to explain "
            reason += f"it (error probability {significance:.2g})"
            return UtilityJudgment(Verdict.FAIL, "statistical", reason, found)
        return undecided(f"{shown}; {_from_where(terms, grid, evidence, bend)}", found)
    if not inside(low, high, terms.band):
        return undecided(f"not refuted, but {shown}: raise the budget", found)
    if not _is_straight(terms, bend):
        return undecided(
            f"{shown}, but over half the grid it may change by [{bend[0]:.3g}, {bend[1]:.3g}]: raise the budget or "
            "begin the grid later",
            found,
        )
    if terms.constant is not None:
        return _judge_constant(terms, region, grid, shown, found, significance)
    return UtilityJudgment(Verdict.PASS, "statistical", f"{shown} (by simulation)", found)


def _towards(change: tuple[float, float], off: float) -> float:
    """The largest change in the direction that closes a gap."""
    return max(0.0, change[1] if off > 0 else -change[0])


def _cannot_close(off: float, bend: tuple[float, float], exponent: float) -> bool:
    """Whether the change along the grid, prolonged, certainly leaves a gap open.

    A risk that begins to decay has a small exponent that grows by a large part of itself along the grid, and will
    grow faster: so the change must also be small against the exponent.
    """
    towards = _towards(bend, off)
    if off == 0 or abs(off) <= DRIFT * towards:
        return False
    return off < 0 or towards <= max(0.0, exponent) / STEADY


def _too_early(terms: RateTerms, region: Region, grid: LogGrid) -> str | None:
    """Why a slow decay may be one that has hardly begun, or None.

    A risk that stays near its value at small sizes looks the same whether its rate is lost or late. So the part of the
    risk that is certainly gone at the end of the grid is held against the part that the claim predicts to be gone.
    """
    if terms.exponent <= 0:
        return None
    fallen = -math.expm1(region.bounds(grid.at(-1) - grid.at(0))[1])
    predicted = -math.expm1(-terms.exponent * float(grid.x[-1] - grid.x[0]))
    if fallen >= UNDER_WAY * predicted:
        return None
    return (
        f"over the grid the risk has certainly fallen by {max(0.0, fallen):.0%} only, where the claim predicts "
        f"{predicted:.0%}: a rate that is late looks like this too; begin the grid later"
    )


def _is_straight(terms: RateTerms, bend: tuple[float, float]) -> bool:
    room = BEND * terms.margin
    return bend[0] >= -room and (bend[1] <= room or terms.sense == "at_least")


def _weights(widths: np.ndarray) -> np.ndarray:
    """Inverse squared widths, none more than a hundred times another."""
    return 1.0 / np.maximum(widths, float(widths.max()) / 10) ** 2


def _from_where(terms: RateTerms, grid: LogGrid, evidence: CurveEvidence, bend: tuple[float, float]) -> str:
    """An estimate from the average losses: it is told, and decides nothing."""
    if bend[0] <= 0 <= bend[1]:
        return (
            f"over half the grid it changes by [{bend[0]:.3g}, {bend[1]:.3g}]: the grid may be pre-asymptotic, or "
            "the risk may not have begun to decay: raise the budget, or begin the grid later"
        )
    logs = np.log([point.sample.mean if point.sample else math.nan for point in evidence.points])
    lower, upper = (float(grid.exponent(rows) @ logs) for rows in (grid.lower_half, grid.upper_half))
    doublings = math.log2(evidence.sizes[-1] / evidence.sizes[0]) / 2
    place = round(math.sqrt(evidence.sizes[len(logs) // 2] * evidence.sizes[-1]))
    return extrapolated(terms, lower, upper, doublings, place)


def _judge_constant(
    terms: RateTerms,
    region: Region,
    grid: LogGrid,
    shown: str,
    found: tuple[Interval, ...],
    significance: float,
) -> UtilityJudgment:
    """The factor at the largest size; refuted when its change along the grid, prolonged, does not explain it."""
    last, along = grid.at(-1), grid.at(-1) - grid.at(0)
    low, high = (bound + terms.exponent * float(last @ grid.x) for bound in region.bounds(last))
    change = [bound + terms.exponent * float(along @ grid.x) for bound in region.bounds(along)]
    found = (*found, Interval("constant", math.exp(low), math.exp(high)))
    said = f"constant in [{math.exp(low):.4g}, {math.exp(high):.4g}], claimed {terms.shown_constant}"
    if inside(low, high, terms.log_constant_band):
        return UtilityJudgment(Verdict.PASS, "statistical", f"{shown}; {said} (by simulation)", found)
    off = gap(low, high, terms.log_constant_band)
    if off != 0 and abs(off) > _towards((change[0], change[1]), off):
        return UtilityJudgment(Verdict.FAIL, "statistical", f"{said} (error probability {significance:.2g})", found)
    return undecided(f"{shown}; but {said}: raise the budget", found)
