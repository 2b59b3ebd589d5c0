"""Textbook noise in double precision, claimed to be private as it runs: the bits of the outputs betray the answer.

The laws over the real numbers keep the claims. The doubles do not: a sampler reaches only some of them, and the sum
with the answer lies on another grid for another answer (Mironov 2012). Answers that are small against the noise leak
most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.queries import count_positive

BUDGET = 20_000
DELTA = 1e-5


@dataclass(frozen=True)
class LaplaceOfDoubles:
    """A count plus numpy's Laplace noise of scale 1 / epsilon.

    True privacy: (epsilon, 0) over the real numbers; of the doubles, on counts 0 and 1, no finite epsilon: most
    outputs on either side cannot occur on the other, however much noise there is.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + rng.laplace(scale=1 / self.epsilon, size=size)


@dataclass(frozen=True)
class GaussianOfDoubles:
    """A count plus numpy's Gaussian noise, calibrated as by Dwork & Roth (2014), Theorem A.1.

    True privacy: (epsilon, 10^-5) over the real numbers; of the doubles, on counts 0 and 1, no finite epsilon at this
    delta: a few per cent of the outputs on the side of 0 cannot occur on the side of 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        deviation = math.sqrt(2 * math.log(1.25 / DELTA)) / self.epsilon
        return count_positive(dataset) + rng.normal(scale=deviation, size=size)


def _check(name: str, mechanism: Any, delta: float, source: str) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/precision {name} eps={mechanism.epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(mechanism.epsilon, delta, Substitution(), source),
        pairs=[(np.zeros(5), np.r_[1.0, np.zeros(4)])],
        method="fixed",
        floats="audit",
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


CHECKS: list[PrivacyCheck] = [
    _check("laplace of doubles", LaplaceOfDoubles(0.1), 0.0, "claimed after Dwork & Roth 2014, Theorem 3.6"),
    _check("gaussian of doubles", GaussianOfDoubles(0.1), DELTA, "claimed after Dwork & Roth 2014, Theorem A.1"),
]
