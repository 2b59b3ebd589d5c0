"""The output itself as score: thresholds on the line, for laws whose likelihood ratio is monotone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Training
from audit.subjects import Outputs


@dataclass(frozen=True)
class SignedOutput:
    """sign * output; symbols abstain."""

    sign: int
    complete: bool = False
    name: str = "monotone"
    calibrated: bool = False

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return self.sign * outputs.numbers if outputs.is_scalar else np.full(len(outputs), np.nan)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = (">=", "<=") if self.sign > 0 else ("<=", ">=")
        return f"output {plus} {self.sign * upper:.9g}", f"output {minus} {self.sign * lower:.9g}"


class Monotone:
    """Both directions of the line compete; nothing is learned but the thresholds."""

    learned = False
    needs_all = False

    def propose(self, training: Training) -> Sequence[SignedOutput]:
        if not (training.left.is_scalar and training.right.is_scalar):
            return []
        if np.isnan(training.left.numbers).all() and np.isnan(training.right.numbers).all():
            return []
        return [SignedOutput(1), SignedOutput(-1)]
