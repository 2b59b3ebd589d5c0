"""Measure what audits of conversations certify, as a share of the exact loss of the list of moves, and their cost.

`python -m benchmarks.interactive.shares [TEXT [SEEDS]]` prints a line for each conversation whose name begins so:
at 100,000 conversations per dataset without a stated law, and what the harness adds to a turn. Of several
seeds it prints the mean share and the least one. Conversations named `defaults` are correct ones of 10 and 16 numbers,
for which nothing is set: their verdicts.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

import numpy as np

from audit import Group, PrivacyClaim, check_interactive
from audit.extensions.interactive.conversation import Conversation
from mechanisms.interactive.counters import TreeCounter
from mechanisms.interactive.sessions import PAIRS, Session
from mechanisms.interactive.sparse import SparseVector

BUDGET, LENGTH, QUERIES = 100_000, 16, 8


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


def loss_of_sparse_vector() -> float:
    """Return the exact epsilon of 7 queries about row 0 and one about row 1, for (0, 1) beside (1, 0)."""
    grid, step = np.linspace(-80.0, 80.0, 400_001, retstep=True)
    density = np.exp(-np.abs(grid) / 2) / 4  # of the threshold
    laws = []
    for rows in ((0, 1), (1, 0)):
        below, law = density * step, []
        for row in (rows[0],) * (QUERIES - 1) + (rows[1],):
            tail = np.exp(-np.abs(grid - row) / 4) / 2
            law.append(float((below * np.where(grid > row, tail, 1 - tail)).sum()))
            below = below * np.where(grid > row, 1 - tail, tail)
        laws.append(np.array([*law, below.sum()]))
    return float(np.abs(np.log(laws[0] / laws[1])).max())


def cases() -> Any:
    """Yield a name, an object, pairs, moves, and the exact epsilon."""
    for each in (0.1, 0.3):
        limited = partial(Session, limit=10 * each)
        asked = [("ask", 0, each)] * 10
        yield f"Laplace, 10 answers at {each}", limited, PAIRS, asked, 10 * each
    for at in (0, 3, 7, 11, 15):
        stream = [int(place == at) for place in range(LENGTH)]
        pairs, moves = [([0] * LENGTH, stream)], [("step",)] * LENGTH
        yield f"geometric counter, event {at + 1} of {LENGTH}", GeometricCounter, pairs, moves, nodes_of(at) / 5
    moves = [("above", 0, 0.0)] * (QUERIES - 1) + [("above", 1, 0.0)]
    rows = [([0.0, 1.0], [1.0, 0.0])]
    loss = loss_of_sparse_vector()
    yield f"sparse vector, {QUERIES} queries", partial(SparseVector, cutoff=1), rows, moves, loss


def harness() -> tuple[float, float]:
    """Return the microseconds that the harness takes for a conversation of 10 turns, and for one more turn."""
    taken = []
    for turns in (10, 20):
        talk = Conversation(opened, True, (("ask", 0, 0.1),) * turns)
        started = time.process_time()
        talk(None, 20_000, np.random.default_rng(0))
        taken.append((time.process_time() - started) / 20_000 * 1e6)
    return taken[0], (taken[1] - taken[0]) / 10


def by_default(text: str) -> None:
    """Print the verdicts of correct sessions that are audited as they come."""
    for length in (10, 16):
        if not (name := f"defaults, {length} answers at {1 / length}").startswith(text):
            continue
        started = time.process_time()
        result = check_interactive(
            Session, PrivacyClaim(1.0), PAIRS, analyst=[("ask", 0, 1 / length)] * length, workers=0
        )
        seconds = time.process_time() - started
        print(
            f"{name}: {result.verdict} {result.basis}, {result.samples:,} conversations, {seconds:.0f} CPU s",
            flush=True,
        )


def main(text: str = "", seeds: str = "1") -> None:
    """Print the table."""
    whole, turn = harness()
    print(f"harness: {whole:.1f} us for a conversation of 10 turns, {turn:.2f} us a turn")
    by_default(text)
    for name, make, pairs, moves, truth in cases():
        if not name.startswith(text):
            continue
        started, shares = time.process_time(), []
        claim = PrivacyClaim(truth, 0.0, Group(2))
        for seed in range(int(seeds)):
            given = {"analyst": moves, "budget": BUDGET, "seed": seed, "workers": 0}
            result = check_interactive(make, claim, pairs, **given)
            shares.append(result.epsilon_lower_bound / truth)
        seconds = (time.process_time() - started) / len(shares)
        said = f"share {np.mean(shares):.3f} (least of {len(shares)}: {min(shares):.3f}) of {truth:.3g}"
        print(f"{name}: {said}, {result.samples:,} conversations, {seconds:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
