"""diffprivlib 0.6.2: the functions that serve diffprivlib 0.6.6, in the environment of this release."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SIBLING = Path(__file__).resolve().parents[1] / "diffprivlib"
sys.path.append(str(SIBLING))
MECHANISMS = runpy.run_path(str(SIBLING / "served.py"))["MECHANISMS"]
