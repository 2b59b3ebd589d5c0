"""Broken report-noisy-max: too little noise, the value released, noise that does nothing.

The faults that release the value are report-noisy-max 3 and 4 of the StatDP benchmark (Ding et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.noisy_max import LaplaceNoisyMax, opposite_moves
from mechanisms.queries import column_sums

BUDGET = 200_000
SOURCE = "claimed after Dwork & Roth 2014, Claim 3.9"


@dataclass(frozen=True)
class HalfLaplaceNoise:
    """Laplace noise of scale 1 / epsilon although the answers move in different directions.

    True privacy: (1.934, 0) at the claimed 1, on a pair where answer 0 of three falls from 1 behind to 3 behind;
    2 epsilon in the limit of a distant answer.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.argmax(sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size)), axis=1)


@dataclass(frozen=True)
class HalfGumbelNoise:
    """Gumbel noise of scale 1 / epsilon although the answers move in different directions.

    True privacy: (1.856, 0) at the claimed 1, on a pair where answer 0 of three falls from 1 behind to 3 behind;
    2 epsilon in the limit of a distant answer.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.argmax(sums + rng.gumbel(scale=1 / self.epsilon, size=(size, sums.size)), axis=1)


@dataclass(frozen=True)
class ReleasesTheValue:
    """Releases the largest noisy answer, with the noise that chose it, instead of its index.

    True privacy: (m epsilon / 2, 0) on m equal answers that all move by 1: 3 for m = 6 at the claimed 1, attained
    by "the value lies below all answers", of probability 2^-6 on the smaller side.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.max(sums + rng.laplace(scale=2 / self.epsilon, size=(size, sums.size)), axis=1)


@dataclass(frozen=True)
class ReleasesTheValueExponential:
    """Releases the largest answer plus its one-sided exponential noise.

    True privacy: no finite epsilon; on m equal answers that move from 0 to 1 the value lies below 1 with
    probability (1 - e^(-epsilon / 2))^m on the left only: delta(epsilon') >= 0.061 for m = 3 at the claimed 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.max(sums + rng.exponential(scale=2 / self.epsilon, size=(size, sums.size)), axis=1)


@dataclass(frozen=True)
class OneNoiseForAllAnswers:
    """The same noise is added to every answer, so that the largest stays the largest.

    True privacy: none (delta = 1 for every epsilon) on a pair that changes the largest answer.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.argmax(sums + rng.laplace(scale=2 / self.epsilon, size=(size, 1)), axis=1)


@dataclass(frozen=True)
class RandomOnlyAmongTies:
    """No noise; ties are broken at random.

    True privacy: none (delta = 1 for every epsilon) on a pair that changes the largest answer.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return rng.choice(np.flatnonzero(sums == sums.max()), size=size)


@dataclass(frozen=True)
class HalfNoiseRightLaw(LaplaceNoisyMax):
    """States the law of the right mechanism, while the sampler draws half the noise.

    True privacy: (1.934, 0) at the claimed 1, on the pair of `HalfLaplaceNoise`.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return np.argmax(sums + rng.laplace(scale=self.scale / 2, size=(size, sums.size)), axis=1)


def _all_move(queries: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((1, queries)), np.ones((1, queries))


def _check(name: str, mechanism: Any, pair: tuple[Any, Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/noisy max {name} eps=1",
        mechanism=mechanism,
        claim=PrivacyClaim(1.0, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


CHECKS: list[PrivacyCheck] = [
    _check("half laplace noise", HalfLaplaceNoise(1.0), opposite_moves(2)),
    _check("half gumbel noise", HalfGumbelNoise(1.0), opposite_moves(2)),
    _check("releases the value", ReleasesTheValue(1.0), _all_move(6)),
    _check("releases the value, exponential", ReleasesTheValueExponential(1.0), _all_move(3)),
    _check("one noise for all answers", OneNoiseForAllAnswers(1.0), opposite_moves(0)),
    _check("random only among ties", RandomOnlyAmongTies(), opposite_moves(0)),
    _check("half noise, right law stated", HalfNoiseRightLaw(column_sums, 1.0), opposite_moves(2)),
]
