"""Report noisy max: the index of the largest noisy answer, with Laplace, exponential or Gumbel noise.

Dwork & Roth (2014), Claim 3.9; McKenna & Sheldon (2020), permute-and-flip, which Ding et al. 2021 identify with
exponential noise; the exponential mechanism. Departure: the noise has scale 2 sensitivity / epsilon, for answers that
move in different directions; `monotone=True` halves it, the case of Claim 3.9. Probabilities are exact: a softmax,
Gauss-Legendre quadrature of a polynomial, and quadrature between the kinks (error below 1e-14).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from audit import AddRemove, PrivacyCheck
from audit.laws import Finite
from audit.validate import positive
from mechanisms.papers.rows import Paper
from mechanisms.quadrature import TAIL, laplace_cdf, laplace_density, panelled_nodes
from mechanisms.queries import LEAST, admit, column_sums, require_query, scale, vector_answer

EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class ReportNoisyMax(ABC):
    """Index of the largest of the answers plus independent noise; (epsilon, 0)-DP."""

    queries: Any  # dataset -> vector of shape (m,)
    epsilon: float  # > 0; approached when the index looked at is far from the largest
    sensitivity: float = 1.0  # > 0: largest change of any one answer between neighbors; all may change
    monotone: bool = False  # whether all answers move the same way between neighbors: half the noise

    noise: ClassVar[str]  # the method of a generator that draws it, of scale 1

    def __post_init__(self) -> None:
        admit(self, queries=require_query, epsilon=positive, sensitivity=scale)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return max(LEAST, (1 if self.monotone else 2) * self.sensitivity / self.epsilon)

    @abstractmethod
    def _probabilities(self, answers: np.ndarray) -> np.ndarray:
        """Return the probability of each index for answers in units of the scale."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = vector_answer(self.queries, dataset)
        return np.argmax(answers / self.scale + getattr(rng, self.noise)(size=(size, answers.size)), axis=1)

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        answers = vector_answer(self.queries, dataset) / self.scale
        return Finite(dict(enumerate(self._probabilities(answers - answers.max()).tolist())))


@dataclass(frozen=True)
class LaplaceNoisyMax(ReportNoisyMax):
    """Report noisy max with Laplace noise; Dwork & Roth (2014), Claim 3.9."""

    noise = "laplace"

    def _probabilities(self, answers: np.ndarray) -> np.ndarray:
        """Integrate f(t - a_i) prod_{j != i} F(t - a_j) over t, the value of the largest."""
        nodes, weights = panelled_nodes(answers, max(answers.min(), -600.0) - TAIL, TAIL, 0.5)
        below = laplace_cdf(nodes - answers[:, None])
        density = laplace_density(nodes - answers[:, None])
        return np.array([weights @ (density[i] * product_without(below, i)) for i in range(answers.size)])


@dataclass(frozen=True)
class ExponentialNoisyMax(ReportNoisyMax):
    """Report noisy max with one-sided exponential noise; the law of permute-and-flip."""

    noise = "exponential"

    def _probabilities(self, answers: np.ndarray) -> np.ndarray:
        """Integrate prod_{j != i} (1 - u e^(a_j - a_i)) over u in (0, e^(a_i - max)): exact for a polynomial."""
        nodes, weights = np.polynomial.legendre.leggauss(answers.size // 2 + 1)
        top = np.exp(answers)
        share = top * (1 + nodes[:, None]) / 2  # u, one column a candidate; the largest answer is 0
        result = np.empty(answers.size)
        for i in range(answers.size):
            beaten = 1 - share[:, i] * np.exp(answers[:, None] - answers[i])
            result[i] = top[i] / 2 * (weights @ product_without(beaten, i))
        return result


@dataclass(frozen=True)
class GumbelNoisyMax(ReportNoisyMax):
    """Report noisy max with Gumbel noise: the exponential mechanism."""

    noise = "gumbel"

    def _probabilities(self, answers: np.ndarray) -> np.ndarray:
        return softmax(answers)


@dataclass(frozen=True)
class PermuteAndFlip(ExponentialNoisyMax):
    """Decoy: visits the indices in random order and stops at i with probability e^(-(max - a_i) / scale).

    The best index is accepted for sure when reached and no noise is added to any answer; the law is that of
    exponential noise.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = vector_answer(self.queries, dataset)
        accept = np.exp((answers - answers.max()) / self.scale)
        order = rng.permuted(np.broadcast_to(np.arange(answers.size), (size, answers.size)), axis=1)
        first = np.argmax(rng.random(order.shape) < accept[order], axis=1)
        return np.take_along_axis(order, first[:, None], axis=1)[:, 0]


def product_without(factors: np.ndarray, row: int) -> np.ndarray:
    """Product over all rows but one."""
    return np.prod(np.delete(factors, row, axis=0), axis=0)


def opposite_moves(gap: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of [0, 1]^3: answer 0 falls by one and the others rise by one, with answer 0 `gap` behind."""
    others = np.tile([0.0, 1.0, 1.0], (gap, 1))
    return np.vstack([[1.0, 0.0, 0.0], others]), np.vstack([[0.0, 1.0, 1.0], others])


_PAPER = Paper("noisy max", "McKenna & Sheldon 2020")
_VOTES = np.eye(4)[[0, 0, 0, 1, 1, 2]]
_MORE = [(_VOTES, np.vstack([_VOTES, np.eye(4)[3]])), (_VOTES, _VOTES[:-1])]
FAMILY: tuple[tuple[type[ReportNoisyMax], str], ...] = (
    (LaplaceNoisyMax, "Dwork & Roth 2014, Claim 3.9"),
    (ExponentialNoisyMax, "permute-and-flip"),
    (GumbelNoisyMax, "McSherry & Talwar 2007, Theorem 6"),
)


def _checks(kind: type[ReportNoisyMax], where: str, epsilon: float) -> list[PrivacyCheck]:
    pairs = [opposite_moves(0), opposite_moves(max(2, round(4 / epsilon)))]
    plain, monotone = kind(column_sums, epsilon), kind(column_sums, epsilon, monotone=True)
    return [
        _PAPER.promise(f"{kind.noise} eps={epsilon:g}", where, plain, epsilon, pairs),
        _PAPER.promise(
            f"decoy/half the {kind.noise} noise for votes eps={epsilon:g}", where, monotone, epsilon, _MORE, AddRemove()
        ),
    ]


_FLIPS, _TWO = PermuteAndFlip(column_sums, 1.0), [opposite_moves(0), opposite_moves(4)]
CHECKS: list[PrivacyCheck] = [
    *(check for kind in FAMILY for epsilon in EPSILONS for check in _checks(*kind, epsilon)),
    _PAPER.promise("decoy/permute and flip eps=1", "permute-and-flip", _FLIPS, 1.0, _TWO),
]
