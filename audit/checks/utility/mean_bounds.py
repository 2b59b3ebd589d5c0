"""Confidence bounds for the mean of bounded losses that hold in finite samples.

For independent losses X_i >= low with mean mu and any rate r >= 0, the wealth of a bet that mu exceeds m,

    product over i of (1 + r (X_i - low)) / (1 + r (m - low)),

has expectation at most 1 if mu <= m. So has a mixture over rates that were fixed before the losses were drawn. By
Markov's inequality, every m at which the mixture reaches 1 / significance is below mu, with error probability at most
the significance. The wealth depends on the losses through sum log(1 + r (X_i - low)), one number per rate: the
evidence stores these sums. The upper bound uses high - X_i in the same way. An infinite end of the support gives no
bound on that side.

The rates are chosen on a pilot sample, near the growth-optimal rate for its mean and variance.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, section 4.
Orabona and Jun (2023), Tight concentrations and confidence sequences from the regret of universal portfolio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_SPREAD = np.array([-4.0, -3.0, -2.0, -1.25, -0.5, 0.0, 0.5, 1.25, 2.0])  # log2 of each rate over the central one
_WEIGHTS = np.array([1, 1, 1, 2, 30, 30, 30, 3, 2]) / 100  # of the mixture; the outer rates hedge against a bad pilot
_LARGEST_STAKE = 0.9  # share of the wealth that the central rate risks on one loss
_BISECTIONS = 64
_TINY = 1e-280  # a pilot mean below this overflows the rate


@dataclass(frozen=True)
class Bets:
    """The bets that losses lie further from one end of their support than a candidate mean does."""

    rates: tuple[float, ...]  # chosen without the losses that they bet on; unit 1 / loss; >= 0
    growth: tuple[float, ...]  # sum over the losses of log(1 + rate * distance from the end)

    @classmethod
    def on(cls, distances: np.ndarray, pilot: np.ndarray, significance: float) -> Bets:
        """Return the bets on `distances` at rates that the distances of the pilot suggest."""
        mean, spread = float(pilot.mean()), float(pilot.std())
        center = 1.0
        if mean > _TINY:
            fraction = _LARGEST_STAKE / mean
            if spread > 0:
                fraction = min(fraction, math.sqrt(2 * math.log(1 / significance) / len(distances)) / spread)
            center = fraction / (1 - fraction * mean)
        rates = center * 2.0**_SPREAD
        return cls(tuple(map(float, rates)), tuple(float(np.log1p(rate * distances).sum()) for rate in rates))

    def log_wealth(self, count: int, distance: np.ndarray | float) -> np.ndarray:
        """Return the log wealth against means at most `distance` from the end; decreasing and convex in it."""
        paid = count * np.log1p(np.multiply.outer(distance, np.array(self.rates)))
        return np.asarray(np.logaddexp.reduce(np.array(self.growth) - paid + np.log(_WEIGHTS), axis=-1))

    def refuted_up_to(self, count: int, farthest: float, significance: float) -> float:
        """Return the largest refuted distance up to `farthest`, rounded down; 0.0 if none is refuted."""
        target = math.log(1 / significance)
        if self.log_wealth(count, 0.0) < target:
            return 0.0
        return bisect(lambda distance: bool(self.log_wealth(count, distance) >= target), 0.0, farthest, _BISECTIONS)[0]


@dataclass(frozen=True)
class MeanSample:
    """The summary of a sample of losses that the bounds of its mean need."""

    low: float  # support of a loss; may be infinite
    high: float
    count: int  # number of losses, without the pilot
    mean: float  # their average; an estimate
    above_low: Bets | None  # for the lower and the upper bound of the mean; None where that end is infinite
    below_high: Bets | None

    def lower_bound(self, significance: float) -> float:
        """Return a lower bound that exceeds the mean with probability at most `significance`; -inf if there is none."""
        if self.above_low is None:
            return -math.inf
        return self.low + self.above_low.refuted_up_to(self.count, abs(self.mean - self.low), significance)

    def upper_bound(self, significance: float) -> float:
        """Return an upper bound that the mean exceeds with probability at most `significance`; inf if there is none."""
        if self.below_high is None:
            return math.inf
        return self.high - self.below_high.refuted_up_to(self.count, abs(self.high - self.mean), significance)

    def log_wealth_above(self, mean: np.ndarray | float) -> np.ndarray:
        """Return the log wealth of the bets that the true mean exceeds `mean`; 0 without such bets."""
        if self.above_low is None:
            return np.zeros(np.shape(mean))
        return self.above_low.log_wealth(self.count, np.maximum(np.subtract(mean, self.low), 0.0))

    def log_wealth_below(self, mean: np.ndarray | float) -> np.ndarray:
        """Return the log wealth of the bets that the true mean lies below `mean`; 0 without such bets."""
        if self.below_high is None:
            return np.zeros(np.shape(mean))
        return self.below_high.log_wealth(self.count, np.maximum(np.subtract(self.high, mean), 0.0))


def summarize(pilot: np.ndarray, losses: np.ndarray, support: tuple[float, float], significance: float) -> MeanSample:
    """Return the summary of a sample that its confidence bounds need.

    Parameters
    ----------
    pilot : float array, shape (k,)
        Losses that choose the rates and nothing else.
    losses : float array, shape (count,)
        Independent losses within `support`, independent of the pilot.
    support : (low, high)
        Either end may be infinite.
    significance : float in (0, 1)
        Of each bound that will be asked for. The bounds hold at any other significance too, but are wider there.
    """
    low, high = support
    return MeanSample(
        low=low,
        high=high,
        count=len(losses),
        mean=float(losses.mean()),
        above_low=Bets.on(losses - low, pilot - low, significance) if math.isfinite(low) else None,
        below_high=Bets.on(high - losses, high - pilot, significance) if math.isfinite(high) else None,
    )


def bisect(holds: Callable[[float], bool], inside: float, outside: float, steps: int) -> tuple[float, float]:
    """Return the ends of an interval in which `holds` changes: it is true at the first, and maybe not at the second."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return inside, outside
