"""The judgement of a rate by an evaluator: local exponents without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from audit.base.verdict import Verdict
from audit.checks.utility.curve import CurveEvidence, CurvePoint
from audit.checks.utility.rate_terms import RateTerms, extrapolated, gap, inside, undecided
from audit.checks.utility.theorem import Interval, UtilityJudgment

FURTHER = 20  # doublings, a factor of 10^6 in the scale, over which the drift of the local exponent is prolonged
LEAST_SPAN = 3.0  # doublings of n behind a fitted exponent
LEAST_VALUES = 3
_FASTEST = 1e3  # most that a drift is taken to speed up per doubling
_GRAIN = 1e-9  # local exponents that differ by less are equal but for rounding


@dataclass(frozen=True)
class ExactCurve:
    """Values over a scale, all as logs to the base 2.

    Parameters
    ----------
    n : float array, shape (k,)
        Log size, increasing.
    x : float array, shape (k,)
        Log scale, increasing.
    y : float array, shape (k,)
        Log value.
    """

    n: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, points: tuple[CurvePoint, ...]) -> ExactCurve:
        """The curve through evaluated points; their values and references are positive."""
        return cls(
            np.log2([float(point.size) for point in points]),
            np.log2([point.reference or math.nan for point in points]),
            np.log2([point.exact or math.nan for point in points]),
        )

    @property
    def exponent(self) -> float:
        """The fitted exponent of decay: minus the least-squares slope."""
        centred = self.x - self.x.mean()
        return 0.0 - float(centred @ self.y / (centred @ centred))

    @property
    def local(self) -> np.ndarray:
        """Exponents between neighboring values."""
        return 0.0 - np.diff(self.y) / np.diff(self.x)

    @property
    def pace(self) -> np.ndarray:
        """Change of the local exponent per doubling of the scale."""
        centres = (self.x[1:] + self.x[:-1]) / 2
        return np.diff(self.local) / np.diff(centres)

    def tail(self, start: int) -> ExactCurve:
        """The curve from one of its values on."""
        return ExactCurve(self.n[start:], self.x[start:], self.y[start:])

    def shows(self, terms: RateTerms) -> bool:
        """Whether the claimed exponent is seen: fitted, at the end, and without a drift away from it."""
        if len(self.x) < LEAST_VALUES or self.n[-1] - self.n[0] < LEAST_SPAN - 1e-9:
            return False
        if not all(inside(value, value, terms.band) for value in (self.exponent, float(self.local[-1]))):
            return False
        change = float(self.local[-1] - self.local[-2])
        return abs(change) <= terms.margin / 2 or (terms.sense == "at_least" and change > 0)

    def has_settled_outside(self, terms: RateTerms) -> bool:
        """Whether the local exponent stands still outside the band, and its drift does not lead there."""
        local = self.local
        off = gap(float(local[-1]), float(local[-1]), terms.band)
        fitted = gap(self.exponent, self.exponent, terms.band)
        if off * fitted <= 0 or abs(local[-1] - local[-2]) > terms.margin / 2:
            return False
        return abs(off) > prolonged(self.pace, math.copysign(1.0, off))


def prolonged(pace: np.ndarray, direction: float) -> float:
    """How far a drift leads in a direction over `FURTHER` more doublings; one that speeds up goes on doing so."""
    steps = direction * pace
    if steps[-1] <= _GRAIN:
        return 0.0
    speed_up = steps[-1] / steps[-2] if len(steps) > 1 and steps[-2] > _GRAIN else 1.0
    factor = min(max(1.0, float(speed_up)), _FASTEST)
    return float(steps[-1]) * sum(factor**k for k in range(1, FURTHER + 1))


def judge_evaluated(terms: RateTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
    """Judge values without noise: those of the declared sizes, and before a FAIL those beyond them too."""
    points, beyond, how = evidence.points, evidence.beyond, evidence.how(significance)
    if any(not point.exact or point.exact <= 0 for point in (*points, *beyond)):
        return undecided("the excess is not positive at every size, so that it has no logarithm")
    found = _judge_points(terms, points, beyond, how)
    if found.verdict is not Verdict.FAIL:
        return found
    last = (*points, *beyond)[-1].size
    if last < terms.least_look:
        return undecided(
            f"{found.reason}; beyond n = {last} the evaluator gave nothing, so that a grid that begins too early is "
            "not excluded: a horizon declares how far to look",
            found.found,
        )
    if beyond:
        further = _judge_points(terms, _spread((*points, *beyond)), (), how)
        if further.verdict is not Verdict.FAIL:
            return undecided(f"{found.reason}; but up to n = {last}: {further.reason}", found.found)
        return replace(found, reason=f"{found.reason}; and so it is up to n = {last:.3g}")
    return found


def _spread(points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
    """Points at least three doublings apart, the last among them, so that ripples of the values even out."""
    kept = [points[-1]]
    for point in reversed(points):
        if point.size * 2**LEAST_SPAN <= kept[-1].size:
            kept.append(point)
    return tuple(reversed(kept))


def _judge_points(
    terms: RateTerms, points: tuple[CurvePoint, ...], beyond: tuple[CurvePoint, ...], how: str
) -> UtilityJudgment:
    curve = ExactCurve.of(points)
    before, last = map(float, curve.local[-2:])
    found = (Interval("exponent", curve.exponent, curve.exponent), Interval("last local exponent", last, last))
    shown = f"exponent {curve.exponent:.4g}, locally {before:.4g} and {last:.4g} at the largest sizes"
    if curve.shows(terms):
        if terms.constant is not None:
            return _judge_constant(terms, curve, shown, found, how)
        return UtilityJudgment(Verdict.PASS, "exact", f"{shown}, claimed {terms} ({how})", found)
    seen_from = _seen_from(terms, points, beyond)
    if seen_from is not None:
        return undecided(f"{shown}, claimed {terms}: it can be seen from n = {seen_from} on", found)
    if curve.has_settled_outside(terms):
        return UtilityJudgment(Verdict.FAIL, "exact", f"{shown}, claimed {terms} ({how})", found)
    span = float(curve.x[-1] - curve.x[-2])
    return undecided(f"{shown}, claimed {terms}: {extrapolated(terms, before, last, span, points[-1].size)}", found)


def _seen_from(terms: RateTerms, points: tuple[CurvePoint, ...], beyond: tuple[CurvePoint, ...]) -> int | None:
    """The first size from which on the claimed exponent is seen up to the last value, or None."""
    every = (*points, *beyond)
    curve = ExactCurve.of(every)
    held = [inside(value, value, terms.band) for value in curve.local.tolist()]
    starts = [start for start in range(len(held)) if all(held[start:]) and curve.tail(start).shows(terms)]
    return every[starts[0]].size if starts else None


def _judge_constant(
    terms: RateTerms, curve: ExactCurve, shown: str, found: tuple[Interval, ...], how: str
) -> UtilityJudgment:
    """The factor at the largest size; refuted when its drift over `FURTHER` doublings does not lead to the claim."""
    logs = (curve.y + terms.exponent * curve.x) * math.log(2)
    last = float(logs[-1])
    factor = math.exp(last)
    found = (*found, Interval("constant", factor, factor))
    said = f"constant {factor:.4g}, claimed {terms.shown_constant}"
    if inside(last, last, terms.log_constant_band):
        return UtilityJudgment(Verdict.PASS, "exact", f"{shown}, claimed {terms}; {said} ({how})", found)
    off = gap(last, last, terms.log_constant_band)
    if abs(off) > prolonged(np.diff(logs) / np.diff(curve.x), math.copysign(1.0, off)):
        return UtilityJudgment(Verdict.FAIL, "exact", f"{said} ({how})", found)
    return undecided(f"{said}: it still moves towards the claim", found)
