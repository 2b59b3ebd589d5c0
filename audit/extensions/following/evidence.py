"""Evidence of followed noise: plain data of the runs, and the upper bounds that follow from them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special, stats

_COINS = 20_270_101  # seed of the coins that round losses


def bound_share(bad: int, runs: int, significance: float) -> float:
    """Return the upper confidence bound of a probability, by Clopper and Pearson."""
    return 1.0 if bad >= runs else float(stats.beta.ppf(1 - significance, bad + 1, runs - bad))


@dataclass
class Direction:
    """Runs from one dataset to the other: the cost of the worst good run, bad runs by reason, losses of good runs."""

    runs: int = 0
    cost: float = 0.0
    square: float = 0.0
    losses: list[np.ndarray] = field(default_factory=list)
    bad: Counter[str] = field(default_factory=Counter)

    def add(self, costs: np.ndarray, squares: np.ndarray, losses: np.ndarray) -> None:
        """Add good runs."""
        self.runs += len(losses)
        self.cost = max(self.cost, float(np.max(costs, initial=-math.inf)))
        self.square = max(self.square, float(np.max(squares, initial=0.0)))
        self.losses.append(losses)

    def add_bad(self, reason: str, count: int = 1) -> None:
        """Add bad runs."""
        if count:
            self.runs += count
            self.bad[reason] += count

    @property
    def violations(self) -> int:
        """The number of bad runs."""
        return sum(self.bad.values())

    def delta_upper_bound(self, significance: float, epsilon: float | None = None) -> float:
        """Bound the share of bad runs, or with epsilon the mean of (1 - exp(epsilon - loss))+, bad runs counted as 1.

        Each value is rounded to 0 or 1 by a coin that keeps its mean, so that the exact binomial bound applies.
        """
        hits = self.violations
        if epsilon is not None and self.losses:
            excess = -np.expm1(np.minimum(epsilon - np.concatenate(self.losses), 0.0))
            hits += int((np.random.default_rng(_COINS).random(len(excess)) < excess).sum())
        return bound_share(hits, self.runs, significance)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta of mu-GDP at epsilon (Dong, Roth & Su 2022, corollary 2.13)."""
    if mu <= 0:
        return 0.0 if epsilon >= 0 else -math.expm1(epsilon)
    low = epsilon + special.log_ndtr(-epsilon / mu - mu / 2)
    return float(special.ndtr(-epsilon / mu + mu / 2) - math.exp(min(low, 700.0)))


Law = dict[Any, float]


def _exact_delta(law: Law, other: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, p - math.exp(epsilon) * other.get(key, 0.0)) for key, p in law.items())


def exact_epsilon(law: Law, other: Law) -> float:
    """Return the largest log ratio of two laws, in both directions."""
    ratios = [0.0]
    for key in law.keys() | other.keys():
        p, q = law.get(key, 0.0), other.get(key, 0.0)
        ratios.append(abs(math.log(p) - math.log(q)) if p > 0 and q > 0 else math.inf if p != q else 0.0)
    return max(ratios)


@dataclass
class Followed:
    """An upper confidence bound of the privacy of code on one pair of datasets, in both directions.

    With probability `confidence` over the runs, the mechanism is (`epsilon`, `delta`)-indistinguishable on the pair,
    as real numbers, given that generators draw what they are asked for and that calls do not depend on earlier ones.
    With Gaussian noise the bound is `epsilon` together with `mu`-GDP: (epsilon + e, delta + delta_mu(e)) for every e.

    Attributes
    ----------
    epsilon : float
        Infinite where the noise was not followed.
    mu : float
        Of the Gaussian noise; 0 without any.
    delta : float
        The share of runs that the bound leaves out, never 0 unless the law is exact.
    shift : {"exact", "constant", "output", "path", ""}
        How the law or the shift was found: the whole law of finite randomness; a shift that is the same in all runs,
        depends on the output, or on the observations on the way; empty where nothing was followed.
    reason : str
        Why there is no bound; else empty.
    outputs_per_call : int
        Of the calls that were certified. A vectorized mechanism whose rows are not followed is certified by calls of
        one output, and may behave differently in larger ones.
    """

    epsilon: float
    mu: float
    delta: float
    confidence: float
    shift: str
    reason: str = ""
    directions: tuple[Direction, Direction] = field(default_factory=lambda: (Direction(), Direction()))
    outputs_per_call: int = 1
    seconds: float = 0.0
    laws: tuple[Law, Law] | None = None

    @property
    def is_followed(self) -> bool:
        """True if there is a bound."""
        return not self.reason

    @property
    def runs(self) -> int:
        """Runs that count, in both directions."""
        return sum(direction.runs for direction in self.directions)

    @property
    def violations(self) -> int:
        """Bad runs among them."""
        return sum(direction.violations for direction in self.directions)

    def delta_at(self, epsilon: float) -> float:
        """Return an upper confidence bound of delta at epsilon by the exact losses, for noise of every law.

        It has the error probability of its own, `1 - confidence`, beside that of (`epsilon`, `delta`): a claim with
        delta = 0 is judged by these, a claim with delta > 0 by this bound. `mu` is not needed for it.
        """
        if self.reason:
            return 1.0
        if self.laws is not None:
            left, right = self.laws
            return min(1.0, self.delta + max(_exact_delta(left, right, epsilon), _exact_delta(right, left, epsilon)))
        significance = (1 - self.confidence) / 2
        return max(direction.delta_upper_bound(significance, epsilon) for direction in self.directions)

    def gaussian_delta_at(self, epsilon: float) -> float:
        """Return delta at epsilon from `epsilon`, `mu` and `delta`, where epsilon is large enough; else 1.

        Gaussian kernels are exchanged first (Smith & Thakurta 2022, fully adaptive composition), then the others.
        """
        if self.reason or epsilon < self.epsilon:
            return 1.0
        return min(1.0, self.delta + gaussian_delta(epsilon - self.epsilon, self.mu))

    def __str__(self) -> str:
        if self.reason:
            return f"not followed: {self.reason}"
        parts = [f"epsilon {self.epsilon:.4g}"] if self.epsilon > 0 or not self.mu else []
        parts += [f"mu {self.mu:.4g}"] if self.mu else []
        share = f"delta' {self.delta:.2g} ({self.violations} of {self.runs} runs unlike)"
        return f"at most {', '.join(parts)}, {share}, confidence {self.confidence:g}; shift: {self.shift}"
