"""Sparse vector as it is used: one query at a time, chosen by who has read the answers before.

Implements AboveThreshold of Dwork & Roth 2014, algorithm 1, run anew after each answer "above": the threshold and
every query get fresh noise, and after `cutoff` answers "above" there are none. Theorem 3.23 gives (epsilon, 0) for one
run with threshold noise of scale 2 / epsilon and query noise of scale 4 / epsilon; c runs at epsilon / c compose to
epsilon.

Departures: a query reads one row of the data, plus a constant that the analyst chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import InteractiveCheck, PrivacyClaim, Refusal, Substitution
from mechanisms.interactive.sessions import PAIRS
from mechanisms.parts.sparse_vector import BOTTOM, ENDLESS, NO_ANSWER, Noise, Runs

SOURCE = "Dwork & Roth 2014, theorem 3.23"


class SparseVector:
    """Says whether a row is above the noisy threshold 0, until it has said so `cutoff` times."""

    is_renewed, is_fresh, is_endless = True, True, False  # of `Noise`

    def __init__(self, data: Any, rng: np.random.Generator, epsilon: float = 1.0, cutoff: int = 2) -> None:
        epochs = ENDLESS if self.is_endless else cutoff
        noise = Noise(2 * cutoff / epsilon, 0.0, epochs, is_renewed=self.is_renewed, is_fresh=self.is_fresh)
        self.data, self.runs = data, Runs(noise, 1, rng)

    def above(self, row: int, shift: float) -> bool:
        """Return whether a row plus a shift is above the threshold: paid above is paid below on negated answers."""
        code = self.runs.ask_one(-(self.data[row] + shift))
        if code == NO_ANSWER:
            raise PermissionError("the cut-off is reached")
        return code == BOTTOM


def cost(move: Any, answer: Any) -> Any:
    """Return the cost of an answer, of a budget of 2: each answer "above" ends a run."""
    return 0 if isinstance(answer, Refusal) else int(answer is True)


def until_above() -> Any:
    """Ask the first row until it is above, then the second one until that is."""
    for row in (0, 1):
        for _ in range(4):
            answer = yield "above", row, -1.0
            if answer is True or isinstance(answer, Refusal):
                break


CHECKS = [
    InteractiveCheck(
        name="interactive/sparse vector, two runs",
        make=SparseVector,
        claim=PrivacyClaim(1.0, 0.0, Substitution(), SOURCE),
        pairs=PAIRS,
        analyst=until_above,
        cost=cost,
        limit=2,
        budget="auto",
        tolerance=0.5,
    )
]
