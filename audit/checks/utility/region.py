"""A joint confidence region for several means, and the bounds of linear forms of their logarithms over it.

For every size k and candidate mean m_k the wealth half bet on "the mean is larger" and half on "smaller" has
expectation at most 1 when m_k is the mean. The sizes are simulated independently, so the product over the sizes has
too, and by Markov's inequality

    R = { m : sum_k c_k(m_k) < log(1 / significance) },     c_k the log wealth at size k,

holds all the means together with probability at least 1 - significance, in finite samples. A bound of a linear form
sum_k f_k log m_k over R therefore holds for every form at once, so weights and halves may be chosen on the same data.
By weak duality, for every nu > 0,

    sup_R sum_k f_k log m_k  <=  nu T + sum_k sup_m { f_k log m - nu c_k(m) },     T = log(1 / significance);

the right side is minimised over nu; any nu gives a valid bound. The c_k are unimodal, so between two points of a grid
they are at least the smaller of their two values there, or their least value: this bounds the inner supremum.
Compared with one interval a mean, the errors of the means add up like independent ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from audit.checks.utility.means import MeanSample

_GRID = 800  # points a mean
_BISECTIONS = 50
_SAFETY = 1e-6  # nats by which a least wealth, found numerically, is rounded down
_MULTIPLIERS = np.geomspace(1e-5, 1e3, 160)  # values of nu that compete, relative to the size of the form


@dataclass(frozen=True)
class LogWealth:
    """The log wealth at one size, on a grid of log means that covers the region.

    Parameters
    ----------
    least : float
        Lower bound of the log wealth.
    grid : float array, shape (g,)
        Log means, increasing; empty when the region does not bound the log mean.
    between : float array, shape (g - 1,)
        Lower bound of the log wealth between neighbors of the grid.
    """

    least: float
    grid: np.ndarray
    between: np.ndarray

    def support(self, factor: float, nu: np.ndarray) -> np.ndarray:
        """Upper bound of factor * log m - nu * c(m) over the means of the region; one for each nu."""
        if factor == 0:
            return -nu * self.least
        ends = np.maximum(factor * self.grid[1:], factor * self.grid[:-1])
        return np.asarray((ends - np.multiply.outer(nu, self.between)).max(axis=1))


class Region:
    """The joint region of the means at several sizes.

    Parameters
    ----------
    samples : sequence of MeanSample
        Independent of each other.
    significance : float in (0, 1)
        Probability that some mean lies outside.
    """

    def __init__(self, samples: Sequence[MeanSample], significance: float) -> None:
        self._threshold = math.log(1 / significance)
        lowest = [_lowest(sample) for sample in samples]
        total = sum(least for _, least in lowest)
        self._wealth = [
            _tabulate(sample, place, least, self._threshold - total + least)
            for sample, (place, least) in zip(samples, lowest, strict=True)
        ]

    @property
    def unbounded(self) -> list[int]:
        """Indices of the means whose logarithm the region does not bound."""
        return [index for index, wealth in enumerate(self._wealth) if not len(wealth.grid)]

    @property
    def widths(self) -> np.ndarray:
        """Widths of the region in each log mean; shape (k,), inf where it is not bounded."""
        return np.array([np.ptp(wealth.grid) if len(wealth.grid) else math.inf for wealth in self._wealth])

    def bounds(self, form: np.ndarray) -> tuple[float, float]:
        """Bounds of sum form_k log mean_k over the region; all forms hold together."""
        return -self._upper(-form), self._upper(form)

    def _upper(self, form: np.ndarray) -> float:
        if any(form[index] != 0 for index in self.unbounded):
            return math.inf
        multipliers = float(np.abs(form).max()) * float(self.widths[form != 0].mean()) * _MULTIPLIERS
        parts = (wealth.support(factor, multipliers) for wealth, factor in zip(self._wealth, form, strict=True))
        return float((multipliers * self._threshold + sum(parts)).min())


def _log_wealth(sample: MeanSample, mean: np.ndarray | float) -> np.ndarray:
    """Log of half the wealth bet upwards plus half the wealth bet downwards; a convex function of the mean."""
    up, down = sample.log_wealth_above(mean), sample.log_wealth_below(mean)
    return np.asarray(np.logaddexp(up, down) - math.log(2))


def _lowest(sample: MeanSample) -> tuple[float, float]:
    """Where the log wealth is least, and a lower bound of it there."""
    ends = (
        sample.low if math.isfinite(sample.low) else min(sample.mean, sample.high) - 1,
        sample.high if math.isfinite(sample.high) else max(sample.mean, sample.low) + 1,
    )
    found = optimize.minimize_scalar(lambda m: float(_log_wealth(sample, m)), bounds=ends, method="bounded")
    place, least = min(
        ((float(found.x), float(found.fun)), (sample.mean, float(_log_wealth(sample, sample.mean)))),
        key=lambda pair: pair[1],
    )
    return place, least - _SAFETY


def _tabulate(sample: MeanSample, place: float, least: float, room: float) -> LogWealth:
    """The log wealth over the means at which it is at most `room`, from `place`, where it is least, outwards."""
    low, high = _end(sample, place, sample.low, room), _end(sample, place, sample.high, room)
    if not (low > 0 and math.isfinite(high)):
        return LogWealth(least, np.empty(0), np.empty(0))
    grid = np.linspace(math.log(low), math.log(high), _GRID)
    values = _log_wealth(sample, np.exp(grid))
    between = np.minimum(values[1:], values[:-1])
    holds = np.searchsorted(grid, math.log(place))
    between[max(0, holds - 2) : holds + 1] = least
    return LogWealth(least, grid, between)


def _end(sample: MeanSample, inside: float, outside: float, room: float) -> float:
    """A mean at or beyond which the log wealth exceeds `room`, or the end of the support."""
    if math.isinf(outside) or float(_log_wealth(sample, outside)) <= room:
        return outside
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if float(_log_wealth(sample, middle)) <= room:
            inside = middle
        else:
            outside = middle
    return outside
