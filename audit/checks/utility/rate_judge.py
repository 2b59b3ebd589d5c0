"""Judge a rate: the exponent and the factor of a decay, from values without noise or from simulated means.

Both judges refute only an exponent that has settled outside the claimed band. An exponent that still moves towards the
band belongs to a grid that begins too early, and is INCONCLUSIVE. `docs/utility.md` derives the rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from audit.base.verdict import Verdict
from audit.checks.utility.log_means import LogGrid, Region
from audit.checks.utility.risk_curve import CurveEvidence, CurvePoint
from audit.checks.utility.theorem import Interval, UtilityJudgment, undecided

FURTHER = 20  # doublings, a factor of 10^6 in the scale, over which the drift of an exact exponent is prolonged
LEAST_SPAN = 3.0  # doublings of n behind an exponent fitted to exact values
_FEWEST_VALUES = 3
_FASTEST = 1e3  # largest factor per doubling by which a drift is taken to speed up
_GRAIN = 1e-9  # a change of the exact exponent up to this is rounding
_DRIFT = 3.0  # times the simulated change over half the grid is prolonged beyond the grid
_STEADY = 2.0  # an exponent below the claim must exceed its change over half the grid this many times
_UNDER_WAY = 0.5  # part of the predicted fall of the risk that must be seen before a decay is called too slow
_BEND = 2.0  # margins by which the exponent may change over half the grid under a PASS

Found = tuple[Interval, ...]


class Band(NamedTuple):
    """The values that keep a claim."""

    low: float
    high: float

    def contains(self, lower: float, upper: float) -> bool:
        """Return whether all of [lower, upper] lies in the band."""
        return self.low <= lower and upper <= self.high

    def gap(self, lower: float, upper: float) -> float:
        """Return how far [lower, upper] must move to touch the band: > 0 upwards, < 0 downwards, 0.0 if it does."""
        return self.low - upper if upper < self.low else min(0.0, self.high - lower)


@dataclass(frozen=True)
class RateTerms:
    """The numbers of a rate claim; see `RateCheck`. An evaluator must give values up to `least_look` before a FAIL."""

    exponent: float
    margin: float
    sense: str
    constant: float | None
    constant_margin: float
    least_look: int = 0

    @property
    def band(self) -> Band:
        """Exponents that keep the claim."""
        low = self.exponent - self.margin
        return Band(low, self.exponent + self.margin if self.sense == "equivalent" else math.inf)

    @property
    def log_constant_band(self) -> Band:
        """Logs of the factors that keep the claim."""
        assert self.constant is not None
        high = math.log(self.constant) + math.log1p(self.constant_margin)
        if self.sense != "equivalent" or self.constant_margin >= 1:
            return Band(-math.inf, high)
        return Band(math.log(self.constant) + math.log1p(-self.constant_margin), high)

    def __str__(self) -> str:
        if self.sense == "equivalent":
            return f"{self.exponent:g} +- {self.margin:g}"
        return f"at least {self.exponent:g} - {self.margin:g}"

    @property
    def shown_constant(self) -> str:
        """The claimed factor in words."""
        side = "" if self.sense == "equivalent" else "at most "
        return f"{side}{self.constant:g} within {self.constant_margin:.0%}"

    def seen_from(self, earlier: float, later: float, doublings: float, size: int) -> str:
        """Return from where on the exponent can be seen if its distance from the claim keeps shrinking at one ratio.

        An estimate that is told and decides nothing. `earlier` and `later` are exponents at two places, `doublings`
        apart, the second at `size`.
        """
        before, after = abs(earlier - self.exponent), abs(later - self.exponent)
        if self.band.contains(later, later):
            return f"the grid begins too early: the exponent can be seen from about n = {size:.3g} on"
        if not after < before:
            return "the local exponent does not approach the claim on this grid"
        steps = math.log(after / self.margin) / math.log(before / after)
        return (
            "the grid is pre-asymptotic: its local exponent still moves towards the claim, which could be seen from "
            f"about n = {size * 2.0 ** min(doublings * steps, 300):.1g} on (extrapolated)"
        )


@dataclass(frozen=True)
class ExactCurve:
    """Values without noise over a scale; logs to the base 2 of size, scale and value, shape (k,) each."""

    n: np.ndarray
    x: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, points: tuple[CurvePoint, ...]) -> ExactCurve:
        """Return the curve through evaluated points; their values and references are positive."""
        return cls(
            np.log2([float(point.size) for point in points]),
            np.log2([point.reference or math.nan for point in points]),
            np.log2([point.exact or math.nan for point in points]),
        )

    @property
    def exponent(self) -> float:
        """The fitted exponent of decay: minus the least-squares slope."""
        centered = self.x - self.x.mean()
        return 0.0 - float(centered @ self.y / (centered @ centered))

    @property
    def local(self) -> np.ndarray:
        """Exponents between neighboring values."""
        return 0.0 - np.diff(self.y) / np.diff(self.x)

    def tail(self, start: int) -> ExactCurve:
        """Return the curve from one of its values on."""
        return ExactCurve(self.n[start:], self.x[start:], self.y[start:])

    def shows(self, terms: RateTerms) -> bool:
        """Return whether the claimed exponent is seen: fitted, at the end, and without a drift away from it."""
        if len(self.x) < _FEWEST_VALUES or self.n[-1] - self.n[0] < LEAST_SPAN - 1e-9:
            return False
        if not all(terms.band.contains(value, value) for value in (self.exponent, float(self.local[-1]))):
            return False
        change = float(self.local[-1] - self.local[-2])
        return abs(change) <= terms.margin / 2 or (terms.sense == "at_least" and change > 0)

    def has_settled_outside(self, terms: RateTerms) -> bool:
        """Return whether the local exponent stands still outside the band and its drift does not lead there."""
        local = self.local
        off = terms.band.gap(float(local[-1]), float(local[-1]))
        fitted = terms.band.gap(self.exponent, self.exponent)
        if off * fitted <= 0 or abs(local[-1] - local[-2]) > terms.margin / 2:
            return False
        pace = np.diff(local) / np.diff((self.x[1:] + self.x[:-1]) / 2)
        return abs(off) > _prolonged(pace, math.copysign(1.0, off))


def judge_evaluated(terms: RateTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
    """Judge values without noise: those of the declared sizes, and before a FAIL those beyond them too."""
    points, beyond, how = evidence.points, evidence.beyond, evidence.how(significance)
    every = (*points, *beyond)
    if any(not point.exact or point.exact <= 0 for point in every):
        return undecided("the excess is not positive at every size, so that it has no logarithm")
    judgment = _judge_values(terms, points, beyond, how)
    if judgment.verdict is not Verdict.FAIL:
        return judgment
    last = every[-1].size
    if last < terms.least_look:
        return undecided(
            f"{judgment.reason}; beyond n = {last} the evaluator gave nothing, so that a grid that begins too early is "
            "not excluded: a horizon declares how far to look",
            judgment.found,
        )
    if not beyond:
        return judgment
    further = _judge_values(terms, _spread(every), (), how)
    if further.verdict is not Verdict.FAIL:
        return undecided(f"{judgment.reason}; but up to n = {last}: {further.reason}", judgment.found)
    return replace(judgment, reason=f"{judgment.reason}; and so it is up to n = {last:.3g}")


def _judge_values(
    terms: RateTerms, points: tuple[CurvePoint, ...], beyond: tuple[CurvePoint, ...], how: str
) -> UtilityJudgment:
    curve = ExactCurve.of(points)
    before, last = map(float, curve.local[-2:])
    found = (Interval("exponent", curve.exponent, curve.exponent), Interval("last local exponent", last, last))
    shown = f"exponent {curve.exponent:.4g}, locally {before:.4g} and {last:.4g} at the largest sizes, claimed {terms}"
    if curve.shows(terms):
        if terms.constant is not None:
            return _judge_exact_constant(terms, curve, shown, found, how)
        return UtilityJudgment(Verdict.PASS, "exact", f"{shown} ({how})", found)
    first = _first_size_that_shows(terms, (*points, *beyond))
    if first is not None:
        return undecided(f"{shown}: it can be seen from n = {first} on", found)
    if curve.has_settled_outside(terms):
        return UtilityJudgment(Verdict.FAIL, "exact", f"{shown} ({how})", found)
    span = float(curve.x[-1] - curve.x[-2])
    return undecided(f"{shown}: {terms.seen_from(before, last, span, points[-1].size)}", found)


def _judge_exact_constant(terms: RateTerms, curve: ExactCurve, shown: str, found: Found, how: str) -> UtilityJudgment:
    """Judge the factor at the largest size; it is refuted if its drift, prolonged, does not lead to the claim."""
    logs = (curve.y + terms.exponent * curve.x) * math.log(2)
    last, band = float(logs[-1]), terms.log_constant_band
    found = (*found, Interval("constant", math.exp(last), math.exp(last)))
    said = f"constant {math.exp(last):.4g}, claimed {terms.shown_constant}"
    if band.contains(last, last):
        return UtilityJudgment(Verdict.PASS, "exact", f"{shown}; {said} ({how})", found)
    off = band.gap(last, last)
    if abs(off) > _prolonged(np.diff(logs) / np.diff(curve.x), math.copysign(1.0, off)):
        return UtilityJudgment(Verdict.FAIL, "exact", f"{said} ({how})", found)
    return undecided(f"{said}: it still moves towards the claim", found)


def _prolonged(pace: np.ndarray, direction: float) -> float:
    """Return how far a drift leads in a direction over `FURTHER` doublings; if it speeds up, it goes on doing so."""
    steps = direction * pace
    if steps[-1] <= _GRAIN:
        return 0.0
    speed_up = steps[-1] / steps[-2] if len(steps) > 1 and steps[-2] > _GRAIN else 1.0
    factor = min(max(1.0, float(speed_up)), _FASTEST)
    return float(steps[-1]) * sum(factor**k for k in range(1, FURTHER + 1))


def _spread(points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
    """Return points at least three doublings apart, the last among them: the ripple of rounded settings evens out."""
    kept = [points[-1]]
    for point in reversed(points):
        if point.size * 2**LEAST_SPAN <= kept[-1].size:
            kept.append(point)
    return tuple(reversed(kept))


def _first_size_that_shows(terms: RateTerms, points: tuple[CurvePoint, ...]) -> int | None:
    """Return the first size from which on the claimed exponent is seen up to the last value, or None."""
    curve = ExactCurve.of(points)
    held = [terms.band.contains(value, value) for value in curve.local.tolist()]
    starts = (start for start in range(len(held)) if all(held[start:]) and curve.tail(start).shows(terms))
    return next((points[start].size for start in starts), None)


@dataclass(frozen=True)
class SimulatedFit:
    """What the joint region of the means says of the exponent; all bounds hold together."""

    terms: RateTerms
    region: Region
    grid: LogGrid

    @classmethod
    def of(cls, terms: RateTerms, evidence: CurveEvidence, region: Region) -> SimulatedFit:
        """Fit with weights that are inverse squared widths of the region, at most a hundredfold of each other."""
        widths = np.maximum(region.widths, float(region.widths.max()) / 10)
        scales = [point.reference or math.nan for point in evidence.points]
        return cls(terms, region, LogGrid(np.log(scales), 1.0 / widths**2))

    @cached_property
    def exponent(self) -> tuple[float, float]:
        """Bounds of the exponent over the whole grid."""
        return self.region.bounds(self.grid.exponent())

    @cached_property
    def bend(self) -> tuple[float, float]:
        """Bounds of the change of the exponent over half the grid."""
        return self.region.bounds(self.grid.bend)

    @property
    def shown(self) -> str:
        """The bounds of the exponent in words."""
        return f"exponent in [{self.exponent[0]:.4g}, {self.exponent[1]:.4g}], claimed {self.terms}"

    @property
    def shown_bend(self) -> str:
        """The bounds of the change in words."""
        return f"[{self.bend[0]:.3g}, {self.bend[1]:.3g}]"

    @property
    def is_straight(self) -> bool:
        """Whether the exponent certainly changes little along the grid, or only in a direction that helps the claim."""
        room = _BEND * self.terms.margin
        return self.bend[0] >= -room and (self.bend[1] <= room or self.terms.sense == "at_least")

    @property
    def has_settled_outside(self) -> bool:
        """Whether the exponent is outside the band and its change along the grid, prolonged, does not lead there.

        The whole grid and its upper half must lie on the same side of the band. A risk that begins to decay has a small
        exponent that grows by a large part of itself: below the band the change must be small against the exponent too.
        """
        whole = self.terms.band.gap(*self.exponent)
        upper = self.terms.band.gap(*self.region.bounds(self.grid.exponent(self.grid.upper_half)))
        if whole * upper <= 0:
            return False
        closing = _closing(self.bend, whole)
        if min(abs(whole), abs(upper)) <= _DRIFT * closing:
            return False
        return whole < 0 or closing <= max(0.0, self.exponent[0]) / _STEADY

    @property
    def hardly_begun(self) -> str | None:
        """Why a decay that is too slow may be one that has hardly begun, or None.

        A risk near its value at small sizes looks the same whether its rate is lost or late. So the part of the risk
        that is certainly gone at the end of the grid is compared with the part that the claim predicts to be gone.
        """
        if self.terms.exponent <= 0:
            return None
        fallen = -math.expm1(self.region.bounds(self.grid.at(-1) - self.grid.at(0))[1])
        predicted = -math.expm1(-self.terms.exponent * float(self.grid.x[-1] - self.grid.x[0]))
        if fallen >= _UNDER_WAY * predicted:
            return None
        return (
            f"over the grid the risk has certainly fallen by {max(0.0, fallen):.0%} only, where the claim predicts "
            f"{predicted:.0%}: a rate that is late looks like this too; begin the grid later"
        )

    def why_open(self, evidence: CurveEvidence) -> str:
        """Return what keeps an exponent outside the band from being refuted."""
        if self.bend[0] <= 0 <= self.bend[1]:
            return (
                f"over half the grid it changes by {self.shown_bend}: the grid may be pre-asymptotic, or the risk may "
                "not have begun to decay: raise the budget, or begin the grid later"
            )
        logs = np.log([point.sample.mean if point.sample else math.nan for point in evidence.points])
        halves = (self.grid.lower_half, self.grid.upper_half)
        lower, upper = (float(self.grid.exponent(rows) @ logs) for rows in halves)
        doublings = math.log2(evidence.sizes[-1] / evidence.sizes[0]) / 2
        place = round(math.sqrt(evidence.sizes[len(logs) // 2] * evidence.sizes[-1]))
        return self.terms.seen_from(lower, upper, doublings, place)


def judge_simulated(terms: RateTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
    """Judge simulated means by one joint region, which holds them all with probability at least 1 - significance.

    FAIL needs an exponent that has certainly settled outside the band; for a decay that is too slow also that a decay
    is under way. PASS needs it certainly inside, and the halves of the grid certainly alike.
    """
    region = Region([point.sample for point in evidence.points if point.sample is not None], significance)
    if region.unbounded:
        size = evidence.sizes[region.unbounded[0]]
        return undecided(
            f"the mean excess at n = {size} cannot be told from 0, or is not bounded: raise the budget, or tighten the "
            "support"
        )
    fit = SimulatedFit.of(terms, evidence, region)
    found = (Interval("exponent", *fit.exponent), Interval("change over half the grid", *fit.bend))
    off = terms.band.gap(*fit.exponent)
    if off != 0:
        return _judge_outside(fit, evidence, found, off, significance)
    if not terms.band.contains(*fit.exponent):
        return undecided(f"not refuted, but {fit.shown}: raise the budget", found)
    if not fit.is_straight:
        advice = "raise the budget or begin the grid later"
        return undecided(f"{fit.shown}, but over half the grid it may change by {fit.shown_bend}: {advice}", found)
    if terms.constant is not None:
        return _judge_simulated_constant(fit, found, significance)
    return UtilityJudgment(Verdict.PASS, "statistical", f"{fit.shown} (by simulation)", found)


def _judge_outside(
    fit: SimulatedFit, evidence: CurveEvidence, found: Found, off: float, significance: float
) -> UtilityJudgment:
    """Judge an exponent that is certainly outside the band on the whole grid; `off` is its gap."""
    if not fit.has_settled_outside:
        return undecided(f"{fit.shown}; {fit.why_open(evidence)}", found)
    if off > 0 and (late := fit.hardly_begun):
        return undecided(f"{fit.shown}; {late}", found)
    why = f"over half the grid it changes by {fit.shown_bend}, too little to explain it"
    reason = f"{fit.shown}; {why} (error probability {significance:.2g})"
    return UtilityJudgment(Verdict.FAIL, "statistical", reason, found)


def _judge_simulated_constant(fit: SimulatedFit, found: Found, significance: float) -> UtilityJudgment:
    """Judge the factor at the largest size; it is refuted if its change along the grid does not lead to the claim."""
    terms, grid, band = fit.terms, fit.grid, fit.terms.log_constant_band
    last, along = grid.at(-1), grid.at(-1) - grid.at(0)
    low, high = (bound + terms.exponent * float(last @ grid.x) for bound in fit.region.bounds(last))
    falls, rises = (bound + terms.exponent * float(along @ grid.x) for bound in fit.region.bounds(along))
    found = (*found, Interval("constant", math.exp(low), math.exp(high)))
    said = f"constant in [{math.exp(low):.4g}, {math.exp(high):.4g}], claimed {terms.shown_constant}"
    if band.contains(low, high):
        return UtilityJudgment(Verdict.PASS, "statistical", f"{fit.shown}; {said} (by simulation)", found)
    off = band.gap(low, high)
    if abs(off) > _closing((falls, rises), off):
        return UtilityJudgment(Verdict.FAIL, "statistical", f"{said} (error probability {significance:.2g})", found)
    return undecided(f"{fit.shown}; but {said}: raise the budget", found)


def _closing(change: tuple[float, float], gap: float) -> float:
    """Return the largest change in the direction that closes a gap."""
    return max(0.0, change[1] if gap > 0 else -change[0])
