"""Confidence bounds for the mean of bounded losses that hold in finite samples: betting with a mixed stake.

For losses X >= low with mean mu and any rate r >= 0, the product over the replicates of

    (1 + r (X_i - low)) / (1 + r (m - low))

has expectation at most 1 when mu <= m, since its factors are independent and each has expectation at most 1. So has
a mixture over rates that were fixed before the replicates were drawn, and by Markov's inequality every m at which it
reaches 1 / significance is too small for the mean, with error probability at most the significance. The wealth
depends on the losses through sum log(1 + r (X_i - low)), one number a rate: that is what the evidence holds. The
upper bound is the same for high - X. A side of the support that is infinite gives no bound on that side.

The rates come from a pilot sample: near the growth-optimal one for its mean and variance.

References
----------
Waudby-Smith and Ramdas (2024), section 4 (betting); Orabona and Jun (2023) (mixtures over stakes).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_SPREAD = np.array([-4.0, -3.0, -2.0, -1.25, -0.5, 0.0, 0.5, 1.25, 2.0])  # of the rates, in powers of two
_WEIGHTS = np.array([1, 1, 1, 2, 30, 30, 30, 3, 2]) / 100  # of the mixture: the pilot is trusted, not blindly
_BOLDEST = 0.9  # share of the wealth that the central rate puts at risk in one replicate
_BISECTIONS = 64
_TINY = 1e-280  # a pilot's mean below this gives no rate that can be computed with


@dataclass(frozen=True)
class Bets:
    """Wealth of bets that the losses lie further from one end of their support than a candidate mean does.

    Parameters
    ----------
    rates : tuple of float >= 0
        Chosen without the replicates that they bet on; unit 1 / loss.
    growth : tuple of float
        Sum over the replicates of log(1 + rate * distance from the end).
    """

    rates: tuple[float, ...]
    growth: tuple[float, ...]

    def log_wealth(self, count: int, distance: np.ndarray | float) -> np.ndarray:
        """Log wealth against the means at most `distance` from the end; falls in `distance`, and is convex in it."""
        rates, growth = np.array(self.rates), np.array(self.growth)
        paid = count * np.log1p(np.multiply.outer(distance, rates))
        return np.asarray(np.logaddexp.reduce(growth - paid + np.log(_WEIGHTS), axis=-1))


@dataclass(frozen=True)
class MeanSample:
    """What is kept of the losses at one size.

    Parameters
    ----------
    low, high : float
        Support of a loss; may be infinite.
    count : int
        Replicates, those of the pilot left out.
    mean : float
        Their average; an estimate.
    above_low, below_high : Bets or None
        For the lower and the upper bound of the mean; None where that end is infinite.
    """

    low: float
    high: float
    count: int
    mean: float
    above_low: Bets | None
    below_high: Bets | None

    def lower_bound(self, significance: float) -> float:
        """Lower bound of the mean; exceeds it with probability at most `significance`. -inf when there is none."""
        if self.above_low is None:
            return -math.inf
        return self.low + _refuted_up_to(self.above_low, self.count, abs(self.mean - self.low), significance)

    def upper_bound(self, significance: float) -> float:
        """Upper bound of the mean; below it with probability at most `significance`. inf when there is none."""
        if self.below_high is None:
            return math.inf
        return self.high - _refuted_up_to(self.below_high, self.count, abs(self.high - self.mean), significance)

    def log_wealth_above(self, mean: np.ndarray | float) -> np.ndarray:
        """Log wealth of the bets that the mean exceeds `mean`; 0 where there are none."""
        if self.above_low is None:
            return np.zeros(np.shape(mean))
        return self.above_low.log_wealth(self.count, np.maximum(np.subtract(mean, self.low), 0.0))

    def log_wealth_below(self, mean: np.ndarray | float) -> np.ndarray:
        """Log wealth of the bets that the mean lies below `mean`; 0 where there are none."""
        if self.below_high is None:
            return np.zeros(np.shape(mean))
        return self.below_high.log_wealth(self.count, np.maximum(np.subtract(self.high, mean), 0.0))


def betting_rates(pilot: np.ndarray, replicates: int, significance: float) -> np.ndarray:
    """Rates near the growth-optimal one for losses like the pilot's.

    Parameters
    ----------
    pilot : float array, shape (k,), >= 0
        Distances from the end of the support.
    replicates : int
        Losses that will be bet on.
    significance : float in (0, 1)
        Of the bound that is wanted.
    """
    mean, spread = float(pilot.mean()), float(pilot.std())
    if mean <= _TINY:
        return np.asarray(2.0**_SPREAD)
    boldest = _BOLDEST / mean
    wanted = math.sqrt(2 * math.log(1 / significance) / replicates)
    fraction = min(boldest, wanted / spread) if spread > 0 else boldest
    centre = fraction / (1 - fraction * mean)
    return np.asarray(centre * 2.0**_SPREAD)


def summarise(pilot: np.ndarray, losses: np.ndarray, support: tuple[float, float], significance: float) -> MeanSample:
    """Keep of the losses what their confidence bounds need.

    Parameters
    ----------
    pilot : float array, shape (k,)
        Losses that choose the rates, and nothing else.
    losses : float array, shape (count,)
        Independent losses, independent of the pilot, within `support`.
    support : (low, high)
        Either end may be infinite.
    significance : float in (0, 1)
        Of each of the two bounds that will be asked for; the bounds hold at any other as well.
    """
    low, high = support
    count = len(losses)

    def bets(distance: Callable[[np.ndarray], np.ndarray]) -> Bets:
        rates = betting_rates(distance(pilot), count, significance)
        away = distance(losses)
        return Bets(tuple(map(float, rates)), tuple(float(np.log1p(rate * away).sum()) for rate in rates))

    return MeanSample(
        low=low,
        high=high,
        count=count,
        mean=float(losses.mean()),
        above_low=bets(lambda x: x - low) if math.isfinite(low) else None,
        below_high=bets(lambda x: high - x) if math.isfinite(high) else None,
    )


def _refuted_up_to(bets: Bets, count: int, mean: float, significance: float) -> float:
    """Largest distance that the wealth refutes, found by bisection and rounded to the safe side; 0.0 when none."""
    target = math.log(1 / significance)
    if bets.log_wealth(count, 0.0) < target:
        return 0.0
    refuted, standing = 0.0, mean
    for _ in range(_BISECTIONS):
        middle = (refuted + standing) / 2
        if middle in (refuted, standing):
            break
        if bets.log_wealth(count, middle) >= target:
            refuted = middle
        else:
            standing = middle
    return refuted
