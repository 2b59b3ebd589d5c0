"""Learners that are private and useless: a prior that keeps too few classes, a budget that is split over all bits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck, Verdict
from mechanisms.labels.crossover import response_ratio, vector_ratio
from mechanisms.labels.decoys import Normalized
from mechanisms.labels.digits import N_CLASSES, NetworkBeats
from mechanisms.labels.encoder import Head
from mechanisms.labels.network import VectorTargetMLP
from mechanisms.labels.orderings import ordering_check
from mechanisms.labels.response import RandomizedResponseWithPrior, jumped, optimality_cases
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder, UnaryLabelEncoder


@dataclass(frozen=True)
class WrongClassCount(RandomizedResponseWithPrior):
    """w_k with k - 2 in the place of k - 1: too few classes are kept.

    True privacy: (epsilon, 0), or (0, 0) for the constant release. Broken: optimality; a uniform prior on ten classes
    keeps one of them at epsilon = 0.2, the prior (.6, .2, .1, .05, .05) two in place of three at epsilon = 2.
    """

    @property
    def kept_classes(self) -> tuple[int, ...]:
        """The kept classes, likeliest first."""
        order = np.argsort(-np.array(self.prior), kind="stable")
        best = np.cumsum(np.array(self.prior)[order])
        value = best / (1 + (np.arange(self.n_classes) - 1) * math.exp(-self.epsilon))
        return tuple(order[: int(np.argmax(value)) + 1].tolist())

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        kept = np.array(self.kept_classes)
        rank = np.argmax(kept == labels[:, None], axis=1)
        anywhere = rng.integers(len(kept), size=len(labels))
        among = jumped(rank, len(kept), self.epsilon, rng)
        return np.asarray(kept[np.where(np.isin(labels, kept), among, anywhere)])


@dataclass(frozen=True)
class SplitOverClasses(UnaryLabelEncoder):
    """The budget is shared by all K bits: odds e^(epsilon / K), where two bits differ.

    True privacy: (2 epsilon / K, 0): 0.2 of the claimed 1 at K = 10. Broken: the signal; randomized response is ahead
    at K = 10, and at every other K.
    """

    @property
    def p_keep(self) -> float:
        """e^(epsilon/K) / (1 + e^(epsilon/K))."""
        return 1 / (1 + math.exp(-self.epsilon / self.n_classes))

    @property
    def q_flip(self) -> float:
        """1 / (1 + e^(epsilon/K))."""
        return 1 - self.p_keep


def split_cases() -> list[tuple[str, float, float]]:
    """Compare squared signal-to-noise ratios with those of randomized response."""
    return [
        (f"K={K} eps={epsilon:g}", vector_ratio(SplitOverClasses(K, epsilon)), response_ratio(K, epsilon))
        for K in (10, 100)
        for epsilon in (0.5, 1.0)
    ]


@dataclass(frozen=True)
class SoftmaxHead(Normalized):
    """Bits divided by their number, for a softmax in the place of K sigmoids.

    True privacy: (epsilon, 0). Broken: accuracy; the shares no longer estimate q + (p - q) eta. On the digits at
    epsilon = 1 the network loses five points and more.
    """

    head: ClassVar[Head] = "softmax"


def _fault(name: str, source: str, statement: str, values: Any) -> InequalityCheck:
    return InequalityCheck(
        name=f"fault/labels {name}",
        source=source,
        statement=statement,
        values=values,
        sense=">=",
        expected=Verdict.FAIL,
    )


CHECKS = [
    _fault(
        "wrong class count",
        "claimed after Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021, Theorem 4",
        "P(release = label) is the largest of all epsilon-private kernels.",
        partial(optimality_cases, WrongClassCount, 40),
    ),
    _fault(
        "budget split over classes",
        "claimed after Zhao et al. 2024, section 5.1",
        "For many classes the bits have a larger signal-to-noise ratio than randomised response.",
        split_cases,
    ),
    ordering_check(
        "fault/labels softmax head",
        "claimed after Zhao et al. 2024, section 4.2",
        "On the digits, shares under a softmax are as accurate as bits under sigmoids, up to 0.02",
        NetworkBeats(
            VectorTargetMLP(SoftmaxHead(N_CLASSES, 1.0)),
            VectorTargetMLP(SymmetricUnaryLabelEncoder(N_CLASSES, 1.0)),
            margin=-0.02,
        ),
        Verdict.FAIL,
    ),
]
