"""Grids around the guessed answers: trailing zeros of x - c, exact, for both answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.bits.answers import AnswerPair, columns, guess_answers
from audit.game.bits.bit_patterns import CodeTable, pack
from audit.game.bits.float_parts import MANTISSA, difference_bits, exponents, trailing_zeros
from audit.game.bits.roundtrip import rate, shown
from audit.game.scorers import Score, Training
from audit.subjects import Outputs

_MOST_OFFERED = 3
_COARSEST, _FINEST = 6, -4  # bits relative to the last place of x - c beyond which cells are merged


@dataclass(frozen=True)
class ResidualScore:
    """Sum over coordinates of the log-ratio of the cell (last place of x, of x - left, and their lowest bits)."""

    answers: AnswerPair
    tables: tuple[CodeTable, ...]
    complete: bool = False
    calibrated: bool = False
    name: str = "grid around the answers"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        codes = residual_codes(columns(outputs), self.answers)
        if len(codes) != len(self.tables):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(column) for table, column in zip(self.tables, codes, strict=True)], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        left, right = shown(self.answers.left), shown(self.answers.right)
        said = f"log-ratio of the grids of x - {left} and x - {right} ({self.answers.origin})"
        return f"{said} >= {upper:.6g}", f"{said} <= {lower:.6g}"


@dataclass(frozen=True)
class Residuals:
    """Offers the guesses that their own outputs contradict least."""

    query: Any = None
    learned: bool = True
    needs_all: bool = False

    def propose(self, training: Training) -> Sequence[Score]:
        sides = [columns(side)[~side.symbolic] for side in (training.left, training.right)]
        if min(map(len, sides)) == 0:
            return []
        guesses = guess_answers(training, self.query)
        guesses.sort(key=lambda guess: tuple(-part for part in rate(training, guess)))
        scores: list[Score] = []
        for answers in guesses[:_MOST_OFFERED]:
            coded = [residual_codes(side, answers) for side in sides]
            tables = tuple(CodeTable.fit(left, right) for left, right in zip(*coded, strict=True))
            scores.append(ResidualScore(answers, tables))
        return scores


def residual_codes(numbers: np.ndarray, answers: AnswerPair) -> list[np.ndarray]:
    """One code a coordinate and output."""
    constants = [np.broadcast_to(c, numbers.shape[1:]) for c in (answers.left, answers.right)]
    return [_codes(numbers[:, i], float(constants[0][i]), float(constants[1][i])) for i in range(numbers.shape[1])]


def _codes(values: np.ndarray, left: float, right: float) -> np.ndarray:
    parts = [np.sign(values), exponents(values), np.minimum(trailing_zeros(values), 1)]
    for constant in (left, right):
        place = exponents(values - constant)
        grid = difference_bits(values, constant) - (place - MANTISSA)
        parts += [place, np.clip(grid, _FINEST, _COARSEST)]
    return pack(*parts)
