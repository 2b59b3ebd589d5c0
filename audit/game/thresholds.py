"""Thresholds on one score: which pair of them promises the largest certified bound.

What is promised is the bound that the certifying runs would give if the frequencies seen were true, less what
chance may have added to them: without that penalty the best of many thresholds is the one that chance flatters most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

Sides = tuple[np.ndarray, np.ndarray]  # of left and of right outputs

_COARSE = (24, 40)  # fewest and most thresholds of each spacing: even ranks, and ranks spaced from either end
_FINE = 12  # ranks tried on either side of a threshold that was chosen on the coarse grid


@dataclass(frozen=True)
class Ranked:
    """Scores of left and of right outputs, sorted once: only their order is looked at, many times.

    Parameters
    ----------
    sides : pair of arrays
        Sorted; without the NaN of outputs that abstain.
    sizes : pair of int
        How many outputs there were on each side.
    """

    sides: Sides
    sizes: tuple[int, int]

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> Ranked:
        """Sort the scores of both sides; NaN abstains."""
        return cls((_sorted(left), _sorted(right)), (len(left), len(right)))

    def with_more(self, other: Ranked) -> Ranked:
        """These scores and others together."""
        left, right = (merged(*both) for both in zip(self.sides, other.sides, strict=True))
        return Ranked((left, right), (self.sizes[0] + other.sizes[0], self.sizes[1] + other.sizes[1]))

    def on_line(self, slope: float, offset: float) -> Ranked:
        """slope * score + offset; the slope is positive."""
        return Ranked((slope * self.sides[0] + offset, slope * self.sides[1] + offset), self.sizes)

    @property
    def total(self) -> int:
        """How many outputs there were."""
        return sum(self.sizes)

    @cached_property
    def distinct(self) -> int:
        """How many different scores the left outputs have."""
        side = self.sides[0]
        return int(np.count_nonzero(side[1:] != side[:-1])) + min(1, len(side))

    @cached_property
    def pooled(self) -> np.ndarray:
        """The scores of both sides, sorted."""
        return merged(*self.sides)


@dataclass(frozen=True)
class Thresholds:
    """Guess "left" where score >= upper, "right" where score <= lower; NaN makes an event empty."""

    upper: float
    lower: float

    def shares(self, ordered: np.ndarray) -> tuple[float, float]:
        """Shares of sorted scores beyond each threshold."""
        return self._above(ordered, len(ordered)), self._below(ordered, len(ordered))

    def moved(self, source: np.ndarray, target: np.ndarray) -> Thresholds:
        """Cut off the same shares of other scores: one fitted on fewer outputs is noisier, and so more spread out."""
        above, below = self.shares(source)
        upper = self.upper if math.isnan(self.upper) else _cut(target, above)
        lower = self.lower if math.isnan(self.lower) else -_cut(-target[::-1], below)
        return self if upper <= lower else Thresholds(upper, lower)

    def frequencies(self, ranked: Ranked) -> tuple[float, float]:
        """Frequencies of a right and of a wrong guess in one run, the coin's fairness taken for granted."""
        plus = [self._above(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        minus = [self._below(*side) for side in zip(ranked.sides, ranked.sizes, strict=True)]
        return (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2

    def _above(self, ordered: np.ndarray, size: int) -> float:
        if math.isnan(self.upper):
            return 0.0
        return float(len(ordered) - np.searchsorted(ordered, self.upper)) / max(1, size)

    def _below(self, ordered: np.ndarray, size: int) -> float:
        if math.isnan(self.lower):
            return 0.0
        return float(np.searchsorted(ordered, self.lower, "right")) / max(1, size)

    @property
    def used(self) -> int:
        """How many of the two events are not empty."""
        return 2 - math.isnan(self.upper) - math.isnan(self.lower)


NO_THRESHOLDS = Thresholds(math.nan, math.nan)


@dataclass(frozen=True)
class TestDesign:
    """Describe the test that events are chosen for.

    Parameters
    ----------
    delta, significance : float
        Of the test.
    training_runs, certifying_runs : int
        Both sides together.
    epsilon : float
        The claimed one: what promises more is a refutation.
    more : bool
        Whether more outputs will train if chance decides what looks best on these.
    """

    __test__ = False  # pytest: not a class of tests

    delta: float
    significance: float
    training_runs: int
    certifying_runs: int
    epsilon: float = math.inf
    more: bool = False

    def estimated_bound(
        self, right_guess: np.ndarray, wrong_guess: np.ndarray, used: np.ndarray, penalty: float
    ) -> np.ndarray:
        """An estimate of the bound that the certifying runs will give, less a penalty for training noise.

        Parameters
        ----------
        right_guess, wrong_guess : array
            Frequencies in one run.
        used : array
            How many of the two events are not empty: delta is halved when one is.
        penalty : float >= 0
            Standard errors of the training frequencies.
        """
        return estimate_bound(right_guess, wrong_guess, self.delta * used / 2, self.standard_errors(penalty))

    def standard_errors(self, penalty: float) -> float:
        """Standard errors, of the test and charged for training, times one run's standard deviation."""
        test = max(float(-special.ndtri(self.significance)), 0.5)
        return test / math.sqrt(self.certifying_runs) + penalty / math.sqrt(self.training_runs)


@dataclass(frozen=True)
class Tails:
    """Probabilities of {score >= threshold} and {score <= threshold} on each side, over a grid of thresholds.

    Each array has one more entry at its end, for the empty event.
    """

    grid: np.ndarray
    at_least: Sides
    at_most: Sides

    @classmethod
    def counted(cls, grid: np.ndarray, ranked: Ranked) -> Tails:
        """Frequencies on either side."""
        pairs = list(zip(ranked.sides, ranked.sizes, strict=True))
        least = [(len(x) - np.searchsorted(x, grid, "left")) / max(n, 1) for x, n in pairs]
        most = [np.searchsorted(x, grid, "right") / max(n, 1) for x, n in pairs]
        return cls(grid, _with_empty(least), _with_empty(most))

    @classmethod
    def stated(cls, grid: np.ndarray, ordered: np.ndarray, total: int) -> Tails:
        """What log-likelihood ratios say themselves: each output came from the left with probability expit(ratio)."""
        weights = [2 * special.expit(ordered) / total, 2 * special.expit(-ordered) / total]
        sums = [np.concatenate([[0.0], np.cumsum(w)]) for w in weights]
        below, upto = (np.searchsorted(ordered, grid, side) for side in ("left", "right"))
        return cls(grid, _with_empty([s[-1] - s[below] for s in sums]), _with_empty([s[upto] for s in sums]))

    def best(self, design: TestDesign, penalty: float) -> Thresholds:
        """The thresholds with the largest estimated bound."""
        nonempty = np.append(np.ones(len(self.grid)), 0.0)
        used = np.add.outer(nonempty, nonempty)
        right_guess = np.add.outer(self.at_least[0], self.at_most[1]) / 2
        wrong_guess = np.add.outer(self.at_least[1], self.at_most[0]) / 2
        thresholds = np.append(self.grid, np.nan)
        overlap = np.less_equal.outer(thresholds, thresholds)  # false for the empty events
        bounds = design.estimated_bound(right_guess, wrong_guess, used, penalty)
        i, j = np.unravel_index(int(np.argmax(np.where(overlap | (used == 0), -np.inf, bounds))), bounds.shape)
        return Thresholds(float(thresholds[i]), float(thresholds[j]))


def best_thresholds(ranked: Ranked, design: TestDesign, penalty: float, stated: bool = False) -> Thresholds:
    """The pair of thresholds with the largest estimated bound, on a coarse grid of ranks and then near its best pair.

    `stated` scores are log-likelihood ratios, which say themselves how often a guess is right.
    """

    def search(grid: np.ndarray) -> Thresholds:
        tails = Tails.stated(grid, ranked.pooled, ranked.total) if stated else Tails.counted(grid, ranked)
        return tails.best(design, penalty)

    grid = coarse_grid(ranked.pooled)
    if not len(grid):
        return NO_THRESHOLDS
    coarse = search(grid)
    return search(_fine_grid(ranked.pooled, grid, coarse))


def coarse_grid(ordered: np.ndarray) -> np.ndarray:
    """Candidate thresholds among sorted scores: all values when they are few."""
    n = len(ordered)
    if n == 0:
        return ordered
    size = int(np.clip(math.sqrt(n), *_COARSE))
    distinct = ordered[np.r_[True, ordered[1:] != ordered[:-1]]]
    if len(distinct) <= 2 * size:
        return distinct
    tails = np.geomspace(1, n, size).astype(int) - 1
    ranks = np.concatenate([tails, n - 1 - tails, np.linspace(0, n - 1, size).astype(int)])
    return np.unique(ordered[ranks])


def _fine_grid(ordered: np.ndarray, grid: np.ndarray, chosen: Thresholds) -> np.ndarray:
    """Values between the neighbors of the chosen thresholds on the coarse grid, and those thresholds."""
    ranks = [np.searchsorted(ordered, [value for value in (chosen.upper, chosen.lower) if not math.isnan(value)])]
    for value in (chosen.upper, chosen.lower):
        if not math.isnan(value):
            at = int(np.searchsorted(grid, value))
            ends = np.searchsorted(ordered, grid[[max(0, at - 1), min(len(grid) - 1, at + 1)]])
            ranks.append(np.linspace(ends[0], ends[1], 2 * _FINE + 1).astype(int))
    return np.unique(ordered[np.minimum(np.concatenate(ranks), len(ordered) - 1)])


def merged(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two sorted arrays as one."""
    return np.sort(np.concatenate([first, second]), kind="stable")  # quick where the parts are sorted


def _sorted(scores: np.ndarray) -> np.ndarray:
    in_order = bool(np.all(scores[1:] >= scores[:-1]))  # single numbers are sorted before they are scored
    ordered = scores if in_order else np.sort(scores)
    return ordered[: np.searchsorted(ordered, np.nan)]  # NaN comes last


def _cut(ordered: np.ndarray, share: float) -> float:
    """The value at or above which the share of `ordered` comes closest to `share`; ties are not divided."""
    wanted = (1 - share) * len(ordered)
    value = ordered[min(len(ordered) - 1, round(wanted))]
    first, beyond = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    exclude = beyond < len(ordered) and beyond - wanted < wanted - first
    return float(ordered[beyond] if exclude else value)


def _with_empty(sides: Sequence[np.ndarray]) -> Sides:
    """Both sides' probabilities, and zero for the empty event."""
    return np.append(sides[0], 0.0), np.append(sides[1], 0.0)


def estimate_bound(right_guess: np.ndarray, wrong_guess: np.ndarray, delta: np.ndarray, kappa: float) -> np.ndarray:
    """An estimate of the bound that a game will give: for ranking only, it certifies nothing.

    Solves C - t W - delta = kappa sqrt(C + t^2 W + t delta) for t = e^epsilon, C and W the probabilities of a
    right and of a wrong guess in one run; W is raised by kappa^2 / 2, which keeps empty counts finite.
    """
    c, w = right_guess, wrong_guess + kappa**2 / 2
    excess = c - delta
    a = w * w - kappa**2 * w
    b = 2 * w * excess + kappa**2 * delta
    k = excess**2 - kappa**2 * c
    root = np.sqrt(np.maximum(b * b - 4 * a * k, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = 2 * k / (b + root)  # the smaller root, in the form that survives a = 0
        estimated_bound = np.log(np.maximum(t, 1e-300))
    return np.where(excess > 0, estimated_bound, -np.inf)
