"""OpenDP 0.15.1: checks of OpenDP 0.16.0 that are quick or refuted something."""

from __future__ import annotations

from wild.opendp import audits
from wild.recast import recast

CHECKS, NOTES, ABOUT = recast(
    audits,
    "opendp_0_15",
    "opendp 0.15",
    ("OpenDP 0.16.0", "OpenDP 0.15.1"),
    ["make_laplace eps*", "*_threshold*", "*two lengths*", "*first and last bit*", "LinearRegression*"],
)
