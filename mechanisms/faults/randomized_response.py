"""Broken randomized responses: wrong probability of keeping, and a label that is never randomized."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, LabelFlip, Local, PrivacyCheck, PrivacyClaim, Verdict
from mechanisms.randomized_response import RandomizedResponse

BUDGET = 200_000
SOURCE = "claimed after Kairouz, Bonawitz & Ramage 2016"


@dataclass(frozen=True)
class KeepsThenResamplesAll:
    """Keeps with probability e^eps / (e^eps + K - 1), else draws from ALL labels, the record's own included.

    True privacy: (log(1 + K e^epsilon / (K - 1)), 0) on any two records: 1.531 for K = 4 at the claimed 1.
    """

    labels: int
    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        keep = math.exp(self.epsilon) / (math.exp(self.epsilon) + self.labels - 1)
        return np.where(rng.random(size) < keep, dataset, rng.integers(self.labels, size=size))


@dataclass(frozen=True)
class KeepProbabilityForTwo:
    """Keeps with probability e^eps / (e^eps + 1), whatever the number of labels, else draws one of the others.

    True privacy: (epsilon + log(K - 1), 0) on any two records: 2.099 for K = 4 at the claimed 1.
    """

    labels: int
    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        keep = math.exp(self.epsilon) / (math.exp(self.epsilon) + 1)
        other = (dataset + rng.integers(1, self.labels, size=size)) % self.labels
        return np.where(rng.random(size) < keep, dataset, other)


@dataclass(frozen=True)
class LastLabelKept:
    """Right for every label but the last, which is released as it is.

    True privacy: none between the last label and any other, from which every output but the last one comes with
    probability 1 - 1 / (e^epsilon + K - 1) = 0.825 (K = 4, epsilon = 1): delta(epsilon') is at least that for
    every epsilon'. Other pairs keep epsilon.
    """

    labels: int
    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        right = RandomizedResponse(tuple(range(self.labels)), self.epsilon)(dataset, size, rng)
        return np.full(size, dataset) if dataset == self.labels - 1 else right


@dataclass(frozen=True)
class LastRecordKept:
    """Binary randomized response on every label of a dataset but the last, which a loop bound leaves out.

    True privacy: none on a flip of the last label (delta = 1 for every epsilon); (epsilon, 0) on any other flip.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        flip = rng.random((size, len(dataset))) < 1 / (1 + math.exp(self.epsilon))
        flip[:, -1] = False
        return dataset.y ^ flip


@dataclass(frozen=True)
class RightLawStated(RandomizedResponse):
    """States the right law, while the sampler keeps the record with half of the other labels' probability added.

    True privacy: (log((K - 1) (1 + keep) / (1 - keep)), 0) on any two records, keep = e^eps / (e^eps + K - 1): 2.133
    for K = 4 at the claimed 1.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        kept = rng.random(size) < (1 + self.keep) / 2
        jump = rng.integers(1, len(self.labels), size=size)
        return self._released((self._position(dataset) + np.where(kept, 0, jump)) % len(self.labels))


def _check(name: str, mechanism: Any, pair: tuple[Any, Any], relation: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/randomized response {name} eps=1",
        mechanism=mechanism,
        claim=PrivacyClaim(1.0, 0.0, relation, SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


_LABELED = (Labeled(np.arange(3), np.array([0, 1, 0])), Labeled(np.arange(3), np.array([0, 1, 1])))

CHECKS: list[PrivacyCheck] = [
    _check("keeps, then resamples all", KeepsThenResamplesAll(4, 1.0), (0, 1), Local()),
    _check("keep probability for two", KeepProbabilityForTwo(4, 1.0), (0, 1), Local()),
    _check("last label kept", LastLabelKept(4, 1.0), (0, 3), Local()),
    _check("last record kept", LastRecordKept(1.0), _LABELED, LabelFlip()),
    _check("right law stated", RightLawStated((0, 1, 2, 3), 1.0), (0, 1), Local()),
]
