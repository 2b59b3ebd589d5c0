"""Bit patterns of an output alone: counts of the cells of a feature, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.bits.answers import columns
from audit.game.bits.float_parts import classes, decimals, exponents, low_bytes, lowest_bits, trailing_zeros
from audit.game.scorers import Score, Scorer, Training
from audit.game.scorers.base import log_ratio
from audit.subjects import Outputs

Feature = Callable[[np.ndarray], np.ndarray]
_MOST_LISTED = 8


@dataclass(frozen=True)
class CodeTable:
    """Estimated log-likelihood ratio of each value of an integer feature; 0 for a value that was never seen.

    Parameters
    ----------
    codes : int array, shape (k,), sorted
        Values of the feature seen in training.
    ratios : float array, shape (k,)
        Their log-ratios.
    """

    codes: np.ndarray
    ratios: np.ndarray

    @classmethod
    def fit(cls, left: np.ndarray, right: np.ndarray) -> CodeTable:
        """Count the codes of either side."""
        codes, where = np.unique(np.concatenate([left, right]), return_inverse=True)
        counts = [np.bincount(part, minlength=len(codes)) for part in (where[: len(left)], where[len(left) :])]
        return cls(codes, log_ratio(counts[0], counts[1], len(left), len(right)))

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        where = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[where] == codes, self.ratios[where], 0.0)


@dataclass(frozen=True)
class PatternScore:
    """Sum over some coordinates of the log-ratio of a feature's value."""

    feature: Feature
    tables: tuple[tuple[int, CodeTable], ...]
    name: str
    complete: bool = False
    calibrated: bool = False

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        if numbers.shape[1] <= max(index for index, _ in self.tables):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(self.feature(numbers[:, index])) for index, table in self.tables], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.tables) > 1:
            said = f"sum over coordinates of the log-ratios of the {self.name}"
            return f"{said} >= {upper:.6g}", f"{said} <= {lower:.6g}"
        index, table = self.tables[0]
        return self._listed(index, table.codes[table.ratios >= upper]), self._listed(
            index, table.codes[table.ratios <= lower]
        )

    def _listed(self, index: int, codes: np.ndarray) -> str:
        shown = ", ".join(map(str, codes[:_MOST_LISTED].tolist()))
        more = f" and {len(codes) - _MOST_LISTED} more" if len(codes) > _MOST_LISTED else ""
        return f"{self.name} of coordinate {index} in {{{shown}}}{more}"


@dataclass(frozen=True)
class BitPatterns:
    """Competes with one feature of the bits: all coordinates together, and the most telling one alone."""

    name: str
    feature: Feature
    learned: bool = True
    needs_all: bool = False

    def propose(self, training: Training) -> Sequence[Score]:
        sides = [columns(side)[~side.symbolic] for side in (training.left, training.right)]
        if sides[0].shape[1] != sides[1].shape[1] or min(map(len, sides)) == 0:
            return []
        tables = []
        for index in range(sides[0].shape[1]):
            left, right = (self.feature(side[:, index]) for side in sides)
            table = CodeTable.fit(left, right)
            tables.append((float(table(left).mean() - table(right).mean()), (index, table)))
        best = max(tables, key=lambda part: part[0])[1]
        scores = [PatternScore(self.feature, (best,), self.name)]
        if len(tables) > 1:
            scores.append(PatternScore(self.feature, tuple(part for _, part in tables), self.name))
        return scores


def exponent_and_zeros(values: np.ndarray) -> np.ndarray:
    """One code for sign, exponent and trailing zeros."""
    return pack(np.sign(values), exponents(values), trailing_zeros(values))


def pack(*parts: np.ndarray) -> np.ndarray:
    """One code for several: equal codes for equal parts, and for others with probability 2^-64 at most."""
    packed = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        whole = np.nan_to_num(np.asarray(part, dtype=np.float64), nan=2.0**40).astype(np.int64)
        packed = (packed ^ whole.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        packed ^= packed >> np.uint64(29)
    return packed.view(np.int64)


PATTERN_SCORERS: tuple[Scorer, ...] = (
    BitPatterns("exponent of the lowest set bit", lowest_bits),
    BitPatterns("exponent and trailing zeros", exponent_and_zeros),
    BitPatterns("low-order byte", low_bytes),
    BitPatterns("number of decimals", decimals),
    BitPatterns("floating-point class", classes),
)
