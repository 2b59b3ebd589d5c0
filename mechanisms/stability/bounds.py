"""Bounds of a run of many epochs: one proved from above, one shown by an attack from below.

A run of sparse vector is a composition of epochs, each (eps0, 0)-DP. From above: n mechanisms that are (eps0, 0)-DP,
chosen adaptively, are together at most as revealing as n runs of randomized response (Kairouz, Oh & Viswanath 2015,
Theorem 3.3), whose profile is a sum of n + 1 terms. From below: the loss of one pair of datasets, composed by
`audit.laws`. A claim is then *proved*, *refuted*, or *open* between the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import brentq

from audit.errors import InvalidArgument
from audit.validate import closed_probability, integer, nonnegative, open_probability, positive

_SAFETY = 1e-12  # relative: sums of at most 1e5 terms of double precision are better than that


@dataclass(frozen=True)
class Bracket:
    """Bounds of the smallest epsilon at some delta.

    Parameters
    ----------
    lower : float >= 0
        Shown by an attack: no smaller epsilon is true.
    upper : float >= lower, possibly inf
        Proved: this epsilon is true.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not 0 <= self.lower <= self.upper * (1 + 1e-9):
            raise InvalidArgument.of("lower", f"lie between 0 and upper = {self.upper:g}", self.lower)

    def status(self, claimed: float) -> str:
        """Say "proved", "refuted" or "open between x and y" of a claimed epsilon."""
        if self.upper <= claimed:
            return "proved"
        if self.lower > claimed:
            return "refuted"
        return f"open between {self.lower:.3g} and {self.upper:.3g}"

    def __str__(self) -> str:
        return f"{self.lower:.3f} .. {self.upper:.3f}"


def composed_delta(epsilon: float, step: float, copies: int) -> float:
    """Return the largest delta at `epsilon` of `copies` adaptive (step, 0)-DP mechanisms; upper bound, attained.

    delta(e) = sum_j C(n, j) [e^(j s) - e^(e + (n - j) s)]_+ / (1 + e^s)^n.

    Parameters
    ----------
    epsilon : float >= 0
    step : float >= 0
        s, the epsilon of each mechanism.
    copies : int >= 1
        n.

    References
    ----------
    Kairouz, Oh & Viswanath 2015, Theorem 3.3, for pure mechanisms.
    """
    epsilon, s, n = nonnegative(epsilon, "epsilon"), nonnegative(step, "step"), integer(copies, "copies", at_least=1)
    first = math.floor((epsilon / s + n) / 2) + 1 if s > 0 and epsilon < n * s else n + 1
    j = np.arange(max(first, 0), n + 1)
    if j.size == 0:
        return 0.0
    likely = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    likely += j * s - n * np.logaddexp(0.0, s)
    lost = epsilon - (2 * j - n) * s  # minus the privacy loss of j agreements, plus epsilon
    return float(np.sum(np.exp(likely) * -np.expm1(np.minimum(lost, 0.0)))) * (1 + _SAFETY)


def composed_epsilon(delta: float, step: float, copies: int) -> float:
    """Return the smallest epsilon of `copies` adaptive (step, 0)-DP mechanisms at `delta`; upper bound.

    Parameters
    ----------
    delta : float in [0, 1]
    step, copies
        As for `composed_delta`.
    """
    delta = closed_probability(delta, "delta")
    most = nonnegative(step, "step") * integer(copies, "copies", at_least=1)
    if delta == 0 or composed_delta(0.0, step, copies) <= delta:
        return most if delta == 0 else 0.0
    root = brentq(lambda e: composed_delta(e, step, copies) - delta, 0.0, most, xtol=1e-13, rtol=1e-13)
    return min(most, float(root) * (1 + 1e-11))


def release_probability(threshold: float, lam: float) -> float:
    """Return P(Lap(2 lam) + Lap(lam) > threshold): a query at distance 0 gets its value released.

    For t >= 0 it is (4 e^(-t / 2 lam) - e^(-t / lam)) / 6.
    """
    t = abs(float(threshold)) / positive(lam, "lam")
    tail = (4 * math.exp(-t / 2) - math.exp(-t)) / 6
    return tail if threshold >= 0 else 1 - tail


def unstable_delta(threshold: float, lam: float, unstable: int, largest: float = 0.0) -> float:
    """Return the probability that some of `unstable` queries has its value released: an upper bound of its cost.

    A failing unstable query ends an epoch, so that no more than the number of epochs count, and each meets a fresh
    threshold. `largest` is the largest distance that the rule gives to an unstable query: 0 for an admissible one.
    """
    one = release_probability(threshold - largest, lam)
    return -math.expm1(integer(unstable, "unstable", at_least=0) * math.log1p(-one))


def proved_epsilon(
    delta: float,
    lam: float,
    threshold: float,
    epochs: int,
    max_queries: float = math.inf,
    *,
    lipschitz: float = 1.0,
    largest: float = 0.0,
) -> float:
    """Return an epsilon for which a run keeps (epsilon, delta): unstable queries, and composition for the others.

    Parameters
    ----------
    delta : float in (0, 1)
        In all; what unstable queries cost is taken off first. inf is returned when nothing is left.
    lam, threshold : float
        Scales lam and 2 lam; the threshold w.
    epochs : int >= 1
        Largest number of BOTTOMs.
    max_queries : int, optional
        Fewer queries than epochs make fewer unstable ones.
    lipschitz, largest : float, optional
        Of the distance: how far one record moves it, and its largest value at an unstable query. 1 and 0 for an
        admissible distance, 2 and 2 for the gap between the first and the second count.
    """
    delta, scale = open_probability(delta, "delta"), positive(lam, "lam")
    left = delta - unstable_delta(threshold, scale, int(min(max_queries, epochs)), largest)
    return composed_epsilon(left, 2 * lipschitz / scale, epochs) if left > 0 else math.inf
