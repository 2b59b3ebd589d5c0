"""Bound the tail of the number of right guesses by a linear program whose dual solution is checked as a proof.

Of m canaries r are guessed, W guesses are right, and p_i = P(W = i). At each point (epsilon, delta) of a claim

    sum over i of (i p_i - e^epsilon (r - i + 1) p_(i-1))+  <=  m delta.

The largest P(W >= v) under any number of these constraints is a linear program. Its dual: for any numbers y(k, i) >= 0,
with y(k, 0) = y(k, r + 1) = 0,

    P(W >= v) <= max over i of (1[i >= v] - sum over k of (i y(k, i) - e^epsilon_k (r - i) y(k, i + 1)))
                 + m sum over k of delta_k max over i of y(k, i).

So a solver proposes y, and the right side, rounded up, is a bound whatever the solver did. Fewer points and fewer
counts in the program make the bound larger, and never wrong. `docs/canaries.md` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from audit.claims import Claim, GaussianClaim

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

_POINTS, _BELOW, _ABOVE = 32, 1.5, 0.5  # epsilons of the program, around the log odds of a right guess
_DEVIATIONS, _LEAST_WRONG = 6, 20  # of wrong guesses: how far below `right` a count may carry a multiplier
_LARGEST, _FEWEST = 7_000, 8  # constraints of a program that is solved, in about a second; epsilons it needs
_ROUNDED = 1e-13  # relative: a sum of a few dozen products
_DELTA_UP, _DELTA_LEAST = 1 + 1e-9, 1e-15  # cover the rounding of a profile
_HALVINGS = 40
_TOP = 1.5  # largest ratio of a bound to the one it starts from


@dataclass(frozen=True, eq=False)
class _DualCertificate:
    """Hold multipliers of the constraints: for each epsilon, and each count from `low` + 1 on."""

    epsilons: FloatArray
    base: float  # the part of the bound that no delta enters, rounded up
    largest: FloatArray  # of each epsilon

    def tail(self, deltas: FloatArray, canaries: int) -> float:
        """Return an upper bound of P(W >= right) under (epsilon, delta) for each of the epsilons."""
        up = deltas * _DELTA_UP + _DELTA_LEAST
        return float((self.base + canaries * float(self.largest @ up)) * (1 + _ROUNDED))


def _solved(
    epsilons: FloatArray, deltas: FloatArray, right: int, guesses: int, canaries: int
) -> _DualCertificate | None:
    """Return the multipliers that a solver proposes, with what they prove; None where it finds none."""
    from scipy import optimize, sparse

    low = _lowest(right, guesses)
    i = np.arange(low + 1, guesses + 1)
    lines, edges, laws = len(epsilons), len(i), guesses - low + 1
    row, odds = np.arange(lines * edges), np.exp(epsilons)
    place = np.tile(i - low, lines)
    after = np.repeat(odds, edges) * np.tile(guesses - i + 1, lines) / guesses
    values = [np.tile(i / guesses, lines), -after, -np.ones(row.size), np.ones(row.size)]
    rows = [row, row, row, lines * edges + row // edges]
    columns = [place, place - 1, laws + row, laws + row]
    shape = (lines * (edges + 1), laws + lines * edges)
    matrix = sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape)
    cost, total = np.zeros(shape[1]), np.zeros((1, shape[1]))
    cost[right - low : laws], total[0, :laws] = -1.0, 1.0
    limits = np.r_[np.zeros(lines * edges), canaries * deltas / guesses]
    found = optimize.linprog(cost, matrix, limits, total, [1.0], method="highs")
    if found.ineqlin.marginals is None:
        return None
    given = np.maximum(-found.ineqlin.marginals[: lines * edges].reshape(lines, edges) / guesses, 0.0)
    return _proved(epsilons, given, low, right, guesses)


def _proved(epsilons: FloatArray, given: FloatArray, low: int, right: int, guesses: int) -> _DualCertificate:
    y = np.zeros((len(epsilons), guesses + 2))
    y[:, low + 1 : guesses + 1] = given
    i = np.arange(guesses + 1)
    own, next_one = i * y[:, :-1], np.exp(epsilons)[:, None] * (guesses - i) * y[:, 1:]
    slack = _ROUNDED * (own + next_one).sum(axis=0)
    base = float(np.max((i >= right) - (own - next_one).sum(axis=0) + slack))
    return _DualCertificate(epsilons, base, y.max(axis=1))


def _lowest(right: int, guesses: int) -> int:
    return max(0, right - _DEVIATIONS * math.ceil(math.sqrt(guesses - right)) - _LEAST_WRONG)


def _points(right: int, guesses: int) -> int:
    """Return how many epsilons a program of these counts has room for; 0 if too few."""
    points = min(_POINTS, _LARGEST // (guesses - _lowest(right, guesses)))
    return points if 2 * right > guesses and points >= _FEWEST else 0


def _epsilons(right: int, guesses: int) -> FloatArray:
    center = float(special.logit(min(right, guesses - 0.5) / guesses))
    return np.linspace(max(0.0, center - _BELOW), center + _ABOVE, _points(right, guesses))


def _profile(claim: Claim, epsilons: FloatArray) -> FloatArray:
    return np.array([claim.profile(float(epsilon)) for epsilon in epsilons])


@lru_cache(maxsize=64)
def program_tail(claim: Claim, right: int, guesses: int, canaries: int) -> float:
    """Return an upper bound of P(W >= right) under a claim; 1.0 where the program proves nothing."""
    if not _points(right, guesses):
        return 1.0
    epsilons = _epsilons(right, guesses)
    deltas = _profile(claim, epsilons)
    dual = _solved(epsilons, deltas, right, guesses, canaries)
    return 1.0 if dual is None else min(1.0, dual.tail(deltas, canaries))


@lru_cache(maxsize=64)
def raised_mu(mu: float, right: int, guesses: int, canaries: int, level: float) -> float:
    """Return a mu >= the given one up to which Gaussian claims are refuted at `level`, if the given one is.

    The multipliers for one mu are a proof for any other: their bound of the tail increases with the deltas, and so with
    mu.
    """
    if mu <= 0 or not _points(right, guesses):
        return mu
    epsilons = _epsilons(right, guesses)
    dual = _solved(epsilons, _profile(GaussianClaim(mu), epsilons), right, guesses, canaries)
    if dual is None:
        return mu

    def is_refuted(at: float) -> bool:
        return dual.tail(_profile(GaussianClaim(at), epsilons), canaries) <= level

    return _last(is_refuted, mu, _TOP * mu)


def _last(is_refuted: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest refuted number between two, by halving; `low` where none is found."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_refuted(middle) else (low, middle)
    return low
