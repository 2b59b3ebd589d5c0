"""Thresholds on one score: which pair of them promises the largest certified bound.

What is promised is the bound that the certifying runs would give if the frequencies seen were true, less what
chance may have added to them: without that charge the best of many thresholds is the one that chance flatters most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

Sides = tuple[np.ndarray, np.ndarray]  # scores of left and of right outputs; NaN abstains

_COARSE = (24, 40)  # fewest and most thresholds of each spacing: even ranks, and ranks spaced from either end
_FINE = 12  # ranks tried on either side of a threshold that was chosen on the coarse grid


@dataclass(frozen=True)
class Thresholds:
    """Guess "left" where score >= upper, "right" where score <= lower; NaN makes an event empty."""

    upper: float
    lower: float

    def shares(self, scores: np.ndarray) -> tuple[float, float]:
        """Shares of scores beyond each threshold; abstentions do not count."""
        return _share(scores >= self.upper), _share(scores <= self.lower)

    def moved(self, source: np.ndarray, target: np.ndarray) -> Thresholds:
        """Cut off the same shares of other scores: one fitted on fewer outputs is noisier, and so more spread out."""
        above, below = self.shares(source)
        upper = self.upper if math.isnan(self.upper) else _cut(target, above)
        lower = self.lower if math.isnan(self.lower) else -_cut(-target[::-1], below)
        return self if upper <= lower else Thresholds(upper, lower)

    def frequencies(self, sides: Sides) -> tuple[float, float]:
        """Frequencies of a right and of a wrong guess in one run, the coin's fairness taken for granted."""
        plus = [_share(scores >= self.upper) for scores in sides]
        minus = [_share(scores <= self.lower) for scores in sides]
        return (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2

    @property
    def used(self) -> int:
        """How many of the two events are not empty."""
        return 2 - math.isnan(self.upper) - math.isnan(self.lower)


NO_THRESHOLDS = Thresholds(math.nan, math.nan)


@dataclass(frozen=True)
class Stakes:
    """What the promise of an event depends on besides its frequencies.

    Parameters
    ----------
    delta, significance : float
        Of the test.
    training_runs, certifying_runs : int
        Both sides together.
    epsilon : float
        The claimed one: what promises more is a refutation.
    """

    delta: float
    significance: float
    training_runs: int
    certifying_runs: int
    epsilon: float = math.inf

    def promise(self, right_guess: np.ndarray, wrong_guess: np.ndarray, used: np.ndarray, charge: float) -> np.ndarray:
        """An estimate of the bound that the certifying runs will give, less a charge for training noise.

        Parameters
        ----------
        right_guess, wrong_guess : array
            Frequencies in one run.
        used : array
            How many of the two events are not empty: delta is halved when one is.
        charge : float >= 0
            Standard errors of the training frequencies.
        """
        return promised_epsilon(right_guess, wrong_guess, self.delta * used / 2, self.kappa(charge))

    def kappa(self, charge: float) -> float:
        """Standard errors, of the test and charged for training, times one run's standard deviation."""
        test = max(float(-special.ndtri(self.significance)), 0.5)
        return test / math.sqrt(self.certifying_runs) + charge / math.sqrt(self.training_runs)


@dataclass(frozen=True)
class Tails:
    """Probabilities of {score >= threshold} and {score <= threshold} on each side, over a grid of thresholds.

    Each array has one more entry at its end, for the empty event.
    """

    grid: np.ndarray
    at_least: Sides
    at_most: Sides

    @classmethod
    def counted(cls, grid: np.ndarray, ordered: Sides, sizes: tuple[int, int]) -> Tails:
        """Frequencies in sorted samples of either side; `sizes` count the abstentions too."""
        pairs = list(zip(ordered, sizes, strict=True))
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

    def best(self, stakes: Stakes, charge: float) -> tuple[int, int]:
        """Indices of the thresholds of S+ and of S- with the largest promise; the last index is the empty event."""
        nonempty = np.append(np.ones(len(self.grid)), 0.0)
        used = np.add.outer(nonempty, nonempty)
        right_guess = np.add.outer(self.at_least[0], self.at_most[1]) / 2
        wrong_guess = np.add.outer(self.at_least[1], self.at_most[0]) / 2
        thresholds = np.append(self.grid, np.nan)
        overlap = np.less_equal.outer(thresholds, thresholds)  # false for the empty events
        promise = stakes.promise(right_guess, wrong_guess, used, charge)
        i, j = np.unravel_index(int(np.argmax(np.where(overlap | (used == 0), -np.inf, promise))), promise.shape)
        return int(i), int(j)


def best_thresholds(sides: Sides, stakes: Stakes, charge: float, stated: bool = False) -> Thresholds:
    """The pair of thresholds with the largest promise, on a coarse grid of ranks and then near its best pair.

    `stated` scores are log-likelihood ratios, which say themselves how often a guess is right.
    """
    ordered = _ordered(sides[0]), _ordered(sides[1])
    pooled = np.sort(np.concatenate(ordered), kind="stable")
    sizes = len(sides[0]), len(sides[1])

    def search(grid: np.ndarray) -> Thresholds:
        tails = Tails.stated(grid, pooled, sum(sizes)) if stated else Tails.counted(grid, ordered, sizes)
        thresholds = np.append(grid, np.nan)
        i, j = tails.best(stakes, charge)
        return Thresholds(float(thresholds[i]), float(thresholds[j]))

    grid = coarse_grid(pooled)
    if not len(grid):
        return NO_THRESHOLDS
    coarse = search(grid)
    return search(_fine_grid(pooled, grid, coarse))


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
    """Values between the neighbours of the chosen thresholds on the coarse grid, and those thresholds."""
    ranks = [np.searchsorted(ordered, [value for value in (chosen.upper, chosen.lower) if not math.isnan(value)])]
    for value in (chosen.upper, chosen.lower):
        if not math.isnan(value):
            at = int(np.searchsorted(grid, value))
            ends = np.searchsorted(ordered, grid[[max(0, at - 1), min(len(grid) - 1, at + 1)]])
            ranks.append(np.linspace(ends[0], ends[1], 2 * _FINE + 1).astype(int))
    return np.unique(ordered[np.minimum(np.concatenate(ranks), len(ordered) - 1)])


def _ordered(scores: np.ndarray) -> np.ndarray:
    return np.sort(scores[~np.isnan(scores)], kind="stable")  # quick where they are sorted


def _share(chosen: np.ndarray) -> float:
    return float(np.count_nonzero(chosen)) / max(1, len(chosen))


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


def promised_epsilon(right_guess: np.ndarray, wrong_guess: np.ndarray, delta: np.ndarray, kappa: float) -> np.ndarray:
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
        promise = np.log(np.maximum(t, 1e-300))
    return np.where(excess > 0, promise, -np.inf)
