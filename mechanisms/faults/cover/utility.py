"""Learners that keep the privacy of A1 and A2, and lose the accuracy that Theorems 8 and 9 promise.

Their probability of failure is exact given the data (a softmax over the cover); only the data are drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit import GuaranteeCheck, Verdict
from mechanisms.cover.accuracy import BETA, CONCENTRATED, THEOREM_8, THEOREM_9, Trials
from mechanisms.cover.aggregate import ThresholdProblem
from mechanisms.cover.sample_sizes import agnostic_size, realizable_size


@dataclass(frozen=True)
class UnitScale:
    """Weights exp(-alpha err / 2): the number of examples is forgotten.

    True privacy: (alpha / m, 0) at most. Broken: Theorem 8; the failure probability is 0.99 where beta = 0.1.
    """

    epsilon: float

    def __call__(self, mistakes: np.ndarray, m: int) -> np.ndarray:
        return np.asarray(self.epsilon * mistakes / (2 * m))


@dataclass(frozen=True)
class MinErrorScale:
    """The scale m is replaced by the fewest mistakes in the cover: weights exp(-alpha min(k) k / (2 m)).

    True privacy: at most (alpha, 0). Broken: Theorem 9; on data that a threshold of the cover labels without error the
    output is uniform on the cover. The failure probability is 0.75 where beta = 0.1.
    """

    epsilon: float

    def __call__(self, mistakes: np.ndarray, m: int) -> np.ndarray:
        return np.asarray(self.epsilon * mistakes.min(axis=-1, keepdims=True) * mistakes / (2 * m))


def _check(name: str, source: str, statement: str, trials: Trials) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"fault/cover {name} m={trials.m}",
        source=source,
        statement=statement,
        trials=trials,
        beta=BETA,
        expected=Verdict.FAIL,
        budget=4_000,
    )


_AGNOSTIC = agnostic_size(0.05, 0.2, BETA, math.log(75.5))
_REALIZABLE = realizable_size(0.5, 0.1, BETA)

CHECKS: list[GuaranteeCheck] = [
    _check(
        "error without its scale",
        THEOREM_8,
        "Weights exp(-alpha err / 2) are accurate; false.",
        Trials(CONCENTRATED, 0.05, 0.2, _AGNOSTIC, 75.5, UnitScale(0.05)),
    ),
    _check(
        "scale of the fewest mistakes",
        THEOREM_9,
        "Weights exp(-alpha min(k) err / 2) are accurate; false.",
        Trials(ThresholdProblem(0.525), 0.5, 0.1, _REALIZABLE, 1.0, MinErrorScale(0.5)),
    ),
    _check(
        "kappa ignored",
        THEOREM_8,
        "A cover of scale accuracy / 4, kappa forgotten, is fine enough; false: its best element errs by 0.275.",
        Trials(CONCENTRATED, 0.05, 0.2, _AGNOSTIC, 1.0),
    ),
]
