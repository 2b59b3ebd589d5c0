"""Tumult Core 0.18.2: the functions that serve Tumult Core 0.20.0, in the environment of this release."""

from __future__ import annotations

import runpy
from pathlib import Path

MECHANISMS = runpy.run_path(str(Path(__file__).resolve().parents[1] / "tmlt_core" / "served.py"))["MECHANISMS"]
