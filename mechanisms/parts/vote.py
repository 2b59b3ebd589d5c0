"""Votes, the winner, and how far a vote is from another winner.

A distance to instability must move by at most 1 when one vote changes, and be 0 on both sides of a change of winner:

    safe            max(0, ceil(gap / 2) - 1)      for every way to break ties; the default
    exact           votes that must change for another winner, minus 1; for "the smallest label wins ties" only
    gap             the first count minus the second: moves by 2, up to 2 where the winner changes

A class that cannot win (a score in no bin) may take votes: the checks let it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from audit import InequalityCheck, Verdict
from audit.errors import InvalidArgument
from mechanisms.queries import held

SOURCE = "Bassily, Thakurta & Thakkar 2018, Corollary 3.10"

Counts = np.ndarray
Pair = tuple[np.ndarray, np.ndarray]


def count_votes(votes: Any, labels: int) -> Counts:
    """Count votes of shape (voters, queries), labels 0, 1, ...; counts have shape (queries, labels)."""
    table = np.asarray(votes)
    labels = held(labels, "labels")
    if table.ndim != 2 or table.dtype.kind not in "biu":
        raise InvalidArgument.of("votes", "be integers of shape (voters, queries)", table)
    if table.size and not (table.min() >= 0 and table.max() < labels):
        raise InvalidArgument.of("votes", f"be labels 0 to {labels - 1}", (table.min(), table.max()))
    return np.stack([(table == label).sum(axis=0) for label in range(labels)], axis=-1)


def winner(counts: Counts) -> np.ndarray:
    """Return the smallest label among those with most votes; counts have shape (..., labels)."""
    return np.argmax(counts, axis=-1)


def gap(counts: Counts) -> np.ndarray:
    """Return the first count minus the second; infinite for a single label, whose winner never changes."""
    if counts.shape[-1] == 1:
        return np.full(counts.shape[:-1], math.inf)
    ordered = np.sort(counts, axis=-1)
    return ordered[..., -1] - ordered[..., -2]


def safe_distance(counts: Counts) -> np.ndarray:
    """Return max(0, ceil(gap / 2) - 1)."""
    return np.maximum(0, np.ceil(gap(counts) / 2) - 1)


def exact_distance(counts: Counts) -> np.ndarray:
    """Return the fewest votes that must change for another winner, minus 1.

    A label u overtakes the winner f with floor(g_u / 2) + 1 changed votes when u > f, with ceil(g_u / 2) when u < f,
    g_u the difference of their counts.
    """
    first = winner(counts)[..., None]
    behind = np.take_along_axis(counts, first, axis=-1) - counts
    label = np.arange(counts.shape[-1])
    changes = np.where(label > first, behind // 2 + 1.0, np.ceil(behind / 2))
    return np.asarray(np.where(label == first, np.inf, changes).min(axis=-1) - 1)


DISTANCES: dict[str, Callable[[Counts], np.ndarray]] = {"safe": safe_distance, "exact": exact_distance, "gap": gap}


@dataclass(frozen=True)
class VoteTable:
    """Questions to a table of votes: votes of shape (voters, m) -> (winners, distances). A record is a voter."""

    labels: int = 2
    distance: str = "safe"  # or "exact", "gap"

    def __post_init__(self) -> None:
        held(self.labels, "labels")
        if self.distance not in DISTANCES:
            raise InvalidArgument.of("distance", f"be one of {', '.join(DISTANCES)}", self.distance)

    def __call__(self, votes: Any) -> tuple[np.ndarray, np.ndarray]:
        counts = count_votes(votes, self.labels)
        return winner(counts), DISTANCES[self.distance](counts)


def unstable_pair(queries: int) -> Pair:
    """Return two tables of 41 votes whose winner the first one decides on every query: 1 left, 0 right."""
    rest = np.repeat(np.arange(40)[:, None] < 20, queries, axis=1).astype(np.int8)
    left, right = (np.vstack([np.full(queries, vote, dtype=np.int8), rest]) for vote in (1, 0))
    return left, right


def attack_pair(centers: Any, falls: Any, gaps: bool = False) -> Pair:
    """Return the tables whose safe distances come nearest to `centers`, falling from left to right or rising.

    They are d on one side and d + 1 on the other, query by query; the gap moves between 2 d + 1 and 2 d + 3, and with
    `gaps` it is what comes nearest. The first voter says 0 where the distance is small.
    """
    small = np.rint((np.asarray(centers) - 2) / 2 if gaps else np.asarray(centers) - 0.5).astype(int)
    voters = 2 * int(small.max()) + 5
    rest = (np.arange(voters - 1)[:, None] < small + (voters + 1) // 2).astype(np.int8)
    left, right = (np.vstack([first, rest]) for first in (np.int8(falls), 1 - np.int8(falls)))
    return left, right


def changed_votes(voters: int, labels: int, barred: bool) -> tuple[Counts, Counts]:
    """Enumerate all counts and the counts after one changed vote; shapes (pairs, labels).

    With `barred`, up to two voters choose a class that cannot win, and a vote may move there and back.
    """
    places = np.eye(labels + barred, labels, dtype=int)
    before, after = [], []
    for counts in product(range(voters + 1), repeat=labels):
        lost = voters - sum(counts)
        if 0 <= lost <= (2 if barred else 0):
            for source, target in product(places, repeat=2):
                changed = counts - source + target
                if changed.min() >= 0 and changed.sum() <= voters:
                    before.append(counts)
                    after.append(changed)
    return np.array(before), np.array(after)


def rule_cases(rule: Callable[[Counts], np.ndarray], at_a_change: bool) -> Iterator[tuple[str, float, float]]:
    """Compare the largest move of a distance under one changed vote with 1, or its largest value at a change with 0."""
    for labels, most in ((2, 12), (3, 8), (4, 6)):
        for voters, barred in product(range(2, most + 1), (False, True)):
            a, b = changed_votes(voters, labels, barred)
            flips = winner(a) != winner(b)
            found = rule(a)[flips] if at_a_change else np.abs(rule(a) - rule(b))
            yield f"k={voters} C={labels}{' one barred' * barred}", float(found.max()), float(not at_a_change)


_RULES: dict[str, tuple[Callable[[Counts], np.ndarray], bool, bool]] = {  # moves by <= 1?  0 where the winner changes?
    "safe": (safe_distance, True, True),
    "exact": (exact_distance, True, True),
    "gap": (gap, False, False),
    "gap minus one": (lambda counts: np.maximum(0, gap(counts) - 1), False, False),
    "half the gap": (lambda counts: gap(counts) / 2, True, False),
    "floor of half the gap": (lambda counts: np.floor(gap(counts) / 2), True, False),
}
_STATEMENTS = {
    False: ("moves by at most 1", "One vote moves it by 1 at most."),
    True: ("is 0 where the winner changes", "It is 0 wherever one vote changes the winner."),
}

CHECKS: list[InequalityCheck] = [
    InequalityCheck(
        name=f"bassily2018/distance {name} {_STATEMENTS[at_a_change][0]}",
        source=SOURCE,
        statement=_STATEMENTS[at_a_change][1] + ("" if holds else " This is false."),
        values=partial(rule_cases, rule, at_a_change),
        expected=Verdict.PASS if holds else Verdict.FAIL,
    )
    for name, (rule, *truths) in _RULES.items()
    for at_a_change, holds in zip((False, True), truths, strict=True)
]
