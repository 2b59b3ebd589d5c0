"""The cost of errors in the scores: excess risk of nearest neighbors on vector targets, and odds of large errors.

Checks equations (24), (28) and (38) to (40) and Proposition 1 of Zhao et al. (2024) on `Smooth` and `Peaked`, where
eta is known and every point is an interior point. The k nearest of N points of a query are drawn directly: given the
distance R of the (k+1)-th, distributed as half of a Beta(k + 1, N - k) variable, they are uniform within R. With

    Delta(x) = max_j |g_j(x) - eta~_j(x)|,    eta~ = q + (p - q) eta,    Delta_eps = Delta / tanh(eps / 4)

the excess at x is eta_max - eta_(predicted class), and Theorem 2 bounds it by 2 Delta_eps where eta_max - eta_second <=
2 Delta_eps, and by 0 elsewhere.

Readings and departures:

* in (37) the left side must read |g_j - eta~_j|, not |g_j - eta_j|;
* Theorem 2's bound is attained (K = 2, both scores 1/2); sums of bits are compared with a margin of 1e-9;
* (40) is checked with the radius r0 that holds mass 2 k / N, and L the largest slope of eta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from audit import GuaranteeCheck, InequalityCheck
from mechanisms.labels.encoder import FloatArray
from mechanisms.labels.mixtures import Peaked, Ring, Smooth
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

Cases = list[tuple[str, float, float]]

FAILURE = 0.05  # delta of (40)
_ROUNDING = 1e-9
_ENTRIES = 5_000_000  # array entries held at a time


@dataclass(frozen=True)
class QueryPoints:
    """Queries drawn at random, each with nearest neighbors of its own.

    Parameters
    ----------
    ring : Ring
        Distribution.
    epsilon : float > 0
    n_samples, n_neighbors : int
        N and k < N.
    """

    ring: Ring
    epsilon: float
    n_samples: int
    n_neighbors: int

    @property
    def encoder(self) -> SymmetricUnaryLabelEncoder:
        """The vector mechanism."""
        return SymmetricUnaryLabelEncoder(self.ring.n_classes, self.epsilon)

    @property
    def gain(self) -> float:
        """p - q = tanh(epsilon / 4)."""
        return math.tanh(self.epsilon / 4)

    def counts(self, x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw the bit counts of the k neighbors of every query, and give their means, both of shape (m, K)."""
        k, encoder = self.n_neighbors, self.encoder
        radius = rng.beta(k + 1, self.n_samples - k, size=len(x)) / 2
        eta = self.ring.eta(x[:, None] + radius[:, None] * rng.uniform(-1, 1, size=(len(x), k)))
        labels = (rng.random((len(x), k, 1)) > eta.cumsum(axis=2)).sum(axis=2)
        held = (labels[:, :, None] == np.arange(encoder.n_classes)).sum(axis=1)
        bits = rng.binomial(held, encoder.p_keep) + rng.binomial(k - held, encoder.q_flip)
        return bits.astype(float), k * encoder.q_flip + self.gain * eta.sum(axis=1)

    def draw(self, size: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Return eta, the scores and their expectations given the neighbors' positions, each (m, K), block by block."""
        block = max(1, _ENTRIES // (self.n_neighbors * self.ring.n_classes))
        for start in range(0, size, block):
            x = rng.random(min(block, size - start))
            bits, mean = self.counts(x, rng)
            yield self.ring.eta(x), bits / self.n_neighbors, mean / self.n_neighbors

    def scaled(self, eta: FloatArray) -> FloatArray:
        """Return eta~, the probabilities of a 1."""
        return np.asarray(self.encoder.q_flip + self.gain * eta)

    def excess(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw excesses and their bounds by Theorem 2, each of shape (size,)."""
        found, bounds = [], []
        for eta, scores, _ in self.draw(size, rng):
            error = 2 * np.abs(scores - self.scaled(eta)).max(axis=1) / self.gain
            best = np.sort(eta, axis=1)
            chosen = np.take_along_axis(eta, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
            found.append(best[:, -1] - chosen)
            bounds.append(np.where(best[:, -1] - best[:, -2] <= error + _ROUNDING, error, 0.0))
        return np.concatenate(found), np.concatenate(bounds)

    def one_class_within(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw whether the score of class 0 keeps (38), shape (size,)."""
        level = hoeffding(self.ring.n_classes, self.n_neighbors)
        return np.concatenate([np.abs(g - mean)[:, 0] <= level for _, g, mean in self.draw(size, rng)])

    def all_classes_within(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw whether Delta keeps (40), shape (size,)."""
        level = self.deviation_bound()
        errors = (np.abs(g - self.scaled(eta)).max(axis=1) for eta, g, _ in self.draw(size, rng))
        return np.concatenate([error <= level for error in errors])

    def deviation_bound(self) -> float:
        """Return the bound of (40): chance, and the bias of neighbors within r0 = k / N."""
        bias = self.gain * self.ring.lipschitz() * self.n_neighbors / self.n_samples
        return hoeffding(self.ring.n_classes, self.n_neighbors) + bias

    def largest_deviations(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw Delta, shape (size,)."""
        return np.concatenate([np.abs(g - self.scaled(eta)).max(axis=1) for eta, g, _ in self.draw(size, rng)])

    def __str__(self) -> str:
        kind, K = type(self.ring).__name__.lower(), self.ring.n_classes
        return f"{kind} K={K} eps={self.epsilon:g} N={self.n_samples} k={self.n_neighbors}"


def hoeffding(n_classes: int, n_neighbors: int) -> float:
    """Return sqrt(ln(2 K / delta) / (2 k)) of (38)."""
    return math.sqrt(math.log(2 * n_classes / FAILURE) / (2 * n_neighbors))


SETTINGS = [
    QueryPoints(ring(K), epsilon, 10_000, 200)
    for ring in (Smooth, Peaked)
    for K in (2, 10, 50)
    for epsilon in (1.0, 2.0)
]
LARGE = QueryPoints(Smooth(10), 2.0, 100_000, 2_000)
POINTS = 500  # at which the excess of a setting is compared with its bound


def pointwise_cases() -> Cases:
    """Compare the excess with its bound at `POINTS` points of every setting, the one closest to it or beyond."""
    cases = []
    for number, setting in enumerate(SETTINGS):
        found, bounds = setting.excess(POINTS, np.random.default_rng(number))
        at = int(np.argmax(found - bounds - _ROUNDING))
        cases.append((str(setting), float(found[at]), float(bounds[at]) + _ROUNDING))
    return cases


def integrated_cases() -> Cases:
    """Compare the mean excess over `POINTS` points with the mean bound."""
    drawn = ((setting, *setting.excess(POINTS, np.random.default_rng(n))) for n, setting in enumerate(SETTINGS))
    return [(str(setting), float(found.mean()), float(bounds.mean())) for setting, found, bounds in drawn]


def mean_bit_cases() -> Cases:
    """Compare P(Z(j) = 1) summed over the true label with q + (p - q) eta_j, for random eta; and p - q with tanh."""
    rng, cases = np.random.default_rng(28), []
    for K in (2, 10, 50):
        for epsilon in (0.2, 1.0, 4.0):
            encoder, eta = SymmetricUnaryLabelEncoder(K, epsilon), rng.dirichlet(np.ones(K))
            ones = np.where(np.eye(K, dtype=bool), encoder.p_keep, encoder.q_flip)
            slope = math.tanh(epsilon / 4)
            stated = zip(eta @ ones, encoder.q_flip + slope * eta, strict=True)
            name = f"K={K} eps={epsilon:g}"
            cases += [(f"{name} j={j}", float(mean), float(form)) for j, (mean, form) in enumerate(stated)]
    return cases


def excess_cases() -> Cases:
    """Compare risk - Bayes risk of random rules with E[eta_max - eta_c], by pieces of the circle.

    The left side counts mistakes, 1 - sum over classes of the mass of (class and predicted); the right side is the mean
    of the pointwise excess.
    """
    rng, cases = np.random.default_rng(1), []
    for ring in (Smooth(5), Peaked(10)):
        for trial in range(3):
            eta = ring.eta((np.arange(20_000) + 0.5) / 20_000)
            rule = np.repeat(rng.integers(ring.n_classes, size=100), 200)
            right = np.bincount(rule, eta[np.arange(20_000), rule], ring.n_classes) / 20_000
            best = np.bincount(eta.argmax(axis=1), eta.max(axis=1), ring.n_classes) / 20_000
            excess = (eta.max(axis=1) - eta[np.arange(20_000), rule]).mean()
            name = f"{type(ring).__name__.lower()} rule {trial}"
            cases.append((name, float((1 - right.sum()) - (1 - best.sum())), float(excess)))
    return cases


def ball_cases() -> Cases:
    """Compare P(fewer than k of N points in a ball of mass 2 k / N) with exp(-(1 - ln 2) k)."""
    return [
        (f"N={n} k={k}", float(stats.binom.cdf(k - 1, n, 2 * k / n)), math.exp(-(1 - math.log(2)) * k))
        for n in (10**3, 10**4, 10**6)
        for k in (1, 2, 5, 10, 20, 50, 100, 200, 500)
    ]


def _inequality(name: str, source: str, statement: str, values: Any, **settings: Any) -> InequalityCheck:
    return InequalityCheck(
        name=f"labels/{name}", source=f"Zhao et al. 2024, {source}", statement=statement, values=values, **settings
    )


def _guarantee(name: str, source: str, statement: str, trials: Any, beta: float, slack: float) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"labels/{name}",
        source=f"Zhao et al. 2024, {source}",
        statement=statement,
        trials=trials,
        beta=beta,
        slack=slack,
        budget=8_000,
    )


_TESTED = [QueryPoints(Smooth(K), epsilon, 10_000, 200) for K, epsilon in ((2, 1.0), (10, 1.0), (10, 2.0), (50, 1.0))]

CHECKS: list[Any] = [
    _inequality(
        "mean bit",
        "(28)",
        "P(Z(j) = 1 | x) = q + tanh(epsilon / 4) eta_j(x).",
        mean_bit_cases,
        sense="==",
        tolerance=1e-12,
    ),
    _inequality(
        "excess identity",
        "Proposition 1",
        "risk - Bayes risk = E[eta_max - eta_(predicted)] for every rule.",
        excess_cases,
        sense="==",
        tolerance=1e-9,
    ),
    _inequality(
        "excess at a point", "Theorem 2", "The excess at x is at most 2 Delta_eps, and 0 beyond.", pointwise_cases
    ),
    _inequality(
        "excess risk", "Theorem 2, (24)", "The excess risk is at most the mean of the bound.", integrated_cases
    ),
    *(
        _guarantee(
            f"one class's score, {setting}",
            "(38)",
            "|g_j - E g_j| > sqrt(ln(2 K / delta) / (2 k)) has probability at most delta / K, delta = 0.05.",
            setting.one_class_within,
            FAILURE / setting.ring.n_classes,
            0.005,
        )
        for setting in _TESTED[:3:2]
    ),
    *(
        _guarantee(
            f"all scores, {setting}",
            "(40)",
            "Delta(x) keeps its bound with probability at least 0.95 - exp(-(1 - ln 2) k).",
            setting.all_classes_within,
            FAILURE + math.exp(-(1 - math.log(2)) * setting.n_neighbors),
            0.01,
        )
        for setting in _TESTED
    ),
    _inequality(
        "neighbours within r0",
        "(39)",
        "Fewer than k of N points lie in a ball of mass 2 k / N with probability at most exp(-(1 - ln 2) k).",
        ball_cases,
    ),
]


def looseness(setting: QueryPoints, size: int = 20_000) -> tuple[float, float]:
    """Return the mean excess and its mean bound: how loose Theorem 2 is; estimates."""
    found, bounds = setting.excess(size, np.random.default_rng(24))
    return float(found.mean()), float(bounds.mean())
