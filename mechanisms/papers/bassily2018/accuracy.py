"""The accuracy theorems of the private machinery, by quadrature: Theorems 2.8 and 3.11, Corollary 3.9, and their steps.

Failure probabilities are exact for a layout: T BOTTOMs are spent for nothing, the other queries lie exactly at the
distance that the theorem asks for, evenly over T + 1 epochs, which is the worst spread.
"""

import math
from functools import lru_cache, partial
from itertools import product

import numpy as np
from scipy import stats

from audit.validate import positive
from mechanisms.papers.bassily2018.algorithm4 import printed_teachers
from mechanisms.papers.bassily2018.noise import printed
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.sparse_vector import Noise
from mechanisms.quadrature import TAIL, laplace_cdf, laplace_density, panelled_nodes

SIZES = ((1.0, 1e-6, 1, 100), (1.0, 1e-6, 10, 1000), (0.1, 1e-2, 5, 10_000), (4.0, 1e-6, 90, 100))  # eps, delta, T, m
SETTINGS = tuple(product((10, 1000, 100_000), (1, 5), (0.05, 1e-3)))  # m, T, beta


@lru_cache(maxsize=1)
def _threshold_noise() -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = panelled_nodes(np.zeros(1), -TAIL, TAIL, 0.5)
    return nodes, weights * laplace_density(nodes)


def failure(margins: np.ndarray, weights: np.ndarray, queries: int, epochs: int) -> float:
    """Return the probability that some of `queries` falls, spread evenly over `epochs`."""
    # Margins are possible distances above the threshold, in units of lam, and weights their probabilities, the same and
    # independent for every query; they may sum to less than 1.
    nodes, masses = _threshold_noise()
    falls = sum(w * laplace_cdf((nodes - margin) / 2) for margin, w in zip(margins, weights, strict=True))
    falls = np.clip(falls + max(0.0, 1 - float(np.sum(weights))), 0, 1)
    each, more = divmod(queries, epochs)
    lost = [float(np.sum(masses * -np.expm1(n * np.log1p(-np.minimum(falls, 1 - 1e-16))))) for n in (each, each + 1)]
    kept = (epochs - more) * math.log1p(-min(lost[0], 1 - 1e-16)) + more * math.log1p(-min(lost[1], 1 - 1e-16))
    return -math.expm1(kept)


def sure_failure(margin: float, queries: int, epochs: int) -> float:
    """Return `failure` for one sure margin, in units of lam."""
    return failure(np.array([margin]), np.ones(1), queries, epochs)


def sparse_alpha(queries: int, cutoff: int, beta: float) -> float:
    """Return alpha of Theorem 2.8 in units of lam: 4 log(2 m T / beta)."""
    return 4 * math.log(2 * queries * cutoff / positive(beta, "beta"))


def online_alpha(epsilon: float, delta: float, queries: float, cutoff: float, beta: float) -> float:
    """Return alpha of Corollary 3.9: 34 log(4 m T / min(delta, beta / 2)) sqrt(T log(2 / delta)) / epsilon."""
    scale = math.sqrt(cutoff * math.log(2 / delta)) / epsilon
    return 34 * math.log(4 * queries * cutoff / min(delta, beta / 2)) * scale


@BASSILY.states("accuracy of sparse vector", "Theorem 2.8")
def sparse_cases() -> Cases:
    """Queries at alpha above the threshold all get TOP with probability 1 - beta."""
    return [
        (_label(m, cutoff, beta), sure_failure(sparse_alpha(m, cutoff, beta), m - cutoff, cutoff + 1), beta)
        for m, cutoff, beta in SETTINGS
    ]


@BASSILY.states("accuracy of online release", "Corollary 3.9")
def online_cases() -> Cases:
    """Queries at distance alpha are all answered with probability 1 - beta."""
    for m, cutoff, beta in SETTINGS:
        margin = float(printed(1.0, 1e-6, cutoff, m).levels(online_alpha(1.0, 1e-6, m, cutoff, beta)))
        yield _label(m, cutoff, beta), sure_failure(margin, m - cutoff, cutoff + 1), beta


def teacher_failure(noise: Noise, teachers: int, queries: int, distance: str = "safe") -> float:
    """Return the probability that some query gets a wrong value or none, when each teacher is right with 3/4."""
    # Two labels; votes of different queries are independent, and the T BOTTOMs are spent for nothing.
    right = np.arange(teachers // 2 + 1, teachers + 1)
    gap = 2.0 * right - teachers
    margins = noise.levels({"safe": np.maximum(0, np.ceil(gap / 2) - 1), "gap": gap}[distance])
    weights = stats.binom.pmf(right, teachers, 0.75)
    likely = weights > 1e-18
    return failure(margins[likely], weights[likely], queries, noise.epochs)


def printed_k(epsilon: float) -> int:
    """Return the printed number of teachers at delta = .01, m = 100, T = 1, beta = .05, not rounded to an odd one."""
    return printed_teachers(epsilon, 0.01, 1, 100, 0.05, labels=3)


def printed_failure(epsilon: float, distance: str = "safe", least: int = 0) -> float:
    """Return the failure probability of that many teachers, or of `least`, 100 queries."""
    return teacher_failure(printed(epsilon, 0.01, 1, 100, quiet=True), max(printed_k(epsilon), least), 100, distance)


def teachers_cases(epsilons: tuple[float, ...], least: int = 0) -> Cases:
    """Compare the failure probability of k teachers, or of `least`, with beta = 0.05 (Theorem 3.11)."""
    return [(f"eps={e:g} k={max(printed_k(e), least)}", printed_failure(e, least=least), 0.05) for e in epsilons]


@BASSILY.states("share of right teachers", "Theorem 3.11, proof")
def hoeffding_cases() -> Cases:
    """P(share < 5/8) <= exp(-k/32)."""
    return [
        (f"k={k}", float(stats.binom.cdf(math.ceil(5 * k / 8) - 1, k, 0.75)), math.exp(-k / 32))
        for k in (3, 10, 33, 100, 333, 1001, 3001, 10_001)
    ]


@BASSILY.states("margin at two thirds of right votes", "Corollary 4.1, with the safe distance")
def margin_cases() -> Cases:
    """k teachers of whom two thirds are right are stable enough for the safe distance."""
    for epsilon, delta, cutoff, m in SIZES:
        noise = printed(epsilon, delta, cutoff, m)
        needed = noise.threshold + 2 * noise.lam * math.log(m * cutoff / 0.05)
        available = printed_teachers(epsilon, delta, cutoff, m, 0.05) / 6 - 1
        yield f"eps={epsilon:g} delta={delta:g} T={cutoff} m={m}", needed, available


@BASSILY.states("points with many wrong teachers", "Claim 4.5, proof")
def markov_cases() -> Cases:
    """Over a third of the teachers err on at most 3 (gamma + alpha) of the points."""
    return [
        (f"k={k} error={error:g}", min(1.0, error * k / (k // 3 + 1)), 3 * error)
        for k, error in product((3, 10, 101, 1000), (0.001, 0.05, 0.2, 0.3))
    ]


@BASSILY.states("constants 34 and 136", "Corollary 3.9, Theorem 3.11")
def constant_cases() -> Cases:
    """The constants cover their parts."""
    for epsilon, delta, queries, cutoff, beta in ((1.0, 1e-6, 1000, 1, 0.05), (0.1, 1e-3, 50, 20, 0.3)):
        noise, alpha = printed(epsilon, delta, cutoff, queries), online_alpha(epsilon, delta, queries, cutoff, beta)
        parts = noise.threshold + 4 * noise.lam * math.log(4 * queries * cutoff / min(delta, beta / 2))
        teachers = printed_teachers(epsilon, delta, cutoff, queries, beta)
        label = f"eps={epsilon:g} {_label(queries, cutoff, beta)}"
        yield f"w and noise below alpha, {label}", parts, alpha
        yield f"4 alpha below k, {label}", 4 * alpha, teachers


def _label(m: int, cutoff: int, beta: float) -> str:
    return f"m={m} T={cutoff} beta={beta:g}"


_LEAST = math.ceil(32 * math.log(100 / 0.05))

CHECKS = [
    *BASSILY.rows(__name__),
    *(
        BASSILY.quote(f"teachers right with 3/4, {name}", partial(teachers_cases, *settings))
        for name, *settings in (
            ("moderate eps", (1.0, 4.0, 10.0)),
            ("large eps", (100.0,)),
            ("at least 32 log(m/beta) of them", (1.0, 10.0, 50.0, 100.0), _LEAST),
        )
    ),
]
