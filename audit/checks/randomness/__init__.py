"""Are the outputs of a mechanism independent of each other, or is noise reused?

Every other verdict of this package needs independent releases. Here that is the null hypothesis: all outputs, over all
calls and processes, are independent draws from one law, which may be anything, discrete or continuous. Then swapping
outputs changes nothing, so that each comparison below is won as often as it is lost, and the number of wins has an
exact binomial law. A FAIL says that noise is reused or shared; it is no statement about epsilon.
"""

from audit.checks.randomness.check import (
    DEFAULT_RANDOMNESS_BUDGET,
    IndependenceClaim,
    RandomnessCheck,
    RandomnessResult,
    check_randomness,
)
from audit.checks.randomness.evidence import KINDS, Comparison, RandomnessEvidence
from audit.checks.randomness.judge import RandomnessJudgment, judge_randomness

__all__ = [
    "DEFAULT_RANDOMNESS_BUDGET",
    "KINDS",
    "Comparison",
    "IndependenceClaim",
    "RandomnessCheck",
    "RandomnessEvidence",
    "RandomnessJudgment",
    "RandomnessResult",
    "check_randomness",
    "judge_randomness",
]
