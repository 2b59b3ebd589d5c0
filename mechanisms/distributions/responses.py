"""Margins 2 eta - 1 as functions of the rank u = F(x) of a feature, with their integrals over ranks below u.

A feature without atoms has a uniform rank, so a margin written in ranks has closed integrals whatever the feature
is: the Cantor law is no harder than the uniform one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

FloatArray = np.ndarray


class Response(ABC):
    """A margin as a function of the rank u in [0, 1]."""

    @abstractmethod
    def at(self, u: FloatArray) -> FloatArray:
        """Return the margin, in [-1, 1]."""

    @abstractmethod
    def signed(self, u: FloatArray) -> FloatArray:
        """Return the integral of the margin over [0, u]."""

    @abstractmethod
    def absolute(self, u: FloatArray) -> FloatArray:
        """Return the integral of |margin| over [0, u]."""


@dataclass(frozen=True, eq=False)
class Steps(Response):
    """A constant margin between successive edges.

    Parameters
    ----------
    edges : array, shape (k,)
        Increasing, inside (0, 1).
    margins : array, shape (k + 1,)
        Margin before the first edge, between edges, and after the last; each on [edge, next edge).
    """

    edges: Any
    margins: Any

    def __post_init__(self) -> None:
        for name in ("edges", "margins"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))

    @cached_property
    def _ends(self) -> FloatArray:
        return np.r_[0.0, self.edges, 1.0]

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        parts = self.margins * np.diff(self._ends)
        return np.r_[0.0, np.cumsum(parts)], np.r_[0.0, np.cumsum(np.abs(parts))]

    def at(self, u: FloatArray) -> FloatArray:
        """Return the margin of the step that holds u."""
        return self.margins[np.searchsorted(self.edges, u, side="right")]

    def signed(self, u: FloatArray) -> FloatArray:
        """Interpolate the cumulative sum, which is exact."""
        return np.interp(u, self._ends, self._sums[0])

    def absolute(self, u: FloatArray) -> FloatArray:
        """Interpolate the cumulative sum of absolute values."""
        return np.interp(u, self._ends, self._sums[1])


@dataclass(frozen=True)
class Sine(Response):
    """Margin amplitude * sin(2 pi (u - phase))."""

    amplitude: float
    phase: float = 0.0

    def at(self, u: FloatArray) -> FloatArray:
        """Return the sine."""
        return self.amplitude * np.sin(2 * math.pi * (u - self.phase))

    def signed(self, u: FloatArray) -> FloatArray:
        """Return the difference of cosines."""
        return self.amplitude * (_cosine_part(u - self.phase) - _cosine_part(-self.phase))

    def absolute(self, u: FloatArray) -> FloatArray:
        """Count half periods, 1 / pi each, and add the part of the last one."""
        return abs(self.amplitude) * (_half_periods(u - self.phase) - _half_periods(np.asarray(-self.phase)))


def _cosine_part(t: FloatArray | float) -> FloatArray:
    return -np.cos(2 * math.pi * np.asarray(t)) / (2 * math.pi)


def _half_periods(t: FloatArray) -> FloatArray:
    whole = np.floor(2 * t)
    return (whole + (1 - np.cos(2 * math.pi * t - math.pi * whole)) / 2) / math.pi


@dataclass(frozen=True)
class Power(Response):
    """Margin 2 c sign(u - 1/2) |u - 1/2|^s: eta = 1/2 + c sign(u - 1/2) |u - 1/2|^s, the rank itself for c = s = 1.

    Parameters
    ----------
    c, s : float > 0
        c <= 2^(s - 1), so that eta stays in [0, 1].
    """

    c: float
    s: float

    def at(self, u: FloatArray) -> FloatArray:
        """Return the signed power."""
        return 2 * self.c * np.sign(u - 0.5) * np.abs(u - 0.5) ** self.s

    def signed(self, u: FloatArray) -> FloatArray:
        """Return 2 c (|u - 1/2|^(s+1) - 2^-(s+1)) / (s + 1)."""
        k = self.s + 1
        return 2 * self.c * (np.abs(u - 0.5) ** k - 0.5**k) / k

    def absolute(self, u: FloatArray) -> FloatArray:
        """Return 2 c (sign |u - 1/2|^(s+1) + 2^-(s+1)) / (s + 1)."""
        k = self.s + 1
        return 2 * self.c * (np.sign(u - 0.5) * np.abs(u - 0.5) ** k + 0.5**k) / k


@dataclass(frozen=True)
class SineOfReciprocal(Response):
    """Margin +1 where sin(1 / u) > 0 and -1 elsewhere: infinitely many jumps near 0."""

    def at(self, u: FloatArray) -> FloatArray:
        """Return the sign."""
        half_turns = np.floor(1 / (math.pi * np.maximum(u, 1e-300)))
        return np.where(half_turns % 2 == 0, 1.0, -1.0)

    def signed(self, u: FloatArray) -> FloatArray:
        """Return twice the length where the sine is positive, minus u."""
        return 2 * self._positive_length(np.asarray(u, dtype=float)) - u

    def absolute(self, u: FloatArray) -> FloatArray:
        """Return u."""
        return np.asarray(u, dtype=float)

    def _positive_length(self, u: FloatArray) -> FloatArray:
        """Sum 1/(2 k pi) - 1/((2 k + 1) pi) over the intervals below u, by the digamma function."""
        at = np.maximum(u, 1e-12)
        half_turns = np.floor(1 / (math.pi * at))
        k = np.floor(half_turns / 2)
        below = (special.digamma(k + 1.5) - special.digamma(k + 1)) / (2 * math.pi)
        inside = np.where(half_turns % 2 == 0, at - 1 / ((2 * k + 1) * math.pi), 0.0)
        return np.where(u <= 1e-12, u / 2, below + inside)
