"""The randomness check: are the outputs of a mechanism independent of each other, or is noise reused?"""

from audit.checks.randomness.comparisons import KINDS, Comparison
from audit.checks.randomness.independence import (
    RandomnessCheck,
    RandomnessEvidence,
    RandomnessJudgment,
    RandomnessResult,
    check_randomness,
    judge_randomness,
)

__all__ = [
    "KINDS",
    "Comparison",
    "RandomnessCheck",
    "RandomnessEvidence",
    "RandomnessJudgment",
    "RandomnessResult",
    "check_randomness",
    "judge_randomness",
]
