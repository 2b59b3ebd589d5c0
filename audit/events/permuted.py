"""Deal the outputs of one column to two sides at random, again and again, without sorting them again.

The column is sorted once. A dealing says which outputs the leading side has, in that order; how many of either side lie
up to a value is then a sum. What a plant takes from a side, or gives to it, is added to these sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.scorers._arrays import distinct
from audit.scorers.intervals import PLANTED_STEP, Column, Counts


class DealtColumn:
    """Hold a column sorted, and the sides of its dealings.

    Parameters
    ----------
    values : ndarray
        Of both sides together, in the order of the rows; those that are not finite are left out.
    leads : sequence of ndarray of bool
        Which rows the leading side has, in each dealing.
    """

    def __init__(self, values: np.ndarray, leads: Sequence[np.ndarray]) -> None:
        order = np.argsort(values)
        ordered = values[order]
        if not np.isfinite(ordered[:1].sum() + ordered[-1:].sum()):
            order, ordered = order[kept := np.isfinite(ordered)], ordered[kept]
        self.ordered, self._order, self._leads = ordered, order, leads
        ends = np.concatenate([ordered[PLANTED_STEP - 1 :: PLANTED_STEP], ordered[-1:]])
        self.ends = distinct(ends)
        self._upto = np.searchsorted(ordered, self.ends, "right")  # how many numbers lie up to each end
        self._known: dict[int, np.ndarray] = {}  # which places the leading side has
        self._counts: dict[int, np.ndarray] = {}  # how many of them lie up to each end
        self._sides: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def between(self, low: float, high: float) -> tuple[int, int]:
        """Return the first place of the sorted column from `low` on, and the first one beyond `high`."""
        return int(np.searchsorted(self.ordered, low)), int(np.searchsorted(self.ordered, high, "right"))

    def leading(self, dealing: int) -> np.ndarray:
        """Return which places of the sorted column the leading side has."""
        if dealing not in self._known:
            self._known[dealing] = self._leads[dealing][self._order]
        return self._known[dealing]

    def sides(self, dealing: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of either side, sorted."""
        if dealing not in self._sides:
            leading = self.leading(dealing)
            self._sides[dealing] = self.ordered[np.flatnonzero(leading)], self.ordered[np.flatnonzero(~leading)]
        return self._sides[dealing]

    def without(
        self, dealing: int, places: tuple[int, int], share: float, rng: np.random.Generator, ends: np.ndarray | None
    ) -> Counts:
        """Let the other side have each output of some places no more, with probability `share`: it has one beside."""
        first, last = places
        inside = first + np.flatnonzero(~self.leading(dealing)[first:last])
        gone = inside if share == 1.0 else inside[rng.random(len(inside)) < share]
        outside = len(self.ordered) - (last - first)
        if not outside:
            gone = gone[:0]
        come = rng.integers(max(1, outside), size=len(gone))
        come[come >= first] += last - first
        ends, upto = self._placed(ends)
        leading, other = self._below(dealing, upto)
        return Counts(ends, (leading, other + _moved(gone, come, upto)))

    def adding(
        self, dealing: int, value: float, share: float, rng: np.random.Generator, ends: np.ndarray | None
    ) -> Counts:
        """Let the leading side take a value in each of its outputs with this probability."""
        size = len(self.ordered)
        places = rng.choice(size, rng.binomial(size, share), replace=False, shuffle=False)
        gone = places[self.leading(dealing)[places]]
        is_first = ends is None
        ends, upto = self._placed(ends)
        leading, other = self._below(dealing, upto)
        at = int(np.searchsorted(ends, value))
        if is_first and value not in ends[at : at + 1]:
            place = self.between(value, value)[1]
            more = np.count_nonzero(self.leading(dealing)[:place])
            ends, upto = np.insert(ends, at, value), np.insert(upto, at, place)
            leading, other = np.insert(leading, at + 1, more), np.insert(other, at + 1, place - more)
        leading += _moved(gone, gone[:0], upto)
        leading[at + 1 :] += len(gone)
        return Counts(ends, (leading, other))

    def _placed(self, ends: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends, those of the column if none are given, and how many numbers lie up to each."""
        if ends is None:
            return self.ends, self._upto
        return ends, np.searchsorted(self.ordered, ends, "right")

    def _below(self, dealing: int, upto: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return 0, then how many of the numbers up to some places the leading side has, and how many the other one."""
        leading = self.leading(dealing)
        if upto is not self._upto:
            counts = np.array([np.count_nonzero(leading[:place]) for place in upto])
        elif dealing in self._counts:
            counts = self._counts[dealing]
        else:
            starts = np.append(0, upto[:-1])
            counts = np.cumsum(np.add.reduceat(leading.view(np.int8), starts, dtype=np.int32))
            self._counts[dealing] = counts
        return np.append(0, counts), np.append(0, upto - counts)


def counted(sides: tuple[np.ndarray, np.ndarray], ends: np.ndarray | None) -> Counts:
    """Count the numbers of two sides up to some ends, or to every few of them."""
    if ends is None:
        return Column.spaced((np.sort(sides[0]), np.sort(sides[1])), PLANTED_STEP)
    leading, other = (np.array([0, *(np.count_nonzero(side <= end) for end in ends)]) for side in sides)
    return Counts(ends, (leading, other))


def _moved(gone: np.ndarray, come: np.ndarray, upto: np.ndarray) -> np.ndarray:
    """Return how the counts up to each end change where outputs leave some places and come to others."""
    size = len(upto) + 1
    firsts = (np.searchsorted(upto, places, "right") + 1 for places in (gone, come))
    lost, won = (np.bincount(first, minlength=size)[:size] for first in firsts)
    return np.cumsum(won - lost)
