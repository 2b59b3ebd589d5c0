"""Tables of votes that differ in one teacher: the pairs on which vote releases are audited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer

Pair = tuple[np.ndarray, np.ndarray]


def vote_pair(distances: Sequence[int], rises: Sequence[bool], teachers: int) -> Pair:
    """Return two tables whose safe distances are d on one side and d + 1 on the other, query by query.

    Parameters
    ----------
    distances : sequence of int >= 0, length m
        The smaller safe distance d of each query; the gap moves between 2 d + 1 and 2 d + 3.
    rises : sequence of bool, length m
        Whether the distance rises from left to right; the first teacher votes 0 where it is small.
    teachers : int, odd, at least 2 max(distances) + 3
    """
    small, up = np.asarray(distances), np.asarray(rises, dtype=bool)
    if integer(teachers, "teachers", at_least=2 * int(small.max()) + 3) % 2 == 0:
        raise InvalidArgument.of("teachers", "be odd", teachers)
    ones = small + (teachers + 1) // 2
    rest = (np.arange(teachers - 1)[:, None] < ones).astype(np.int8)
    left, right = (np.vstack([first.astype(np.int8), rest]) for first in (~up, up))
    return left, right


def unstable_pair(queries: int, teachers: int = 41) -> Pair:
    """Return two tables whose winner the first teacher decides on every query: it votes 1 left, 0 right."""
    rest = np.repeat(np.arange(teachers - 1)[:, None] < (teachers - 1) // 2, queries, axis=1).astype(np.int8)
    left, right = (np.vstack([np.full(queries, vote, dtype=np.int8), rest]) for vote in (1, 0))
    return left, right


def attack_pair(threshold: float, lam: float, levels: np.ndarray, falls: np.ndarray, gaps: bool = False) -> Pair:
    """Return the tables whose distances come nearest to threshold + lam * levels, falling from left to right or rising.

    `gaps` places the gap there, not the safe distance.
    """
    center = threshold + lam * np.asarray(levels)
    small = np.rint((center - 2) / 2 if gaps else center - 0.5).astype(int)
    return vote_pair(small.tolist(), (~np.asarray(falls, dtype=bool)).tolist(), 2 * int(small.max()) + 5)
