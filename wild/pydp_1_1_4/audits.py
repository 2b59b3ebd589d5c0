"""PyDP 1.1.4: checks of PyDP 1.1.5 that are quick or refuted something.

The mean of integers keeps its claim here: its noise does not vanish when the sum wraps around.
"""

from __future__ import annotations

from audit import Verdict
from wild.pydp import audits
from wild.recast import recast

CHECKS, NOTES, ABOUT = recast(
    audits,
    "pydp_1_1_4",
    "pydp 1.1.4",
    ("PyDP 1.1.5", "PyDP 1.1.4"),
    ["Bounded[MS]* eps*", "*of integers eps*", "ml.* eps*", "Count eps*", "LaplaceMechanism eps*"],
    expected={"BoundedMean of integers*": Verdict.PASS},
)
