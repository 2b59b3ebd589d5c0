"""PipelineDP 0.2.1: the functions that serve PipelineDP 0.3.1, in the environment of this release."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SIBLING = Path(__file__).resolve().parents[1] / "pipeline_dp"
sys.path.append(str(SIBLING))
MECHANISMS = runpy.run_path(str(SIBLING / "served.py"))["MECHANISMS"]
