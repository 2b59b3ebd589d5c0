"""diffprivlib 0.6.2: checks of mechanisms and tools of diffprivlib 0.6.6 that are quick, or that findings are about.

The models of this release need an older scikit-learn than the one that is pinned for both.
"""

from __future__ import annotations

from wild.diffprivlib import audits
from wild.recast import Sibling

SIBLING = Sibling("diffprivlib_0_6_2", "diffprivlib 0.6.2", ("diffprivlib 0.6.6", "diffprivlib 0.6.2"))
CHECKS, NOTES, ABOUT = SIBLING.recast(
    audits,
    audits.QUICK,
)
