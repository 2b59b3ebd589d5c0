"""The paper's comparisons of learners on the circle of Gaussians, as claims about paired trials.

A trial draws 10,000 training points and at least 300 queries; both learners see the same ones, each with releases of
its own. "A beats B by m" claims that A's accuracy exceeds B's by more than m in at least three of four trials (one of
two where the learners are close); that is a binomial proportion, so that the verdict holds in finite samples, for any
law of the accuracies.

What does not reproduce of Zhao et al. (2024, section 5.1 and Appendix A) is claimed as printed and expected to FAIL:

* for few classes the methods are not nearly the same: randomized response is ahead up to K = 4 (eps = 1);
* with sigma = 2 / K the accuracy is stable in K only while a class has more training points, N / K, than k;
* with few neighbors (k = 20, 50) ALIBI with an iterated prior is ahead of the vector mechanism, and at K = 10 so is
  two-stage training. They smooth over neighbors of neighbors; the vector mechanism with the same rounds is ahead
  again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audit import GuaranteeCheck, Verdict
from mechanisms.estimator import Classifier
from mechanisms.labels.encoder import LabelEncoder
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.mixtures import Circle
from mechanisms.labels.neighbors import NeighborSum, VectorTargetKNN
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.two_stage import TwoStageLabelTrainer
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

SHARE = 0.25  # of the trials in which an ordering may fail
_BUDGET = 256

Build = Callable[[int, float, int, np.random.Generator], Classifier]
"""(classes, epsilon, neighbors, source of noise) -> learner."""


def knn(
    kind: Callable[[int, float], LabelEncoder], rounds: int, K: int, epsilon: float, k: int, rng: np.random.Generator
) -> Classifier:
    """Build nearest neighbors on the releases of an encoder."""
    return VectorTargetKNN(kind(K, epsilon), k, rounds, int(rng.integers(2**63)))


def two_stage(K: int, epsilon: float, k: int, rng: np.random.Generator) -> Classifier:
    """Build two-stage training with nearest neighbors."""
    return TwoStageLabelTrainer(K, epsilon, partial(NeighborSum, k), int(rng.integers(2**63)))


LEARNERS: dict[str, Build] = {
    "vector": partial(knn, SymmetricUnaryLabelEncoder, 0),
    "vector, 5 rounds": partial(knn, SymmetricUnaryLabelEncoder, 5),
    "RR": partial(knn, KaryRandomizedResponse, 0),
    "LP-2ST": two_stage,
    "ALIBI, uniform prior": partial(knn, LaplaceOneHotEncoder, 0),
    "ALIBI, 5 rounds": partial(knn, LaplaceOneHotEncoder, 5),
}


@dataclass(frozen=True)
class Setting:
    """A distribution, and what the learners are told."""

    n_classes: int
    sigma: float
    epsilon: float
    n_neighbors: int
    n_samples: int = 10_000
    n_queries: int = 300

    def accuracies(self, builds: tuple[Build, ...], rng: np.random.Generator) -> list[float]:
        """Draw data, and the accuracy of every learner on it."""
        circle = Circle(self.n_classes, self.sigma)
        (X, y), (queries, truth) = circle.sample(self.n_samples, rng), circle.sample(self.n_queries, rng)
        learners = (build(self.n_classes, self.epsilon, self.n_neighbors, rng) for build in builds)
        return [learner.fit(X, y).score(queries, truth) for learner in learners]  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return f"K={self.n_classes} sigma={self.sigma:.2g} eps={self.epsilon:g} k={self.n_neighbors}"


@dataclass(frozen=True)
class Beats:
    """Trials of "`first` beats `second` by `margin`": whether it did, shape (replicates,)."""

    setting: Setting
    first: Build
    second: Build
    margin: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        pairs = [self.setting.accuracies((self.first, self.second), child) for child in rng.spawn(replicates)]
        return np.array([one - other > self.margin for one, other in pairs])


@dataclass(frozen=True)
class Near(Beats):
    """Trials of "the two accuracies differ by at most `margin`"."""

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        pairs = [self.setting.accuracies((self.first, self.second), child) for child in rng.spawn(replicates)]
        return np.array([abs(one - other) <= self.margin for one, other in pairs])


@dataclass(frozen=True)
class Stable:
    """Trials of "at sigma = 2 / K, the vector mechanism is as accurate for many classes as for few, up to 0.05"."""

    few: int
    many: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        settings = [Setting(K, 2 / K, 1.0, 200, n_queries=500) for K in (self.few, self.many)]
        builds = (LEARNERS["vector"],)
        pairs = [[s.accuracies(builds, child)[0] for s in settings] for child in rng.spawn(replicates)]
        return np.array([abs(few - many) <= 0.05 for few, many in pairs])


def ordering_check(
    name: str, source: str, statement: str, trials: Any, expected: Verdict = Verdict.PASS, share: float = SHARE
) -> GuaranteeCheck:
    """Return a check that an ordering fails in at most a share of the trials."""
    return GuaranteeCheck(
        name=name,
        source=source,
        statement=f"{statement}, in {1 - share:.0%} of the trials at least.",
        trials=trials,
        beta=share,
        slack=0.1,
        budget=_BUDGET,
        expected=expected,
    )


def _beats(
    first: str,
    second: str,
    setting: Setting,
    margin: float,
    expected: Verdict = Verdict.PASS,
    share: float = SHARE,
) -> GuaranteeCheck:
    said = "; false" if expected is Verdict.FAIL else ""
    return ordering_check(
        f"labels/{first} beats {second}, {setting}",
        "Zhao et al. 2024, section 5.1 and Appendix A" + (", read at settings that it does not use" if said else ""),
        f"The accuracy of {first} exceeds that of {second} by more than {margin:g}{said}",
        Beats(setting, LEARNERS[first], LEARNERS[second], margin),
        expected,
        share,
    )


_MAIN = Setting(40, 0.05, 1.0, 200)
_FORTY = Setting(40, 0.05, 1.0, 50, n_queries=1_500)
_FEW_NEIGHBORS = Setting(10, 0.3, 1.0, 20, n_queries=1_500)

CHECKS: list[Any] = [
    _beats("vector", "RR", _MAIN, 0.2),
    _beats("vector", "LP-2ST", _FORTY, 0.1),
    _beats("vector", "RR", Setting(70, 2 / 70, 2.0, 100), 0.05),
    _beats("vector", "RR", _FEW_NEIGHBORS, 0.0),
    _beats("vector", "ALIBI, uniform prior", _FORTY, 0.0),
    _beats("vector", "LP-2ST", _FEW_NEIGHBORS, 0.0, Verdict.FAIL),
    _beats("vector", "ALIBI, 5 rounds", _FEW_NEIGHBORS, 0.0, Verdict.FAIL),
    _beats("vector", "ALIBI, 5 rounds", Setting(10, 0.2, 1.0, 50), 0.0, Verdict.FAIL),
    _beats("vector, 5 rounds", "LP-2ST", _FEW_NEIGHBORS, 0.05),
    _beats("vector, 5 rounds", "ALIBI, 5 rounds", replace(_FEW_NEIGHBORS, n_queries=5_000), 0.0, share=0.5),
    ordering_check(
        "labels/vector and RR nearly the same, K=5 sigma=0.05 k=200",
        "Zhao et al. 2024, section 5.1 and Figure 2(a)",
        "For few classes the two accuracies differ by at most 0.005",
        Near(Setting(5, 0.05, 1.0, 200), LEARNERS["vector"], LEARNERS["RR"], 0.005),
    ),
    ordering_check(
        "labels/vector and RR nearly the same, K=3 sigma=0.3 k=20",
        "Zhao et al. 2024, section 5.1, read at a setting that it does not use",
        "For few classes the two accuracies differ by at most 0.02; false for K = 3, sigma = 0.3, k = 20",
        Near(Setting(3, 0.3, 1.0, 20), LEARNERS["vector"], LEARNERS["RR"], 0.02),
        Verdict.FAIL,
    ),
    _beats("RR", "vector", Setting(3, 0.3, 1.0, 20), 0.02),
    ordering_check(
        "labels/vector stable in K up to 100",
        "Zhao et al. 2024, section 5.1, as printed",
        "With sigma = 2 / K the accuracy at K = 100 is that at K = 10 up to 0.05; false",
        Stable(10, 100),
        Verdict.FAIL,
    ),
    ordering_check(
        "labels/vector stable in K while N / K > k",
        "Zhao et al. 2024, section 5.1, repaired",
        "With sigma = 2 / K the accuracy at K = 40 is that at K = 10 up to 0.05",
        Stable(10, 40),
    ),
]
