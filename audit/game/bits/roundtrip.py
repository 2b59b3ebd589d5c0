"""Round trips: an output x with (x - c) + c != x cannot be fl(c + noise), whatever the noise.

The event needs the two exact answers and nothing else. It convicts every mechanism that adds double-precision noise to
a double, be the noise as fine as it may (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha & Hay 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.bits.answers import AnswerPair, columns, guess_answers
from audit.game.bits.float_parts import survives_round_trip
from audit.game.scorers import Score, Training
from audit.subjects import Outputs

_CONSISTENT = 0.99  # share of its own outputs that a true answer must reach; ties and clamped outputs may fail
_MOST_OFFERED = 4
CERTAIN = 40.0  # log-likelihood ratio of an output that only one side can give, in place of infinity


@dataclass(frozen=True)
class RoundTripScore:
    """40 for each coordinate that the left answer alone reaches, -40 for each that the right one alone does."""

    answers: AnswerPair
    calibrated: bool
    complete: bool = False
    name: str = "round trips"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        reached = [survives_round_trip(numbers, np.atleast_1d(c)) for c in (self.answers.left, self.answers.right)]
        return log_ratio_of_reach(reached[0], reached[1], outputs)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = (f"fl({shown(c)} + n)" for c in (self.answers.left, self.answers.right))
        said = f"for a double n (answers: {self.answers.origin})"
        return (
            f"in {upper / CERTAIN:g} coordinates more the output is {left}, and not {right}, {said}",
            f"in {-lower / CERTAIN:g} coordinates more the output is {right}, and not {left}, {said}",
        )


@dataclass(frozen=True)
class RoundTrips:
    """Offers the guesses of the exact answers that their own outputs do not contradict, the most telling first."""

    query: Any = None
    learned: bool = False
    needs_all: bool = False

    def propose(self, training: Training) -> Sequence[Score]:
        rated = []
        for answers in guess_answers(training, self.query):
            own, telling = rate(training, answers)
            if own >= _CONSISTENT and telling > 0:
                rated.append((telling, RoundTripScore(answers, calibrated=own == 1.0)))
        rated.sort(key=lambda part: -part[0])
        return [score for _, score in rated[:_MOST_OFFERED]]


def log_ratio_of_reach(left: np.ndarray, right: np.ndarray, outputs: Outputs) -> np.ndarray:
    """Score of outputs from whether either answer reaches each coordinate; symbols abstain."""
    score = CERTAIN * (left.sum(axis=1) - right.sum(axis=1, dtype=float))
    return np.where(outputs.symbolic, np.nan, score)


def rate(training: Training, answers: AnswerPair) -> tuple[float, float]:
    """Share of coordinates that their own answer reaches (the lesser side), and that the other one does not."""
    sides = (columns(training.left)[~training.left.symbolic], columns(training.right)[~training.right.symbolic])
    if min(map(len, sides)) == 0:
        return 0.0, 0.0
    own = [float(survives_round_trip(x, c).mean()) for x, c in zip(sides, (answers.left, answers.right), strict=True)]
    other = [float(survives_round_trip(x, c).mean()) for x, c in zip(sides, (answers.right, answers.left), strict=True)]
    return min(own), 2.0 - sum(other)


def shown(answer: np.ndarray) -> str:
    """An answer in words: a number, or the first entries of a vector."""
    if answer.ndim == 0:
        return f"{float(answer):.17g}"
    return "(" + ", ".join(f"{c:.6g}" for c in answer[:4]) + (", ...)" if len(answer) > 4 else ")")
