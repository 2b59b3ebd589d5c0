"""Relate the coordinates of vector outputs to the two inputs, and score vectors coordinate by coordinate.

Only the outputs and the pair are used, never the mechanism. A dataset that is a numeric vector of length n is laid
over an output of length k n, block by block. Any other dataset leaves one group and no distances.

The scores are exact for independent coordinates of the right form, and blind to structure that no marginal shows: they
can refute a claim, but never show that it holds.

The direction in which the means differ most beside the spread, a linear discriminant, is for normal noise of one
covariance the log-likelihood ratio up to its scale. Columns are cut at a few spreads: heavy tails do not set it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from audit.outputs.encode import Outputs
from audit.scorers.base import SCORE_DECIMALS, Layout, Score, Scorer, Training, log_ratio
from audit.scorers.counts import CellScore, CountedCells

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCANNED_COLUMNS = 4  # columns that are scanned after the screening. TIME

# The direction in which means differ: tuned on correct mechanisms of many kinds and the same with half the noise
WIDE = 200  # coordinates beyond which screened features and trees are not fitted: scan and direction read all. TIME

# Counting scorers: atoms, cells, flags: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
EXPLAINED = 0.8  # of its variance, below which a coordinate is read beside an earlier one
MEDIAN_NUMBERS = 8_000_000  # numbers of a dataset of which the medians are taken. TIME
MEDIAN_ERRORS = 3.0  # standard errors within which medians, of two coordinates or datasets, are one
FEW_OUTPUTS = 40  # distinct outputs of a sample up to which counting sees everything

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
SAMPLE = 2000  # rows per dataset that show the kind of these outputs
MANY_ROWS, VECTOR_ROWS, TREE_ROWS, STRUCTURE_ROWS = 400_000, 40_000, 20_000, 20_000  # most rows per dataset: TIME
CLIP = 4.0  # standard deviations beyond which a value counts no more: a few far ones would bend the fit

Rows = tuple[np.ndarray, np.ndarray]  # numeric vectors of the left and of the right outputs


def nearness(numbers: np.ndarray, left: np.ndarray, right: np.ndarray, scale: Any = 1.0) -> np.ndarray:
    """Return the sum of |x - right| - |x - left| over each row, of columns in units of `scale`; shape (size,).

    Other than finite numbers count 0. The sum is rounded: bits are left to the precision audit.
    """
    reach = np.abs(right - left)
    with np.errstate(over="ignore"):  # overflow is outside
        change = numbers * -2.0
        change += left + right
    np.clip(change, -reach, reach, out=change)
    change *= np.sign(right - left)
    if not all_finite(numbers):
        change[~np.isfinite(numbers)] = 0.0
    found = np.asarray((change / scale).sum(axis=1))
    unit = float(np.max(np.nan_to_num(reach / scale), initial=0.0)) or 1.0
    return np.asarray(np.round(found / unit, SCORE_DECIMALS) * unit)


def at(numbers: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Take some coordinates of every row, as they lie in memory: unlike an index, which is several times slower."""
    if len(coordinates) == numbers.shape[1] and np.array_equal(coordinates, np.arange(len(coordinates))):
        return numbers
    if numbers.strides[0] == numbers.itemsize:
        return numbers.T[coordinates].T
    return np.take(numbers, coordinates, axis=1)


def all_finite(numbers: np.ndarray) -> bool:
    """Test whether no number is NaN or infinite, by their sum: false also where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()))


def finite_or_zero(numbers: np.ndarray) -> np.ndarray:
    return numbers if all_finite(numbers) else np.where(np.isfinite(numbers), numbers, 0.0)


def occurrences(numbers: np.ndarray, flag: float) -> np.ndarray:
    """Count how often a flag occurs in each row; shape (size,)."""
    return np.asarray(np.einsum("ij->i", (numbers == flag).view(np.int8), dtype=np.int64))


def numeric_rows(training: Training, most: int) -> Rows | None:
    """Return the vectors of both sides without symbols, evenly thinned to `most` per side; None for too few of them."""
    left, right = (thin_rows(part, most) for part in training.numeric)
    return (left, right) if min(len(left), len(right)) >= 4 else None


def thin_rows(rows: np.ndarray, most: int) -> np.ndarray:
    """Return at most as many rows, evenly spaced."""
    return rows[:: max(1, -(-len(rows) // most))]


def sample_of(rows: Rows, size: int) -> np.ndarray:
    """Return the first rows of both sides together."""
    return np.concatenate([side[:size] for side in rows])


def few_outputs(rows: Rows) -> bool:
    """Test whether the outputs take so few values that counting them sees everything."""
    first = [side[: 2 * FEW_OUTPUTS, :1] for side in rows]
    if len(np.unique(np.concatenate(first))) > FEW_OUTPUTS:
        return False
    sample = np.ascontiguousarray(sample_of(rows, SAMPLE) + 0.0)  # no negative zeros: keys are the bytes of rows
    keys = sample.view(np.dtype((np.void, sample.itemsize * sample.shape[1]))).ravel()
    return len(set(keys.tolist())) <= FEW_OUTPUTS


def symbol_ratio(training: Training) -> float:
    """Estimate the log-likelihood ratio of an output that is a symbol rather than a vector."""
    counts = [np.sum(side.symbolic) for side in training.sides]
    return float(log_ratio(counts[0], counts[1], len(training.left), len(training.right)))


@dataclass(frozen=True)
class RowScore(Score):
    """Score vectors of one width; rows of other shapes get no guess; symbols are scored by their frequencies."""

    width: int
    of_symbols: float

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.is_scalar or outputs.numbers.shape[1] != self.width:
            return np.full(len(outputs), np.nan)
        scores = self.rate(outputs.numbers)
        return scores if outputs.symbols is None else np.where(outputs.symbolic, self.of_symbols, scores)

    @abstractmethod
    def rate(self, numbers: np.ndarray) -> np.ndarray:
        """Return the score of each row; shape (size,)."""


@dataclass(frozen=True)
class CoordinateScore(Score):
    """Sum of the log-ratios of some coordinates, or of their differences from earlier ones."""

    parts: tuple[tuple[int, CellScore], ...]
    earlier: Mapping[int, int] = field(default_factory=dict)  # the columns beside which a coordinate is read
    name = "coordinates"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.is_scalar or outputs.numbers.shape[1] <= max(index for index, _ in self.parts):
            return np.full(len(outputs), np.nan)
        columns = ((beside(outputs.numbers, index, self.earlier), part) for index, part in self.parts)
        return np.sum([part(Outputs(column, column)) for column, part in columns], axis=0)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.parts) > 1:
            return super().describe(upper, lower)
        index, part = self.parts[0]
        plus, minus = part.describe(upper, lower)
        return f"coordinate {index}: {plus}", f"coordinate {index}: {minus}"

    def meaning(self) -> str:
        less = ", ".join(f"{i} less {j}" for i, j in list(self.earlier.items())[:4])
        more = ", ..." if len(self.earlier) > 4 else ""
        return f"sum of the log-ratios of {len(self.parts)} coordinates" + (f" ({less}{more})" if less else "")


def beside(numbers: np.ndarray, index: int, earlier: Mapping[int, int]) -> np.ndarray:
    """Return a coordinate, less the earlier one that it is read beside; rounded, so that whole numbers stay equal."""
    if index not in earlier:
        return np.ascontiguousarray(numbers[:, index])
    with np.errstate(invalid="ignore"):
        return np.round(numbers[:, index] - numbers[:, earlier[index]], SCORE_DECIMALS)


def find_explained_coordinates(sample: np.ndarray) -> dict[int, int]:
    """Return coordinates that vary less beside an earlier one, as sums of common noise do, and that one."""
    plain = finite_or_zero(sample)
    covariance = np.atleast_2d(np.cov(np.clip(plain, *np.quantile(plain, (0.01, 0.99), axis=0)), rowvar=False))
    variances = np.diagonal(covariance)
    rests = np.where(np.tri(len(variances), k=-1), variances[:, None] + variances - 2 * covariance, np.inf)
    found = np.flatnonzero(rests.min(axis=1) < EXPLAINED * variances).tolist()
    return {index: int(rests[index].argmin()) for index in found}


class Coordinates(Scorer):
    """Propose the sum of the coordinates' log-ratios, the one that differs most, and the sum beside earlier ones."""

    of_vectors = True
    widest = WIDE

    def propose(self, training: Training) -> Sequence[CoordinateScore]:
        parts, alone = _of_each(training, {})
        if not parts:
            return []
        earlier = find_explained_coordinates(sample_of((training.left.numbers, training.right.numbers), SAMPLE))
        rests = _of_each(training, earlier)[0] if earlier else ()  # none where all that is left repeats
        third = CoordinateScore(rests, earlier) if rests else CoordinateScore(alone)
        return [CoordinateScore(parts), CoordinateScore(alone), third]


Parts = tuple[tuple[int, CellScore], ...]


def _of_each(training: Training, earlier: Mapping[int, int]) -> tuple[Parts, Parts]:
    """Return a log-ratio of few cells for each coordinate, and of many for the one that differs most."""
    parts, most = list[tuple[int, CellScore]](), -np.inf
    alone: Parts = ()
    for index in range(training.left.numbers.shape[1]):
        column = _single(training, *(beside(side.numbers, index, earlier) for side in training.sides))
        if (counted := CountedCells.of(column)) is None:
            continue
        score = counted.score()
        parts.append((index, counted.few(column)))
        known = (each[~np.isnan(each)] for each in map(score, column.sides))
        left, right = (each.mean() if len(each) else np.nan for each in known)
        divergence = float(left - right)
        if divergence > most:
            alone, most = ((index, score),), divergence
    return tuple(parts), alone or tuple(parts[:1])  # no divergence is a number where a side has symbols alone


def _single(training: Training, left: np.ndarray, right: np.ndarray) -> Training:
    """Return single numbers as training outputs, sorted: the order carries no information."""
    left, right = np.sort(left), np.sort(right)
    return training.with_sides(Outputs(left, left), Outputs(right, right))


@dataclass(frozen=True)
class NearnessScore(RowScore):
    """Sum of |x - right| - |x - left| over coordinates, or over the increments between them, in units of `scale`."""

    left: np.ndarray
    right: np.ndarray
    scale: np.ndarray  # of each coordinate, shape (width,)
    increments: bool = False  # of one coordinate to the next, in place of the coordinates
    name = "nearness"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        if self.increments:
            with np.errstate(invalid="ignore"):
                numbers = np.diff(numbers, axis=1, prepend=0.0)
        changed = np.flatnonzero(self.left != self.right)
        return nearness(at(numbers, changed), self.left[changed], self.right[changed], self.scale[changed])

    def meaning(self) -> str:
        return f"nearness to left over right, summed over {'increments' if self.increments else 'coordinates'},"


class Nearness(Scorer):
    """Propose nearness to the inputs, also of increments, and to the medians: the best scores for Laplace noise.

    Coordinates whose medians agree share one, as answers to a repeated query do; no nearness is read where both agree.
    """

    learned = False  # medians of many outputs are too few numbers to fit chance
    of_vectors = True

    def propose(self, training: Training) -> Sequence[NearnessScore]:
        width, of_symbols = training.left.numbers.shape[1], symbol_ratio(training)
        rows = numeric_rows(training, min(VECTOR_ROWS, max(SAMPLE, MEDIAN_NUMBERS // width)))
        if rows is None or few_outputs(rows):
            return []
        layout, scores = Layout.of(training.pair, width), list[NearnessScore]()
        if layout.left is not None and layout.right is not None:
            inputs = width, of_symbols, layout.left, layout.right, np.ones(width)
            scores += [NearnessScore(*inputs), NearnessScore(*inputs, increments=True)]
        (left, scale, error), (right, other_scale, other_error) = map(_medians, map(finite_or_zero, rows))
        scale = (scale + other_scale) / 2
        alike = np.abs(left - right) <= MEDIAN_ERRORS * np.hypot(error, other_error)
        left = np.where(alike | (scale == 0), right, left)
        if np.array_equal(left, right) or not np.isfinite(scale).all():
            return scores
        return [*scores, NearnessScore(width, of_symbols, left, right, np.where(scale > 0, scale, 1.0))]


def _medians(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the median of each coordinate, its mean distance from the numbers, and its standard error; shape (d,)."""
    found, whole = _middle(np.sort(numbers.T, axis=1)), float(_middle(np.sort(numbers, axis=None)))
    with np.errstate(over="ignore"):
        scale = np.abs(numbers - found).mean(axis=0)
    error = scale / np.sqrt(len(numbers))
    if np.all(np.abs(found - whole) <= MEDIAN_ERRORS * error):
        found, error = np.full_like(found, whole), error / np.sqrt(len(found))
    return found, scale, error


def _middle(ordered: np.ndarray) -> np.ndarray:
    """Return the medians of numbers that are sorted along the last axis; NumPy sorts faster than it partitions."""
    size = ordered.shape[-1]
    return np.asarray((ordered[..., (size - 1) // 2] + ordered[..., size // 2]) / 2)


# The best interval of any width: tuned by `python -m benchmarks.violations`
SCAN_NEEDS = 20_000  # training outputs per dataset that show an interval of probability 0.01 at a ratio e^(epsilon + 1)

# The direction in which means differ: tuned on correct mechanisms of many kinds and the same with half the noise
FULL_COVARIANCE = 200  # coordinates up to which they are decorrelated. TIME
RIDGE_SHARE = 1e-6  # of the mean variance, added to all
NUMBERS_AT_ONCE = 2**18  # standardized in one piece: they fit the cache. TIME


@dataclass(frozen=True)
class Standard:
    """Center and scale columns, and cut them."""

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, rows: Rows) -> Standard:
        """Take medians and half of the range that holds 68 % of a sample; a column without spread keeps its scale."""
        sample, shares = sample_of(rows, SAMPLE), (0.16, 0.5, 0.84)
        if all_finite(sample):
            low, center, high = np.quantile(np.sort(sample.T, axis=1), shares, axis=1)  # sorted: much faster
        else:
            sample = np.where(np.isfinite(sample), sample, np.nan)
            sample[:, np.isnan(sample).all(axis=0)] = 0.0
            low, center, high = np.nanquantile(sample, shares, axis=0)
        scale = (high - low) / 2
        return cls(center, np.where(scale > 0, scale, 1.0))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers in spreads from the center, cut; 0 where there is none. Shape (size, d)."""
        plain = (numbers - self.center) / self.scale
        np.clip(plain, -CLIP, CLIP, out=plain)
        if not np.isfinite(plain[..., 0].sum() + plain.sum()):
            np.nan_to_num(plain, copy=False)
        return plain


@dataclass(frozen=True)
class Moments:
    """Hold the data that a direction is computed from."""

    gap: np.ndarray  # mean on left less mean on right, of standardized columns; shape (d,)
    spread: np.ndarray  # covariance within the sides, shape (d, d); of wide outputs only the variances, shape (d,)

    @classmethod
    def of(cls, rows: Rows, standard: Standard) -> Moments:
        """Sum over the rows of both sides, in blocks."""
        width = rows[0].shape[1]
        full = width <= FULL_COVARIANCE
        sums, squares = np.zeros((2, width)), np.zeros((width, width) if full else width)
        step = max(1, NUMBERS_AT_ONCE // width)
        for side, numbers in enumerate(rows):
            for start in range(0, len(numbers), step):
                plain = standard(numbers[start : start + step])
                sums[side] += plain.sum(axis=0)
                squares += plain.T @ plain if full else np.einsum("ij,ij->j", plain, plain)
        total = len(rows[0]) + len(rows[1])
        left, right = sums / np.array([[len(rows[0])], [len(rows[1])]])
        for part, number in ((left, len(rows[0])), (right, len(rows[1]))):
            squares -= number * (np.outer(part, part) if full else part**2)
        return cls(left - right, squares / total)

    def chance_gap(self, size: int, rng: np.random.Generator, level: float) -> np.ndarray:
        """Draw as much as chance adds, with this probability at most, to the difference of the means of equal laws.

        There are `size` rows on each side. Where noise has edges, the power rests on how far the fitted
        direction turns away.
        """
        normal = rng.standard_normal(len(self.gap))
        normal *= math.sqrt(2 / size * special.chdtri(len(normal), 1 - level)) / np.linalg.norm(normal)
        if self.spread.ndim == 1:
            return np.asarray(np.sqrt(self.spread) * normal)
        values, vectors = np.linalg.eigh(self.spread)
        return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * normal))

    def directions(self, gaps: np.ndarray) -> np.ndarray:
        """Return the weights of each gap between the means, shape (k, d) as the gaps."""
        if self.spread.ndim == 1:
            return np.asarray(gaps / np.maximum(self.spread, RIDGE_SHARE))
        ridge = RIDGE_SHARE * max(1.0, float(np.trace(self.spread)) / len(self.spread))
        return np.asarray(np.linalg.solve(self.spread + ridge * np.eye(len(self.spread)), gaps.T).T)


@dataclass(frozen=True)
class DirectionScore(RowScore):
    """Projection on a fitted direction."""

    standard: Standard
    weights: np.ndarray
    name = "direction"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        step = max(1, NUMBERS_AT_ONCE // self.width)
        parts = [self.standard(numbers[i : i + step]) @ self.weights for i in range(0, max(1, len(numbers)), step)]
        return np.asarray(np.concatenate(parts))

    def meaning(self) -> str:
        most = np.argsort(-np.abs(self.weights), kind="stable")[:4]
        shown = " ".join(f"{self.weights[i]:+.3g} [coordinate {i}]" for i in most)
        more = f" and {len(self.weights) - 4} more" if len(self.weights) > 4 else ""
        return f"projection {shown}{more}"


class Directions(Scorer):
    """Propose the difference of the means as a direction, by the spread within the sides, and that of the inputs."""

    of_vectors = True

    def propose(self, training: Training) -> Sequence[DirectionScore]:
        rows = numeric_rows(training, SCAN_NEEDS)
        if rows is None or few_outputs(rows):
            return []
        standard = Standard.of(rows)
        moments, layout = Moments.of(rows, standard), Layout.of(training.pair, rows[0].shape[1])
        found = [moments.directions(moments.gap[None, :])[0]]
        if layout.left is not None and layout.right is not None:
            found.append((layout.left - layout.right) * standard.scale)
        given = rows[0].shape[1], symbol_ratio(training), standard
        return [DirectionScore(*given, weights) for weights in found if np.isfinite(weights).all() and weights.any()]
