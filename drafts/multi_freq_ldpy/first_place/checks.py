"""multi_freq_ldpy, order of a subset."""

from __future__ import annotations

from wild.multi_freq_ldpy.audits import one_check

CHECKS = [
    one_check("SS", "SS_Client"),
]
