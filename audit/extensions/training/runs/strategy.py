"""Noise that is correlated over the steps on purpose: the strategy of a matrix factorization, and its sensitivity.

With a strategy C, lower triangular, the noise of all steps together is C^-1 Z, Z independent normal numbers of standard
deviation noise multiplier * clip * sensitivity. So C times the recorded noise is as independent as that of DP-SGD, and
is tested as such. The sensitivity is the largest norm of a sum of columns of C over the steps that one record may take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from audit.api import InvalidArgument

Kind = Literal["banded", "buffered", "tree", "matrix"]
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Strategy:
    """The strategy of correlated noise, as plain data.

    Parameters
    ----------
    kind : {"banded", "buffered", "tree", "matrix"}
        A lower triangular Toeplitz matrix with few diagonals; one whose coefficients are a sum of decaying powers (a
        buffered linear Toeplitz matrix); the binary tree of the steps, with fresh noise at each node and prefix sums
        from as few nodes as possible; any lower triangular matrix.
    numbers : sequence of float
        Banded: the coefficients, from the diagonal on, the first one positive. Buffered: scales w and decays b in turn,
        (w1, b1, w2, b2, ...), 0 <= b < 1: the coefficients are 1 and, at distance k >= 1, the sum of w b^(k - 1).
        Matrix: the rows up to the diagonal, one after the other. Tree: none.

    Raises
    ------
    InvalidArgument
        For numbers that make no strategy of the kind.

    References
    ----------
    Choquette-Choo et al. (2023), Multi-epoch matrix factorization mechanisms. McMahan et al. (2024), A hassle-free
    algorithm for private learning in practice (buffered Toeplitz). Kairouz et al. (2021), Practical and private (deep)
    learning without sampling or shuffling (trees). Kalinin & Lampert (2024), Banded square root matrix factorization.

    Examples
    --------
    >>> from audit.extensions.training import Strategy
    >>> banded = Strategy("banded", (1.0, 0.5, 0.375))
    >>> round(banded.sensitivity(steps=100, separation=10), 3)  # ten participations
    3.729
    >>> round(Strategy("tree").sensitivity(steps=8, separation=8), 3)  # four nodes above each step
    2.0
    """

    kind: Kind
    numbers: Numbers = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidArgument.of("kind", f"be one of {', '.join(get_args(Kind))}", self.kind)
        numbers = tuple(float(number) for number in self.numbers)
        object.__setattr__(self, "numbers", numbers)
        is_usable = {
            "banded": bool(numbers) and numbers[0] > 0,
            "buffered": len(numbers) % 2 == 0 and all(0 <= decay < 1 for decay in numbers[1::2]),
            "tree": not numbers,
            "matrix": math.isqrt(8 * len(numbers) + 1) ** 2 == 8 * len(numbers) + 1 and len(numbers) > 0,
        }[self.kind]
        if not is_usable or not all(map(math.isfinite, numbers)):
            raise InvalidArgument.of("numbers", f"make a {self.kind} strategy", self.numbers)

    def coefficients(self, steps: int) -> np.ndarray | None:
        """Return the first column where the strategy is a Toeplitz matrix, shape (steps,), else None."""
        if self.kind == "banded":
            return np.r_[self.numbers, np.zeros(steps)][:steps]
        if self.kind == "buffered":
            power = np.arange(steps - 1)
            parts = [w * b**power for w, b in zip(self.numbers[::2], self.numbers[1::2], strict=True)]
            return np.r_[1.0, np.sum(parts, axis=0) if parts else np.zeros(steps - 1)]
        return None

    def whitening(self, steps: int) -> np.ndarray:
        """Return the lower triangular matrix that makes the noise of the steps independent, shape (steps, steps)."""
        if self.kind != "tree":
            return self._strategy(steps)
        nodes = _nodes(steps)
        prefixes = np.array([_covered(nodes, last) for last in range(1, steps + 1)])
        of_steps = np.diff(prefixes, axis=0, prepend=0.0)
        return np.linalg.inv(np.linalg.cholesky(of_steps @ of_steps.T))

    def _strategy(self, steps: int) -> np.ndarray:
        if (first := self.coefficients(steps)) is not None:
            places = np.subtract.outer(np.arange(steps), np.arange(steps))
            return np.where(places >= 0, first[np.maximum(places, 0)], 0.0)
        if self.kind == "tree":
            return _nodes(steps)
        if len(self.numbers) != steps * (steps + 1) // 2:
            raise InvalidArgument.of("numbers", f"fill {steps} rows up to the diagonal", len(self.numbers))
        matrix = np.zeros((steps, steps))
        matrix[np.tril_indices(steps)] = self.numbers
        if not (np.diag(matrix) > 0).all():
            raise InvalidArgument.of("numbers", "be positive on the diagonal", float(np.diag(matrix).min()))
        return matrix

    def bands(self, steps: int) -> int:
        """Return the number of diagonals, the main one included, that are not zero; all of a tree."""
        if self.kind == "tree":
            return steps
        rows, columns = np.nonzero(self._strategy(steps))
        return int((rows - columns).max()) + 1

    def sensitivity_in_turn(self, steps: int, bins: int) -> float:
        """Return the sensitivity to one record that is in every `bins`-th step, from any of the first ones on.

        Exact where all products of columns are at least 0; else an upper bound.
        """
        matrix = self._strategy(steps)
        among = np.abs(matrix.T @ matrix)
        return math.sqrt(max(float(among[first::bins, first::bins].sum()) for first in range(min(bins, steps))))

    def sensitivity(self, steps: int, separation: int, participations: int | None = None) -> float:
        """Return the sensitivity to one record whose steps are `separation` apart at least; see `participations`.

        Exact for Toeplitz matrices with falling coefficients, where the first steps are the worst ones (Kalinin &
        Lampert), and for up to twice as many bands as the separation, where only successive steps of a record share
        rows; else an upper bound (Choquette-Choo et al.).
        """
        return _sensitivity(self, steps, separation, participations or -(-steps // separation))


@lru_cache(maxsize=64)
def _sensitivity(strategy: Strategy, steps: int, separation: int, participations: int) -> float:
    matrix, first = strategy._strategy(steps), strategy.coefficients(steps)
    if first is not None and (first >= 0).all() and (np.diff(first) <= 0).all():
        return float(np.linalg.norm(matrix[:, ::separation][:, :participations].sum(axis=1)))
    among = np.abs(matrix.T @ matrix)
    if not np.triu(among, 2 * separation).any():
        return math.sqrt(_chain(among, separation, participations))
    return math.sqrt(float(_best(_best(among, separation, participations)[None, :], separation, participations)[0]))


def _chain(among: np.ndarray, separation: int, participations: int) -> float:
    """Return the largest squared norm of a sum of columns, of either sign, where only successive ones overlap.

    Signs that alternate as their products do make all of these add up.
    """
    last = best = np.diag(among)
    for _ in range(participations - 1):
        reached = np.where(np.triu(np.ones_like(among), separation) > 0, last[:, None] + 2 * among, 0.0)
        last = np.diag(among) + reached.max(axis=0)
        best = np.maximum(best, last)
    return float(best.max())


def _best(values: np.ndarray, separation: int, participations: int) -> np.ndarray:
    """Return, for each row, the largest sum of at most `participations` of its values >= 0, that far apart."""
    rows, steps = values.shape
    before = np.zeros((rows, steps + 1))
    for _ in range(participations):
        best = np.zeros((rows, steps + 1))
        for step in range(steps):
            best[:, step + 1] = np.maximum(best[:, step], values[:, step] + before[:, max(0, step + 1 - separation)])
        before = best
    return before[:, -1]


def _nodes(steps: int) -> np.ndarray:
    """Return the nodes of the binary tree that are complete, as rows of zeros and ones over the steps."""
    widths = [2**level for level in range(steps.bit_length())]
    ends = [(start, start + width) for width in widths for start in range(0, steps - width + 1, width)]
    nodes: Any = np.zeros((len(ends), steps))
    for row, (start, end) in enumerate(ends):
        nodes[row, start:end] = 1.0
    return nodes


def _covered(nodes: np.ndarray, last: int) -> np.ndarray:
    """Return which nodes make up the steps before `last`, the widest ones first: as many as `last` has binary ones."""
    used, start = np.zeros(len(nodes)), 0
    widths, starts = nodes.sum(axis=1).astype(int), nodes.argmax(axis=1)
    for level in reversed(range(last.bit_length())):
        if last >> level & 1:
            used[np.flatnonzero((widths == 2**level) & (starts == start))[0]] = 1.0
            start += 2**level
    return used
