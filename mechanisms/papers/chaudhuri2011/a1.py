"""Algorithm A1 of Chaudhuri & Hsu (2011), Figure 1: private learning with a public reference distribution U.

    1. kappa_hat: the largest smoothness for which m examples are enough; s = accuracy / (4 kappa_hat).
    2. G: a set that is an s-packing and an s-cover of the hypotheses in the metric of U.
    3. Release g in G with probability proportional to exp(-alpha |S| err(g, S) / 2).

Theorem 7: one example moves every number of mistakes by at most 1; G depends on (m, accuracy, beta, alpha, U) alone.
The box is lost in the copy at hand. Reconstructed: kappa_hat solves the two conditions of the proof of Theorem 8, with
the natural logarithm, between 1 and `smoothness_cap`, a public number.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, open_probability, positive
from mechanisms.exponential import ExponentialMechanism
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.chaudhuri2011.thresholds import FloatArray, ThresholdClass
from mechanisms.parts.records import require_labeled
from mechanisms.queries import scale

HypothesisClass = ThresholdClass | LinearSeparatorClass | StumpClass
_LARGEST_COVER = 2**20


@dataclass(frozen=True)
class Mistakes:
    """The score of the exponential mechanism: mistakes of each candidate; sensitivity 1."""

    hypotheses: HypothesisClass

    def __call__(self, dataset: Labeled, candidates: tuple[Any, ...]) -> np.ndarray:
        return self.hypotheses.mistakes(np.asarray(candidates), dataset)


@dataclass(frozen=True)
class CoverAlgorithm(ABC):
    """Base: one hypothesis of a finite cover by the exponential mechanism; datasets are `Labeled`, y in {-1, +1}."""

    epsilon: float = 1.0  # alpha > 0
    accuracy: float = 0.1  # in (0, 1): allowed excess error
    hypotheses: HypothesisClass = field(default_factory=ThresholdClass)  # with the uniform reference distribution

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        scale(open_probability(self.accuracy, "accuracy"), "accuracy")

    @abstractmethod
    def cover(self, X: FloatArray) -> FloatArray:
        """Return the hypotheses that may be released for unlabeled points X."""

    def mechanism(self, X: FloatArray) -> ExponentialMechanism:
        """Return the exponential mechanism on the cover."""
        candidates = tuple(tuple(g.tolist()) if np.ndim(g) else float(g) for g in self.cover(X))
        return ExponentialMechanism(Mistakes(self.hypotheses), candidates, 1.0, self.epsilon)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.mechanism(require_labeled(dataset).X)(dataset, size, rng)

    def law(self, dataset: Labeled) -> Finite:
        """Return the law of one released hypothesis."""
        return self.mechanism(require_labeled(dataset).X).law(dataset)


@dataclass(frozen=True)
class A1(CoverAlgorithm):
    """Algorithm A1; (epsilon, 0)-DP under substitution."""

    beta: float = 0.1  # in (0, 1): allowed failure probability
    smoothness_cap: float = 2.0**16  # >= 1: public upper limit of kappa_hat

    def __post_init__(self) -> None:
        super().__post_init__()
        open_probability(self.beta, "beta")
        if positive(self.smoothness_cap, "smoothness_cap") < 1:
            raise InvalidArgument.of("smoothness_cap", "be at least 1", self.smoothness_cap)

    def log_cover(self, m: int) -> float:
        """ln of the largest bound (16 kappa / accuracy)^d on the size of the cover that m examples can pay for."""
        # Inverts 2 |G| exp(-m accuracy^2 / 32) <= beta / 2 and |G| exp(-alpha m accuracy / 8) <= beta / 2.
        deviation = m * self.accuracy**2 / 32 - math.log(4 / self.beta)
        return min(deviation, self.epsilon * m * self.accuracy / 8 - math.log(2 / self.beta))

    def smoothness_hat(self, m: int) -> float:
        """kappa_hat: the largest kappa for which m examples are enough, within [1, smoothness_cap]."""
        examples = integer(m, "m", at_least=1)
        log_kappa = self.log_cover(examples) / self.hypotheses.doubling_dim - math.log(16 / self.accuracy)
        return math.exp(min(max(0.0, log_kappa), math.log(self.smoothness_cap)))

    def cover(self, X: FloatArray) -> FloatArray:
        """Return the cover in the reference metric; of X only the number of points is used."""
        radius = self.accuracy / (4 * self.smoothness_hat(len(X)))
        if self.hypotheses.cover_size(radius) > _LARGEST_COVER:
            rule = f"keep the cover below {_LARGEST_COVER} hypotheses"
            raise InvalidArgument.of("smoothness_cap", rule, self.smoothness_cap)
        return self.hypotheses.packing_cover(radius)
