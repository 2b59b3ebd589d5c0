"""Textbook noise in double precision, claimed to be private as it runs: the bits of the outputs betray the answer.

The laws over the real numbers keep the claims. The doubles do not: a sampler reaches only some of them, and the sum
with the answer lies on another grid for another answer (Mironov 2012). Answers that are small against the noise leak
most.
"""

from __future__ import annotations

import numpy as np

from audit import PrivacyCheck
from mechanisms.gaussian import ClassicalGaussian
from mechanisms.laplace import LaplaceMechanism
from mechanisms.papers.rows import Concealed, Paper
from mechanisms.queries import count_positive

EPSILON, DELTA = 0.1, 1e-5
_PAIR = (np.zeros(5), np.r_[1.0, np.zeros(4)])

CHECKS: list[PrivacyCheck] = [
    Paper("precision", "Dwork & Roth 2014").promise(
        f"fault/{name} of doubles eps={EPSILON:g}",
        f"Theorem {theorem}",
        Concealed(mechanism),
        (EPSILON, delta),
        [_PAIR],
        method="fixed",
        floats="audit",
        budget=20_000,
    )
    for name, mechanism, delta, theorem in (
        ("laplace", LaplaceMechanism(count_positive, 1.0, EPSILON), 0.0, "3.6"),
        ("gaussian", ClassicalGaussian(count_positive, 1.0, EPSILON, DELTA), DELTA, "A.1"),
    )
]
