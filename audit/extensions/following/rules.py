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
from audit.extensions.following.paths import Path
from audit.extensions.following.record import simplify
from audit.extensions.following.runs import Form
from audit.extensions.following.sources import Shifts


@dataclass(frozen=True)
class Rule:
    """Shifts by the discrete part of the output."""

    keys: dict[bytes, int] | None  # None: one shift for all outputs
    shifts: Shifts
    costs: np.ndarray  # by key, without Gaussian noise
    squares: np.ndarray  # by key, of Gaussian noise

    def places_of(self, outputs: Form) -> np.ndarray:
        """Return the place of each output's key, -1 where it has no shift."""
        if self.keys is None:
            return np.zeros(len(outputs.words), int)
        names, inverse = outputs.group()
        return np.array([self.keys.get(name, -1) for name in names], int)[inverse]


def find_rule(paths: Sequence[Path], merge: bool) -> Rule | None:
    """Return a rule that agrees with followed runs; with `merge`, one that drops comparisons of varying result."""
    good = [path for path in paths if path.is_good]
    if any(path.record.logs for path in good):  # a shift of the logarithm is none of the noise
        return None
    for is_constant in (False,) if merge else (True, False):
        groups: dict[bytes, list[Path]] = defaultdict(list)
        for path in good:
            groups[b"" if is_constant else path.form.key].append(path)
        found = {key: _merge(group) if merge else _agree(group) for key, group in groups.items()}
        kept = {key: shift for key, shift in found.items() if shift is not None}
        if kept and sum(len(groups[key]) for key in kept) > 0.5 * len(paths):
            laws = max((path.record.laws for path in good), key=len)
            return _build(kept, laws, is_constant)
    return None


def all_move_alike(paths: Sequence[Path]) -> bool:
    """Test whether all runs are good, and their noise moves by one shift."""
    return all(path.is_good for path in paths) and _agree(paths) is not None


def shows_its_only_place(paths: Sequence[Path]) -> bool:
    """Test whether a run observes one place alone, which its output shows: no comparison of it can be dropped."""
    places: dict[bytes, set[Any]] = defaultdict(set)
    for path in paths:
        seen = [shown for shown in path.record.observations if shown.kind != "value"]
        if len(seen) != 1 or seen[0].kind != "place" or np.size(seen[0].result) != 1:
            return False
        places[path.form.key].add(int(seen[0].result[0]))
    return all(len(each) == 1 for each in places.values())


def _agree(group: Sequence[Path]) -> np.ndarray | None:
    """Return the shift of all runs of a group, if it is one."""
    shifts = np.zeros((len(group), max(len(path.record.noise) for path in group)))
    for row, path in zip(shifts, group, strict=True):
        moved = path.alignment.noise - path.record.noise
        row[: len(moved)] = np.where(np.abs(moved) < 1e-12, 0.0, moved)
    return shifts[0] if np.allclose(shifts, shifts[0], rtol=1e-9, atol=1e-9) else None


def _merge(group: Sequence[Path]) -> np.ndarray | None:
    """Return the least shift for the comparisons that have one result in all runs of a group."""
    need: dict[Any, float] = {}
    for path in group:
        for key, by in _list_needs(path):
            need[key] = max(need.get(key, -np.inf), by)
    mirrored = {tuple((place, -weight) for place, weight in key) for key in need}
    kept = [(key, by) for key, by in need.items() if key not in mirrored]
    laws = max((path.record.laws for path in group), key=len)
    if len(laws) * len(kept) > 1_000_000:
        return None
    rows = np.zeros((len(kept), len(laws)))
    for row, (key, _) in zip(rows, kept, strict=True):
        for place, weight in key:
            row[place] = weight
    return solve_program(rows, np.array([by for _, by in kept]), laws)


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


def _build(found: dict[bytes, np.ndarray], laws: list[NoiseLaw], is_constant: bool) -> Rule | None:
    """Put the shifts of all keys into one table, with their prices; None where one costs too much."""
    table = np.zeros((len(found), len(laws)))
    for row, shift in zip(table, found.values(), strict=True):
        row[: len(shift)] = shift
    costs, squares = np.zeros(len(found)), np.zeros(len(found))
    for law in set(laws):
        part = table[:, [each == law for each in laws]]
        if law.is_normal:
            squares += (part**2).sum(axis=1)
        else:
            costs += law.cost_of(part).sum(axis=1) * (1 + 1e-9)
    keys = None if is_constant else {key: place for place, key in enumerate(found)}
    return Rule(keys, Shifts(table, laws), costs, squares) if np.isfinite(costs).all() else None
