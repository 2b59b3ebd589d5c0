"""How the coordinates of a vector output relate to the two inputs: what is near what, what changes alike.

Only the outputs and the pair are used, never the mechanism. A dataset that is a numeric vector of length n is laid
over an output of length k n, block by block; anything else leaves one group and no distances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.game.scorers.base import Training
from audit.subjects import Outputs


@dataclass(frozen=True)
class Layout:
    """The two inputs over the coordinates of an output.

    Parameters
    ----------
    left, right : array, shape (d,), or None
        What each coordinate would be without noise, if answers are released in order.
    groups : int array, shape (d,)
        Coordinates with the same group change alike and lie in the same block.
    blocks : int array, shape (d,)
        Which copy of the input a coordinate belongs to.
    """

    left: np.ndarray | None
    right: np.ndarray | None
    groups: np.ndarray
    blocks: np.ndarray

    @classmethod
    def of(cls, pair: tuple[Any, Any], width: int) -> Layout:
        """The layout of outputs of a given width."""
        alone = np.zeros(width, dtype=int)
        vectors = [_as_vector(data) for data in pair]
        left, right = vectors
        if left is None or right is None or len(left) != len(right) or not len(left) or width % len(left):
            return cls(None, None, alone, alone)
        size = len(left)
        blocks = alone if size == 1 else np.arange(width) // size
        left, right = (np.tile(vector, width // size) for vector in (left, right))
        groups = np.unique(np.column_stack([blocks, left, right]), axis=0, return_inverse=True)[1]
        return cls(left, right, groups.reshape(-1), blocks)

    def members(self) -> Iterator[np.ndarray]:
        """Coordinates of each group."""
        return (np.flatnonzero(self.groups == group) for group in range(int(self.groups.max()) + 1))

    def each_block(self) -> Iterator[np.ndarray]:
        """Coordinates of each copy of the input."""
        return (np.flatnonzero(self.blocks == block) for block in range(int(self.blocks.max()) + 1))


def nearness(numbers: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """|x - right| - |x - left| for each entry; 0 where it is not finite. Shape of `numbers`.

    In a form without rounding errors outside the interval between the two: the bits of a floating-point output are
    the business of the precision audit, and the ratio is flat there.
    """
    reach = np.abs(right - left)
    finite = np.isfinite(numbers)
    change = np.where(finite, numbers, 0.0)
    change *= -2.0
    change += left + right
    np.clip(change, -reach, reach, out=change)
    change *= np.sign(right - left)
    change *= finite
    return change


def at(numbers: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """Some coordinates of every row; unlike an index this keeps rows together in memory, several times as fast."""
    return np.take(numbers, coordinates, axis=1)


def occurrences(numbers: np.ndarray, flag: float) -> np.ndarray:
    """How often a flag occurs in each row; shape (size,)."""
    return np.asarray(np.einsum("ij->i", (numbers == flag).view(np.int8), dtype=np.int64))


def numeric_rows(training: Training, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The vectors of both sides without symbols, evenly thinned to `most` a side; None when there are none."""
    left, right = training.left, training.right
    if left.is_scalar or right.is_scalar or left.numbers.shape[1:] != right.numbers.shape[1:]:
        return None
    thinned = [_thin(side, most) for side in (left, right)]
    return (thinned[0], thinned[1]) if min(map(len, thinned)) >= 4 else None


def few_outputs(rows: tuple[np.ndarray, np.ndarray], most: int = 40, sample: int = 2000) -> bool:
    """True when the outputs take so few values that counting them sees everything."""
    start = np.concatenate([side[:sample] for side in rows])
    return len(np.unique(start, axis=0)) <= most


def symbol_ratio(training: Training) -> float:
    """Estimated log-likelihood ratio of an output that is a symbol rather than a vector."""
    counts = [float(np.sum(side.symbolic)) + 0.5 for side in (training.left, training.right)]
    totals = [len(side) + 0.5 for side in (training.left, training.right)]
    return float(np.log(counts[0] / totals[0]) - np.log(counts[1] / totals[1]))


@dataclass(frozen=True)
class RowScore(ABC):
    """What scores of vectors share: other shapes abstain, symbols have a ratio of their own."""

    width: int
    of_symbols: float

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.is_scalar or outputs.numbers.shape[1] != self.width:
            return np.full(len(outputs), np.nan)
        scores = self.rate(outputs.numbers)
        return scores if outputs.symbols is None else np.where(outputs.symbolic, self.of_symbols, scores)

    @abstractmethod
    def rate(self, numbers: np.ndarray) -> np.ndarray:
        """Score of each row; shape (size,)."""


def _as_vector(data: Any) -> np.ndarray | None:
    try:
        vector = np.asarray(data, dtype=float).ravel()
    except (TypeError, ValueError):
        return None
    return vector if np.isfinite(vector).all() else None


def _thin(side: Outputs, most: int) -> np.ndarray:
    numbers = side.numbers if side.symbols is None else side.numbers[~side.symbolic]
    return numbers[:: max(1, -(-len(numbers) // most))]
