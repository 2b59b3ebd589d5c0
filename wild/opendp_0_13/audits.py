"""OpenDP 0.13.0: randomized response on bit vectors."""

from __future__ import annotations

from wild.opendp_0_14 import audits
from wild.recast import Sibling

SIBLING = Sibling("opendp_0_13", "opendp 0.13", ("OpenDP 0.14.2", "OpenDP 0.13.0"))
CHECKS, NOTES, ABOUT = SIBLING.recast(audits)
