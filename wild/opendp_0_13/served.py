"""OpenDP 0.13.0: randomized response on bit vectors, as `opendp_0_14/served.py` serves it."""

from __future__ import annotations

import runpy
from pathlib import Path

SIBLING = Path(__file__).resolve().parents[1] / "opendp_0_14"
MECHANISMS = runpy.run_path(str(SIBLING / "served.py"))["MECHANISMS"]
