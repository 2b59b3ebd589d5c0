"""OpenDP 0.15.1: the functions that serve OpenDP 0.16.0, in the environment of this release."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SIBLING = Path(__file__).resolve().parents[1] / "opendp"
sys.path.append(str(SIBLING))
MECHANISMS = runpy.run_path(str(SIBLING / "served.py"))["MECHANISMS"]
