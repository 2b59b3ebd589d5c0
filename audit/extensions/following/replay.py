"""Certificates by plain runs: the genuine run on one dataset, and the run with moved noise on the other, by a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.extensions.following.evidence import Direction
from audit.extensions.following.outputs import Rows
from audit.extensions.following.paths import Follower, Path
from audit.extensions.following.record import NotFollowed
from audit.extensions.following.rules import Rule
from audit.extensions.following.runs import Mechanism, Raised, call
from audit.extensions.following.suppliers import PlainSupplier

UNLIKE = "the plain run with the moved noise gives another output"
UNSEEN = "an output without a shift"


class RowsNotFollowed(NotFollowed):
    """The outputs of one call do not have draws of their own."""


def replay_rows(mechanism: Mechanism, start: Any, end: Any, rule: Rule, rows: int, seed: int) -> Direction:
    """Replay one call of many outputs; raises `RowsNotFollowed` where its rows do not follow the rule's draws."""
    outputs = call(mechanism, start, seed, None, rows)
    if isinstance(outputs, Raised):
        raise RowsNotFollowed("a call of many outputs raises")
    left = Rows(outputs, rows)
    places = rule.places_of(left)
    direction = Direction()
    supplier = PlainSupplier(shifts=rule.shifts, rows=np.maximum(places, 0))
    try:
        moved = call(mechanism, end, seed, supplier, rows)
    except NotFollowed as error:
        raise RowsNotFollowed(str(error)) from None
    same = np.zeros(rows, bool) if isinstance(moved, Raised) else left.equal(Rows(moved, rows))
    _count(direction, rule, places, same, supplier.loss)
    return direction


def replay_calls(follower: Follower, rule: Rule, runs: int, seed: int, goes_on: Callable[[int], bool]) -> Direction:
    """Replay calls of one output each, until `goes_on` says no; an output without a shift in the rule is followed."""
    mechanism, start, end = follower.mechanism, follower.start, follower.end
    direction = Direction()
    for run in range(runs):
        if not goes_on(run):
            break
        output = call(mechanism, start, seed + run, None)
        left = Rows([output] if isinstance(output, Raised) else output, 1)
        places = rule.places_of(left)
        if places[0] < 0:
            count_path(direction, follower.follow(seed + run))
            continue
        supplier = PlainSupplier(shifts=_pick(rule, int(places[0])))
        try:
            moved = call(mechanism, end, seed + run, supplier)
            same = left.equal(Rows([moved] if isinstance(moved, Raised) else moved, 1))
        except NotFollowed:
            same = np.zeros(1, bool)
        _count(direction, rule, places, same, supplier.loss)
    return direction


def _pick(rule: Rule, place: int) -> list[Any]:
    return [None if s is None else type(s)(s.law, s.table[max(place, 0)][None]) for s in rule.shifts]


def _count(direction: Direction, rule: Rule, places: np.ndarray, same: np.ndarray, losses: np.ndarray) -> None:
    known = places >= 0
    good = known & same
    if good.any():
        direction.add(rule.costs[places[good]], rule.squares[places[good]], losses[good])
    direction.add_bad(UNSEEN, int((~known).sum()))
    direction.add_bad(UNLIKE, int((known & ~same).sum()))


def count_path(direction: Direction, path: Path) -> None:
    """Add a followed run."""
    if path.is_good:
        found = path.alignment
        direction.add(np.array([found.cost]), np.array([found.square]), np.array([found.loss]))
    else:
        direction.add_bad(path.reason)
