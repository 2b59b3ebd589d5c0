"""dpmm, choice of marginals by PrivBayes."""

from __future__ import annotations

from audit import Substitution
from wild.dpmm.audits import DELTA, RELEASE

_SURE = {"delta": DELTA, "tolerance": 2.0, "budget": 1_000}
_COMMON = [[0, 0, 0]] * 1_999

CHECKS = [
    RELEASE.entry(
        "PrivBayes, chosen marginals",
        [([*_COMMON, [1, 1, 0]], [*_COMMON, [1, 0, 0]])],
        'PrivBayesGM: "relies on the exponential and laplace mechanism to ensure differential privacy"',
        **_SURE,
        relation=Substitution(),
    ),
]
