"""pure_ldp, type of a report."""

from __future__ import annotations

from wild.pure_ldp.audits import one_check

CHECKS = [
    one_check("HM"),
]
