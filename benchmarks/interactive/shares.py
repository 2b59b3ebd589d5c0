"""Measure what audits of conversations certify, as a share of the exact loss of the list of moves, and their cost.

`python -m benchmarks.interactive.shares [TEXT]` prints a line for each conversation whose name holds the text: at
100,000 conversations per dataset without a stated law, and what the harness adds to a turn.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np

from audit import PrivacyClaim, check_interactive
from audit.checks.interactive.conversation import Conversation
from mechanisms.interactive.counters import TreeCounter
from mechanisms.interactive.sessions import PAIRS, Session

BUDGET, LENGTH = 100_000, 16


class GeometricCounter(TreeCounter):
    """The tree counter with integer noise."""

    def noise(self, level: int) -> float:
        p = 1 - np.exp(-1 / self.scale)
        return float(self.rng.geometric(p) - self.rng.geometric(p))


class Nothing:
    """Answers at once."""

    def ask(self, row: int, epsilon: float) -> float:
        return 0.5


def opened(data: Any, rng: Any) -> Nothing:
    """Return an object that costs nothing."""
    return Nothing()


def nodes_of(time_of_event: int) -> int:
    """Return the number of nodes that hold an event and are used by some prefix: even ones, and the root."""
    levels = range(LENGTH.bit_length())
    return sum((time_of_event >> level) % 2 == 0 for level in levels)


def cases() -> Any:
    """Yield a name, an object, pairs, moves, and the exact epsilon."""
    for each in (0.1, 0.3):
        limited = partial(Session, limit=10 * each)
        yield f"Laplace, 10 answers at {each}", limited, PAIRS, [("ask", 0, each)] * 10, 10 * each
    for at in (0, 7, 15):
        stream = [int(place == at) for place in range(LENGTH)]
        yield (
            f"geometric counter, event {at + 1} of {LENGTH}",
            GeometricCounter,
            [([0] * LENGTH, stream)],
            [("step",)] * LENGTH,
            nodes_of(at) / 5,
        )


def harness() -> tuple[float, float]:
    """Return the microseconds that the harness takes for a conversation of 10 turns, and for one more turn."""
    taken = []
    for turns in (10, 20):
        talk = Conversation(opened, True, (("ask", 0, 0.1),) * turns)
        started = time.process_time()
        talk(None, 20_000, np.random.default_rng(0))
        taken.append((time.process_time() - started) / 20_000 * 1e6)
    return taken[0], (taken[1] - taken[0]) / 10


def main(text: str = "") -> None:
    """Print the table."""
    whole, turn = harness()
    print(f"harness: {whole:.1f} us for a conversation of 10 turns, {turn:.2f} us a turn")
    for name, make, pairs, moves, truth in cases():
        if text not in name:
            continue
        started = time.process_time()
        result = check_interactive(make, PrivacyClaim(truth), pairs, analyst=moves, budget=BUDGET, workers=0)
        seconds, share = time.process_time() - started, result.epsilon_lower_bound / truth
        said = f"{result.samples:,} conversations, {seconds:.0f} CPU s"
        print(f"{name}: {result.verdict}, share {share:.3f} of {truth:.3g}, {said}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
