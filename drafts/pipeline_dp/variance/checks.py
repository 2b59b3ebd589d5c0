"""pipeline_dp, squares of a variance."""

from __future__ import annotations

from wild.pipeline_dp.audits import Pairs, one_check

LARGE_BUDGET = 34_000
_ENDS: Pairs = [([-1.0], [-1.0, 1.0])]

CHECKS = [
    one_check("VARIANCE in [-1, 1]", _ENDS, budget=LARGE_BUDGET),
]
