"""PyDP 1.1.4: checks of PyDP 1.1.5 that are quick, or that findings are about."""

from __future__ import annotations

from wild.pydp import audits
from wild.recast import Sibling

SIBLING = Sibling("pydp_1_1_4", "pydp 1.1.4", ("PyDP 1.1.5", "PyDP 1.1.4"))
CHECKS, NOTES, ABOUT = SIBLING.recast(
    audits,
    ["Bounded[MS]* eps*", "*of integers eps*", "ml.* eps*", "Count eps*", "LaplaceMechanism eps*"],
)
