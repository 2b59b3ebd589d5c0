"""Learners that release one hypothesis of a finite cover by the exponential mechanism.

Implements Chaudhuri & Hsu (2011): algorithm A1 (Theorems 7 and 8), A2 for realizable data (Theorem 9) and A3 for label
privacy (Theorems 26 and 27). Each builds a set G that is an s-packing and an s-cover, without the private part of the
data, and releases g in G with probability proportional to exp(-alpha k_g / 2), k_g = number of mistakes on the data.

Proof note. One example moves every k_g by at most 1, so weights move by a factor in [e^-alpha/2, e^alpha/2] and their
sum too. G depends on (m, accuracy, beta, alpha, reference) for A1 and A2, where m is public under substitution; on the
unlabeled points for A3, which are public under label flip. The least epsilon is known in closed form and below alpha:
`mechanisms.cover.worst_case`.

Departures from the text, whose algorithm boxes are lost in the copies at hand: kappa_hat is the solution of the two
conditions that the proofs use, "log" the natural one; it is at least 1 and at most `smoothness_cap`, a public number
(it grows like e^(alpha m) and overflows otherwise), both being functions of m alone. A2 keeps the factor 1/2 in the
exponent; the proof's exp(-3 accuracy m / 20) then reads exp(-3 alpha accuracy m / 40). In the proof of Theorem 7 the
number of mistakes changes by at most 1, not their rate.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, open_probability, positive
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.stumps import StumpClass
from mechanisms.cover.thresholds import FloatArray, ThresholdClass
from mechanisms.estimator import Classifier, noise_source
from mechanisms.exponential import ExponentialMechanism

HypothesisClass = ThresholdClass | LinearSeparatorClass | StumpClass
SMOOTHNESS_CAP = 2.0**16
_LARGEST_COVER = 2**20


@dataclass(frozen=True)
class Mistakes:
    """The score of the exponential mechanism: mistakes of each candidate; sensitivity 1."""

    hypotheses: HypothesisClass

    def __call__(self, dataset: Labeled, candidates: tuple[Any, ...]) -> np.ndarray:
        return self.hypotheses.mistakes(np.asarray(candidates), dataset)


class CoverLearner(Classifier):
    """A learner over a finite cover; also a mechanism `(dataset, size, rng) -> hypotheses` with a stated law.

    Subclasses say which cover. Features and labels in {-1, +1} are checked by the hypothesis class.
    """

    epsilon: float
    accuracy: float
    hypotheses: HypothesisClass
    random_state: Any

    @abstractmethod
    def cover(self, X: FloatArray) -> FloatArray:
        """Return the hypotheses that may be released for unlabeled points X."""

    def mechanism(self, X: FloatArray) -> ExponentialMechanism:
        """Return the exponential mechanism on the cover."""
        candidates = tuple(map(_outcome, self.cover(X)))
        return ExponentialMechanism(Mistakes(self.hypotheses), candidates, 1.0, self.epsilon)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.mechanism(dataset.X)(dataset, size, rng)

    def law(self, dataset: Labeled) -> Finite:
        """Law of one released hypothesis."""
        return self.mechanism(dataset.X).law(dataset)

    def fit(self, X: Any, y: Any) -> Self:
        """Release one hypothesis for points X with labels y in {-1, +1}."""
        self.hypothesis_ = self(Labeled(X, y), 1, noise_source(self.random_state))[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each point under the released hypothesis."""
        return np.asarray(self.hypotheses.predict(self._fitted("hypothesis_")[None], X)[0])


class ReferenceCoverLearner(CoverLearner):
    """Algorithm A1: a cover in the metric of a public reference distribution; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    epsilon : float > 0
        alpha, the privacy parameter.
    accuracy : float in (0, 1)
        Allowed excess error.
    beta : float in (0, 1)
        Allowed failure probability.
    hypotheses : ThresholdClass, LinearSeparatorClass or StumpClass
        With the uniform reference distribution.
    smoothness_cap : float >= 1
        Public upper limit of kappa_hat.
    random_state : int, optional
        Repeats the choice exactly; for tests only.

    Attributes
    ----------
    hypothesis_ : float, or array of shape (n,)
        The released hypothesis.
    utility_guarantee_ : bool
        Whether the theorem speaks of samples of this size, for some kappa >= 1.

    References
    ----------
    Chaudhuri & Hsu 2011, Figure 1, Theorems 7 and 8.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        accuracy: float = 0.1,
        beta: float = 0.1,
        hypotheses: HypothesisClass | None = None,
        smoothness_cap: float = SMOOTHNESS_CAP,
        random_state: Any = None,
    ) -> None:
        self.epsilon = positive(epsilon, "epsilon")
        self.accuracy = open_probability(accuracy, "accuracy")
        self.beta = open_probability(beta, "beta")
        self.hypotheses = ThresholdClass() if hypotheses is None else hypotheses
        self.smoothness_cap = positive(smoothness_cap, "smoothness_cap")
        self.random_state = random_state
        if self.smoothness_cap < 1:
            raise InvalidArgument.of("smoothness_cap", "be at least 1", smoothness_cap)

    def log_cover(self, m: int) -> float:
        """ln of the largest bound (16 kappa / accuracy)^d on the size of the cover that m examples can pay for.

        Inverts 2 |G| exp(-m accuracy^2 / 32) <= beta / 2 and |G| exp(-alpha m accuracy / 8) <= beta / 2.
        """
        deviation = m * self.accuracy**2 / 32 - math.log(4 / self.beta)
        return min(deviation, self.epsilon * m * self.accuracy / 8 - math.log(2 / self.beta))

    def utility_guarantee(self, m: int) -> bool:
        """Return whether the accuracy is guaranteed for m examples and kappa = 1."""
        return self.log_cover(m) >= self.hypotheses.doubling_dim * math.log(16 / self.accuracy)

    def smoothness_hat(self, m: int) -> float:
        """kappa_hat: the largest kappa for which m examples are enough, within [1, smoothness_cap]."""
        examples = integer(m, "m", at_least=1)
        log_kappa = self.log_cover(examples) / self.hypotheses.doubling_dim - math.log(16 / self.accuracy)
        return math.exp(min(max(0.0, log_kappa), math.log(self.smoothness_cap)))

    def radius(self, m: int) -> float:
        """Scale of the cover, accuracy / (4 kappa_hat)."""
        return self.accuracy / (4 * self.smoothness_hat(m))

    def cover(self, X: FloatArray) -> FloatArray:
        """Return the cover in the reference metric; of X only the number of points is used."""
        radius = self.radius(len(X))
        if self.hypotheses.cover_size(radius) > _LARGEST_COVER:
            rule = f"keep the cover below {_LARGEST_COVER} hypotheses"
            raise InvalidArgument.of("smoothness_cap", rule, self.smoothness_cap)
        return self.hypotheses.packing_cover(radius)

    def fit(self, X: Any, y: Any) -> Self:
        """Release one hypothesis for points X with labels y in {-1, +1}."""
        self.utility_guarantee_ = self.utility_guarantee(len(X))
        return super().fit(X, y)


class RealizableReferenceCoverLearner(ReferenceCoverLearner):
    """Algorithm A2: A1 with a finer cover, for data that some hypothesis labels without error; the same privacy.

    Parameters, attributes: as `ReferenceCoverLearner`.

    References
    ----------
    Chaudhuri & Hsu 2011, Theorem 9, with the factor 1/2 kept in the exponent and the constant 3/40 that follows.
    """

    def log_cover(self, m: int) -> float:
        """ln of the largest |G| with |G| e^(-m a / 400) <= beta / 4 and |G| e^(-3 alpha a m / 40) <= beta / 2."""
        deviation = m * self.accuracy / 400 - math.log(4 / self.beta)
        return min(deviation, 3 * self.epsilon * self.accuracy * m / 40 - math.log(2 / self.beta))

    def utility_guarantee(self, m: int) -> bool:
        """Return whether the accuracy is guaranteed for m examples, kappa = 1; also needs m >= (3 / a) ln(4 / beta)."""
        return super().utility_guarantee(m) and m >= 3 / self.accuracy * math.log(4 / self.beta)


class LabelPrivateCoverLearner(CoverLearner):
    """Algorithm A3: a cover in the metric of the sample itself; (epsilon, 0)-DP under label flip, and only there.

    Parameters
    ----------
    epsilon : float > 0
    accuracy : float in (0, 1)
        Allowed excess error; the cover has scale accuracy / 4.
    hypotheses : ThresholdClass or LinearSeparatorClass(2)
    random_state : int, optional
        Repeats the choice exactly; for tests only.

    References
    ----------
    Chaudhuri & Hsu 2011, Appendix E, Theorems 26 and 27.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        accuracy: float = 0.1,
        hypotheses: HypothesisClass | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = positive(epsilon, "epsilon")
        self.accuracy = open_probability(accuracy, "accuracy")
        self.hypotheses = ThresholdClass() if hypotheses is None else hypotheses
        self.random_state = random_state

    def cover(self, X: FloatArray) -> FloatArray:
        """Return the cover in the sample metric."""
        if isinstance(self.hypotheses, StumpClass):
            raise InvalidArgument.of(
                "hypotheses", "be thresholds or separators: stumps have no cover of a sample", "stumps"
            )
        return self.hypotheses.sample_packing_cover(X, self.accuracy / 4)


class ThresholdERM(Classifier):
    """Empirical risk minimizer for realizable data: halfway between the labels. Not private.

    The largest point labeled -1 counts as 0 and the smallest labeled +1 as 1 where there is none. True privacy: none
    under either relation, the output is a function of the data.
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        X, y = ThresholdClass().examples(dataset)
        highest, lowest = np.max(X[y == -1], initial=0.0), np.min(X[y == 1], initial=1.0)
        return np.full(size, (highest + lowest) / 2)

    def fit(self, X: Any, y: Any) -> Self:
        """Find the threshold of points X with labels y in {-1, +1}."""
        self.hypothesis_ = self(Labeled(X, y), 1, np.random.default_rng(0))[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each point."""
        return np.asarray(ThresholdClass().predict(np.array([self._fitted("hypothesis_")]), X)[0])


def _outcome(hypothesis: Any) -> Any:
    return tuple(hypothesis.tolist()) if np.ndim(hypothesis) else float(hypothesis)
