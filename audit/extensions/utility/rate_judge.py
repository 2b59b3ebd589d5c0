"""Judge a rate from values without noise or from simulated means, by the rules that `docs/utility.md` derives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from audit import Verdict
from audit.api import Interval, Judgment, conclude, leave_open, validate
from audit.extensions.utility.curve import CurveEvidence, CurvePoint
from audit.extensions.utility.means import LogGrid, Region

_FURTHER = 20  # doublings, a factor of 10^6 in the scale, over which the drift of an exact exponent is prolonged
_LEAST_SPAN = 3.0  # doublings of n behind an exponent fitted to exact values
_FEWEST_VALUES = 3
_FASTEST = 1e3  # largest factor per doubling by which a drift is taken to speed up
_GRAIN = 1e-9  # a change of the exact exponent up to this is rounding
_DRIFT = 3.0  # times the simulated change over half the grid is prolonged beyond the grid
_MOST_DOUBLINGS = 12  # of the losses, in advice
_STEADY = 2.0  # an exponent below the claim must exceed its change over half the grid this many times
_UNDER_WAY = 0.5  # part of the predicted fall of the risk that must show before a decay is called too slow
_BEND = 2.0  # margins by which the exponent may change over half the grid under a PASS

Points = tuple[CurvePoint, ...]
Ends = tuple[float, float]


class Band(NamedTuple):
    """The values that keep a claim."""

    low: float
    high: float

    def contains(self, lower: float, upper: float) -> bool:
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
    least_look: validate.Natural = 0

    @property
    def band(self) -> Band:
        """Exponents that keep the claim."""
        low = self.exponent - self.margin
        return Band(low, math.inf if self.sense == "at_least" else self.exponent + self.margin)

    def __str__(self) -> str:
        if self.sense == "at_least":
            return f"at least {self.exponent:g} - {self.margin:g}"
        return f"{self.exponent:g} +- {self.margin:g}{' throughout' if self.sense == 'throughout' else ''}"

    def seen_from(self, earlier: float, later: float, doublings: float, size: int) -> str:
        """Return from where on the exponent can show if it keeps approaching; `later` is the one at `size`."""
        before, after = abs(earlier - self.exponent), abs(later - self.exponent)
        if self.band.contains(later, later):
            return f"the grid begins too early: use sizes from about n = {size:.3g} on"
        if not after < before:
            return "the local exponent does not approach the claim on this grid"
        steps = math.log(after / self.margin) / math.log(before / after)
        first = f"{size * 2.0 ** min(doublings * steps, 300):.1g}"
        return f"the grid is pre-asymptotic: use sizes from about n = {first} on (extrapolated)"


def judge_values(terms: RateTerms, evidence: CurveEvidence, significance: float) -> Judgment:
    """Judge values without noise: those of the declared sizes, and before a FAIL those beyond them too."""
    points, beyond, how = evidence.points, evidence.beyond, evidence.how()
    every = (*points, *beyond)
    if any(not point.exact or point.exact <= 0 for point in every):
        return leave_open("the excess is not positive at every size, so that it has no logarithm")
    judgment = _judge_values(terms, points, beyond, how)
    if judgment.verdict is not Verdict.FAIL:
        return judgment
    last = every[-1].size
    if last < terms.least_look:
        cause = f"beyond n = {last} the evaluator gave nothing, so that a grid that begins too early is not excluded"
        return leave_open(f"{judgment.reason}; {cause}: a horizon declares how far to look", judgment.found)
    if not beyond:
        return judgment
    apart = [every[-1]]  # by three doublings: the ripple of rounded settings evens out
    for point in reversed(every):
        if point.size * 2**_LEAST_SPAN <= apart[-1].size:
            apart.append(point)
    further = _judge_values(terms, tuple(reversed(apart)), (), how)
    if further.verdict is not Verdict.FAIL:
        return leave_open(f"{judgment.reason}; but up to n = {last}: {further.reason}", judgment.found)
    return replace(judgment, reason=f"{judgment.reason}; and so it is up to n = {last:.3g}")


def _judge_values(terms: RateTerms, points: Points, beyond: Points, how: str) -> Judgment:
    curve = ExactCurve(points)
    before, last = map(float, curve.local[-2:])
    found = (Interval("exponent", curve.exponent, curve.exponent), Interval("last local exponent", last, last))
    shown = f"exponent {curve.exponent:.4g}, locally {before:.4g} and {last:.4g} at the largest sizes, claimed {terms}"
    why_open = broken = None
    outside = [value for value in curve.local.tolist() if terms.band.gap(value, value) != 0]
    if terms.sense == "throughout" and outside:
        broken = f"{shown}; it is {outside[0]:.4g} between two of its sizes ({how})"
    elif curve.shows(terms):
        if terms.constant is not None:
            logs = (curve.y + terms.exponent * curve.x) * math.log(2)
            pace = np.diff(logs) / np.diff(curve.x)
            end = float(logs[-1])
            return _judge_constant(terms, (end, end), lambda off: _prolong(pace, off), shown, found, how)
    elif first := _first_size_that_shows(terms, (*points, *beyond)):
        why_open = f"{shown}: use sizes from n = {first} on"
    elif curve.has_settled_outside(terms):
        broken = f"{shown} ({how})"
    else:
        why_open = f"{shown}: {terms.seen_from(before, last, float(curve.x[-1] - curve.x[-2]), points[-1].size)}"
    return conclude("computed", found, broken=broken, why_open=why_open, kept=shown)


class ExactCurve:
    """Positive values without noise over a scale; the arrays hold logs to the base 2."""

    def __init__(self, points: Points) -> None:
        self.n = np.log2([float(point.size) for point in points])
        self.x = np.log2([point.reference or math.nan for point in points])
        self.y = np.log2([point.exact or math.nan for point in points])
        self.local = 0.0 - np.diff(self.y) / np.diff(self.x)  # exponents between neighboring values
        centered = self.x - self.x.mean()
        self.exponent = 0.0 - float(centered @ self.y / (centered @ centered))  # fitted: minus the least-squares slope

    def shows(self, terms: RateTerms) -> bool:
        """Return whether the claimed exponent shows: fitted, at the end, and without a drift away from it."""
        if len(self.x) < _FEWEST_VALUES or self.n[-1] - self.n[0] < _LEAST_SPAN - 1e-9:
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
        return abs(off) > _prolong(np.diff(local) / np.diff((self.x[1:] + self.x[:-1]) / 2), off)


def _prolong(pace: np.ndarray, gap: float) -> float:
    """Return how far a drift leads towards a gap over `_FURTHER` doublings; if it speeds up, it goes on doing so."""
    steps = math.copysign(1.0, gap) * pace
    if steps[-1] <= _GRAIN:
        return 0.0
    speed_up = steps[-1] / steps[-2] if len(steps) > 1 and steps[-2] > _GRAIN else 1.0
    factor = min(max(1.0, float(speed_up)), _FASTEST)
    return float(steps[-1]) * sum(factor**k for k in range(1, _FURTHER + 1))


def _first_size_that_shows(terms: RateTerms, points: Points) -> int | None:
    """Return the first size from which on the claimed exponent shows up to the last value, or None."""
    held = [terms.band.contains(value, value) for value in ExactCurve(points).local.tolist()]
    starts = (at for at in range(len(held)) if all(held[at:]) and ExactCurve(points[at:]).shows(terms))
    return next((points[start].size for start in starts), None)


def judge_means(terms: RateTerms, evidence: CurveEvidence, significance: float) -> Judgment:
    """Judge simulated means by one joint region, which holds them all with probability at least 1 - significance."""
    region = Region([point.sample for point in evidence.points if point.sample is not None], significance)
    if region.unbounded:
        mean = f"the mean excess at n = {evidence.sizes[region.unbounded[0]]}"
        return leave_open(
            f"{mean} cannot be distinguished from 0, or is not bounded: raise the budget, or tighten the support"
        )
    fit = SimulatedFit.of(terms, evidence, region)
    found = (Interval("exponent", *fit.exponent), Interval("change over half the grid", *fit.bend))
    shown = f"exponent in [{fit.exponent[0]:.4g}, {fit.exponent[1]:.4g}], claimed {terms}"
    trust = f"error probability {significance:.2g}"
    broken, why_open = None, fit.why_open
    if terms.sense == "throughout":
        steps = [region.bounds(fit.grid.exponent(slice(at, at + 2))) for at in range(len(fit.sizes) - 1)]
        lows, highs = zip(*steps, strict=True)
        shown += f", between neighboring sizes in [{min(lows):.4g}, {max(highs):.4g}]"
        if fit.off != 0 or any(terms.band.gap(*ends) != 0 for ends in steps):
            said = f"{shown}, so that it lies outside between two of the sizes ({trust})"
            return Judgment(Verdict.FAIL, "outputs", said, found=found)
    if why_open is not None:
        why_open = f"{shown}; {why_open}{fit.advice(evidence.samples)}"
    elif fit.off != 0:
        broken = f"{shown}; over half the grid it changes by {fit.shown_bend}, too little to explain it ({trust})"
    elif terms.constant is not None:
        grid = fit.grid
        ends, along = (fit.log_constant(region, form) for form in (grid.at(-1), grid.at(-1) - grid.at(0)))
        return _judge_constant(terms, ends, lambda gap: _closing(along, gap), shown, found, "by simulation", trust)
    return conclude("outputs", found, broken=broken, why_open=why_open, kept=shown)


def _judge_constant(
    terms: RateTerms,
    ends: Ends,  # bounds of its log
    drift: Callable[[float], float],  # how far the drift leads towards a gap
    shown: str,
    found: tuple[Interval, ...],
    how: str,
    trust: str | None = None,  # None if it is exact
) -> Judgment:
    """Judge the factor at the largest size; it is refuted if its drift does not lead to the claim."""
    assert terms.constant is not None
    log, margin = math.log(terms.constant), terms.constant_margin
    one_sided = terms.sense == "at_least" or margin >= 1
    band = Band(-math.inf if one_sided else log + math.log1p(-margin), log + math.log1p(margin))
    low, high = map(math.exp, ends)
    value = f"in [{low:.4g}, {high:.4g}]" if trust else f"{low:.4g}"
    side = "at most " if terms.sense == "at_least" else ""
    said = f"constant {value}, claimed {side}{terms.constant:g} within {terms.constant_margin:.0%}"
    off = band.gap(*ends)
    still = f"{shown}; but {said}: raise the budget" if trust else f"{said}: it still moves towards the claim"
    return conclude(
        "outputs" if trust else "computed",
        (*found, Interval("constant", low, high)),
        broken=f"{said} ({trust or how})" if abs(off) > drift(off) else None,
        why_open=None if band.contains(*ends) else still,
        kept=f"{found[0]}, claimed {terms}; {said}",
        scope=(shown,),
    )


@dataclass(frozen=True)
class SimulatedFit:
    """Evidence of the joint region of the means about the exponent: bounds that hold together, and estimates."""

    terms: RateTerms
    sizes: tuple[int, ...]
    grid: LogGrid
    exponent: Ends  # over the whole grid
    bend: Ends  # of the change of the exponent over half the grid
    upper: Ends  # of the exponent over the upper half
    fall: Ends  # of the log mean, from the first size to the last
    estimates: tuple[float, ...]  # of these four, and of the exponent over the lower half

    @classmethod
    def of(cls, terms: RateTerms, evidence: CurveEvidence, region: Region) -> SimulatedFit:
        """Return the bounds by a region; the weights may depend on it, since its bounds hold for all forms at once."""
        widths = np.maximum(region.widths, float(region.widths.max()) / 10)  # weights within a hundredfold
        grid = LogGrid(np.log([point.reference or math.nan for point in evidence.points]), 1.0 / widths**2)
        lower, upper = map(grid.exponent, grid.halves)
        forms = (grid.exponent(), grid.bend, upper, grid.at(-1) - grid.at(0))
        logs = np.log([point.sample.mean if point.sample else math.nan for point in evidence.points])
        estimates = tuple(float(form @ logs) for form in (*forms, lower))
        whole, bend, of_upper, fall = map(region.bounds, forms)
        return cls(terms, evidence.sizes, grid, whole, bend, of_upper, fall, estimates)

    @property
    def off(self) -> float:
        """Return how far the bounds of the exponent lie outside the band; 0.0 if they touch it."""
        return self.terms.band.gap(*self.exponent)

    @property
    def shown_bend(self) -> str:
        return f"[{self.bend[0]:.3g}, {self.bend[1]:.3g}]"

    def log_constant(self, region: Region, form: np.ndarray) -> Ends:
        low, high = (bound + self.terms.exponent * float(form @ self.grid.x) for bound in region.bounds(form))
        return low, high

    def advice(self, drawn: int) -> str:
        """Return how many losses would decide if the estimates are right; bounds shrink as one over the root."""
        narrowed = (self._narrow(2 ** (step / 2)) for step in range(1, _MOST_DOUBLINGS + 1))
        enough = next((step for step, fit in enumerate(narrowed, 1) if fit.why_open is None), None)
        if enough is None:
            return ""
        return f"; about {drawn * 2.0**enough:.1g} losses would decide it: raise the budget, or give fewer sizes"

    def _narrow(self, factor: float) -> SimulatedFit:
        def near(ends: Ends, middle: float) -> Ends:
            low, high = (middle + (end - middle) / factor for end in ends)
            return low, high

        whole, bend, upper, fall = map(near, (self.exponent, self.bend, self.upper, self.fall), self.estimates)
        return replace(self, exponent=whole, bend=bend, upper=upper, fall=fall)

    @property
    def why_open(self) -> str | None:
        """Return the reason why the exponent is not decided, or None."""
        room = _BEND * self.terms.margin  # growth helps a claim of "at least"
        straight = self.bend[0] >= -room and (self.bend[1] <= room or self.terms.sense == "at_least")
        if self.off != 0 and self.terms.sense == "throughout":
            return None  # the fitted exponent is a weighted mean of those between neighboring sizes
        if self.off != 0:
            return self._why_not_settled or (self._why_hardly_begun if self.off > 0 else None)
        if not self.terms.band.contains(*self.exponent):
            return "it is not refuted"
        return None if straight else f"over half the grid it may change by {self.shown_bend}"

    @property
    def _why_not_settled(self) -> str | None:
        """The reason why the change of an exponent outside the band, prolonged, may lead there, or None."""
        upper, closing = self.terms.band.gap(*self.upper), _closing(self.bend, self.off)
        # a risk that begins to decay has a small exponent that grows by a large part of itself
        steady = self.off < 0 or closing <= max(0.0, self.exponent[0]) / _STEADY
        if self.off * upper > 0 and min(abs(self.off), abs(upper)) > _DRIFT * closing and steady:
            return None
        if self.bend[0] <= 0 <= self.bend[1]:
            open_ends = "the grid may be pre-asymptotic, or the risk may not have begun to decay"
            return f"over half the grid it changes by {self.shown_bend}: {open_ends}"
        place = round(math.sqrt(self.sizes[len(self.sizes) // 2] * self.sizes[-1]))
        doublings = math.log2(self.sizes[-1] / self.sizes[0]) / 2
        _, _, upper_half, _, lower_half = self.estimates
        return self.terms.seen_from(lower_half, upper_half, doublings, place)

    @property
    def _why_hardly_begun(self) -> str | None:
        """The reason why a decay that is too slow may be one that has hardly begun, or None."""
        if self.terms.exponent <= 0:
            return None
        fallen = -math.expm1(self.fall[1])
        predicted = -math.expm1(-self.terms.exponent * float(self.grid.x[-1] - self.grid.x[0]))
        # a risk near its value at small sizes looks the same whether its rate is lost or late
        if fallen >= _UNDER_WAY * predicted:
            return None
        seen = f"over the grid the risk has certainly fallen by {max(0.0, fallen):.0%} only"
        return f"{seen}, where the claim predicts {predicted:.0%}: a rate that is late looks like this too"


def _closing(change: Ends, gap: float) -> float:
    """Return the largest change in the direction that closes a gap."""
    return max(0.0, change[1] if gap > 0 else -change[0])
