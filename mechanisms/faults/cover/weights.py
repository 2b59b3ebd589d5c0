"""Covers that are right and weights that are not: the factor 1/2, the scale of the error, the way of drawing.

All of them release a threshold of the public grid (2 j + 1) / (2 J), claimed alpha-private under substitution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, PackingCheck, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.cover.learners import ThresholdERM
from mechanisms.cover.packing import MovingExample
from mechanisms.cover.privacy import first_threshold_pair
from mechanisms.cover.thresholds import ThresholdClass
from mechanisms.cover.worst_case import worst_pair

Pair = tuple[Labeled, Labeled]

SOURCE = "claimed after Chaudhuri & Hsu 2011, Theorem 7"


@dataclass(frozen=True)
class WrongWeights(ABC):
    """Base: a threshold of the grid, with probability proportional to exp(-penalty).

    Parameters
    ----------
    epsilon : float > 0
        Claimed alpha.
    size : int >= 2
        J.
    """

    epsilon: float
    size: int

    @abstractmethod
    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return minus the log-weights, up to a constant."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = self.grid
        penalty = self.penalty(ThresholdClass().mistakes(grid, dataset), dataset)
        return grid[rng.choice(self.size, size=size, p=softmax(-penalty))]

    @property
    def grid(self) -> np.ndarray:
        """The public cover."""
        return ThresholdClass().packing_cover(1 / (2 * self.size))


@dataclass(frozen=True)
class NoHalf(WrongWeights):
    """Weights exp(-alpha k), the factor 1/2 forgotten: a mistake moves the normalizer too.

    True privacy: (ln(1 + P (e^(2 alpha) - 1)), 0), P = 1 / (1 + e^(-alpha (m - 2)) / (J - 1)): 1.569 for J = 5, m = 1
    at the claimed 1; 2 alpha in the limit. With J = 2 and m = 1 it is exactly alpha, and nothing can be seen.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return alpha k."""
        return self.epsilon * mistakes


@dataclass(frozen=True)
class SquaredError(WrongWeights):
    """Weights exp(-alpha k^2 / (2 m)): the number of mistakes takes the place of the number of examples.

    True privacy: (1.617, 0) on the pair below for J = 5, m = 10 at the claimed 1, 1.77 for m = 20; 2 alpha in the
    limit.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return alpha k err / 2."""
        return self.epsilon * mistakes**2 / (2 * len(dataset))


@dataclass(frozen=True)
class ClassBalanced(WrongWeights):
    """Errors are averaged within each label, which lets one example of a rare label weigh like half of all.

    True privacy: (2.492, 0) on the pair below for J = 5, m = 10 at the claimed 1; about alpha m / 4.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return alpha m (err+ + err-) / 4."""
        total = np.zeros(self.size)
        for label in (-1, 1):
            kept = dataset.y == label
            if kept.any():
                part = Labeled(dataset.X[kept], dataset.y[kept])
                total += ThresholdClass().mistakes(self.grid, part) / kept.sum()
        return self.epsilon * len(dataset) * total / 4


@dataclass(frozen=True)
class ZeroErrorShortcut(WrongWeights):
    """When some threshold makes no mistake only those without a mistake are released.

    True privacy: none: an example that all thresholds get wrong makes them equally likely; moved to where one of them
    is right, that one is certain. delta(epsilon') = 1 - 1/J = 0.8 for every epsilon' on the pair below.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return alpha k / 2, or infinity for a mistake where there is a threshold without."""
        return np.where((mistakes > 0) & (mistakes.min() == 0), np.inf, self.epsilon * mistakes / 2)


@dataclass(frozen=True)
class LaplaceNoisyMin(WrongWeights):
    """Report noisy min with Laplace(1 / alpha) on the numbers of mistakes, half of the noise that it takes.

    True privacy: (1.489, 0) at the least on two thresholds whose gap falls from 3 mistakes to 1 at the claimed 1, the
    worse one being chosen with probability e^-t (2 + t) / 4 at a gap of t; 1.83 from 12 to 10, 2 alpha in the limit.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return alpha k: only the noise differs."""
        return self.epsilon * mistakes

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        penalty = self.penalty(ThresholdClass().mistakes(self.grid, dataset), dataset)
        return self.grid[np.argmin(penalty + rng.laplace(size=(size, self.size)), axis=1)]


@dataclass(frozen=True)
class ArgMin(WrongWeights):
    """The first threshold with the fewest mistakes: no sampling.

    True privacy: none, the output is a function of the data.
    """

    def penalty(self, mistakes: np.ndarray, dataset: Labeled) -> np.ndarray:
        """Return infinity to all but one."""
        return np.where(np.arange(self.size) == np.argmin(mistakes), 0.0, np.inf)


def _check(name: str, mechanism: Any, epsilon: float, pair: Pair, budget: int = 50_000) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/cover {name} alpha={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=budget,
    )


def _changed(rest: Labeled, point: float) -> Pair:
    """Add an example at a point to a list, labeled +1 on the left and -1 on the right."""
    first, second = (Labeled(np.r_[rest.X, point], np.r_[rest.y, label]) for label in (1, -1))
    return first, second


def _squared_pair() -> Pair:
    """Eight examples that every threshold gets wrong, and one that the four upper ones get wrong."""
    return _changed(Labeled(np.r_[np.zeros(8), 0.2], np.r_[np.ones(8, int), -1]), 0.2)


def _moved(label: int, left: float, right: float) -> Pair:
    return Labeled(np.array([left]), np.array([label])), Labeled(np.array([right]), np.array([label]))


CHECKS: list[PrivacyCheck | PackingCheck] = [
    _check("no half", NoHalf(1.0, 5), 1.0, first_threshold_pair(5, 1)),
    _check("no half", NoHalf(0.5, 5), 0.5, first_threshold_pair(5, 2)),
    _check("squared error", SquaredError(1.0, 5), 1.0, _squared_pair()),
    _check("balanced error", ClassBalanced(1.0, 5), 1.0, _changed(Labeled(np.zeros(9), np.full(9, -1)), 0.8)),
    _check("shortcut without error", ZeroErrorShortcut(1.0, 5), 1.0, _moved(1, 0.0, 0.2), 4_000),
    _check("Laplace noisy min", LaplaceNoisyMin(1.0, 2), 1.0, worst_pair(0.5, 3)),
    _check("argmin", ArgMin(1.0, 5), 1.0, _moved(-1, 0.0, 0.2), 4_000),
    *(
        PackingCheck(
            name=f"fault/cover empirical risk minimiser, packing K={size:g}",
            source="Chaudhuri & Hsu 2011, Lemma 22",
            statement="The midpoint between the labels is 5-private; false: it follows the moving example.",
            learner=ThresholdERM(),
            claim=PrivacyClaim(5.0, 0.0, Substitution(), SOURCE),
            dataset_for=MovingExample(size).dataset,
            hits=MovingExample(size).hits,
            family_size=size,
            distance=1,
            expected=Verdict.FAIL,
            budget=1_000,
        )
        for size in (10**3, 10**12)
    ),
]
