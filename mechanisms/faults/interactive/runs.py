"""Faults of sparse vector and of counters of streams. All claim (1, 0)-DP for the whole conversation."""

from __future__ import annotations

from typing import Any

from audit import Refusal
from mechanisms.faults.interactive.checks import fault
from mechanisms.interactive.counters import LENGTH, NOTHING, STEPS, TreeCounter, event_at
from mechanisms.interactive.sparse import SparseVector, cost


class AnswersAfterCutoff(SparseVector):
    """Counts its answers "above", and goes on."""

    is_endless = True


class CountsByIndex(SparseVector):
    """Counts the rows that were above, by the index that the caller gives: a row that is asked again is free."""

    def above(self, row: int, shift: float) -> bool:
        """Answer, and count the row."""
        found = super().above(row, shift)
        self.rows = {*getattr(self, "rows", ()), *[row] * found}
        self.runs.paid[0] = len(self.rows)
        return found


class QueryNoiseKept(SparseVector):
    """Draws the noise of its queries once, as that of its threshold, and redraws neither."""

    is_renewed = is_fresh = False


class NodesOfALevel(TreeCounter):
    """One noise for all nodes of a level."""

    def noise(self, level: int) -> float:
        self.levels = getattr(self, "levels", {})
        return float(self.levels.setdefault(level, super().noise(level)))


class Restarts(TreeCounter):
    """Begins anew in the middle of the stream, with the noise of the first half."""

    def node(self, level: int, start: int) -> float:
        middle = len(self.stream) // 2
        if start < middle or (level, start) in self.nodes:
            return super().node(level, start)
        first = super().node(level, start - middle) - sum(self.stream[start - middle : start - middle + (1 << level)])
        self.nodes[level, start] = first + sum(self.stream[start : start + (1 << level)])
        return self.nodes[level, start]


class BareTop(TreeCounter):
    """The node of the whole stream has no noise."""

    def noise(self, level: int) -> float:
        return 0.0 if 1 << level == len(self.stream) else super().noise(level)


class TellsUpdates(TreeCounter):
    """Says how many events there were as the number that it has taken."""

    def size(self) -> int:
        return sum(self.stream[: self.taken])


class NoiseOfAStep(TreeCounter):
    """Pays for one node of each event, and not for all levels above it."""

    def noise(self, level: int) -> float:
        return float(self.rng.laplace())


def above_again() -> Any:
    """Ask for a row that is far above until there is no answer."""
    for _ in range(5):
        answer = yield "above", 0, 200.0
        if isinstance(answer, Refusal):
            return


SPARSE = {"cost": cost, "limit": 2}
STREAMS: dict[str, Any] = {"pairs": [(NOTHING, event_at(0))]}
BESIDE = [("above", 1, 0.0), ("above", 0, 0.0)]
CHECKS = [
    fault("answers after its cut-off", AnswersAfterCutoff, above_again, **SPARSE),
    fault("counts by index", CountsByIndex, above_again, **SPARSE),
    fault("query noise kept", QueryNoiseKept, BESIDE),
    fault(
        "nodes of a level",
        NodesOfALevel,
        STEPS,
        **STREAMS,
    ),
    fault("restarts", Restarts, STEPS, **STREAMS),
    fault("bare top", BareTop, STEPS, **STREAMS),
    fault("tells updates", TellsUpdates, [*STEPS[: LENGTH // 2], ("size",)], **STREAMS),
    fault("noise of a step", NoiseOfAStep, STEPS, **STREAMS),
]
