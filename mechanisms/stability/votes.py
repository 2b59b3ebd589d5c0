"""Distance of a vote to another winner: the rules of the sub-sample-and-aggregate framework.

Algorithm 4 of Bassily, Thakurta & Thakkar (2018) takes "the gap between the first and the second count" as the distance
to instability. One changed record changes one teacher's vote, so that the gap moves by up to 2, and the winner can
change while the gap is 2. A distance must move by at most 1 and be 0 on both sides of a change of winner, therefore

    safe            max(0, ceil(gap / 2) - 1)      for every way to break ties; the default
    exact           votes that must change for another winner, minus 1; for "the smallest label wins ties" only
    gap             the text's words: moves by 2, up to 2 where the winner changes
    gap_minus_one   max(0, gap - 1): moves by 2, up to 1 where the winner changes

With two labels and an odd number of teachers `safe` and `exact` are both (gap - 1) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from audit import InequalityCheck, Verdict
from audit.errors import InvalidArgument
from audit.validate import integer

SOURCE = "Bassily, Thakurta & Thakkar 2018, Corollary 3.10"

Counts = np.ndarray


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
    first = winner(counts)
    behind = np.take_along_axis(counts, first[..., None], axis=-1) - counts
    label = np.arange(counts.shape[-1])
    changes = np.where(label > first[..., None], behind // 2 + 1.0, np.ceil(behind / 2))
    changes = np.where(label == first[..., None], np.inf, changes)
    return np.asarray(changes.min(axis=-1) - 1)


def gap_minus_one(counts: Counts) -> np.ndarray:
    """Return max(0, gap - 1)."""
    return np.maximum(0, gap(counts) - 1)


def half_gap(counts: Counts) -> np.ndarray:
    """Return gap / 2."""
    return gap(counts) / 2


def floor_half_gap(counts: Counts) -> np.ndarray:
    """Return floor(gap / 2)."""
    return np.floor(gap(counts) / 2)


DISTANCES: dict[str, Callable[[Counts], np.ndarray]] = {
    "safe": safe_distance,
    "exact": exact_distance,
    "gap": gap,
    "gap_minus_one": gap_minus_one,
}


def distance_rule(name: Any) -> Callable[[Counts], np.ndarray]:
    """Return the rule of that name, or raise."""
    if name not in DISTANCES:
        raise InvalidArgument.of("distance", f"be one of {', '.join(DISTANCES)}", name)
    return DISTANCES[name]


def count_votes(votes: Any, labels: int) -> Counts:
    """Count the votes of teachers: votes have shape (teachers, queries), counts (queries, labels)."""
    table = np.asarray(votes)
    labels = integer(labels, "labels", at_least=1)
    if table.ndim != 2 or table.dtype.kind not in "biu":
        raise InvalidArgument.of("votes", "be integers of shape (teachers, queries)", table)
    if table.size and not (table.min() >= 0 and table.max() < labels):
        raise InvalidArgument.of("votes", f"be labels 0 to {labels - 1}", (table.min(), table.max()))
    return np.stack([(table == label).sum(axis=0) for label in range(labels)], axis=-1)


def changed_votes(teachers: int, labels: int, barred: bool) -> tuple[Counts, Counts]:
    """Enumerate all counts and what one changed vote makes of them; shapes (pairs, labels).

    With `barred`, up to two teachers vote for a class that cannot win, and a vote may move there and back.
    """
    before, after = [], []
    for counts in product(range(teachers + 1), repeat=labels):
        lost = teachers - sum(counts)
        if not 0 <= lost <= (2 if barred else 0):
            continue
        places = [*range(labels), None] if barred else [*range(labels)]
        for source, target in product(places, repeat=2):
            changed = list(counts)
            if source is not None:
                changed[source] -= 1
            if target is not None:
                changed[target] += 1
            if min(changed) >= 0 and sum(changed) <= teachers:
                before.append(counts)
                after.append(changed)
    return np.array(before), np.array(after)


def move_cases(rule: Callable[[Counts], np.ndarray], bound: float) -> list[tuple[str, float, float]]:
    """Compare the largest move of the distance under one changed vote with `bound`."""
    return [(label, float(np.abs(rule(a) - rule(b)).max()), bound) for label, a, b in _enumerations()]


def unstable_cases(rule: Callable[[Counts], np.ndarray], bound: float) -> list[tuple[str, float, float]]:
    """Compare the largest distance at counts whose winner one vote can change with `bound`."""
    cases = []
    for label, a, b in _enumerations():
        flips = winner(a) != winner(b)
        cases.append((label, float(rule(a)[flips].max()), bound))
    return cases


def _enumerations() -> list[tuple[str, Counts, Counts]]:
    sizes = [(k, labels) for labels, most in ((2, 12), (3, 8), (4, 6)) for k in range(2, most + 1)]
    return [
        (f"k={k} C={c}{' one barred' if barred else ''}", *changed_votes(k, c, barred))
        for k, c in sizes
        for barred in (False, True)
    ]


_RULES: dict[str, tuple[Callable[[Counts], np.ndarray], bool, bool]] = {  # moves by <= 1?  0 where the winner changes?
    "safe": (safe_distance, True, True),
    "exact": (exact_distance, True, True),
    "gap": (gap, False, False),
    "gap minus one": (gap_minus_one, False, False),
    "half the gap": (half_gap, True, False),
    "floor of half the gap": (floor_half_gap, True, False),
}


def _check(name: str, what: str, statement: str, values: Any, holds: bool) -> InequalityCheck:
    return InequalityCheck(
        name=f"stability/distance {name} {what}",
        source=SOURCE,
        statement=statement if holds else f"{statement} This is false.",
        values=values,
        sense="<=",
        expected=Verdict.PASS if holds else Verdict.FAIL,
    )


CHECKS: list[InequalityCheck] = [
    check
    for name, (rule, moves, vanishes) in _RULES.items()
    for check in (
        _check(name, "moves by at most 1", "One vote moves it by 1 at most.", partial(move_cases, rule, 1.0), moves),
        _check(
            name,
            "is 0 where the winner changes",
            "It is 0 wherever one vote changes the winner.",
            partial(unstable_cases, rule, 0.0),
            vanishes,
        ),
    )
]
