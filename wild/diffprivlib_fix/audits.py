"""diffprivlib-fix 0.6.7: checks of diffprivlib 0.6.6 that are quick, or that findings are about.

The distribution differs from diffprivlib 0.6.6 in its version and in one argument of `models/logistic_regression.py`.
"""

from __future__ import annotations

from wild.diffprivlib import audits
from wild.recast import Sibling

SIBLING = Sibling("diffprivlib_fix", "diffprivlib-fix", ("diffprivlib 0.6.6", "diffprivlib-fix 0.6.7"))
CHECKS, NOTES, ABOUT = SIBLING.recast(audits, audits.QUICK)
