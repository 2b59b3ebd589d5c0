"""OpenDP 0.15.1: checks of OpenDP 0.16.0 that are quick, or that findings are about."""

from __future__ import annotations

from wild.opendp import audits
from wild.recast import Sibling

SIBLING = Sibling("opendp_0_15", "opendp 0.15", ("OpenDP 0.16.0", "OpenDP 0.15.1"))
CHECKS, NOTES, ABOUT = SIBLING.recast(
    audits,
    ["make_laplace eps*", "*first and last bit*"],
)
