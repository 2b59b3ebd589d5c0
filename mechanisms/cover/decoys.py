"""Variants of learning from covers that look broken and are not: each keeps its claim, by its law.

Their counterparts in `mechanisms.faults.cover` change one thing more, and break it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import laplace

from audit import AddRemove, Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.laws import Finite
from mechanisms.cover.learners import Mistakes, ReferenceCoverLearner
from mechanisms.cover.privacy import A1, first_threshold_pair
from mechanisms.cover.thresholds import ThresholdClass
from mechanisms.cover.worst_case import worst_pair
from mechanisms.exponential import GumbelArgmax, MonotoneExponentialMechanism

GRID = tuple(ThresholdClass().packing_cover(0.1).tolist())  # five thresholds


@dataclass(frozen=True)
class OnGrid:
    """Base: the exponential mechanism on the five thresholds with another count or another sampler.

    Parameters
    ----------
    epsilon : float > 0
    """

    epsilon: float

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Count the mistakes of each threshold."""
        return ThresholdClass().mistakes(np.array(GRID), dataset)

    def probabilities(self, dataset: Labeled) -> np.ndarray:
        """Return the probability of each threshold."""
        return np.asarray(softmax(-self.epsilon / 2 * self.mistakes(dataset)))

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.array(GRID)[rng.choice(len(GRID), size=size, p=self.probabilities(dataset))]

    def law(self, dataset: Labeled) -> Finite:
        """Law of one output."""
        return Finite(dict(zip(GRID, self.probabilities(dataset).tolist(), strict=True)))


@dataclass(frozen=True)
class SubtractMin(OnGrid):
    """The fewest mistakes are subtracted from all: a factor common to all weights.

    True privacy: that of A1.
    """

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Count mistakes beyond the fewest."""
        wrong = super().mistakes(dataset)
        return wrong - wrong.min()


@dataclass(frozen=True)
class TieFlipped(OnGrid):
    """A point on a threshold is labeled -1.

    True privacy: that of A1.
    """

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Count mistakes with h(x) = +1 iff x > w."""
        predicted = np.where(dataset.X[None, :] > np.array(GRID)[:, None], 1, -1)
        return np.sum(predicted != dataset.y[None, :], axis=1)


@dataclass(frozen=True)
class DistinctMistakes(OnGrid):
    """Mistakes are counted over distinct examples; a substitution still moves each count by at most 1.

    True privacy: that of A1, attained by distinct points between the same two thresholds.
    """

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Count mistakes on distinct examples."""
        kept = np.array(sorted(set(zip(dataset.X.tolist(), dataset.y.tolist(), strict=True))))
        return super().mistakes(Labeled(kept[:, 0], kept[:, 1]))


@dataclass(frozen=True)
class FewestAsScale(OnGrid):
    """Weights exp(-epsilon min(k) k / (2 m)), which loses all accuracy on clean data, and no privacy.

    True privacy: at most (epsilon, 0): when the fewest mistakes M become M + 1, the penalties of g and h move apart by
    epsilon |k_g - k_h + (M + 1)(d_g - d_h)| / (2 m) <= epsilon, d being the changes of the counts. At least 0.828 at
    epsilon = 1, m = 40.
    """

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Scale the mistakes by the lowest error rate."""
        wrong = super().mistakes(dataset)
        return np.asarray(wrong * wrong.min() / len(dataset))


@dataclass(frozen=True)
class NoisyMinLaplace(OnGrid):
    """Report noisy min with Laplace(2 / epsilon), as much noise as it takes; its law by quadrature.

    True privacy: at most (epsilon, 0).
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.laplace(scale=2 / self.epsilon, size=(size, len(GRID)))
        return np.array(GRID)[np.argmin(self.mistakes(dataset) + noise, axis=1)]

    def probabilities(self, dataset: Labeled) -> np.ndarray:
        """Integrate the density of one noisy count against the others' probability of being larger."""
        wrong, scale = self.mistakes(dataset).astype(float), 2 / self.epsilon
        kinks = np.unique(wrong)  # the density is analytic between them; 40 scales out nothing is left
        ends = np.r_[kinks[0] - 40 * scale, kinks, kinks[-1] + 40 * scale]
        nodes, weights = np.polynomial.legendre.leggauss(200)
        half, center = np.diff(ends)[:, None] / 2, (ends[1:] + ends[:-1])[:, None] / 2
        z, mass = (center + half * nodes).ravel(), (half * weights).ravel()
        larger = laplace.sf(z, wrong[:, None], scale)
        chances = [
            mass @ (laplace.pdf(z, wrong[i], scale) * np.prod(np.delete(larger, i, axis=0), axis=0))
            for i in range(len(GRID))
        ]
        return np.asarray(chances / np.sum(chances))


def _removed(point: float, m: int, label: int) -> tuple[Labeled, Labeled]:
    full = worst_pair(point, m, label)[1]
    return full, Labeled(full.X[1:], full.y[1:])


def _check(name: str, mechanism: Any, relation: Any, pairs: list[tuple[Labeled, Labeled]]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"decoy/cover {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(mechanism.epsilon, 0.0, relation, A1),
        pairs=pairs,
        budget=20_000,
    )


_PAIRS = [first_threshold_pair(5, 1), worst_pair(0.5, 6)]
_ONE_THRESHOLD_EACH = MonotoneExponentialMechanism(Mistakes(ThresholdClass()), (0.25, 0.75), 1.0, 1.0)

CHECKS: list[PrivacyCheck] = [
    _check("Gumbel argmax", GumbelArgmax(Mistakes(ThresholdClass()), GRID, 1.0, 1.0), Substitution(), _PAIRS),
    _check("fewest mistakes subtracted", SubtractMin(1.0), Substitution(), _PAIRS),
    _check("ties labelled -1", TieFlipped(1.0), Substitution(), [worst_pair(0.1, 1, -1), worst_pair(0.5, 6)]),
    _check("mistakes on distinct examples", DistinctMistakes(1.0), Substitution(), [first_threshold_pair(5, 4)]),
    _check("scale of the fewest mistakes", FewestAsScale(1.0), Substitution(), _PAIRS),
    _check(
        "noisy min, Laplace(2/alpha)",
        NoisyMinLaplace(1.0),
        Substitution(),
        [first_threshold_pair(5, 1), worst_pair(0.5, 3)],
    ),
    # two thresholds and one example: the fault `NoHalf` is exactly alpha-private here, and no audit can see it
    _check("no half, two thresholds, one example", _ONE_THRESHOLD_EACH, Substitution(), [worst_pair(0.5, 1)]),
    _check(
        "no half, fixed cover, add/remove",
        MonotoneExponentialMechanism(Mistakes(ThresholdClass()), GRID, 1.0, 1.0),
        AddRemove(),
        [_removed(0.2, 2, 1), _removed(0.2, 6, -1)],
    ),
    _check("cap on kappa", ReferenceCoverLearner(1.0, 0.9, smoothness_cap=2.0), Substitution(), [worst_pair(0.5, 400)]),
]
