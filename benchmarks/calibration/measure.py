"""Counting alarms, case by case, for a given time; what was counted can be kept in a file and continued."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import audit
from audit.statistics.binomial import proportion_lower_bound, proportion_upper_bound
from benchmarks.calibration.cases import FACTORS, Case

CONFIDENCE = 0.999  # of the two-sided interval
EDGE = 1.0
SLICE, POWER_SLICE = 2.0, 0.2  # seconds of a round, at the edge and beyond it, for a cell whose audit takes a second
POWER_SHARE, MOST_POWER = 4, 500  # beyond the edge: a quarter of the audits at the edge, and no more than 500


@dataclass
class Cell:
    """Audits of one case at one factor: how many, and how many alarms they raised."""

    case: Case
    factor: float
    audits: int = 0
    alarms: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> str:
        """Names the cell in a state file."""
        return f"{self.case.key} | {self.factor:g}"

    @property
    def interval(self) -> tuple[float, float]:
        """Exact interval of the alarm rate; misses with probability at most 0.001 (Clopper & Pearson 1934)."""
        end = (1 - CONFIDENCE) / 2
        if self.audits == 0:
            return 0.0, 1.0
        return (
            proportion_lower_bound(self.alarms, self.audits, end),
            proportion_upper_bound(self.alarms, self.audits, end),
        )

    @property
    def slice(self) -> float:
        """Seconds of a round, as the square root of an audit's cost: a dear cell gets more time, and fewer audits."""
        cost = self.seconds / self.audits if self.audits else 0.0
        return math.sqrt(cost) * (SLICE if self.factor == EDGE else POWER_SLICE)

    def run(self, most: int) -> None:
        """Audit with fresh seeds, once at least, until the slice of time is over or the number is reached."""
        started, before, wanted = time.perf_counter(), self.seconds, self.slice
        while self.audits < most:
            self.alarms += bool(self.case.audit(self.factor, self.audits))
            self.audits += 1
            self.seconds = before + time.perf_counter() - started
            if self.seconds - before >= wanted:
                return


def cells_of(cases: Sequence[Case]) -> list[Cell]:
    """The cells of the table, nothing counted yet."""
    return [Cell(case, factor) for case in cases for factor in (EDGE, *FACTORS)]


def measure(cells: Sequence[Cell], audits: int, minutes: float, state: Path | None = None) -> None:
    """Count alarms in all cells, a slice of time each in turn, until they have enough audits or the time is over.

    The time does not depend on what was counted, so that stopping does not bias the rates.

    Parameters
    ----------
    cells : sequence of Cell
        Counted in place.
    audits : int
        Most audits of a cell at the edge; cells beyond it get a quarter of what the edge has got, up to 500.
    minutes : float
        Every cell gets one audit at least.
    state : Path, optional
        Where counts are kept: read first, if they are of this code, and written after every round.
    """
    if state is not None:
        _restore(cells, state)
    until = time.perf_counter() + 60 * minutes
    for _ in _rounds(until):
        at_edge = {cell.case: cell for cell in cells if cell.factor == EDGE}
        before = sum(cell.audits for cell in cells)
        for cell in cells:
            if time.perf_counter() < until or cell.audits == 0:
                cell.run(audits if cell.factor == EDGE else _most_power(at_edge.get(cell.case)))
        if sum(cell.audits for cell in cells) == before:
            return
        if state is not None:
            _keep(cells, state)


def _rounds(until: float) -> Iterator[None]:
    yield
    while time.perf_counter() < until:
        yield


def _most_power(edge: Cell | None) -> int:
    return MOST_POWER if edge is None else min(MOST_POWER, max(1, edge.audits // POWER_SHARE))


def fingerprint() -> str:
    """Of the package's code: counts of other code are not continued."""
    root = Path(audit.__file__).parent
    code = b"".join(path.read_bytes() for path in sorted(root.rglob("*.py")))
    return f"{zlib.crc32(code):08x}"


def _kept(state: Path) -> dict[str, Any]:
    """Counts of this code by the keys of their cells."""
    if not state.exists():
        return {}
    kept: dict[str, Any] = json.loads(state.read_text(encoding="utf-8"))
    if kept["code"] != fingerprint():
        print(f"{state} was counted on other code: starting anew", flush=True)
        return {}
    return dict(kept["cells"])


def _restore(cells: Sequence[Cell], state: Path) -> None:
    kept = _kept(state)
    for cell in cells:
        cell.audits, cell.alarms, cell.seconds = kept.get(cell.key, (0, 0, 0.0))


def _keep(cells: Sequence[Cell], state: Path) -> None:
    counted = _kept(state) | {cell.key: (cell.audits, cell.alarms, cell.seconds) for cell in cells}
    state.write_text(json.dumps({"code": fingerprint(), "cells": counted}, indent=0), encoding="utf-8")
