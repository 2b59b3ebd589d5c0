"""Score vectors along the one direction in which their means differ most beside their spread: linear discriminants.

For normal noise of one covariance the projection is the log-likelihood ratio up to its scale, whatever the direction of
the shift. Columns are cut at a few spreads, so that heavy tails do not set the direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.scorers.base import Scorer, Training
from audit.scorers.rows import (
    CLIP,
    SAMPLE,
    Rows,
    RowScore,
    all_finite,
    few_outputs,
    numeric_rows,
    sample_of,
    symbol_ratio,
)

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
    """Propose the projection on the difference of the means, in units of the spread within the sides."""

    of_vectors = True

    def propose(self, training: Training) -> Sequence[DirectionScore]:
        rows = numeric_rows(training, SCAN_NEEDS)
        if rows is None or few_outputs(rows):
            return []
        standard = Standard.of(rows)
        moments = Moments.of(rows, standard)
        weights = moments.directions(moments.gap[None, :])[0]
        if not np.isfinite(weights).all() or not weights.any():
            return []
        return [DirectionScore(rows[0].shape[1], symbol_ratio(training), standard, weights)]
