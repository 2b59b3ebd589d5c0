"""Sections 3 and 4 and Appendix B of Zhao et al. (2024), as tables of checks.

`smooth` and `peaked` live on the circle [0, 1) with X uniform. The k nearest of N points of a query are drawn directly:
given the distance R of the (k+1)-th, half of a Beta(k + 1, N - k) variable, they are uniform within R. With

    Delta(x) = max_j |g_j(x) - eta~_j(x)|,    eta~ = q + (p - q) eta,    Delta_eps = Delta / tanh(eps / 4)

the excess at x is bounded by 2 Delta_eps where eta_max - eta_second is at most 2 Delta_eps, and by 0 elsewhere.
Readings (docs/label-privacy.md): in (37) the left side must read |g_j - eta~_j|; Theorem 2's bound is attained, so that
it is compared with a margin of 1e-9; (40) is checked with the radius r0 that holds mass 2 k / N. Appendix B.2 gives no
rate, so that pairs of trials are compared: eight times the records take away a quarter of the error in most of them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from audit import GuaranteeCheck, RateCheck, Verdict
from mechanisms.papers.rows import ZHAO, Cases
from mechanisms.papers.zhao2024.comparisons import compare
from mechanisms.papers.zhao2024.network import Head, TargetNetwork
from mechanisms.papers.zhao2024.vector import FloatArray, VectorEncoder

FAILURE = 0.05  # delta of (40)
POINTS = 500  # at which the excess of a setting is compared with its bound
_ROUNDING = 1e-9
_FINE = np.linspace(0, 1, 100_001)
_ENTRIES = 5_000_000  # array entries held at a time
_MISSED = 1 - math.log(2)  # exp(-(1 - ln 2) k) of (39)
WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "smooth": lambda x: 1 + 0.9 * np.cos(2 * math.pi * x),
    "peaked": lambda x: np.exp(6 * np.cos(2 * math.pi * x)),
}


def eta_on(law: str, n_classes: int, x: FloatArray) -> FloatArray:
    """Return the probabilities of the classes at x, one more axis of length K: shifts by j / K of one weight."""
    weights = WEIGHTS[law](np.asarray(x)[..., None] - np.arange(n_classes) / n_classes)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class QueryPoints:
    """Queries drawn at random, each with k nearest of N neighbors of its own."""

    law: str
    n_classes: int
    epsilon: float
    n_samples: int = 10_000
    n_neighbors: int = 200

    @property
    def encoder(self) -> VectorEncoder:
        """The vector mechanism."""
        return VectorEncoder(self.n_classes, self.epsilon)

    def draw(self, size: int, rng: np.random.Generator) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield eta, the scores and their means given the neighbors' positions, each (m, K), block by block."""
        k, block = self.n_neighbors, max(1, _ENTRIES // (self.n_neighbors * self.n_classes))
        for start in range(0, size, block):
            x = rng.random(min(block, size - start))
            radius = rng.beta(k + 1, self.n_samples - k, size=len(x)) / 2
            eta = eta_on(self.law, self.n_classes, x[:, None] + radius[:, None] * rng.uniform(-1, 1, size=(len(x), k)))
            labels = (rng.random((len(x), k, 1)) > eta.cumsum(axis=2)).sum(axis=2)
            held = (labels[:, :, None] == np.arange(self.n_classes)).sum(axis=1)
            bits = rng.binomial(held, self.encoder.p) + rng.binomial(k - held, self.encoder.q)
            yield eta_on(self.law, self.n_classes, x), bits / k, self.scaled(eta.mean(axis=1))

    def scaled(self, eta: FloatArray) -> FloatArray:
        """Return eta~, the probabilities of a 1."""
        return np.asarray(self.encoder.q + math.tanh(self.epsilon / 4) * eta)

    def excess(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw excesses and their bounds by Theorem 2, each of shape (size,)."""
        found, bounds = [], []
        for eta, scores, _ in self.draw(size, rng):
            error = 2 * np.abs(scores - self.scaled(eta)).max(axis=1) / math.tanh(self.epsilon / 4)
            best = np.sort(eta, axis=1)
            chosen = np.take_along_axis(eta, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
            found.append(best[:, -1] - chosen)
            bounds.append(np.where(best[:, -1] - best[:, -2] <= error + _ROUNDING, error, 0.0))
        return np.concatenate(found), np.concatenate(bounds)

    def largest_deviations(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw Delta, shape (size,)."""
        return np.concatenate([np.abs(g - self.scaled(eta)).max(axis=1) for eta, g, _ in self.draw(size, rng)])

    def one_class_within(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw whether the score of class 0 keeps (38), shape (size,)."""
        return np.concatenate([np.abs(g - mean)[:, 0] <= self.hoeffding for _, g, mean in self.draw(size, rng)])

    def all_classes_within(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw whether Delta keeps (40), chance and the bias of neighbors within r0 = k / N, shape (size,)."""
        slope = np.abs(np.diff(eta_on(self.law, self.n_classes, _FINE)[:, 0]) / np.diff(_FINE)).max()
        bias = math.tanh(self.epsilon / 4) * slope * self.n_neighbors / self.n_samples
        return self.largest_deviations(size, rng) <= self.hoeffding + bias

    @property
    def hoeffding(self) -> float:
        """sqrt(ln(2 K / delta) / (2 k)) of (38)."""
        return math.sqrt(math.log(2 * self.n_classes / FAILURE) / (2 * self.n_neighbors))

    def __str__(self) -> str:
        return f"{self.law} K={self.n_classes} eps={self.epsilon:g} N={self.n_samples} k={self.n_neighbors}"


SETTINGS = [QueryPoints(*row) for row in product(WEIGHTS, (2, 10, 50), (1.0, 2.0))]
LARGE = QueryPoints("smooth", 10, 2.0, 100_000, 2_000)


def excess_cases(is_mean: bool) -> Cases:
    """Compare the excess with its bound in every setting: the means over `POINTS` points, or the worst point."""
    for number, setting in enumerate(SETTINGS):
        found, bounds = setting.excess(POINTS, np.random.default_rng(number))
        at = int(np.argmax(found - bounds - _ROUNDING))
        pair = (found.mean(), bounds.mean()) if is_mean else (found[at], bounds[at] + _ROUNDING)
        yield str(setting), float(pair[0]), float(pair[1])


@ZHAO.states("mean bit", "(28)", "==", tolerance=1e-12)
def mean_bit_cases() -> Cases:
    """P(Z(j) = 1 | x) = q + tanh(epsilon / 4) eta_j(x)."""
    rng = np.random.default_rng(28)
    for K, epsilon in product((2, 10, 50), (0.2, 1.0, 4.0)):
        encoder, eta = VectorEncoder(K, epsilon), rng.dirichlet(np.ones(K))
        means = [sum(eta[y] * encoder.law(y).laws[j].pmf[1] for y in range(K)) for j in range(K)]  # type: ignore[attr-defined]
        forms = encoder.q + math.tanh(epsilon / 4) * eta
        yield from [(f"K={K} eps={epsilon:g} j={j}", float(means[j]), float(forms[j])) for j in range(K)]


def mean_loss(known: FloatArray, eta: FloatArray, score: float) -> float:
    """Return E[-Z ln u - (1 - Z) ln(1 - u)] for the label's probabilities eta and P(Z = 1 | label) = known."""
    return float(eta @ (-known * math.log(score) - (1 - known) * math.log1p(-score)))


@ZHAO.states("least cross entropy", "Appendix B.2, (48)", "==", tolerance=1e-6)
def minimizer_of_loss_cases() -> Cases:
    """The scores of least expected cross entropy against the released bits are eta~."""
    for K, epsilon in product((2, 10), (0.2, 1.0, 4.0)):
        encoder, eta = VectorEncoder(K, epsilon), eta_on("peaked", K, np.array(0.1))
        known = np.array([[law.pmf[1] for law in encoder.law(y).laws] for y in range(K)])  # type: ignore[attr-defined]
        for j in (0, K - 1):
            loss = partial(mean_loss, known[:, j], eta)
            found = optimize.minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).x
            yield f"K={K} eps={epsilon:g} j={j}", float(found), float(encoder.q + math.tanh(epsilon / 4) * eta[j])


@ZHAO.states("network scores, no loss below the least", "Appendix B.2, (44)", ">=")
def least_loss_cases() -> Cases:
    """The expected cross entropy of a trained network is at least the mean of the least ones."""
    for n in (500, 4_000):
        yield f"N={n}", score_errors(6, n, np.random.default_rng(n))["entropy"], 0.0


@ZHAO.states("excess identity", "Proposition 1", "==")
def identity_cases() -> Cases:
    """risk - Bayes risk = E[eta_max - eta_(predicted)] for every rule."""
    # The left side counts mistakes, 1 - sum over classes of the mass of (class and predicted).
    rng, n = np.random.default_rng(1), 20_000
    for (law, K), trial in product((("smooth", 5), ("peaked", 10)), range(3)):
        eta = eta_on(law, K, (np.arange(n) + 0.5) / n)
        rule = np.repeat(rng.integers(K, size=100), n // 100)
        right = np.bincount(rule, eta[np.arange(n), rule], K).sum() / n
        best = np.bincount(eta.argmax(axis=1), eta.max(axis=1), K).sum() / n
        excess = (eta.max(axis=1) - eta[np.arange(n), rule]).mean()
        yield f"{law} rule {trial}", float((1 - right) - (1 - best)), float(excess)


@ZHAO.states("neighbors within r0", "(39)")
def ball_cases() -> Cases:
    """Fewer than k of N points lie in a ball of mass 2 k / N with probability at most exp(-(1 - ln 2) k)."""
    return [
        (f"N={n} k={k}", float(stats.binom.cdf(k - 1, n, 2 * k / n)), math.exp(-_MISSED * k))
        for n, k in product((10**3, 10**4, 10**6), (1, 2, 5, 10, 20, 50, 100, 200, 500))
    ]


@dataclass(frozen=True)
class LargestDeviation:
    """Evaluator: K -> expected largest error of K independent scores of k bits."""

    epsilon: float
    n_neighbors: int

    def __call__(self, n_classes: int) -> float:
        levels, tails = self._tails
        below = np.exp(n_classes * np.log1p(-np.minimum(tails, 1 - 1e-16)))  # P(all K deviations < level)
        return float(np.sum(np.diff(levels, prepend=0.0) * (1 - below)))

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """Return the possible deviations in increasing order, and the probability of at least each of them."""
        q, counts = VectorEncoder(2, self.epsilon).q, np.arange(self.n_neighbors + 1)
        deviations = np.abs(counts / self.n_neighbors - q)
        order = np.argsort(deviations)
        return deviations[order], np.cumsum(stats.binom.pmf(counts, self.n_neighbors, q)[order][::-1])[::-1]


def log_classes(n_classes: int) -> float:
    """Return ln 2K."""
    return math.log(2 * n_classes)


@ZHAO.states("largest error bound", "Appendix B.1")
def deviation_cases() -> Cases:
    """The expected largest error of K scores is at most sqrt(ln(2 K) / (2 k))."""
    return [
        (f"eps={epsilon:g} k={k} K={K}", LargestDeviation(epsilon, k)(K), math.sqrt(log_classes(K) / (2 * k)))
        for epsilon, k, K in product((0.5, 1.0, 2.0), (50, 200, 2_000), (2, 10, 100, 10_000))
    ]


def train(X: FloatArray, targets: np.ndarray, head: Head, rng: np.random.Generator, hidden: int = 32) -> TargetNetwork:
    """Train without decay, 1,500 minibatches of 128 whatever the number of records."""
    return TargetNetwork(head, hidden, -(-1_500 * 128 // len(X)), 0.0, 128, 2e-3).fit(X, targets, rng)


def score_errors(n_classes: int, n: int, rng: np.random.Generator) -> dict[str, float]:
    """Return errors of a network's scores against the means of bits, on `peaked`; means over 200 points."""
    # Delta(x), and delta of (45), the cross entropy above the least one.
    encoder, x, asked = VectorEncoder(n_classes, 2.0), rng.random(n), rng.random(200)
    labels = (rng.random((n, 1)) > np.cumsum(eta_on("peaked", n_classes, x), axis=1)[:, :-1]).sum(axis=1)
    bits = encoder.release(labels, rng).astype(float)
    here, there = (0.5 + np.column_stack([np.cos(a), np.sin(a)]) for a in (2 * np.pi * x, 2 * np.pi * asked))
    found = train(here, bits, "sigmoid", rng).scores(there)
    known = encoder.q + math.tanh(0.5) * eta_on("peaked", n_classes, asked)
    entropy = known * np.log(known / found) + (1 - known) * np.log((1 - known) / (1 - found))
    return {"Delta": float(np.abs(found - known).max(axis=1).mean()), "entropy": float(entropy.sum(axis=1).mean())}


def draw_shrinking(
    few: tuple[int, int], many: tuple[int, int], name: str, factor: float, size: int, rng: Any
) -> NDArray[np.bool_]:
    """Draw whether the error of the second is at most a factor times that of the first, shape (size,)."""
    # `few` and `many` are numbers of classes and of records.
    pairs = [[score_errors(*numbers, child)[name] for numbers in (few, many)] for child in rng.spawn(size)]
    return np.array([second <= factor * first for first, second in pairs])


def minimizer_cases(head: Head) -> Cases:
    """Compare the scores of a network that sees one point with the shares of ones among 2,000 released labels."""
    rng, encoder = np.random.default_rng(48), VectorEncoder(4, 1.0)
    labels = rng.choice(4, size=2_000, p=np.arange(4, 0, -1) / 10)
    bits = encoder.release(labels, rng)
    scores = train(np.full((2_000, 1), 0.5), bits, head, rng, hidden=1).scores(np.full((1, 1), 0.5))[0]
    return [(f"bit {j}", float(scores[j]), float(bits[:, j].mean())) for j in range(4)]


def _bound(name: str, trials: Any, beta: float, slack: float) -> GuaranteeCheck:
    return ZHAO.guarantee(name, "", "", trials, beta, slack=slack, budget=8_000)


def _rate(name: str, powers: range, expected: Verdict = Verdict.PASS) -> RateCheck:
    return RateCheck(
        **{**ZHAO.head(f"largest error {name}"), "expected": expected},
        evaluator=LargestDeviation(1.0, 200),
        sizes=tuple(2**j for j in powers),
        scale=log_classes,
        exponent=-0.5,
        margin=0.1,
        horizon=2**40,
    )


_MORE = partial(draw_shrinking, (6, 500), (6, 4_000))
_GROWS = partial(draw_shrinking, (4, 4_000), (32, 4_000), "Delta", 2.0)
_TESTED = [QueryPoints("smooth", K, epsilon) for K, epsilon in ((2, 1.0), (10, 1.0), (10, 2.0), (50, 1.0))]

CHECKS: list[Any] = [
    *ZHAO.rows(__name__),
    ZHAO.quote("excess at a point", partial(excess_cases, False)),
    ZHAO.quote("excess risk", partial(excess_cases, True)),
    *(_bound(f"one class's score, {s}", s.one_class_within, FAILURE / s.n_classes, 0.005) for s in _TESTED[:3:2]),
    *(_bound(f"all scores, {s}", s.all_classes_within, FAILURE + math.exp(-_MISSED * 200), 0.01) for s in _TESTED),
    _rate("grows like sqrt(ln K)", range(20, 41, 4)),
    _rate("for few classes", range(1, 8), expected=Verdict.INCONCLUSIVE),
    ZHAO.quote("network scores, one point", partial(minimizer_cases, "sigmoid"), "==", tolerance=0.03),
    compare("network scores, eight times the records", partial(_MORE, "Delta", 0.75), share=0.5),
    compare("network scores, excess entropy", partial(_MORE, "entropy", 0.75), share=0.5),
    compare("network scores, 4 and 32 classes", _GROWS, share=0.5),
]
