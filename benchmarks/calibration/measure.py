"""Count alarms, case by case, for a given time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from audit.statistics.bounds import proportion_lower_bound, proportion_upper_bound
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


def measure(cells: Sequence[Cell], audits: int, minutes: float) -> None:
    """Count alarms in all cells, a slice of time each in turn, until they have enough audits or the time is over.

    The time does not depend on what was counted, so that stopping does not bias the rates. Every cell gets one audit at
    least; cells beyond the edge get a quarter of the audits that the edge has got, up to 500.
    """
    until, done = time.perf_counter() + 60 * minutes, False
    while not done:
        at_edge = {cell.case: cell for cell in cells if cell.factor == EDGE}
        before = sum(cell.audits for cell in cells)
        for cell in cells:
            if time.perf_counter() < until or cell.audits == 0:
                cell.run(audits if cell.factor == EDGE else _most_power(at_edge.get(cell.case)))
        done = time.perf_counter() >= until or sum(cell.audits for cell in cells) == before


def _most_power(edge: Cell | None) -> int:
    return MOST_POWER if edge is None else min(MOST_POWER, max(1, edge.audits // POWER_SHARE))
