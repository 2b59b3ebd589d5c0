"""Tumult Core 0.18.2: checks of Tumult Core 0.20.0 of noise, whose lines are the same in both."""

from __future__ import annotations

from wild.recast import Sibling
from wild.tmlt_core import audits

SIBLING = Sibling("tmlt_core_0_18", "tmlt-core 0.18.2", ("Tumult Core 0.20.0", "Tumult Core 0.18.2"))
CHECKS, NOTES, ABOUT = SIBLING.recast(audits, ["Add*"])
