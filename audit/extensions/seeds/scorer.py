"""Try the integers of an output as seeds: a released seed repeats the noise, which no statistic of outputs shows.

`{"seed": s, "value": f(data) + default_rng(s).laplace()}` gives the answer to whoever draws the noise again. For each
column of integers, the first draws of the usual generators are compared with the other columns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.api import Outputs, Score, Scorer, Training

_TRIED = 48  # outputs per dataset
_SAME = 1e-9  # of the variance that may be left of a column: rounding
_MOST_COLUMNS = 16
_LARGEST_SEED = 2**53  # a float64 holds the integers below exactly

_LEGACY = 2**32  # seeds of RandomState
DRAWS: Mapping[str, Callable[[int], float]] = {  # the first draws of a generator with a seed
    "default_rng(seed).random()": lambda seed: np.random.default_rng(seed).random(),
    "default_rng(seed).normal()": lambda seed: np.random.default_rng(seed).normal(),
    "default_rng(seed).laplace()": lambda seed: np.random.default_rng(seed).laplace(),
    "default_rng(seed).exponential()": lambda seed: np.random.default_rng(seed).exponential(),
    "RandomState(seed).random()": lambda seed: np.random.RandomState(seed % _LEGACY).random(),
    "RandomState(seed).normal()": lambda seed: np.random.RandomState(seed % _LEGACY).normal(),
    "RandomState(seed).laplace()": lambda seed: np.random.RandomState(seed % _LEGACY).laplace(),
    "Random(seed).random()": lambda seed: random.Random(seed).random(),
    "Random(seed).gauss(0, 1)": lambda seed: random.Random(seed).gauss(0, 1),
}


@dataclass(frozen=True)
class SeedScore(Score):
    """The rest of a column when the noise that its seed gives is taken out."""

    seed: int  # columns
    value: int
    draw: str  # a key of `DRAWS`
    slope: float  # of the value in the draw
    middle: float  # of the rest on both datasets
    sign: float
    name = "released seed"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        table = outputs.numbers.reshape(len(outputs), -1)
        if table.shape[1] <= max(self.seed, self.value):
            return np.full(len(outputs), np.nan)
        left = table[:, self.value] - self.slope * _drawn(table[:, self.seed], self.draw) - self.middle
        return np.where(outputs.symbolic, np.nan, np.round(self.sign * left, 9))

    def meaning(self) -> str:
        return (
            f"coordinate {self.value}: output less the noise of {self.draw}, with the seed in coordinate {self.seed},"
        )


class Seeds(Scorer):
    """Propose what is left of a column when the noise of a released seed is taken out."""

    of_vectors = True

    def reads_values(self, training: Training) -> bool:
        return any(True for _ in _integers(_few(training)))

    def propose(self, training: Training) -> Sequence[SeedScore]:
        found = next(_seeds_of(training), None)
        if found is None:
            return []
        seed, value, draw, slope = found
        left, right = (
            float(np.median(table[:, value] - slope * _drawn(table[:, seed], draw))) for table in _few(training)
        )
        return [SeedScore(seed, value, draw, slope, (left + right) / 2, 1.0 if left > right else -1.0)]


def _few(training: Training) -> list[np.ndarray]:
    tables = [side.numbers.reshape(len(side), -1)[~side.symbolic] for side in training.sides]
    return [table[:: max(1, len(table) // _TRIED)][:_TRIED] for table in tables]


def _integers(tables: Sequence[np.ndarray]) -> Iterator[int]:
    """Yield the columns of integers that hardly repeat, beside which there are others."""
    width = min(table.shape[1] for table in tables)
    if width < 2 or min(map(len, tables)) < _TRIED // 2 or len({table.shape[1] for table in tables}) > 1:
        return
    for place in range(min(width, _MOST_COLUMNS)):
        values = np.concatenate([table[:, place] for table in tables])
        whole = np.isfinite(values) & (values >= 0) & (values < _LARGEST_SEED) & (values == np.floor(values))
        if whole.all() and len(np.unique(values)) > len(values) / 2:
            yield place


def _seeds_of(training: Training) -> Iterator[tuple[int, int, str, float]]:
    """Yield columns of seeds and of values, the draw that ties them, and its slope; the same on both datasets."""
    tables = _few(training)
    for seed in _integers(tables):
        for draw in DRAWS:
            drawn = [_drawn(table[:, seed], draw) for table in tables]
            for value in range(min(tables[0].shape[1], _MOST_COLUMNS)):
                slopes = [_slope(each, table[:, value]) for each, table in zip(drawn, tables, strict=True)]
                if value != seed and None not in slopes:
                    yield seed, value, draw, float(np.mean([slope for slope in slopes if slope is not None]))


def _slope(drawn: np.ndarray, values: np.ndarray) -> float | None:
    """Return the slope of values that are a line in the drawn numbers; None if they are not."""
    x, y = drawn - drawn.mean(), values - values.mean()
    variance = float(y @ y)
    if not (np.isfinite(variance) and variance > 0):
        return None
    slope = float(x @ y) / float(x @ x)
    rest = y - slope * x
    return slope if float(rest @ rest) <= _SAME * variance else None


def _drawn(seeds: np.ndarray, draw: str) -> np.ndarray:
    usable = np.where(np.isfinite(seeds) & (seeds >= 0) & (seeds < _LARGEST_SEED), seeds, 0)
    return np.array([DRAWS[draw](int(seed)) for seed in usable.tolist()])
