"""The noise of a training run, in units of the claimed scale: what is collected of it, step by step.

Given everything before a step, the claimed noise of that step is a vector of independent standard normal numbers. So
sums of squares are chi-square; the cosine between this vector and any vector from before has a law that is free of the
scale; and one from the steps of the past, or a lag chosen on them, needs no correction for its choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.api import Probability

CELLS = 1024  # of equal probability, for the shape; a distance between two of their ends is seen to 0.001
_SHAPE = 65_536  # values of a step, at most, whose shape is looked at
_SKETCH = 256  # coordinates that are kept of every step, to find noise that returns
_KEPT = 2_048  # steps whose pairs are all compared
_SEARCHED = 8  # steps on which a lag between coordinates is chosen
_FADING = 0.9  # by step, of the weight of earlier noise
_PREDICTED = 4  # steps whose noise is predicted from their number
_FEWEST = 8  # coordinates below which cosines are not looked at

Tail = tuple[float, int]  # a sum and the number of its terms


@dataclass(frozen=True)
class NoiseEvidence:
    """Hold what the noise of a run showed; all of it in units of the claimed standard deviation."""

    steps: int = 0
    dimension: int = 0  # coordinates
    squares: float = 0.0  # sum of all squares
    total: float = 0.0  # sum of all values
    steps_squares: tuple[float, float] = (0.0, 0.0)  # least and largest sum of squares of a step
    steps_spread: float = 0.0  # sum of squares of the normal scores of these sums
    coordinates_squares: tuple[float, float] = (0.0, 0.0)  # of a coordinate over the steps
    small_batches: Tail = (0.0, 0)  # sum of squares of the steps with smaller batches, and their number
    large_batches: Tail = (0.0, 0)
    distance: Probability = 0.0  # of the distribution function from the normal one, at the ends of cells
    shape_values: int = 0  # values that it is of
    largest: float = 0.0  # absolute value
    closest: Probability = 0.0  # largest absolute cosine between two steps
    sketch: int = 0  # coordinates that it is of
    closest_steps: tuple[int, int] = (0, 0)
    compared: int = 0  # pairs of steps
    successive: Tail = (0.0, 0)  # normal scores of the cosines of successive steps
    trend: Tail = (0.0, 0)  # the same, with a mean of all earlier steps that fades
    lag: int = 0  # between coordinates, chosen on the first steps
    lagged: Tail = (0.0, 0)  # normal scores of the cosines at that lag, on the other steps
    along: Tail = (0.0, 0)  # normal scores of the cosines with the sum of the clipped gradients
    along_share: float = 0.0  # of that sum, which the noise holds on average
    histogram: tuple[int, ...] = ()  # of the values, in 32 cells of equal probability
    outer: int = 0  # values in the four outermost of 1,024 such cells
    predicted: Probability = 0.0  # largest absolute cosine with what the number of a step gives as a seed
    predictions: int = 0  # such seeds that were tried
    frozen: int = 0  # coordinates that got neither gradients nor noise at the first step, and are left out
    woken: int = 0  # steps at which one of them got a gradient or noise


class Noise:
    """Collect the noise of a run, step by step; `values` are in units of the claimed standard deviation."""

    def __init__(self, steps: int, rng: np.random.Generator) -> None:
        self._searched, self._rng = min(_SEARCHED, steps // 2), rng
        self._steps_squares: list[float] = []
        self.dimension = 0
        self._total = self._largest = 0.0
        self._cells = np.zeros(CELLS, dtype=np.int64)
        self._rows: list[np.ndarray] = []
        self._scores = {"successive": _Scores(), "trend": _Scores(), "lagged": _Scores(), "along": _Scores()}
        self._lag, self._faded = 0, np.zeros(1)
        self._products = self._sums = 0.0  # of noise with the clipped sum, and of the latter with itself
        self._kept: np.ndarray | None = None  # coordinates that are not frozen
        self._predicted, self._predictions, self._woken = 0.0, 0, 0

    def add(self, values: np.ndarray, clipped_sum: np.ndarray) -> None:
        """Add the noise of a step, and the sum of clipped gradients that it was added to, in the same units."""
        if not self._steps_squares:
            self.dimension = values.size
            still = (values == 0) & (clipped_sum == 0)
            self._kept = ~still if still.any() and not still.all() else None
        if self._kept is not None:
            self._woken += bool(np.any(values[~self._kept]) or np.any(clipped_sum[~self._kept]))
            values, clipped_sum = values[self._kept], clipped_sum[self._kept]
        if not self._steps_squares:
            d = values.size
            self._by_coordinate, self._spectrum = np.zeros(d), np.zeros(d + 1)
            self._sketched = np.sort(self._rng.choice(d, min(d, _SKETCH), replace=False))
            self._looked = np.sort(self._rng.choice(d, min(d, _SHAPE), replace=False))
        squared = values * values
        self._steps_squares.append(float(squared.sum()))
        self._by_coordinate += squared
        self._total += float(values.sum())
        self._largest = max(self._largest, float(np.abs(values).max()))
        cells = np.minimum((special.ndtr(values[self._looked]) * CELLS).astype(np.int64), CELLS - 1)
        self._cells += np.bincount(cells, minlength=CELLS)
        if len(self._rows) < _KEPT:
            self._rows.append(values[self._sketched].astype(np.float32))
        if values.size >= _FEWEST:
            self._compare(values, clipped_sum)
            self._predict(values)
        self._last = values

    def _compare(self, values: np.ndarray, clipped_sum: np.ndarray) -> None:
        step = len(self._steps_squares)
        if step > 1:
            self._scores["successive"].add(values, self._last)
            self._faded = self._last + _FADING * self._faded
            self._scores["trend"].add(values, self._faded)
        if clipped_sum.any():
            self._scores["along"].add(values, clipped_sum)
            self._products += float(values @ clipped_sum)
            self._sums += float(clipped_sum @ clipped_sum)
        if step <= self._searched:
            padded = np.fft.rfft(values, 2 * values.size)
            self._spectrum += padded.real**2 + padded.imag**2
        if step == self._searched:
            self._lag = _clearest_lag(self._spectrum, values.size)
        elif step > self._searched and self._lag:
            self._scores["lagged"].add(*_disjoint(values, self._lag))

    def _predict(self, values: np.ndarray) -> None:
        """Compare the noise of a few steps after the first one with what a generator gives that their number seeds.

        The first step is left out: a run with one fixed seed, such as 0, may draw its noise first.
        """
        step = len(self._steps_squares) - 1
        if not 1 <= step <= _PREDICTED:
            return
        for seed in (step, step + 1):
            for generator in (np.random.default_rng(seed), np.random.RandomState(seed)):
                guess = generator.normal(size=values.size)
                norms = math.sqrt(float(values @ values) * float(guess @ guess))
                self._predictions += 1
                if norms > 0:
                    self._predicted = min(1.0, max(self._predicted, abs(float(values @ guess)) / norms))

    def evidence(self, sizes: list[int]) -> NoiseEvidence:
        """Return what was collected, as plain data; `sizes` are those of the batches, where they are known."""
        if not self._steps_squares:
            return NoiseEvidence()
        squares = np.array(self._steps_squares)
        small, large = _by_size(squares, sizes)
        count = int(self._cells.sum())
        found = np.cumsum(self._cells[:-1]) / count
        cosine, pair, compared = _closest(np.array(self._rows))
        return NoiseEvidence(
            steps=len(squares),
            dimension=self._by_coordinate.size,
            squares=float(squares.sum()),
            total=self._total,
            steps_squares=(float(squares.min()), float(squares.max())),
            steps_spread=float(np.sum(_chi_scores(squares, self._by_coordinate.size) ** 2)),
            coordinates_squares=(float(self._by_coordinate.min()), float(self._by_coordinate.max())),
            small_batches=small,
            large_batches=large,
            distance=float(np.abs(found - np.arange(1, CELLS) / CELLS).max()),
            shape_values=count,
            largest=self._largest,
            closest=cosine,
            sketch=self._sketched.size,
            closest_steps=pair,
            compared=compared,
            lag=self._lag,
            along_share=self._products / self._sums if self._sums else 0.0,
            outer=int(self._cells[:2].sum() + self._cells[-2:].sum()),
            predicted=self._predicted,
            predictions=self._predictions,
            frozen=0 if self._kept is None else int((~self._kept).sum()),
            woken=self._woken,
            histogram=tuple(self._cells.reshape(32, -1).sum(axis=1).tolist()),
            **{name: scores.tail for name, scores in self._scores.items()},
        )


class _Scores:
    """The sum of normal scores of cosines: each is standard normal for independent noise, whatever its scale."""

    def __init__(self) -> None:
        self.total, self.count = 0.0, 0

    def add(self, values: np.ndarray, other: np.ndarray) -> None:
        norms = math.sqrt(float(values @ values) * float(other @ other))
        if norms > 0 and values.size >= 2:
            self.total += normal_score(float(values @ other) / norms, values.size)
            self.count += 1

    @property
    def tail(self) -> Tail:
        return self.total, self.count


def cosine_tail(cosine: float, dimension: int) -> float:
    """Return the probability that a cosine with a fixed direction is at least so large, for normal noise."""
    half = (dimension - 1) / 2
    return float(special.betaincc(half, half, min(1.0, max(0.0, (1 + cosine) / 2))))


def normal_score(cosine: float, dimension: int) -> float:
    """Return the standard normal number that is as extreme as a cosine, at most 37 in absolute value."""
    tail = max(cosine_tail(abs(cosine), dimension), 1e-300)
    return math.copysign(-float(special.ndtri(tail)), cosine)


def _chi_scores(squares: np.ndarray, count: int) -> np.ndarray:
    """Return standard normal numbers that are as extreme as sums of `count` squares, at most 37 in absolute value."""
    low, high = special.chdtr(count, squares), special.chdtrc(count, squares)
    tails = np.maximum(np.minimum(low, high), 1e-300)
    return np.where(low < high, 1.0, -1.0) * special.ndtri(tails)


def _clearest_lag(spectrum: np.ndarray, dimension: int) -> int:
    """Return the lag with the largest autocorrelation, in standard deviations."""
    lags = np.arange(1, dimension - _FEWEST // 2 + 1)
    if lags.size < 1:
        return 0
    correlations = np.fft.irfft(spectrum, 2 * dimension)[lags] / np.sqrt(dimension - lags)
    return int(lags[np.argmax(np.abs(correlations))])


def _disjoint(values: np.ndarray, lag: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two vectors with no coordinate in common, the second one `lag` after the first."""
    places = np.arange(values.size - lag)
    first = places[(places // lag) % 2 == 0]
    return values[first + lag], values[first]


def _closest(rows: np.ndarray) -> tuple[float, tuple[int, int], int]:
    """Return the largest absolute cosine between two steps, the steps, and the number of pairs."""
    steps, width = rows.shape
    if steps < 2 or width < _FEWEST:
        return 0.0, (0, 0), 0
    norms = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(norms > 0, norms, 1.0)[:, None]
    cosines = np.abs(np.triu(unit @ unit.T, 1))
    place = int(np.argmax(cosines))
    first, second = divmod(place, steps)
    return min(1.0, float(cosines.flat[place])), (first, second), steps * (steps - 1) // 2


def _by_size(squares: np.ndarray, sizes: list[int]) -> tuple[Tail, Tail]:
    if len(sizes) != len(squares) or len(set(sizes)) < 2:
        return (0.0, 0), (0.0, 0)
    large = np.array(sizes) > np.median(sizes)
    if not large.any():
        large = np.array(sizes) >= np.median(sizes)
    return (float(squares[~large].sum()), int((~large).sum())), (float(squares[large].sum()), int(large.sum()))
