"""Textbook noise in double precision, claimed to be private as it runs: the bits of the outputs betray the answer.

The laws over the real numbers keep the claims. The doubles do not: a sampler reaches only some of them, and the sum
with the answer lies on another grid for another answer (Mironov 2012). Answers that are small against the noise leak
most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.gaussian import classical_deviation
from mechanisms.queries import count_positive

EPSILON, DELTA = 0.1, 1e-5


def laplace_of_doubles(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add numpy's Laplace noise of scale 1 / epsilon to a count."""
    return count_positive(dataset) + rng.laplace(scale=1 / EPSILON, size=size)


def gaussian_of_doubles(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add numpy's Gaussian noise, calibrated as by Dwork & Roth (2014), Theorem A.1, to a count."""
    return count_positive(dataset) + rng.normal(scale=classical_deviation(EPSILON, DELTA), size=size)


CHECKS: list[PrivacyCheck] = [
    PrivacyCheck(
        name=f"fault/precision {name} eps={EPSILON:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(EPSILON, delta, Substitution(), f"claimed after Dwork & Roth 2014, Theorem {theorem}"),
        pairs=[(np.zeros(5), np.r_[1.0, np.zeros(4)])],
        method="fixed",
        floats="audit",
        expected=Verdict.FAIL,
        budget=20_000,
    )
    for name, mechanism, delta, theorem in (
        ("laplace of doubles", laplace_of_doubles, 0.0, "3.6"),
        ("gaussian of doubles", gaussian_of_doubles, DELTA, "A.1"),
    )
]
