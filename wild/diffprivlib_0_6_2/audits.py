"""diffprivlib 0.6.2: checks of mechanisms and tools of diffprivlib 0.6.6 that are quick or refuted something.

The models of this release need an older scikit-learn than the one that is pinned for both.
"""

from __future__ import annotations

from wild.diffprivlib import audits
from wild.recast import recast

CHECKS, NOTES, ABOUT = recast(
    audits,
    "diffprivlib_0_6_2",
    "diffprivlib 0.6.2",
    ("diffprivlib 0.6.6", "diffprivlib 0.6.2"),
    audits.QUICK,
)
