"""The 20 mechanisms of the published bug benchmark, each with its pair, its true privacy and what to reach.

All are meant to be 0.1-DP, and some are not. A pair is two vectors of query answers that differ by at most 1 in
each entry; as claims the two vectors are one record each (`Local`). Targets are lower confidence bounds (95 %,
median over seeds) at budgets of 1e6 and 1e7 outputs per dataset; the exact likelihood ratio reaches the ceiling
when every run certifies; `published` is the best bound of DP-Sniper (90 %, 10.7 million training runs a pair and
2e8 final ones).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from benchmarks.bugs import sparse_vector as svt
from benchmarks.bugs.noise_mechanisms import LaplaceParallel, NoisyAnswers, PrefixSum, TruncatedGeometric
from benchmarks.bugs.noisy_max import NoisyMax
from benchmarks.bugs.rappor import Rappor

NOMINAL = 0.1
CLAIM = PrivacyClaim(NOMINAL, 0.0, Local(), "nominal epsilon of the benchmark (DP-Sniper, S&P 2021)")
BUDGET = 1_000_000  # outputs per dataset at which each expected verdict holds
TOLERANCE = 0.06  # just above the resolution at that budget when a run of all 20 shares out 0.05

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Goal:
    """The bounds that an auditor can reach on a pair, at budgets of 1e6 and 1e7 outputs per dataset."""

    target: tuple[float, float]
    ceiling: tuple[float, float]
    published: float


@dataclass(frozen=True)
class Bug:
    """A mechanism of the benchmark on one pair of query answers, with its true epsilon and the verdict at `BUDGET`."""

    name: str
    mechanism: Any
    pair: Pair = field(repr=False)
    epsilon: float  # true, or the largest value known to lie below it (`known` false)
    goal: Goal
    known: bool = True
    expected: Verdict = Verdict.FAIL

    def check(self) -> PrivacyCheck:
        """The nominal claim, with this pair."""
        return PrivacyCheck(
            name=f"bugs/{self.name}",
            mechanism=self.mechanism,
            claim=CLAIM,
            pairs=[self.pair],
            expected=self.expected,
            budget=BUDGET,
            tolerance=TOLERANCE,
            method="fixed",
        )


def answers(left: Sequence[float], right: Sequence[float]) -> Pair:
    """Two vectors of query answers."""
    return np.array(left, dtype=float), np.array(right, dtype=float)


ONE = answers([0], [1])
ONE_ENTRY = answers([1] * 5, [2] + [1] * 4)
HALF_HALF = answers([1] * 10, [2] * 5 + [0] * 5)
X_SHAPE = answers([1] * 5 + [0] * 5, [0] * 5 + [1] * 5)
ALL_UP = answers([1] * 10, [2] * 10)
E, INF, PASS, OPEN = NOMINAL, math.inf, Verdict.PASS, Verdict.INCONCLUSIVE

BUGS: tuple[Bug, ...] = (
    Bug("Laplace", NoisyAnswers(1 / E), ONE, 0.1, Goal((0.095, 0.0985), (0.0976, 0.0992), 0.0976), expected=PASS),
    Bug(
        "TruncatedGeometric",
        TruncatedGeometric(),
        answers([2], [3]),
        math.log1p(1 / 8),
        Goal((0.114, 0.1163), (0.1155, 0.1170), 0.1156),
    ),
    Bug(
        "NoisyHist1",
        NoisyAnswers(1 / E),
        ONE_ENTRY,
        0.1,
        Goal((0.095, 0.0985), (0.0976, 0.0992), 0.0978),
        expected=OPEN,
    ),
    Bug("NoisyHist2", NoisyAnswers(E), ONE_ENTRY, 10.0, Goal((9.5, 9.8), (9.76, 9.92), 4.602)),
    Bug(
        "NoisyMax1",
        NoisyMax("laplace", 2 / E, "index"),
        answers([1] * 5, [0] + [2] * 4),
        0.0946,
        Goal((0.087, 0.092), (0.0893, 0.0929), 0.0925),
        expected=PASS,
    ),
    Bug(
        "NoisyMax2",
        NoisyMax("exponential", 2 / E, "index"),
        answers([1] * 5, [2] + [0] * 4),
        0.1,
        Goal((0.090, 0.0975), (0.0949, 0.0984), 0.0979),
        expected=PASS,
    ),
    Bug(
        "NoisyMax3",
        NoisyMax("laplace", 2 / E, "value"),
        answers([1] * 5, [2] * 5),
        0.25,
        Goal((0.225, 0.243), (0.236, 0.2456), 0.2488),
    ),
    Bug(
        "NoisyMax4",
        NoisyMax("exponential", 2 / E, "value"),
        answers([1] * 5, [0] * 5),
        INF,
        Goal((0.70, 1.45), (1.22, 2.21), 0.353),
    ),
    Bug("SVT1", svt.svt1(E), HALF_HALF, 0.088, Goal((0.065, 0.081), (0.073, 0.083), 0.086), expected=PASS),
    Bug("SVT2", svt.svt2(E), HALF_HALF, 0.088, Goal((0.065, 0.081), (0.073, 0.083), 0.086), expected=PASS),
    Bug("SVT3", svt.svt3(E), ALL_UP, 0.5, Goal((0.155, 0.22), (0.21, 0.31), 0.182), known=False),
    Bug("SVT4", svt.svt4(E), X_SHAPE, 0.172, Goal((0.147, 0.162), (0.154, 0.166), 0.170)),
    Bug("SVT5", svt.svt5(E), HALF_HALF, INF, Goal((9.2, 11.8), (9.70, 12.0), 1.761)),
    Bug("SVT6", svt.svt6(E), HALF_HALF, 0.42, Goal((0.29, 0.325), (0.326, 0.386), 0.272), known=False),
    Bug("RAPPOR", Rappor(0.75, (0.55, 0.45)), ONE, 0.3001, Goal((0.28, 0.293), (0.287, 0.296), 0.3008)),
    Bug("OneTimeRAPPOR", Rappor(0.95, None), ONE, 0.6005, Goal((0.58, 0.594), (0.587, 0.596), 0.5999)),
    Bug("LaplaceParallel", LaplaceParallel(), ONE, 0.1, Goal((0.026, 0.043), (0.042, 0.057), 0.035), expected=OPEN),
    Bug(
        "SVT34Parallel",
        svt.SideBySide((svt.svt3(E, 2), svt.svt4(E, 2))),
        X_SHAPE,
        0.48,
        Goal((0.243, 0.30), (0.294, 0.356), 0.262),
        known=False,
    ),
    Bug("PrefixSum", PrefixSum(1 / E), ALL_UP, 1.0, Goal((0.875, 0.965), (0.931, 0.978), 0.577)),
    Bug(
        "NumericalSVT",
        svt.numerical_svt(E),
        HALF_HALF,
        0.08,
        Goal((0.027, 0.042), (0.048, 0.065), 0.035),
        known=False,
        expected=OPEN,
    ),
)
