"""The linear forms of log-log regression: what a rate is judged by is linear in the logarithms of the means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LogGrid:
    """Sizes on a log scale, and the weights of a regression over them.

    Parameters
    ----------
    x : float array, shape (k,)
        Natural logarithm of the scale, increasing.
    weights : float array, shape (k,), > 0
        Of the squared residuals.
    """

    x: np.ndarray
    weights: np.ndarray

    def exponent(self, rows: slice = slice(None)) -> np.ndarray:
        """The form that gives the exponent of decay fitted to some rows: minus the weighted slope; shape (k,)."""
        x, w = self.x[rows], self.weights[rows]
        centred = x - np.average(x, weights=w)
        form = np.zeros(len(self.x))
        form[rows] = -w * centred / float((w * centred**2).sum())
        return form

    @property
    def lower_half(self) -> slice:
        """The rows of the lower half; the middle, one row or two, belongs to both."""
        return slice(0, len(self.x) // 2 + 1)

    @property
    def upper_half(self) -> slice:
        """The rows of the upper half."""
        return slice((len(self.x) - 1) // 2, None)

    @property
    def bend(self) -> np.ndarray:
        """The change of the exponent over half the grid: from the lower half to the upper one; shape (k,)."""
        apart = float(self.x[self.upper_half].mean() - self.x[self.lower_half].mean())
        change = self.exponent(self.upper_half) - self.exponent(self.lower_half)
        return change * float(np.ptp(self.x)) / (2 * apart)

    def at(self, row: int) -> np.ndarray:
        """The log mean at one row; shape (k,)."""
        form = np.zeros(len(self.x))
        form[row] = 1.0
        return form
