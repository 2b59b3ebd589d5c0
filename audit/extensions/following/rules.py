"""Rules of shifts: one shift for each value of the discrete part of the output, certified by plain runs alone.

The theorem needs nothing of the tracer: where the shift depends on the output alone, and the genuine run on one dataset
and the plain run with moved noise on the other give the same output but for a share delta' of the runs, then
P(M(start) in S) <= e^cost P(M(end) in S) + delta' for every S.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.extensions.following.alignment import solve_program
from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.outputs import Form
from audit.extensions.following.paths import Path
from audit.extensions.following.record import Draw, simplify
from audit.extensions.following.suppliers import Shift


@dataclass(frozen=True)
class Rule:
    """Shifts by the discrete part of the output."""

    keys: dict[bytes, int] | None  # None: one shift for all outputs
    shifts: list[Shift | None]
    costs: np.ndarray  # by key, without Gaussian noise
    squares: np.ndarray  # by key, of Gaussian noise
    width: int  # noise in one output

    def places_of(self, outputs: Form) -> np.ndarray:
        """Return the place of each output's key, -1 where it has no shift."""
        if self.keys is None:
            return np.zeros(len(outputs.words), int)
        names, inverse = outputs.group()
        return np.array([self.keys.get(name, -1) for name in names], int)[inverse]


def find_rule(paths: Sequence[Path], merge: bool) -> Rule | None:
    """Return a rule that agrees with followed runs; with `merge`, one that drops comparisons of varying result."""
    good = [path for path in paths if path.is_good]
    for is_constant in (False,) if merge else (True, False):
        groups: dict[bytes, list[Path]] = defaultdict(list)
        for path in good:
            groups[b"" if is_constant else path.form.key].append(path)
        found = {key: _merge(group) if merge else _agreed(group) for key, group in groups.items()}
        kept = {key: moves for key, moves in found.items() if moves is not None}
        if kept and sum(len(groups[key]) for key in kept) > 0.5 * len(paths):
            return _build(kept, is_constant)
    return None


@dataclass(frozen=True)
class _Moved:
    draws: tuple[tuple[NoiseLaw, np.ndarray], ...]
    cost: float
    square: float
    width: int


def _moves_of(draws: Sequence[Draw], shift: np.ndarray) -> _Moved | None:
    """Return shifts by draw, with their price; None where a shift is not finite or costs too much."""
    moves, cost, square = [], 0.0, 0.0
    for draw in draws:
        part = shift[draw.places].reshape(draw.shape)
        part = np.where(np.abs(part) < 1e-12, 0.0, part)
        moves.append((draw.law, part))
        if draw.law.is_normal:
            square += float((part**2).sum())
        else:
            cost += float(draw.law.cost_of(part).sum())
    while moves and not moves[-1][1].any():
        moves.pop()
    return _Moved(tuple(moves), cost * (1 + 1e-9), square, len(shift)) if np.isfinite(cost) else None


def _agreed(group: Sequence[Path]) -> _Moved | None:
    """Return the shift of all runs of a group, if it is one."""
    first: _Moved | None = None
    for path in group:
        moves = _moves_of(path.record.draws, path.alignment.noise - path.record.noise)
        if moves is None or path.record.parents:
            return None
        first = first or moves
        same = len(first.draws) == len(moves.draws) and all(
            a[0] == b[0] and a[1].shape == b[1].shape and np.allclose(a[1], b[1], rtol=1e-9, atol=1e-9)
            for a, b in zip(first.draws, moves.draws, strict=True)
        )
        if not same:
            return None
    return first


def _merge(group: Sequence[Path]) -> _Moved | None:
    """Return the least shift for the comparisons that have one result in all runs of a group."""
    need: dict[Any, float] = {}
    for path in group:
        for key, by in _list_needs(path):
            need[key] = max(need.get(key, -np.inf), by)
    mirrored = {tuple((place, -weight) for place, weight in key) for key in need}
    kept = [(key, by) for key, by in need.items() if key not in mirrored]
    longest = max((path.record for path in group), key=lambda record: len(record.noise))
    size = len(longest.noise)
    if size * len(kept) > 1_000_000:
        return None
    rows = np.zeros((len(kept), size))
    for row, (key, _) in zip(rows, kept, strict=True):
        for place, weight in key:
            row[place] = weight
    laws = [longest.kinds[code] for code in longest.codes]
    shift = solve_program(rows, np.array([by for _, by in kept]), laws)
    return None if shift is None or longest.parents else _moves_of(longest.draws, shift)


def _list_needs(path: Path) -> list[tuple[Any, float]]:
    """Return the coefficients of each comparison, and how far its noise must move."""
    needs = []
    for shown, other in zip(path.record.observations, path.other.observations, strict=True):
        if shown.kind not in ("truth", "place") or shown.rows is None or other.rows is None:
            continue
        left, places, weights = simplify(shown.rows)
        for at, by in enumerate(left - simplify(other.rows)[0]):
            pairs = zip(places[at].tolist(), np.round(weights[at], 9).tolist(), strict=True)
            needs.append((tuple(sorted((place, weight) for place, weight in pairs if weight)), float(by)))
    return needs


def _build(found: dict[bytes, _Moved], is_constant: bool) -> Rule | None:
    """Put the shifts of all keys into one table for each draw."""
    moves = list(found.values())
    shifts: list[Shift | None] = []
    for place in range(max((len(moved.draws) for moved in moves), default=0)):
        here = {(moved.draws[place][0], moved.draws[place][1].shape) for moved in moves if len(moved.draws) > place}
        if len(here) > 1:
            return None
        law, shape = here.pop()
        table = [moved.draws[place][1] if len(moved.draws) > place else np.zeros(shape) for moved in moves]
        shifts.append(Shift(law, np.stack(table)) if any(part.any() for part in table) else None)
    costs, squares = np.array([m.cost for m in moves]), np.array([m.square for m in moves])
    keys = None if is_constant else {key: place for place, key in enumerate(found)}
    return Rule(keys, shifts, costs, squares, max(moved.width for moved in moves))
