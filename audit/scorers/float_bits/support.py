"""Find noise with few values: outputs of one dataset repeat, and never come where the other dataset's do.

Noise made of a 15-bit or a 24-bit random number takes at most that many values. Moved by the answer, they lie
elsewhere, so that a single output may tell the dataset, while both samples look alike in every interval. Of n outputs
of N equally likely values, n^2 / (2 N) pairs are equal: the birthday problem. As many pairs, up to e^epsilon, should be
equal across the datasets; a grid that both share, as rounding makes one, has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.outputs.encode import Outputs
from audit.scorers.base import FineScorer, Score, Screening, Training, columns, distinct

FEWEST_REPEATED = 2  # numbers that one sample has twice: two of 7,600 with 53 random bits, with probability 1e-17
FEWEST_OUTPUTS = 2_000  # per dataset: among fewer, noise that is read again from a table looks like noise of few values
_MEET = 0.02  # of the pairs that should be equal across the datasets: with fewer, the values do not meet
_PER_VALUE = 50  # pairs for each number that repeats, up to which the numbers are noise
_MOST_COLUMNS = 8  # of a vector, spaced evenly
_SOUGHT = "values that one dataset alone gives"


@dataclass(frozen=True)
class CollisionCounts:
    """Hold how often numbers of two samples are equal."""

    within: int  # pairs of equal numbers of one sample
    repeated: int  # numbers that are in a sample more than once
    across: int  # pairs of equal numbers of two samples
    size: int  # of one sample

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> CollisionCounts:
        """Count equal pairs of two samples of finite numbers."""
        ordered = np.sort(np.concatenate([left, right]))
        again = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(again):
            return cls(0, 0, 0, min(len(left), len(right)))
        of_left, of_right = (_counted(again, side) for side in (left, right))
        within = sum(int((each * (each - 1) // 2).sum()) for each in (of_left, of_right))
        repeated = int((of_left > 1).sum() + (of_right > 1).sum())
        return cls(within, repeated, int((of_left * of_right).sum()), min(len(left), len(right)))

    @property
    def is_apart(self) -> bool:
        """True if numbers repeat within the samples, and hardly any is in both."""
        return self.repeated >= FEWEST_REPEATED and self.across <= _MEET * self.within

    @property
    def values(self) -> float:
        """Number of equally likely values that give as many pairs: an estimate."""
        return self.size**2 / max(1, self.within)


def _counted(values: np.ndarray, sample: np.ndarray) -> np.ndarray:
    sample = np.sort(sample)
    return np.searchsorted(sample, values, "right") - np.searchsorted(sample, values, "left")


def supports_of(sides: Sequence[Outputs]) -> list[tuple[int, CollisionCounts]]:
    """Return the support of some columns of numbers, by their index; none of sides with other columns."""
    tables = [columns(side) if side.symbols is None else columns(side)[~side.symbolic] for side in sides]
    if len({table.shape[1] for table in tables}) > 1 or min(map(len, tables)) < FEWEST_OUTPUTS:
        return []
    width = tables[0].shape[1]
    chosen = sorted({int(place) for place in np.linspace(0, width - 1, min(width, _MOST_COLUMNS))})
    return [(place, CollisionCounts.of(*(_finite(table[:, place]) for table in tables))) for place in chosen]


def _finite(numbers: np.ndarray) -> np.ndarray:
    return numbers[np.isfinite(numbers)]


@dataclass(frozen=True)
class SeenScore(Score):
    """1 for a number that the left dataset alone gave in training, -1 for one of the right, 0 for any other."""

    place: int  # of the column
    left: np.ndarray  # sorted
    right: np.ndarray
    name = "seen values"

    @property
    def seeks(self) -> tuple[str, ...]:
        return (_SOUGHT,)

    def __call__(self, outputs: Outputs) -> np.ndarray:
        table = columns(outputs)
        if table.shape[1] <= self.place:
            return np.full(len(outputs), np.nan)
        numbers = table[:, self.place]
        found = _is_in(numbers, self.left).astype(float) - _is_in(numbers, self.right)
        return np.where(outputs.symbolic, np.nan, found)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        where = f"coordinate {self.place}: output"
        plus, minus = (f"{where} in {len(side):,} numbers seen in training" for side in (self.left, self.right))
        return plus, minus


def _is_in(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    if not len(values):
        return np.zeros(len(numbers), dtype=bool)
    nearest = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
    return np.asarray(values[nearest] == numbers)


class SeenValueScorer(FineScorer):
    """Propose the numbers that one dataset alone gave, of the column whose values repeat most and do not meet."""

    seeks = (_SOUGHT,)

    def propose(self, training: Training) -> Sequence[SeenScore]:
        apart = [(support.within, place) for place, support in supports_of(training.sides) if support.is_apart]
        if not apart:
            return []
        place = max(apart)[1]
        left, right = (np.unique(_finite(columns(side)[~side.symbolic][:, place])) for side in training.sides)
        shared = np.intersect1d(left, right)
        return [SeenScore(place, np.setdiff1d(left, shared), np.setdiff1d(right, shared))]

    def screen(self, training: Training) -> Screening:
        found = supports_of(training.sides)
        return Screening(any(support.is_apart for _, support in found), _SOUGHT if found else "")


def few_values(sides: Sequence[Outputs], label: Callable[[int], str], most: int) -> tuple[str, ...]:
    """Return which of the first `most` columns have numbers that repeat and never meet, and how many values they have.

    A number that is most of its column, as an answer without noise is, does not say how many there are.
    """
    apart = [(place, support) for place, support in supports_of(sides) if support.is_apart and place < most]
    spread = [(place, each.values) for place, each in apart if each.within <= _PER_VALUE * each.repeated]
    return tuple(f"{label(place)}, which takes about {values:,.2g} values" for place, values in spread)
