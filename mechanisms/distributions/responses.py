"""Margins 2 eta - 1 as functions of the rank u = F(x) of a feature, with their integrals over ranks below u.

A feature without atoms has a uniform rank, so a margin written in ranks has closed integrals whatever the feature
is: the Cantor law is no harder than the uniform one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

FloatArray = np.ndarray
OfRanks = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Response:
    """A margin as a function of the rank u in [0, 1].

    Parameters
    ----------
    at : callable
        The margin at u, in [-1, 1].
    signed, absolute : callable
        The integrals of the margin, and of |margin|, over [0, u].
    """

    at: OfRanks
    signed: OfRanks
    absolute: OfRanks


def make_steps(edges: ArrayLike, margins: ArrayLike) -> Response:
    """Return a constant margin between successive edges.

    Parameters
    ----------
    edges : array, shape (k,)
        Increasing, inside (0, 1).
    margins : array, shape (k + 1,)
        Margin before the first edge, between edges, and after the last; each on [edge, next edge).
    """
    inner, sizes = np.array(edges, dtype=float), np.array(margins, dtype=float)
    ends = np.r_[0.0, inner, 1.0]
    parts = sizes * np.diff(ends)
    signed, absolute = (np.r_[0.0, np.cumsum(each)] for each in (parts, np.abs(parts)))
    return Response(
        at=lambda u: sizes[np.searchsorted(inner, u, side="right")],
        signed=lambda u: np.interp(u, ends, signed),
        absolute=lambda u: np.interp(u, ends, absolute),
    )


def make_sine(amplitude: float, phase: float = 0.0) -> Response:
    """Return the margin amplitude * sin(2 pi (u - phase))."""

    def integral(t: FloatArray | float) -> FloatArray:
        return -np.cos(2 * math.pi * np.asarray(t)) / (2 * math.pi)

    def half_periods(t: FloatArray) -> FloatArray:
        """Count half periods, 1 / pi each, and add the part of the last one."""
        whole = np.floor(2 * t)
        return np.asarray((whole + (1 - np.cos(2 * math.pi * t - math.pi * whole)) / 2) / math.pi)

    return Response(
        at=lambda u: amplitude * np.sin(2 * math.pi * (u - phase)),
        signed=lambda u: amplitude * (integral(u - phase) - integral(-phase)),
        absolute=lambda u: abs(amplitude) * (half_periods(u - phase) - half_periods(np.asarray(-phase))),
    )


def make_power(c: float, s: float) -> Response:
    """Return the margin 2 c sign(u - 1/2) |u - 1/2|^s: eta = 1/2 + c sign(u - 1/2) |u - 1/2|^s; c = s = 1 is the rank.

    Parameters
    ----------
    c, s : float > 0
        c <= 2^(s - 1), so that eta stays in [0, 1].
    """
    k = s + 1
    return Response(
        at=lambda u: 2 * c * np.sign(u - 0.5) * np.abs(u - 0.5) ** s,
        signed=lambda u: 2 * c * (np.abs(u - 0.5) ** k - 0.5**k) / k,
        absolute=lambda u: 2 * c * (np.sign(u - 0.5) * np.abs(u - 0.5) ** k + 0.5**k) / k,
    )


def _sign_at(u: FloatArray) -> FloatArray:
    return np.where(np.floor(1 / (math.pi * np.maximum(u, 1e-300))) % 2 == 0, 1.0, -1.0)


def _positive_length(u: FloatArray) -> FloatArray:
    """Sum 1/(2 k pi) - 1/((2 k + 1) pi) over the intervals below u, by the digamma function."""
    at = np.maximum(u, 1e-12)
    half_turns = np.floor(1 / (math.pi * at))
    k = np.floor(half_turns / 2)
    below = (special.digamma(k + 1.5) - special.digamma(k + 1)) / (2 * math.pi)
    inside = np.where(half_turns % 2 == 0, at - 1 / ((2 * k + 1) * math.pi), 0.0)
    return np.where(u <= 1e-12, u / 2, below + inside)


# margin +1 where sin(1 / u) > 0 and -1 elsewhere: infinitely many jumps near 0
SINE_OF_RECIPROCAL = Response(_sign_at, lambda u: 2 * _positive_length(np.asarray(u, dtype=float)) - u, np.asarray)
