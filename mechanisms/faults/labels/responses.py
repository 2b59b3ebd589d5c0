"""Randomized responses with the wrong probabilities, priors that read labels, and stages that overlap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit import Labeled, LabelFlip
from mechanisms.faults.labels.bits import fault_check
from mechanisms.labels.encoder import one_hot
from mechanisms.labels.neighbors import as_points
from mechanisms.labels.response import KaryRandomizedResponse, RandomizedResponseWithPrior, release_with_priors
from mechanisms.labels.two_stage import TwoStageRelease, flips
from mechanisms.labels.unary import class_pairs


@dataclass(frozen=True)
class KeepsLikeABit:
    """Keeps the label with probability e^epsilon / (1 + e^epsilon), as if there were two classes.

    True privacy: (epsilon + ln(K - 1), 0): 3.197 at epsilon = 1, K = 10.
    """

    n_classes: int
    epsilon: float

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        kept = rng.random(size) < 1 / (1 + math.exp(-self.epsilon))
        return (label + np.where(kept, 0, rng.integers(1, self.n_classes, size=size))) % self.n_classes


@dataclass(frozen=True)
class KeepsThenResamples:
    """Keeps the label with the right probability, and otherwise draws from ALL classes.

    True privacy: (ln(1 + K e^epsilon / (K - 1)), 0): 1.531 and 1.391 at epsilon = 1, K = 4 and 10.
    """

    n_classes: int
    epsilon: float

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        kept = rng.random(size) < KaryRandomizedResponse(self.n_classes, self.epsilon).response.keep
        return np.where(kept, label, rng.integers(self.n_classes, size=size))


@dataclass(frozen=True)
class PriorFromTheLabels:
    """Every label is released under a prior counted from all labels, its own among them.

    A dataset is `Labeled`; output: (size, n). True privacy: none (delta > 0.99 for every epsilon) where a flip
    changes how many classes are kept: counts (6, 2, 0) keep one class, (5, 3, 0) two, at epsilon = 1.
    """

    n_classes: int
    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = np.bincount(dataset.y, minlength=self.n_classes)
        mechanism = RandomizedResponseWithPrior(self.n_classes, self.epsilon, prior=counts)
        return mechanism.release(np.tile(dataset.y, size), rng).reshape(size, -1)


@dataclass(frozen=True)
class StagesOverlap(TwoStageRelease):
    """The labels of the first stage are released once more in the second, under the first model.

    True privacy: (2 epsilon, 0) for a label of the first half where two classes are kept; (epsilon, 0) for the others.
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        points, labels, half = as_points(dataset.X), np.asarray(dataset.y), len(dataset) // 2
        every = np.arange(self.n_classes)
        first = KaryRandomizedResponse(self.n_classes, self.epsilon).release(np.tile(labels[:half], size), rng)
        near = np.argsort(np.abs(points - points[:half].T), axis=1, kind="stable")[:, : self.n_neighbors]
        votes = one_hot(first, len(every)).reshape(size, half, -1)[:, near].sum(axis=2) / self.n_neighbors
        second = release_with_priors(np.tile(labels, size), votes.reshape(-1, len(every)), self.epsilon, rng)
        return np.hstack([first.reshape(size, half), second.reshape(size, -1)])


def _counted(*counts: int) -> Labeled:
    labels = np.repeat(np.arange(len(counts)), counts)
    return Labeled(np.arange(len(labels)), labels)


CHECKS = [
    *(
        fault_check(f"keeps like a bit K=10 eps={epsilon:g}", KeepsLikeABit(10, epsilon), epsilon, class_pairs(10))
        for epsilon in (0.2, 1.0, 2.0)
    ),
    fault_check("keeps then resamples K=4", KeepsThenResamples(4, 1.0), 1.0, class_pairs(4), budget=40_000),
    fault_check("keeps then resamples K=10", KeepsThenResamples(10, 1.0), 1.0, class_pairs(10), budget=100_000),
    fault_check(
        "prior from the labels",
        PriorFromTheLabels(3, 1.0),
        1.0,
        [(_counted(6, 2, 0), Labeled(np.arange(8), np.array([0] * 5 + [1] * 3)))],
        LabelFlip(),
        budget=4_000,
    ),
    fault_check(
        "stages overlap", StagesOverlap(3, 1.0, 2), 1.0, flips((0, 0, 1, 0, 1, 2), 3), LabelFlip(), budget=60_000
    ),
]
