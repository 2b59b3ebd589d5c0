"""The baselines of section 5 of Zhao et al. (2024): randomized response (LP-1ST), two stages (LP-2ST), and ALIBI.

RRWithPrior, Algorithm 2 of Ghazi, Golowich, Kumar, Manurangsi & Zhang (2021): with the classes sorted by decreasing
prior (ties by index), w_k = e^eps / (e^eps + k - 1) * (sum of the k largest priors), k* = argmax w_k (the first). Among
the k* likeliest classes a label is released by k*-ary randomized response; another label becomes one of them.

Two stages, their Algorithm 3: the labels of a random half are released by randomized response, and a first model is
fitted to them; each label of the second half is released by RRWithPrior under this model's prediction. Departures: the
final model sees both halves; the prior of nearest neighbors is the frequency of released labels among the k neighbors.

ALIBI, Malek, Mironov, Prasad, Shilov & Tramer (2021): noise of scale b = 2 / epsilon on each coordinate of the one-hot
vector. The posterior of class c is proportional to pi_c exp(-|V - e_c|_1 / b), and -|V - e_c|_1 = const + clip(2 V_c -
1, -1, 1): O(K) a label, where section 4.3 says O(K^2), the cost of the definition (`literal_posterior`).
"""

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Finite, Laplace, Product
from mechanisms.papers.rows import ZHAO, Cases
from mechanisms.papers.zhao2024.neighbors import TargetModel
from mechanisms.papers.zhao2024.vector import (
    FloatArray,
    LabelEncoder,
    audit_encoder,
    class_pairs,
    one_hot,
    require_label,
)

GHAZI = "Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021"


@dataclass(frozen=True)
class ResponseEncoder(LabelEncoder):
    """The label with probability e^epsilon / (e^epsilon + K - 1), else one of the others; (epsilon, 0)-DP, tight."""

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        return respond(labels, self.n_classes, self.epsilon, rng)

    def law(self, label: Any) -> Finite:
        """Return the law of the released label."""
        at, rest = require_label(label, self.n_classes), math.exp(-self.epsilon)
        total = 1 + (self.n_classes - 1) * rest
        return Finite({j: (1.0 if j == at else rest) / total for j in range(self.n_classes)})

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return epsilon for the released class, 0 for the others."""
        return np.asarray(self.epsilon * one_hot(released, self.n_classes), dtype=float)

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return unit vectors."""
        return one_hot(released, self.n_classes)

    def shares(self, scores: FloatArray) -> FloatArray:
        """Return (scores - other) / (own - other), by the probabilities of the law."""
        rest = math.exp(-self.epsilon)
        return np.asarray((scores * (1 + (self.n_classes - 1) * rest) - rest) / -math.expm1(-self.epsilon))


@dataclass(frozen=True)
class PriorResponseEncoder(ResponseEncoder):
    """Randomized response among the likeliest classes; (epsilon, 0)-DP, and (0, 0)-DP when one class is left."""

    prior: Any = field(kw_only=True)  # K numbers >= 0, public or computed from private releases of other labels

    def __post_init__(self) -> None:
        super().__post_init__()
        prior = np.asarray(self.prior, dtype=float)
        if prior.shape != (self.n_classes,) or not (np.all(prior >= 0) and 0 < prior.sum() < math.inf):
            raise InvalidArgument.of("prior", f"be {self.n_classes} numbers >= 0 with a positive sum", self.prior)
        object.__setattr__(self, "prior", tuple((prior / prior.sum()).tolist()))

    def rank(self, priors: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sort the classes by decreasing prior, shape (n, K), and give how many are kept, k* in shape (n,)."""
        order = np.argsort(-priors, axis=1, kind="stable")
        best = np.cumsum(np.take_along_axis(priors, order, axis=1), axis=1)
        return order, np.argmax(best / (1 + np.arange(priors.shape[1]) * math.exp(-self.epsilon)), axis=1) + 1

    @property
    def kept_classes(self) -> list[int]:
        """The k* likeliest classes, likeliest first."""
        order, sizes = self.rank(np.array([self.prior]))
        return order[0, : sizes[0]].tolist()

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        return self.release_under(labels, np.broadcast_to(np.array(self.prior), (len(labels), self.n_classes)), rng)

    def release_under(
        self, labels: NDArray[np.int64], priors: FloatArray, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label for every label, each under a prior of its own, shape (n, K)."""
        order, kept = self.rank(priors)
        place = np.argmax(order == np.asarray(labels)[:, None], axis=1)
        among = respond(np.minimum(place, kept - 1), kept, self.epsilon, rng)
        anywhere = rng.integers(0, kept)
        return np.asarray(order[np.arange(len(labels)), np.where(place < kept, among, anywhere)])

    def law(self, label: Any) -> Finite:
        """Return the law of the released label, on the kept classes."""
        at, kept = require_label(label, self.n_classes), self.kept_classes
        return Finite(dict(zip(kept, self.kernel()[at, kept].tolist(), strict=True)))

    def kernel(self) -> FloatArray:
        """Return P(release = column | label = row), shape (K, K)."""
        kept, rest = self.kept_classes, math.exp(-self.epsilon)
        rows = np.zeros((self.n_classes, self.n_classes))
        rows[:, kept] = 1 / len(kept)
        rows[np.ix_(kept, kept)] = rest / (1 + (len(kept) - 1) * rest)
        rows[kept, kept] = 1 / (1 + (len(kept) - 1) * rest)
        return rows

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return the logarithms of the kernel's columns of the released classes."""
        return np.log(np.maximum(self.kernel(), np.finfo(float).tiny)).T[released]


def respond(labels: NDArray[np.int64], sizes: Any, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw from randomized response on {0, ..., size - 1}, a size for each label or one for all."""
    stay = rng.random(len(labels)) < 1 / (1 + (sizes - 1) * math.exp(-epsilon))
    jump = rng.integers(1, np.maximum(sizes, 2), size=len(labels))
    return np.asarray((labels + np.where(stay, 0, jump)) % sizes)


_PRIORS: list[tuple[str, PriorResponseEncoder, float]] = [
    ("2 of 3 kept", PriorResponseEncoder(3, 1.0, prior=(5, 3, 0)), 1.0),
    ("3 of 5 kept", PriorResponseEncoder(5, 2.0, prior=(0.6, 0.2, 0.1, 0.05, 0.05)), 2.0),
    ("uniform, all 10 kept", PriorResponseEncoder(10, 0.5, prior=np.ones(10)), 0.5),
    ("constant release", PriorResponseEncoder(3, 1.0, prior=(6, 2, 0)), 0.0),
]


@dataclass(frozen=True)
class TwoStageEncoder(ResponseEncoder):
    """Labels released in two stages; (epsilon, 0)-DP under label flip."""

    model: Callable[[], TargetModel] = field(kw_only=True)  # builds that of the first stage

    def release_all(
        self, points: FloatArray, labels: NDArray[np.int64], seed: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Release the labels of a random half, then those of the others under priors, shape (n,)."""
        if len(labels) < 2:
            raise InvalidArgument.of("X", "hold at least two points, one for each stage", len(points))
        first, second = np.array_split(np.random.default_rng(seed).permutation(len(labels)), 2)
        released = np.empty(len(labels), dtype=np.int64)
        released[first] = self.release(labels[first], rng)
        priors = self.priors(points[first], released[first], points[second], seed)
        response = PriorResponseEncoder(self.n_classes, self.epsilon, prior=np.ones(self.n_classes))
        released[second] = response.release_under(labels[second], priors, rng)
        return released

    def priors(self, points: FloatArray, released: NDArray[np.int64], asked: FloatArray, seed: int) -> FloatArray:
        """Return the first model's predictions at the points asked, from released labels alone, shape (m, K)."""
        scores = self.model().fit(points, self.targets(released), np.random.default_rng(seed)).scores(asked)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def law_of_all(self, dataset: Labeled) -> Finite:
        """Return the law of the releases of a few records, for a model without randomness: the mean over all halves."""
        points, labels, n = np.asarray(dataset.X), np.asarray(dataset.y), len(dataset)
        halves = list(itertools.combinations(range(n), n - n // 2))
        mixed: dict[Hashable, float] = {}
        for first in map(list, halves):
            second = np.setdiff1d(np.arange(n), first)
            for row, chance in self._stages(points, labels, np.array(first), second):
                mixed[row] = mixed.get(row, 0.0) + chance / len(halves)
        return Finite(mixed)

    def _stages(
        self, points: FloatArray, labels: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> list[tuple[tuple[int, ...], float]]:
        """Return all releases, in the order of the records, with their probabilities for the given halves."""
        found = []
        for shown in itertools.product(range(self.n_classes), repeat=len(first)):
            priors = self.priors(points[first], np.array(shown), points[second], 0)
            pmfs = [self.law(int(label)).pmf for label in labels[first]]
            for prior, label in zip(priors, labels[second], strict=True):
                pmfs.append(PriorResponseEncoder(self.n_classes, self.epsilon, prior=prior).law(int(label)).pmf)
            places = np.argsort(np.r_[first, second])
            for more in itertools.product(range(self.n_classes), repeat=len(second)):
                row = (*shown, *more)
                chance = float(np.prod([pmf.get(value, 0.0) for pmf, value in zip(pmfs, row, strict=True)]))
                found.append((tuple(row[place] for place in places), chance))
        return found


MALEK = "Malek, Mironov, Prasad, Shilov & Tramer 2021, section 4"


@dataclass(frozen=True)
class LaplaceEncoder(LabelEncoder):
    """A one-hot vector plus Laplace noise; (epsilon, 0)-DP for any two labels, tight."""

    @property
    def scale(self) -> float:
        """Scale b of the noise, 2 / epsilon."""
        return 2 / self.epsilon

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw a noisy vector for every label, shape (n, K)."""
        return rng.laplace(scale=self.scale, size=(len(labels), self.n_classes)) + one_hot(labels, self.n_classes)

    def law(self, label: Any) -> Product:
        """Return the law of one release: independent Laplace coordinates."""
        at = require_label(label, self.n_classes)
        return Product(tuple(Laplace(float(j == at), self.scale) for j in range(self.n_classes)))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return clip(2 V - 1, -1, 1) / b."""
        return np.asarray(np.clip(2 * released - 1, -1, 1) / self.scale)


def literal_posterior(released: FloatArray, prior: FloatArray, scale: float) -> FloatArray:
    """Return the posterior by its definition, |V - e_c|_1 coordinate by coordinate for every class: O(K^2) a label."""
    distances = np.abs(released[:, None, :] - np.eye(released.shape[1])).sum(axis=2)
    weights = prior * np.exp((distances.min(axis=1, keepdims=True) - distances) / scale)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@ZHAO.states("laplace posterior in O(K)", "section 4.3, where it is said to cost O(K^2)", "==")
def closed_form_cases() -> Cases:
    """The O(K) closed form of the posterior equals its definition."""
    rng = np.random.default_rng(2021)
    for K in (2, 10, 100):
        for epsilon in (0.2, 1.0, 2.0):
            encoder = LaplaceEncoder(K, epsilon)
            released, prior = encoder.release(rng.integers(K, size=100), rng), rng.dirichlet(np.ones(K), size=100)
            closed, literal = encoder.posterior(released, prior), literal_posterior(released, prior, encoder.scale)
            at = np.unravel_index(np.argmax(np.abs(closed / literal - 1)), closed.shape)
            yield f"K={K} eps={epsilon:g}", float(closed[at]), float(literal[at])


CHECKS: list[Any] = [
    *ZHAO.rows(__name__),
    *(
        audit_encoder(f"response K={K} eps={epsilon:g}", ResponseEncoder(K, epsilon), epsilon, "Kairouz et al. 2016")
        for K in (2, 10)
        for epsilon in (0.2, 1.0)
    ),
    *(
        audit_encoder(f"response with prior, {name}", encoder, epsilon, f"{GHAZI}, Theorem 3")
        for name, encoder, epsilon in _PRIORS
    ),
    *(
        audit_encoder(f"laplace K={K} eps={epsilon:g}", LaplaceEncoder(K, epsilon), epsilon, MALEK, class_pairs(K)[:3])
        for K, epsilon in ((2, 1.0), (10, 0.5), (10, 2.0))
    ),
]
