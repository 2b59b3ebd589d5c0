"""Choose two thresholds on one score: the pair with the largest estimated bound.

The estimated bound is the bound that the certifying runs would give if the frequencies seen were true, less a penalty
for training noise. Without the penalty, the best of many thresholds is the one that chance favors most.

A score fitted as a log-likelihood ratio is usually too bold; a line, fitted on outputs that the score has not seen,
calibrates it. If no bin of scores contradicts the line, the share of right guesses beyond a threshold follows from all
outputs rather than from the few beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from audit.scorers.base import distinct, merged
from audit.statistics.linear_models import fit_logistic, logistic

# Thresholds on one score: tuned by `tests/core/events`, `benchmarks.overhead`
COARSE_GRID = (24, 40)  # fewest and most thresholds of each spacing: even ranks, and ranks spaced from either end
FINE_GRID = 12  # ranks tried on either side of a threshold that was chosen on the coarse grid

# The judgment of candidates: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
CHOICE_PENALTY_LEARNED = 3.0  # the same for learned scores: at equal estimates the simpler score is safer
LINE_BINS = 200  # of equal mass, in which the calibration line is fitted
LINE_CUTS = (0.001, 0.003, 0.01, 0.03, *np.linspace(0.1, 0.9, 9), 0.97, 0.99, 0.997, 0.999)  # of the test of fit
LINE_MISFIT = 0.001  # level of the test of fit
LINE_ERRORS = 3.0  # standard errors by which the slope must exceed 0

Sides = tuple[np.ndarray, np.ndarray]  # of left and of right outputs


@dataclass(frozen=True)
class Ranked:
    """Scores of left and of right outputs, sorted once: only their order is used, many times."""

    sides: Sides  # sorted; without the NaN of outputs that abstain
    sizes: tuple[int, int]  # how many outputs there were on each side

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> Ranked:
        """Sort the scores of both sides; NaN abstains."""
        return cls((_sorted(left), _sorted(right)), (len(left), len(right)))

    def with_more(self, other: Ranked) -> Ranked:
        left, right = (merged(*both) for both in zip(self.sides, other.sides, strict=True))
        return Ranked((left, right), (self.sizes[0] + other.sizes[0], self.sizes[1] + other.sizes[1]))

    @property
    def total(self) -> int:
        return sum(self.sizes)

    @cached_property
    def distinct(self) -> int:  # different scores of the left outputs
        return len(distinct(self.sides[0]))

    @cached_property
    def pooled(self) -> np.ndarray:  # sorted
        return merged(*self.sides)

    @cached_property
    def coarse(self) -> Tails:
        """Return the counts on the coarse grid; thresholds are chosen on it for one penalty after the other."""
        return Tails.counted(coarse_grid(self.pooled), self)

    @cached_property
    def fine(self) -> dict[int, Tails]:
        """Hold the counts near pairs of the coarse grid, by the index of the pair: penalties often choose the same."""
        return {}


@dataclass(frozen=True)
class Thresholds:
    """Guess "left" where score >= upper, "right" where score <= lower; NaN makes an event empty."""

    upper: float
    lower: float

    def moved(self, source: np.ndarray, target: np.ndarray) -> Thresholds:
        """Cut off the same shares of other sorted scores; a score fitted on fewer outputs is more spread out."""
        upper = self.upper if math.isnan(self.upper) else _cut(target, self._above(source, len(source)))
        lower = self.lower if math.isnan(self.lower) else -_cut(-target[::-1], self._below(source, len(source)))
        return self if upper <= lower else Thresholds(upper, lower)

    def frequencies(self, ranked: Ranked) -> tuple[float, float]:
        """Return the frequencies of a right and of a wrong guess in one run, for a fair coin."""
        plus = [self._above(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        minus = [self._below(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        return (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2

    def _above(self, ordered: np.ndarray, size: int) -> float:
        return float(len(ordered) - np.searchsorted(ordered, self.upper)) / max(1, size)  # NaN is above all

    def _below(self, ordered: np.ndarray, size: int) -> float:
        if math.isnan(self.lower):
            return 0.0
        return float(np.searchsorted(ordered, self.lower, "right")) / max(1, size)

    @property
    def used(self) -> int:  # events that are not empty
        return 2 - math.isnan(self.upper) - math.isnan(self.lower)


@dataclass(frozen=True)
class TestDesign:
    """Describe the test that events are chosen for."""

    delta: float  # of the test
    critical: float  # standard errors that it demands; see `critical_value`
    training_runs: int  # both datasets together
    certifying_runs: int
    epsilon: float = math.inf  # the claimed one: a bound above it is a refutation
    more: bool = False  # whether more outputs will train if chance decides which events look best on these
    __test__ = False  # pytest: not a class of tests

    def estimated_bound(
        self, right_guess: np.ndarray, wrong_guess: np.ndarray, used: np.ndarray, penalty: float
    ) -> np.ndarray:
        """Estimate the bound of the certifying runs, less `penalty` standard errors of the training runs."""
        return estimate_bound(right_guess, wrong_guess, self.delta * used / 2, self.standard_errors(penalty))

    def largest_bound(self) -> float:
        """Return the estimate if every run is guessed right: no mechanism lets the runs certify more."""
        penalty = CHOICE_PENALTY_LEARNED
        return float(self.estimated_bound(np.array(1.0), np.array(0.0), np.array(2.0), penalty))

    def standard_errors(self, penalty: float) -> float:
        """Return standard errors, of the test and of the penalty, in units of one run's standard deviation."""
        return self.critical / math.sqrt(self.certifying_runs) + penalty / math.sqrt(self.training_runs)


def critical_value(significance: float) -> float:
    """Return the standard errors by which a test at this level must be exceeded, at least 0.5."""
    return max(float(-special.ndtri(significance)), 0.5)


@dataclass(frozen=True)
class Tails:
    """Probabilities of {score >= threshold} and {score <= threshold} per side; the last is of the empty event."""

    grid: np.ndarray
    at_least: Sides
    at_most: Sides

    @classmethod
    def counted(cls, grid: np.ndarray, ranked: Ranked) -> Tails:
        pairs = list(zip(ranked.sides, ranked.sizes, strict=True))
        least = [(len(x) - np.searchsorted(x, grid, "left")) / max(n, 1) for x, n in pairs]
        most = [np.searchsorted(x, grid, "right") / max(n, 1) for x, n in pairs]
        return cls(grid, _with_empty(least), _with_empty(most))

    @classmethod
    def stated(cls, grid: np.ndarray, ordered: np.ndarray, total: int) -> Tails:
        """Let log-likelihood ratios say it themselves: each output came from the left with probability expit(ratio)."""
        from_left = np.concatenate([[0.0], np.cumsum(logistic(ordered))]) * (2 / total)
        sums = [from_left, np.arange(len(ordered) + 1) * (2 / total) - from_left]
        below, upto = (np.searchsorted(ordered, grid, side) for side in ("left", "right"))
        return cls(grid, _with_empty([s[-1] - s[below] for s in sums]), _with_empty([s[upto] for s in sums]))

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, ...]:
        """Return upper and lower indices of all disjoint pairs of events, not both empty, and what `best` compares."""
        thresholds = np.append(self.grid, np.nan)
        apart = ~np.less_equal.outer(thresholds, thresholds)  # true for the empty events
        apart[-1, -1] = False
        upper, lower = np.nonzero(apart)
        right_guess = (self.at_least[0][upper] + self.at_most[1][lower]) / 2
        wrong_guess = (self.at_least[1][upper] + self.at_most[0][lower]) / 2
        used = (upper < len(self.grid)).astype(float) + (lower < len(self.grid))
        return upper, lower, right_guess, wrong_guess, used

    def best(self, design: TestDesign, penalty: float) -> int:
        """Return the index of the pair with the largest estimated bound."""
        _, _, right_guess, wrong_guess, used = self._pairs
        return int(np.argmax(design.estimated_bound(right_guess, wrong_guess, used, penalty)))

    def at(self, pair: int) -> Thresholds:
        upper, lower = (index[pair] for index in self._pairs[:2])
        return Thresholds(*(float(self.grid[i]) if i < len(self.grid) else math.nan for i in (upper, lower)))


def best_thresholds(ranked: Ranked, design: TestDesign, penalty: float, stated: bool = False) -> Thresholds:
    """Return the best thresholds on a coarse grid, then near them; `stated` scores are log-likelihood ratios."""

    def tails(grid: np.ndarray) -> Tails:
        return Tails.stated(grid, ranked.pooled, ranked.total) if stated else Tails.counted(grid, ranked)

    coarse = tails(coarse_grid(ranked.pooled)) if stated else ranked.coarse
    if not len(coarse.grid):
        return Thresholds(math.nan, math.nan)
    known = {} if stated else ranked.fine
    pair = coarse.best(design, penalty)
    if pair not in known:
        known[pair] = tails(_fine_grid(ranked.pooled, coarse.grid, coarse.at(pair)))
    return known[pair].at(known[pair].best(design, penalty))


def coarse_grid(ordered: np.ndarray) -> np.ndarray:
    """Pick candidate thresholds among sorted scores: all values when they are few."""
    n = len(ordered)
    size = int(np.clip(math.sqrt(n), *COARSE_GRID))
    values = distinct(ordered)
    if len(values) <= 2 * size:
        return values
    tails = np.geomspace(1, n, size).astype(int) - 1
    ranks = np.concatenate([tails, n - 1 - tails, np.linspace(0, n - 1, size).astype(int)])
    return np.unique(ordered[ranks])


def _fine_grid(ordered: np.ndarray, grid: np.ndarray, chosen: Thresholds) -> np.ndarray:
    """Pick values between the neighbors of the chosen thresholds on the coarse grid, and those thresholds."""
    ranks = []
    for value in (chosen.upper, chosen.lower):
        if not math.isnan(value):
            at = int(np.searchsorted(grid, value))
            low, high = np.searchsorted(ordered, grid[[max(0, at - 1), min(len(grid) - 1, at + 1)]])
            ranks.append(np.linspace(low, high, 2 * FINE_GRID + 1).astype(int))
            ranks.append(np.searchsorted(ordered, [value]))
    return np.unique(ordered[np.concatenate(ranks)]) if ranks else grid[:0]


def estimate_bound(right_guess: np.ndarray, wrong_guess: np.ndarray, delta: np.ndarray, errors: float) -> np.ndarray:
    """Estimate the bound that a game will give; for ranking only, it certifies nothing.

    Solves C - t W - delta = k sqrt(C + t^2 W + t delta) for t = e^epsilon, with C and W the probabilities of a right
    and of a wrong guess in one run, and k the standard errors. W is raised by k^2 / 2 to keep empty counts finite.
    """
    c, w = right_guess, wrong_guess + errors**2 / 2
    excess = c - delta
    a = w * w - errors**2 * w
    b = 2 * w * excess + errors**2 * delta
    k = excess**2 - errors**2 * c
    root = np.sqrt(np.maximum(b * b - 4 * a * k, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = 2 * k / (b + root)  # the smaller root, in the form that survives a = 0
        bound = np.log(np.maximum(t, 1e-300))
    return np.where(excess > 0, bound, -np.inf)


def _sorted(scores: np.ndarray) -> np.ndarray:
    in_order = bool(np.all(scores[1:] >= scores[:-1]))  # single numbers are sorted before they are scored
    ordered = scores if in_order else np.sort(scores)
    return ordered[: np.searchsorted(ordered, np.nan)]  # NaN comes last


def _cut(ordered: np.ndarray, share: float) -> float:
    """Return the value at or above which the share of `ordered` comes closest to `share`; ties are not divided."""
    wanted = (1 - share) * len(ordered)
    value = ordered[min(len(ordered) - 1, round(wanted))]
    first, beyond = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    exclude = beyond < len(ordered) and beyond - wanted < wanted - first
    return float(ordered[beyond] if exclude else value)


def _with_empty(sides: Sequence[np.ndarray]) -> Sides:
    return np.append(sides[0], 0.0), np.append(sides[1], 0.0)


def mean_bound(design: TestDesign, seen: Sequence[tuple[float, float]], used: int, penalty: float) -> float:
    """Estimate the bound from frequencies of right and wrong guesses that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(design.estimated_bound(np.array(right), np.array(wrong), np.array(used), penalty))


@dataclass(frozen=True)
class Line:
    """Calibrate a score: slope * score + offset is a log-likelihood ratio, or nearly so if the counts show a misfit."""

    slope: float
    offset: float
    misfit: bool = False

    @classmethod
    def through(cls, ranked: Ranked) -> Line | None:
        """Fit to fresh scores of both sides; None when the line is flat."""
        pooled = ranked.pooled
        if not len(pooled) or not np.isfinite(pooled[[0, -1]]).all():
            return None
        edges = np.unique(pooled[np.arange(1, LINE_BINS) * len(pooled) // LINE_BINS])
        left, right = (_counts(side, edges) for side in ranked.sides)
        starts = np.r_[0, np.searchsorted(pooled, edges)]
        centers = np.add.reduceat(pooled, np.minimum(starts, len(pooled) - 1)) / np.maximum(left + right, 1)
        scale = float(np.std(centers))
        if not scale > 0:
            return None
        design = np.column_stack([np.ones(len(centers)), centers / scale])
        weights, errors = fit_logistic(design, left, left + right, ridge=1e-6)
        if weights[1] < LINE_ERRORS * errors[1]:
            return None
        offset, slope, error = float(weights[0]), float(weights[1]) / scale, float(errors[1]) / scale
        return cls(slope - error, offset, cls(slope, offset)._fit_pvalue(ranked) < LINE_MISFIT)

    def _fit_pvalue(self, ranked: Ranked) -> float:
        """Return the p-value of the counts between the tested cuts, given the line."""
        pooled = ranked.pooled
        edges = np.unique(pooled[(np.array(LINE_CUTS) * len(pooled)).astype(int)])
        chances = logistic(self.slope * pooled + self.offset)
        sums = np.r_[0.0, np.cumsum(chances)]
        spread = np.r_[0.0, np.cumsum(chances * (1 - chances))]
        cuts = np.r_[0, np.searchsorted(pooled, edges), len(pooled)]
        expected, variance = np.diff(sums[cuts]), np.diff(spread[cuts])
        used = variance > 5
        freedom = int(used.sum()) - 2
        if freedom < 1:
            return 0.0
        gaps = _counts(ranked.sides[0], edges) - expected
        return float(special.chdtrc(freedom, np.sum(gaps[used] ** 2 / variance[used])))

    def proposal(self, scores: Ranked, design: TestDesign, allowance: float) -> tuple[float, Thresholds]:
        """Return the estimated bound, at most `allowance` standard errors above the counts, and its thresholds."""
        left, right = (self.slope * side + self.offset for side in scores.sides)
        ratios = Ranked((left, right), scores.sizes)
        chosen = best_thresholds(ratios, design, 0.0, stated=True)
        plus, minus = ratios.pooled[ratios.pooled >= chosen.upper], ratios.pooled[ratios.pooled <= chosen.lower]
        correct = (special.expit(plus).sum() + special.expit(-minus).sum()) / ratios.total
        wrong = (special.expit(-plus).sum() + special.expit(minus).sum()) / ratios.total
        seen = chosen.frequencies(ratios)
        stated, counted = (mean_bound(design, [pair], chosen.used, 0.0) for pair in ((correct, wrong), seen))
        error = 2 / math.sqrt(1 + sum(seen) * ratios.total)
        upper, lower = ((threshold - self.offset) / self.slope for threshold in (chosen.upper, chosen.lower))
        return min(stated, counted + allowance * error), Thresholds(upper, lower)


def _counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.r_[0, np.searchsorted(ordered, edges), len(ordered)])
