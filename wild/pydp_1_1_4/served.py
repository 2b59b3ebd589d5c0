"""PyDP 1.1.4: the functions that serve PyDP 1.1.5, in the environment of this release."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SIBLING = Path(__file__).resolve().parents[1] / "pydp"
sys.path.append(str(SIBLING))
MECHANISMS = runpy.run_path(str(SIBLING / "served.py"))["MECHANISMS"]
