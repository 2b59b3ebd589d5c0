"""Findings of a test of a training run: a part of the run, how it differs from the claim, and how surely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from scipy import special

TESTS = 20  # tests that one run is judged by, each at an equal share of its error probability


class Finding(NamedTuple):
    """One test of a run: the p-value is exact or an upper bound; 0 where a fact contradicts the claim."""

    part: str  # of the run, by a short name
    pvalue: float
    says: str  # how the run differs, where it does


@dataclass(frozen=True)
class Missing:
    """A part of a run that was not recorded, and the data to record."""

    part: str
    advice: str


def double_smaller_tail(lower_tail: float, upper_tail: float) -> float:
    """Return the p-value of a test with two tails: twice the smaller one."""
    return min(1.0, 2 * min(lower_tail, upper_tail))


def normal_pvalue(total: float, count: int) -> float:
    """Return the p-value of a sum of `count` standard normal numbers."""
    return 2 * float(special.ndtr(-abs(total) / math.sqrt(count))) if count else 1.0


def count_pvalue(count: int, trials: int, rate: float) -> float:
    """Return the p-value of a count that is binomial, two-sided and exact."""
    at_most = float(special.bdtr(count, trials, rate))
    at_least = float(special.bdtrc(count - 1, trials, rate)) if count else 1.0
    return double_smaller_tail(at_most, at_least)


def chernoff_pvalue(count: float, trials: int, rate: float) -> float:
    """Return a bound for the p-value of a count with the mean `trials * rate` and tails no heavier than binomial ones.

    That of records that several draws without replacement have in common is one: Hoeffding (1963), theorem 4.
    """
    if not trials or rate in (0.0, 1.0):
        return float(trials == 0 or count == trials * rate)
    share = min(1.0, max(0.0, count / trials))
    return min(
        1.0, 2 * math.exp(-trials * float(special.rel_entr(share, rate) + special.rel_entr(1 - share, 1 - rate)))
    )


def distance_pvalue(distance: float, count: int) -> float:
    """Return a bound for the p-value of the largest distance of an empirical distribution function from the true one.

    Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality; the law need not be continuous.
    """
    return min(1.0, 2 * math.exp(-2 * count * distance**2)) if count else 1.0
