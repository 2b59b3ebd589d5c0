"""pipeline_dp, large scores of the exponential mechanism."""

from __future__ import annotations

from wild.pipeline_dp.audits import Pairs, one_check

STEEP = 5.0  # as in `served.py`
LARGE_BUDGET = 34_000
_EQUAL: Pairs = [([0.0] * 141, [0.0] * 142)]
_CHOICE = 'docstring of ExponentialMechanism: "choose a parameter ... in a differentially private way"'

CHECKS = [
    one_check("ExponentialMechanism", _EQUAL, STEEP, source=_CHOICE, budget=LARGE_BUDGET),
]
