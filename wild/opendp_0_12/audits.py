"""OpenDP 0.12.1: randomized response on bit vectors."""

from __future__ import annotations

from wild.opendp_0_14 import audits
from wild.recast import Sibling

SIBLING = Sibling("opendp_0_12", "opendp 0.12", ("OpenDP 0.14.2", "OpenDP 0.12.1"))
CHECKS, NOTES, ABOUT = SIBLING.recast(audits)
