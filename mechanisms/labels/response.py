"""Randomized response on labels, without and with a prior: the baselines of the vector mechanism.

Implements K-ary randomized response as a label encoder, and RRWithPrior of Ghazi, Golowich, Kumar, Manurangsi & Zhang
(2021, "Deep learning with label differential privacy", Algorithm 2): with the classes sorted by decreasing prior, let

    w_k = e^eps / (e^eps + k - 1) * (sum of the k largest prior probabilities),   k* = argmax w_k (the first),

and release by k*-ary randomized response among the k* likeliest classes; a label outside of them becomes one of them,
uniformly. The prior must not depend on the label that is encoded. epsilon is attained when k* >= 2; k* = 1 releases
a constant. No epsilon-private mechanism has a larger P(release = label) under the prior; `best_agreement` solves the
linear program over all of them.

Departure: classes of equal prior are sorted by index (the text leaves ties open).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from audit import InequalityCheck, Local, PrivacyCheck, PrivacyClaim
from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.labels.encoder import FloatArray, LabelEncoder, one_hot, require_label
from mechanisms.labels.unary import class_pairs
from mechanisms.randomized_response import RandomizedResponse

SOURCE = "Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021, Theorem 3"


@dataclass(frozen=True)
class KaryRandomizedResponse(LabelEncoder):
    """The label with probability e^epsilon / (e^epsilon + K - 1), else one of the others; (epsilon, 0)-DP, tight."""

    @property
    def response(self) -> RandomizedResponse:
        """The same mechanism, label by label."""
        return RandomizedResponse(tuple(range(self.n_classes)), self.epsilon)

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        return jumped(labels, self.n_classes, self.epsilon, rng)

    def law(self, label: Any) -> Finite:
        """Law of the released label."""
        return self.response.law(require_label(label, self.n_classes))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return epsilon for the released class, 0 for the others."""
        return np.asarray(self.epsilon * one_hot(released, self.n_classes), dtype=float)

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return unit vectors."""
        return one_hot(released, self.n_classes)


@dataclass(frozen=True)
class RandomizedResponseWithPrior(KaryRandomizedResponse):
    """Randomized response among the likeliest classes; (epsilon, 0)-DP, and (0, 0)-DP when one class is left.

    Parameters
    ----------
    prior : array, shape (K,), >= 0, with a positive sum
        Public, or computed from private releases of other labels.
    """

    prior: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        prior = np.asarray(self.prior, dtype=float)
        if prior.shape != (self.n_classes,) or not (np.all(prior >= 0) and 0 < prior.sum() < math.inf):
            raise InvalidArgument.of("prior", f"be {self.n_classes} numbers >= 0 with a positive sum", self.prior)
        object.__setattr__(self, "prior", tuple((prior / prior.sum()).tolist()))

    @property
    def kept_classes(self) -> tuple[int, ...]:
        """The k* likeliest classes, likeliest first."""
        order, sizes = ranked(np.array([self.prior]), self.epsilon)
        return tuple(order[0, : sizes[0]].tolist())

    @property
    def exact_epsilon(self) -> float:
        """epsilon, or 0 when the release is constant."""
        return self.epsilon if len(self.kept_classes) > 1 else 0.0

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        priors = np.broadcast_to(np.array(self.prior), (len(labels), self.n_classes))
        return release_with_priors(labels, priors, self.epsilon, rng)

    def law(self, label: Any) -> Finite:
        """Law of the released label, on the kept classes."""
        at, kept = require_label(label, self.n_classes), self.kept_classes
        return Finite(dict(zip(kept, self.kernel()[at, list(kept)].tolist(), strict=True)))

    def kernel(self) -> FloatArray:
        """Return P(release = column | label = row), shape (K, K)."""
        kept = list(self.kept_classes)
        rows = np.zeros((self.n_classes, self.n_classes))
        rows[:, kept] = 1 / len(kept)
        rows[np.ix_(kept, kept)] = 1 / (math.exp(self.epsilon) + len(kept) - 1)
        rows[kept, kept] *= math.exp(self.epsilon)
        return np.asarray(rows, dtype=float)

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return the logarithms of the kernel's columns of the released classes."""
        return np.log(np.maximum(self.kernel(), np.finfo(float).tiny)).T[released]


def ranked(priors: FloatArray, epsilon: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort the classes by decreasing prior, shape (n, K), and give how many are kept, k* in shape (n,)."""
    order = np.argsort(-priors, axis=1, kind="stable")
    best = np.cumsum(np.take_along_axis(priors, order, axis=1), axis=1)
    value = best / (math.exp(epsilon) + np.arange(priors.shape[1]))
    return order, np.argmax(value, axis=1) + 1


def release_with_priors(
    labels: NDArray[np.int64], priors: FloatArray, epsilon: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Release n labels, each under a prior of its own, shape (n, K); vectorized RRWithPrior."""
    order, kept = ranked(priors, epsilon)
    rank = np.argmax(order == labels[:, None], axis=1)
    among = jumped(np.minimum(rank, kept - 1), kept, epsilon, rng)
    anywhere = rng.integers(0, kept)
    rows = np.arange(len(labels))
    return np.asarray(order[rows, np.where(rank < kept, among, anywhere)])


def jumped(labels: NDArray[np.int64], sizes: Any, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw from randomized response on {0, ..., size - 1}, a size for each label or one for all."""
    stay = rng.random(len(labels)) < math.exp(epsilon) / (math.exp(epsilon) + sizes - 1)
    jump = rng.integers(1, np.maximum(sizes, 2), size=len(labels))
    return np.asarray((labels + np.where(stay, 0, jump)) % sizes)


def best_agreement(prior: ArrayLike, epsilon: float) -> float:
    """Return the largest P(release = label) of all epsilon-private K x K kernels, by linear programming."""
    weights = np.asarray(prior, dtype=float)
    K = len(weights)
    index = np.arange(K * K).reshape(K, K)  # variable of (label, release)
    bounds = []
    for a, b in [(a, b) for a in range(K) for b in range(K) if a != b]:
        rows = np.zeros((K, K * K))
        rows[np.arange(K), index[a]], rows[np.arange(K), index[b]] = 1, -math.exp(epsilon)
        bounds.append(rows)
    sums = np.kron(np.eye(K), np.ones(K))
    gain = np.diag(weights).ravel()
    solved = linprog(-gain, A_ub=np.vstack(bounds), b_ub=np.zeros(K * K * (K - 1)), A_eq=sums, b_eq=np.ones(K))
    return float(-solved.fun)


def random_priors(count: int, n_classes: int, seed: int) -> FloatArray:
    """Draw priors of very different peakedness, shape (count, K)."""
    rng = np.random.default_rng(seed)
    return np.array([rng.dirichlet(np.full(n_classes, 10.0 ** rng.uniform(-1, 1))) for _ in range(count)])


def optimality_cases(kind: type[RandomizedResponseWithPrior], count: int) -> list[tuple[str, float, float]]:
    """Compare P(release = label) with the best of all epsilon-private kernels."""
    cases = []
    for number in range(count):
        K, epsilon = (2, 3, 4, 6)[number % 4], (0.2, 1.0, 2.0)[number % 3]
        prior = random_priors(1, K, number)[0]
        mechanism = kind(K, epsilon, prior=prior)
        agreement = float(prior @ np.diag(mechanism.kernel()))
        cases.append((f"prior {number} K={K} eps={epsilon:g}", agreement, best_agreement(prior, epsilon)))
    return cases


def exactness_cases() -> list[tuple[str, float, float]]:
    """Compare the largest loss of 400 priors with epsilon, or 0 for a constant release."""
    cases = []
    for number in range(400):
        K, epsilon = (3, 10)[number % 2], (0.2, 1.0, 2.0)[number % 3]
        mechanism = RandomizedResponseWithPrior(K, epsilon, prior=random_priors(1, K, number)[0])
        logs = np.log(mechanism.kernel()[:, list(mechanism.kept_classes)])
        found = float(np.ptp(logs, axis=0).max())
        cases.append((f"prior {number} K={K} eps={epsilon:g}", found, mechanism.exact_epsilon))
    return cases


def _check(name: str, mechanism: LabelEncoder, epsilon: float, source: str = SOURCE, **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"labels/{name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Local(), source),
        pairs=class_pairs(mechanism.n_classes),
        **{"budget": 20_000, **settings},
    )


_WARNER = "Kairouz, Bonawitz & Ramage 2016"

CHECKS: list[Any] = [
    *(
        _check(f"randomised response K={K} eps={epsilon:g}", KaryRandomizedResponse(K, epsilon), epsilon, _WARNER)
        for K in (2, 10)
        for epsilon in (0.2, 1.0)
    ),
    _check("with prior, 2 of 3 kept", RandomizedResponseWithPrior(3, 1.0, prior=(5, 3, 0)), 1.0),
    _check("with prior, 3 of 5 kept", RandomizedResponseWithPrior(5, 2.0, prior=(0.6, 0.2, 0.1, 0.05, 0.05)), 2.0),
    _check("with uniform prior, all 10 kept", RandomizedResponseWithPrior(10, 0.5, prior=np.ones(10)), 0.5),
    _check("with prior, constant release", RandomizedResponseWithPrior(3, 1.0, prior=(6, 2, 0)), 0.0, budget=2_000),
    InequalityCheck(
        name="labels/with prior is exactly epsilon",
        source=SOURCE,
        statement="The largest loss is epsilon when k* >= 2 and 0 when k* = 1, for 400 priors.",
        values=exactness_cases,
        sense="==",
        tolerance=1e-12,
    ),
    InequalityCheck(
        name="labels/with prior is optimal",
        source="Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021, Theorem 4",
        statement="P(release = label) is the largest of all epsilon-private kernels, for 120 priors.",
        values=partial(optimality_cases, RandomizedResponseWithPrior, 120),
        sense=">=",
        tolerance=1e-9,
    ),
]
