"""Bound proportions and means of bounded losses, exactly; and find the largest epsilon that a test refutes.

A bet at rate r that the mean exceeds m has the wealth prod (1 + r (X_i - low)) / (1 + r (m - low)). It depends on the
losses through sum log(1 + r (X_i - low)), one number per rate: the evidence stores these sums.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, section 4.
Orabona and Jun (2023), Tight concentrations and confidence sequences from the regret of universal portfolio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import Limits, Nonnegative

LARGEST_EPSILON = 60.0  # beyond it e^epsilon / (1 + e^epsilon) is 1 in floating point


def proportion_lower_bound(successes: int, trials: int, significance: float) -> float:
    """Return a lower confidence bound of a proportion, exact (Clopper and Pearson 1934); 0.0 without a success."""
    # SciPy's and statsmodels' one-sided `alternative` arguments point opposite ways; nothing else here calls them
    if not 0 <= successes <= trials:
        raise InvalidArgument.of("successes", f"lie in 0..{trials}", successes)
    return float(special.betaincinv(successes, trials - successes + 1, significance)) if successes else 0.0


def proportion_upper_bound(successes: int, trials: int, significance: float) -> float:
    """Return an upper confidence bound of a proportion, exact; 1.0 without a failure."""
    return 1.0 - proportion_lower_bound(trials - successes, trials, significance)


def proportion_interval(successes: int, trials: int, significance: float) -> tuple[float, float]:
    """Return both exact bounds of a proportion, each wrong with probability `significance`; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    bounds = proportion_lower_bound, proportion_upper_bound
    return tuple(bound(successes, trials, significance) for bound in bounds)  # type: ignore[return-value]


def largest_refuted(refuted: Callable[[float], bool], high: float | None = None, error: float = 1e-9) -> float:
    """Return an epsilon just below the first one not refuted; all below a refuted one must be refuted."""
    low = 0.0
    if not refuted(low):
        return low
    if high is None:
        high = 1.0
        while high < LARGEST_EPSILON and refuted(high):
            low, high = high, 2 * high
    while high - low > error * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


_SPREAD = np.array([-4.0, -3.0, -2.0, -1.25, -0.5, 0.0, 0.5, 1.25, 2.0])  # log2 of each rate over the central one
# Weights of the mixture; the outer rates hedge against a bad pilot
_LOG_WEIGHTS = np.log(np.array([1, 1, 1, 2, 30, 30, 30, 3, 2]) / 100)
_LARGEST_STAKE = 0.9  # share of the wealth that the central rate risks on one loss
_TINY = 1e-280  # a pilot mean below this overflows the rate
_ENDS, _NARROWINGS = 65, 10  # points of a search, whose interval shrinks to 1/64 or 1/32; how often
ROUNDING = 1e-9  # relative error of arithmetic: of a loss, to the width of its support, and of an evaluator

Rates = Annotated[tuple[Nonnegative, ...], Limits(shortest=1)]


@dataclass(frozen=True)
class Losses:
    """Losses: one by one, or few values and how often each came."""

    values: np.ndarray
    times: np.ndarray | None = None

    @property
    def count(self) -> int:
        return len(self.values) if self.times is None else int(self.times.sum())

    def sum(self, terms: np.ndarray) -> float:
        """Return the sum over the losses of a function that has the value `terms` at `values`."""
        return float(terms.sum() if self.times is None else terms @ self.times)

    @property
    def mean(self) -> float:
        return self.sum(self.values) / self.count

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.sum((self.values - self.mean) ** 2) / self.count)

    def measure(self, end: float) -> Losses:
        """Return the distances from an end of the support."""
        return Losses(np.abs(self.values - end), self.times)


@dataclass(frozen=True)
class Bets:
    """The bets that losses lie further from one end of their support than a candidate mean does."""

    rates: Rates  # chosen without the losses that they bet on; unit 1 / loss
    growth: Rates  # per rate, the sum over the losses of log(1 + rate * distance from the end)

    @classmethod
    def on(cls, distances: Losses, pilot: Losses, significance: float) -> Bets:
        """Return the bets on `distances` at rates that the distances of the pilot suggest."""
        mean, spread = pilot.mean, pilot.spread
        center = 1.0
        if mean > _TINY:
            fraction = _LARGEST_STAKE / mean
            if spread > 0:
                fraction = min(fraction, math.sqrt(2 * math.log(1 / significance) / distances.count) / spread)
            center = fraction / (1 - fraction * mean)
        rates = center * 2.0**_SPREAD
        growth = (distances.sum(np.log1p(rate * distances.values)) for rate in rates)
        return cls(tuple(map(float, rates)), tuple(growth))

    def log_wealth(self, count: int, distance: np.ndarray | float) -> np.ndarray:
        """Return the log wealth against means at most `distance` from the end; decreasing and convex in it."""
        rates, growth = self._arrays  # a bound asks for the wealth many times
        paid = count * np.log1p(np.multiply.outer(distance, rates))
        return np.asarray(np.logaddexp.reduce(growth - paid + _LOG_WEIGHTS, axis=-1))

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.rates), np.array(self.growth)

    def refuted_up_to(self, count: int, farthest: float, significance: float) -> float:
        """Return the largest refuted distance up to `farthest`, rounded down; 0.0 if none is refuted."""
        target = math.log(1 / significance)
        if self.log_wealth(count, 0.0) < target:
            return 0.0
        return find_change(lambda distances: self.log_wealth(count, distances) >= target, 0.0, farthest)[0]


@dataclass(frozen=True)
class MeanSample:
    """The summary of a sample of losses that the bounds of its mean need."""

    low: float  # the support of a loss; either end may be infinite, and has no bets then
    high: float
    count: int  # without the pilot
    mean: float  # an estimate
    above_low: Bets | None
    below_high: Bets | None

    def bounds(self, significance: float) -> tuple[float, float]:
        """Return both bounds, each wrong with probability at most `significance`; -inf or inf if there is none."""
        return self.lower_bound(significance), self.upper_bound(significance)

    def lower_bound(self, significance: float) -> float:
        if self.above_low is None:
            return -math.inf
        return self.low + self.above_low.refuted_up_to(self.count, abs(self.mean - self.low), significance)

    def upper_bound(self, significance: float) -> float:
        if self.below_high is None:
            return math.inf
        return self.high - self.below_high.refuted_up_to(self.count, abs(self.high - self.mean), significance)

    def log_wealth(self, mean: np.ndarray | float) -> np.ndarray:
        """Return the log of half the wealth bet on each side against `mean`; convex in the mean."""
        sides = (self.above_low, np.subtract(mean, self.low)), (self.below_high, np.subtract(self.high, mean))
        logs = [
            bets.log_wealth(self.count, np.maximum(distance, 0.0)) if bets else np.zeros(np.shape(mean))
            for bets, distance in sides
        ]
        return np.asarray(np.logaddexp(*logs) - math.log(2))


def summarize(pilot: np.ndarray, losses: np.ndarray, support: tuple[float, float], significance: float) -> MeanSample:
    """Return the summary of losses for bounds that hold at any significance and are narrowest at the given one."""
    return _summarize(Losses(pilot), Losses(losses), support, significance)


def summarize_counts(values: np.ndarray, pilot: np.ndarray, counts: np.ndarray, significance: float) -> MeanSample:
    """Return the same of losses of few values, by how often each came in the pilot and afterwards."""
    support = float(values.min()), float(values.max())
    return _summarize(Losses(values, pilot), Losses(values, counts), support, significance)


def _summarize(pilot: Losses, losses: Losses, support: tuple[float, float], significance: float) -> MeanSample:
    above, below = (
        Bets.on(losses.measure(end), pilot.measure(end), significance) if math.isfinite(end) else None
        for end in support
    )
    return MeanSample(*support, losses.count, losses.mean, above, below)


def find_change(holds: Callable[[np.ndarray], np.ndarray], inside: float, outside: float) -> tuple[float, float]:
    """Return the ends of an interval in which `holds` changes: it is true at the first, and maybe not at the second.

    Many points are looked at together, which is much faster than to halve the interval as often as it takes.
    """
    for _ in range(_NARROWINGS):
        grid = np.linspace(inside, outside, _ENDS)
        kept = int(np.append(holds(grid[1:-1]), False).argmin())
        if (inside, outside) == (before := (float(grid[kept]), float(grid[kept + 1]))):
            break
        inside, outside = before
    return inside, outside
