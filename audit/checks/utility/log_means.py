"""Bounds of linear forms of the logarithms of several means, from one joint confidence region of the means.

At size k and candidate mean m_k, bet half the wealth on "the mean is larger" and half on "the mean is smaller". This
wealth has expectation at most 1 if m_k is the mean. The sizes are simulated independently, so their product has too,
and by Markov's inequality

    R = { m : sum_k c_k(m_k) < log(1 / significance) },     c_k the log wealth at size k,

holds all means together with probability at least 1 - significance, in finite samples. Bounds of linear forms
sum_k f_k log m_k over R therefore hold for all forms at once, and forms may be chosen on the same data. By weak
duality, for every nu > 0,

    sup_R sum_k f_k log m_k  <=  nu T + sum_k sup_m { f_k log m - nu c_k(m) },     T = log(1 / significance);

the smallest right side over a list of nu is used; any nu gives a valid bound. Each c_k is unimodal, so between two
points of a grid it is at least the smaller of its two values there, or its least value. This bounds the inner supremum.
Compared with one interval per mean, the errors of the means add up like independent ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from audit.checks.utility.mean_bounds import MeanSample, bisect

_GRID = 800  # points per mean
_BISECTIONS = 50
_SAFETY = 1e-6  # nats by which a numerical minimum of the log wealth is rounded down
_MULTIPLIERS = np.geomspace(1e-5, 1e3, 160)  # values of nu that compete, relative to the size of the form


@dataclass(frozen=True)
class LogGrid:
    """The linear forms of a weighted log-log regression over several sizes."""

    x: np.ndarray  # natural logarithm of the scale, increasing; shape (k,)
    weights: np.ndarray  # weights of the squared residuals; shape (k,), > 0

    def exponent(self, rows: slice = slice(None)) -> np.ndarray:
        """Return the form of the decay exponent fitted to some rows, minus the weighted slope; shape (k,)."""
        x, w = self.x[rows], self.weights[rows]
        centered = x - np.average(x, weights=w)
        form = np.zeros(len(self.x))
        form[rows] = -w * centered / float((w * centered**2).sum())
        return form

    @property
    def lower_half(self) -> slice:
        """The rows of the lower half; the middle, one row or two, belongs to both halves."""
        return slice(0, len(self.x) // 2 + 1)

    @property
    def upper_half(self) -> slice:
        """The rows of the upper half."""
        return slice((len(self.x) - 1) // 2, None)

    @property
    def bend(self) -> np.ndarray:
        """The form of the change of the exponent over half the grid, lower half to upper half; shape (k,)."""
        apart = float(self.x[self.upper_half].mean() - self.x[self.lower_half].mean())
        change = self.exponent(self.upper_half) - self.exponent(self.lower_half)
        return change * float(np.ptp(self.x)) / (2 * apart)

    def at(self, row: int) -> np.ndarray:
        """Return the form of the log mean at one row; shape (k,)."""
        form = np.zeros(len(self.x))
        form[row] = 1.0
        return form


class Region:
    """The joint confidence region of the means at several sizes.

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
        """Return bounds of sum form_k log mean_k over the region; those of all forms hold together."""
        return -self._upper(-form), self._upper(form)

    def _upper(self, form: np.ndarray) -> float:
        if any(form[index] != 0 for index in self.unbounded):
            return math.inf
        multipliers = float(np.abs(form).max()) * float(self.widths[form != 0].mean()) * _MULTIPLIERS
        parts = (wealth.support(factor, multipliers) for wealth, factor in zip(self._wealth, form, strict=True))
        return float((multipliers * self._threshold + sum(parts)).min())


@dataclass(frozen=True)
class _LogWealth:
    """The log wealth at one size, tabulated over the log means of the region.

    `least` bounds it from below everywhere, `between`, shape (g - 1,), between neighbors of `grid`, shape (g,). The
    grid is empty if the region does not bound the log mean.
    """

    least: float
    grid: np.ndarray
    between: np.ndarray

    def support(self, factor: float, nu: np.ndarray) -> np.ndarray:
        """Return an upper bound of factor * log m - nu * c(m) over the means of the region, for each nu."""
        if factor == 0:
            return -nu * self.least
        ends = np.maximum(factor * self.grid[1:], factor * self.grid[:-1])
        return np.asarray((ends - np.multiply.outer(nu, self.between)).max(axis=1))


def _log_wealth(sample: MeanSample, mean: np.ndarray | float) -> np.ndarray:
    """Return the log of half the wealth bet upwards plus half the wealth bet downwards; convex in the mean."""
    return np.asarray(np.logaddexp(sample.log_wealth_above(mean), sample.log_wealth_below(mean)) - math.log(2))


def _lowest(sample: MeanSample) -> tuple[float, float]:
    """Return where the log wealth is least, and a lower bound of it there."""
    ends = (
        sample.low if math.isfinite(sample.low) else min(sample.mean, sample.high) - 1,
        sample.high if math.isfinite(sample.high) else max(sample.mean, sample.low) + 1,
    )
    found = optimize.minimize_scalar(lambda m: float(_log_wealth(sample, m)), bounds=ends, method="bounded")
    candidates = (float(found.x), float(found.fun)), (sample.mean, float(_log_wealth(sample, sample.mean)))
    place, least = min(candidates, key=lambda candidate: candidate[1])
    return place, least - _SAFETY


def _tabulate(sample: MeanSample, place: float, least: float, room: float) -> _LogWealth:
    """Tabulate the log wealth over the means where it is at most `room`; it is least at `place`."""
    low, high = _end(sample, place, sample.low, room), _end(sample, place, sample.high, room)
    if not (low > 0 and math.isfinite(high)):
        return _LogWealth(least, np.empty(0), np.empty(0))
    grid = np.linspace(math.log(low), math.log(high), _GRID)
    values = _log_wealth(sample, np.exp(grid))
    between = np.minimum(values[1:], values[:-1])
    holds = np.searchsorted(grid, math.log(place))
    between[max(0, holds - 2) : holds + 1] = least
    return _LogWealth(least, grid, between)


def _end(sample: MeanSample, inside: float, outside: float, room: float) -> float:
    """Return a mean at or beyond which the log wealth exceeds `room`, or the end of the support."""
    if math.isinf(outside) or float(_log_wealth(sample, outside)) <= room:
        return outside
    return bisect(lambda mean: float(_log_wealth(sample, mean)) <= room, inside, outside, _BISECTIONS)[1]
