"""Score the bit patterns of outputs, and of their differences from the guessed answers, by counting their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.bits.answers import AnswerPair, columns, guess_answers, numeric_columns, reach_rates, shown
from audit.game.bits.float_parts import (
    MANTISSA,
    classes,
    decimals,
    difference_bits,
    exponents,
    low_bytes,
    lowest_bits,
    trailing_zeros,
)
from audit.game.scorers import Score, Scorer, Training
from audit.game.scorers.atoms import mixed_keys
from audit.game.scorers.base import RatioTable
from audit.subjects import Outputs

BitFeature = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class PatternScore(Score):
    """Sum over some coordinates of the log-ratio of a feature's value."""

    feature: BitFeature
    tables: tuple[tuple[int, RatioTable], ...]
    name: str

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        if numbers.shape[1] <= max(index for index, _ in self.tables):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(self.feature(numbers[:, index])) for index, table in self.tables], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.tables) > 1:
            return super().describe(upper, lower)
        ratios = self.tables[0][1].ratios
        return self._listed(ratios >= upper), self._listed(ratios <= lower)

    @property
    def meaning(self) -> str:
        return f"sum over coordinates of the log-ratios of the {self.name}"

    def _listed(self, chosen: np.ndarray, most: int = 8) -> str:
        index, table = self.tables[0]
        codes = table.keys[chosen]
        more = f" and {len(codes) - most} more" if len(codes) > most else ""
        return f"{self.name} of coordinate {index} in {{{', '.join(map(str, codes[:most].tolist()))}}}{more}"


@dataclass(frozen=True)
class BitPatterns(Scorer):
    """Propose one feature of the bits: of the most informative coordinate alone, and of all together."""

    name: str
    feature: BitFeature

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return []
        tables, strengths = [], []
        for index in range(sides[0].shape[1]):
            left, right = (self.feature(side[:, index]) for side in sides)
            table = RatioTable.fit(left, right)
            tables.append((index, table))
            strengths.append(float(table(left).mean() - table(right).mean()))
        scores = [PatternScore(self.feature, (tables[int(np.argmax(strengths))],), self.name)]
        return scores if len(tables) == 1 else [*scores, PatternScore(self.feature, tuple(tables), self.name)]


@dataclass(frozen=True)
class GridScore(Score):
    """Sum over coordinates of the log-ratio of the cell (last place of x, of x - left and x - right, lowest bits)."""

    answers: AnswerPair
    tables: tuple[RatioTable, ...]
    name = "grid around the answers"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        codes = grid_codes(columns(outputs), self.answers)
        if len(codes) != len(self.tables):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(column) for table, column in zip(self.tables, codes, strict=True)], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    @property
    def meaning(self) -> str:
        left, right = shown(self.answers.left), shown(self.answers.right)
        return f"log-ratio of the grids of x - {left} and x - {right} ({self.answers.origin})"


@dataclass(frozen=True)
class Grids(Scorer):
    """Propose the grids around the guessed answers that their own outputs contradict least."""

    query: Any = None

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        guesses = guess_answers(training, self.query)
        guesses.sort(key=lambda guess: tuple(-part for part in reach_rates(sides, guess)))
        scores: list[Score] = []
        for answers in guesses[: tuning.MOST_GRIDS]:
            left, right = (grid_codes(side, answers) for side in sides)
            tables = tuple(RatioTable.fit(*codes) for codes in zip(left, right, strict=True))
            scores.append(GridScore(answers, tables))
        return scores


def grid_codes(numbers: np.ndarray, answers: AnswerPair) -> list[np.ndarray]:
    """Return one code per coordinate and output: the trailing zeros of x - c, exact, for both answers at once."""
    left, right = (np.broadcast_to(c, numbers.shape[1:]) for c in (answers.left, answers.right))
    return [_codes(numbers[:, i], float(left[i]), float(right[i])) for i in range(numbers.shape[1])]


def _codes(values: np.ndarray, left: float, right: float) -> np.ndarray:
    parts = [np.sign(values), exponents(values), np.minimum(trailing_zeros(values), 1)]
    for constant in (left, right):
        place = exponents(values - constant)
        grid = difference_bits(values, constant) - (place - MANTISSA)
        parts += [place, np.clip(grid, *tuning.GRID_BITS)]
    return pack(*parts)


def pack(*parts: np.ndarray) -> np.ndarray:
    """Return one code for several: equal codes for equal parts, and for others with probability 2^-64 at most."""
    whole = [np.nan_to_num(np.asarray(part, dtype=np.float64), nan=2.0**40).astype(np.int64) for part in parts]
    return mixed_keys((part.view(np.uint64) for part in whole), len(parts[0])).view(np.int64)


def exponent_and_zeros(values: np.ndarray) -> np.ndarray:
    """Return one code for sign, exponent and trailing zeros."""
    return pack(np.sign(values), exponents(values), trailing_zeros(values))


PATTERN_SCORERS: tuple[Scorer, ...] = (
    BitPatterns("exponent of the lowest set bit", lowest_bits),
    BitPatterns("exponent and trailing zeros", exponent_and_zeros),
    BitPatterns("low-order byte", low_bytes),
    BitPatterns("number of decimals", decimals),
    BitPatterns("floating-point class", classes),
)
