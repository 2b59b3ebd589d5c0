"""Bounds for all learners that a learner breaks, learners that hide no label, and covers that are too coarse."""

from __future__ import annotations

from functools import partial
from typing import Any

from audit import InequalityCheck, Verdict
from mechanisms.cover.bands import RegionTrials, region_check
from mechanisms.cover.covering_numbers import remark_check
from mechanisms.cover.every_learner import SECTION_5_2, circle_check, hit_cases, necessary_cases
from mechanisms.cover.label_lower_bound import LEMMA_24
from mechanisms.cover.learners import LabelPrivateCoverLearner
from mechanisms.cover.separators import LinearSeparatorClass

_PLANE = LinearSeparatorClass(2)
_CLAIMED = "claimed after "
_LOUD = LabelPrivateCoverLearner(50.0, 0.05, _PLANE)

CHECKS: list[Any] = [
    InequalityCheck(
        name="fault/cover every learner, all labels for the privacy of one",
        source=_CLAIMED + LEMMA_24,
        statement="All labels together move a probability by e^alpha at most; false: learners do better than that.",
        values=partial(hit_cases, 0.0),
        budget=2,
        expected=Verdict.FAIL,
    ),
    InequalityCheck(
        name="fault/cover every learner, n / (2 alpha accuracy)",
        source=_CLAIMED + SECTION_5_2,
        statement="The proof gives n / (2 alpha a) examples; false: it gives a tenth of that.",
        values=partial(necessary_cases, 1 / 2),
        sense=">=",
        budget=2,
        expected=Verdict.FAIL,
    ),
    circle_check("fault/cover every learner, a thousand times the claimed alpha", _LOUD, expected=Verdict.FAIL),
    remark_check("fault/cover A3 on a cover of one word", 1.0, expected=Verdict.FAIL),
    region_check(
        "Example 3", "two caps", RegionTrials(3, 0.2, inside=False, poles=True), "fault/cover ", expected=Verdict.FAIL
    ),
]
