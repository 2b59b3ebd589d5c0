"""Bound the evidence of one training run about its canaries under a claim: exact tails of the number of right guesses.

m canaries are included by independent fair coins, which are one step of the claim's relation each. From the output, r
of the coins are guessed; W guesses are right. A claim with the symmetric trade-off function f bounds P(W >= v), and
data that are less probable than that refute it. `docs/canaries.md` has the proofs.

structure="any" assumes nothing about how canaries act together: a recursion over the tails P(W >= i) of a claimed
curve (Mahloujifar, Melis & Chaudhuri 2025, theorem 4, has the same constraints), and `tail_at_a_point`, which is
sharper at one point (epsilon, delta). Both bound the same tail, so that the smaller one is free.
structure="independent" assumes that the output about a canary depends on its own coin alone, independently of all
others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy import special

from audit import GaussianClaim, PrivacyClaim
from audit.api import bounds, claims

Structure = Literal["any", "independent"]
STRUCTURES = ("any", "independent")
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
LeastWrong = Callable[[Any], FloatArray]  # of numbers or arrays

_DOWN = 1 - 1e-12  # covers the rounding of one step of the recursion: a few operations, `ndtr` and `ndtri`
_UP = 1 + 1e-7  # covers the rounding of a sum of up to 1e6 terms and of the gamma functions in it
_LINES = np.r_[0.0, np.geomspace(0.01, 40.0, 320)]  # epsilons at which a claimed curve is read off
_QUANTILES = np.r_[0.0, np.geomspace(1e-15, 1e-3, 60), np.linspace(2e-3, 1.0, 999)]  # cells of a mixing law
_LEAST, _APART_AT = 1e-15, 1.0002  # p-values that are not told apart: below the one, and by the other as their ratio
_STEP_OF_MU = 1e-6
_HALVINGS = 60
_MOST_PLANNED = 5_000  # guesses: with more, the recursion takes seconds, and bounds of up to 1e6 canaries fall
_PLANS, _APART = 12, 1.7  # numbers of guesses that a plan compares, and their ratio
_SHARES = (0.5, 0.25, 0.25)  # of the level, for the planned numbers of guesses
DELTAS = 2.0  # deltas that one run may refute a claim with at the least; all canaries are guessed to that end
_ALL_SHARES, _NO_DELTA = (0.55, 0.25, 0.2), 1e-7  # of the level where they are; a delta that bars no FAIL


@lru_cache(maxsize=16)
def least_wrong(claim: claims.Claim) -> LeastWrong:
    """Return g(y) = f(1 - y) for the trade-off function f of a claim, rounded down: a claim that is implied."""
    if isinstance(claim, GaussianClaim):
        return _gaussian(np.array(claim.mu))
    epsilons = np.array([claim.epsilon]) if isinstance(claim, PrivacyClaim) else _LINES
    deltas = np.array([claim.profile(float(epsilon)) for epsilon in epsilons])

    def by_lines(right: FloatArray) -> FloatArray:
        y = np.asarray(right, dtype=float)[..., None]
        steep, flat = 1 - deltas - np.exp(epsilons) * (1 - y), np.exp(-epsilons) * (y - deltas)
        return np.maximum(np.maximum(steep, flat).max(axis=-1) - (1 - _DOWN), 0.0)

    return by_lines


def _gaussian(mu: FloatArray) -> LeastWrong:
    return lambda right: np.asarray(special.ndtr(special.ndtri(right) - mu) * _DOWN)


def level_is_possible(wrong: LeastWrong, right: int, guesses: int, canaries: int, level: float) -> bool:
    """Return whether the recursion admits P(W >= right) = level: False is a proof that it is less."""
    tail, above = level, 0.0  # T_i and S_i, rounded down
    for i in range(right, 0, -1):
        share = min((i * tail + above) / canaries, 1.0) * _DOWN
        forced = (tail + above + canaries * float(wrong(share))) / (guesses - i + 1) * _DOWN
        above = (above + tail) * _DOWN
        tail = max(tail, forced)
        if tail > 1:
            return False
    return True


def tail_at_a_point(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return an upper bound of P(W >= right) under (epsilon, delta)-differential privacy, whatever the dependence.

    With b the binomial law of r guesses at the rate e^epsilon / (1 + e^epsilon) and B its tail at `right`, it is

        B + m delta max over j of [P(b < j) B for j <= right, P(b >= j) (1 - B) above] / (j b(j)),

    the optimum of the linear program of all P(W = i) with sum of (i P(W = i) - e^epsilon (r - i + 1) P(W = i - 1))+
    at most m delta, unless delta is so large that it leaves no mass below j.
    """
    if right <= 0:
        return 1.0
    i = np.arange(guesses + 1)
    ways = special.gammaln(guesses + 1) - special.gammaln(i + 1) - special.gammaln(guesses - i + 1)
    mass = ways + i * special.log_expit(epsilon) + (guesses - i) * special.log_expit(-epsilon)
    below = np.logaddexp.accumulate(mass)  # log P(b <= j)
    above = np.logaddexp.accumulate(mass[::-1])[::-1]  # log P(b >= j)
    tail = math.exp(above[right])
    if delta > 0:
        j = np.arange(1, guesses + 1)
        weight = np.where(j <= right, above[right] + below[:-1], below[right - 1] + above[1:])
        tail += canaries * delta * math.exp(min(700.0, float(np.max(weight - np.log(j) - mass[1:]))))
    return min(1.0, tail * _UP)


def best_rate(wrong: LeastWrong, shares: FloatArray) -> FloatArray:
    """Return the largest rate of right guesses about one canary, by the share of runs in which it is guessed.

    Rounded up. A share u splits into right guesses x and wrong ones g(x), with x + g(x) = u.
    """
    low, high = shares / 2, shares.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = middle + wrong(middle) <= shares
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.minimum(1.0, high / np.maximum(shares, 1e-300) / _DOWN)


def tail_of_independent(wrong: LeastWrong, right: int, guesses: int, canaries: int) -> float:
    """Return an upper bound of P(W >= right) for canaries that act independently: the exact tail, by an upper sum."""
    if right <= 0:
        return 1.0
    rates, cells = _mixed_rates(wrong, guesses, canaries)
    return min(1.0, float(cells @ special.betainc(right, guesses - right + 1, rates)) * _UP)


@lru_cache(maxsize=64)
def _mixed_rates(wrong: LeastWrong, guesses: int, canaries: int) -> tuple[FloatArray, FloatArray]:
    """Return the rates of right guesses about the clearest canaries, with their probabilities."""
    if guesses == canaries:
        return best_rate(wrong, np.ones(1)), np.ones(1)
    # the quantile of the (r + 1)-th clearest of m is a beta law; the rate falls with it
    quantiles = special.betaincinv(guesses + 1, canaries - guesses, _QUANTILES[:-1])
    rates = np.where(quantiles > 0, best_rate(wrong, np.maximum(quantiles * _DOWN, 1e-300)), 1.0)
    return rates, np.diff(_QUANTILES)


def pvalue(claim: claims.Claim, right: int, guesses: int, canaries: int, structure: Structure = "any") -> float:
    """Return an upper bound of the probability of `right` right guesses or more under a claim.

    The number of guesses is fixed before anyone sees scores; 0 <= right <= guesses <= canaries.
    """
    if right <= 0:
        return 1.0
    wrong = least_wrong(claim)
    if structure == "independent":
        return tail_of_independent(wrong, right, guesses, canaries)
    at_points = min(tail_at_a_point(right, guesses, canaries, *point) for point in _points(claim))
    low, high = _LEAST, at_points
    if isinstance(claim, PrivacyClaim) or high <= low:  # its one point is all that it says
        return at_points
    if not level_is_possible(wrong, right, guesses, canaries, low):
        return low
    while high > _APART_AT * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if level_is_possible(wrong, right, guesses, canaries, middle) else (low, middle)
    return high


def is_refuted(
    claim: claims.Claim, right: int, guesses: int, canaries: int, level: float, structure: Structure
) -> bool:
    """Return whether `right` right guesses or more have a probability of at most `level` under a claim."""
    if right <= 0:
        return False
    wrong = least_wrong(claim)
    if structure == "independent":
        return tail_of_independent(wrong, right, guesses, canaries) <= level
    if any(tail_at_a_point(right, guesses, canaries, *point) <= level for point in _points(claim)):
        return True
    return not isinstance(claim, PrivacyClaim) and not level_is_possible(wrong, right, guesses, canaries, level)


def _points(claim: claims.Claim) -> list[tuple[float, float]]:
    return [(point.epsilon, point.delta) for point in claim.points]


def mu_lower_bound(right: int, guesses: int, canaries: int, level: float, structure: Structure = "any") -> float:
    """Return the mu below which every claim of Gaussian differential privacy is refuted at `level`; 0.0 if none is."""
    if right <= 0:
        return 0.0

    def refutes(mu: float) -> bool:
        wrong = _gaussian(np.array(mu))
        if structure == "independent":
            return tail_of_independent(wrong, right, guesses, canaries) <= level
        return not level_is_possible(wrong, right, guesses, canaries, level)

    return bounds.invert_test(refutes, error=_STEP_OF_MU)


def epsilon_lower_bound(
    right: int, guesses: int, canaries: int, delta: float, level: float, structure: Structure = "any"
) -> float:
    """Return the epsilon below which every claim of (epsilon, delta)-differential privacy is refuted at `level`."""

    def refutes(epsilon: float) -> bool:
        return is_refuted(PrivacyClaim(epsilon, delta), right, guesses, canaries, level, structure)

    return bounds.invert_test(refutes)


def fewest_refuting(claim: claims.Claim, guesses: int, canaries: int, level: float, structure: Structure) -> int:
    """Return the least number of right guesses that refutes a claim; guesses + 1 if not even all right ones do."""
    low, high = 0, guesses + 1  # not refuted, refuted
    while high - low > 1:
        middle = (low + high) // 2
        refutes = is_refuted(claim, middle, guesses, canaries, level, structure)
        low, high = (low, middle) if refutes else (middle, high)
    return high


def find_smallest_leak(claim: claims.Claim, guesses: int, canaries: int, level: float, structure: Structure) -> float:
    """Return the leak whose best guesses refute a claim with power 0.8: mu for a Gaussian claim, else epsilon.

    It is that of Gaussian noise on every canary, or of randomized response; inf where even right guesses cannot refute.
    """
    right = fewest_refuting(claim, guesses, canaries, level, structure)
    if right > guesses:
        return math.inf
    rate = float(special.betaincinv(right, guesses - right + 1, bounds.POWER))
    if not isinstance(claim, GaussianClaim):
        return float(special.logit(rate))
    share = np.array([guesses / canaries])
    return bounds.invert_test(lambda mu: bool(best_rate(_gaussian(np.array(mu)), share)[0] < rate))


def plan_guesses(claim: claims.Claim, canaries: int, level: float, structure: Structure) -> list[tuple[int, float]]:
    """Return numbers of guesses with shares of the level: from the kind of a claim, not from how much it claims.

    So bounds do not depend on the claim. The numbers detect the smallest leaks against 1-, 2- and 0.5-Gaussian DP; for
    a claim at one delta, against epsilon = 1 there, and four times and a quarter as many. All canaries are guessed in
    place of the last ones where delta is not tiny: fewer guesses refute nothing at twice delta.
    """
    if isinstance(claim, PrivacyClaim):
        planned = _plan(PrivacyClaim(1.0, claim.delta), canaries, level * _SHARES[0], structure)
        if claim.delta > _NO_DELTA and structure == "any":
            return list(zip((canaries, planned, min(canaries, 4 * planned)), _ALL_SHARES, strict=True))
        several = [min(canaries, max(1, round(times * planned))) for times in (1.0, 4.0, 0.25)]
        return list(zip(several, _SHARES, strict=True))
    return [
        (_plan(GaussianClaim(mu), canaries, level * share, structure), share)
        for mu, share in zip((1.0, 2.0, 0.5), _SHARES, strict=True)
    ]


@lru_cache(maxsize=64)
def _plan(claim: claims.Claim, canaries: int, level: float, structure: Structure) -> int:
    most = canaries if structure == "independent" else min(canaries, _MOST_PLANNED)
    grid = sorted({max(1, round(most / _APART**step)) for step in range(_PLANS)}, reverse=True)
    return min(grid, key=lambda guesses: find_smallest_leak(claim, guesses, canaries, level, structure))
