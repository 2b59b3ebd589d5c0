"""Second phases that tell more than the value, sizes that are too small, and exponents that are not the stated ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from audit import Verdict
from mechanisms.stability.pieces import AGNOSTIC, answers_at, answers_check
from mechanisms.stability.rates import FORMULAS, formula_check
from mechanisms.stability.two_phases import Labels, majorities, phase_cases, phase_check


def margins(labels: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Return values that carry their distances: two more for each vote to spare.

    Broken: the values of neighbors differ where the majority is the same. True privacy: a distance in the clear.
    """
    values, distances = majorities(labels)
    return values + 2 * distances.astype(int), distances


CHECKS: list[Any] = [
    phase_check(
        "fault/stability Lemma 3.7, values with their distances",
        "A value may carry its distance; false: it changes where the majority does not.",
        partial(phase_cases, margins),
        expected=Verdict.FAIL,
    ),
    phase_check(
        "fault/stability Lemma 3.7, without its assumption",
        "The second phases agree on unstable data; false.",
        partial(phase_cases, majorities, False),
        expected=Verdict.FAIL,
    ),
    answers_check(
        "fault/stability pieces, a tenth of the teachers",
        "Theorem 4.4",
        answers_at(AGNOSTIC[1], 0.1),
        expected=Verdict.FAIL,
    ),
    *(
        formula_check(
            f"fault/stability rate of {theorem} in {axis}, {claimed:g}",
            theorem,
            replace(FORMULAS[theorem, axis], exponent=claimed),
            expected=Verdict.FAIL,
        )
        for theorem, axis, claimed in (
            ("Theorem 4.4", "n", -1.0),
            ("Theorem 4.6", "1 / alpha", 1.0),
            ("Theorem 4.7", "1 / alpha", 2.0),
        )
    ),
]
