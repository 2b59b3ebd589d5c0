"""pydp, a mean of integers."""

from __future__ import annotations

from wild.pydp.audits import INTEGERS, one_check

CHECKS = [
    one_check("BoundedMean of integers", INTEGERS),
]
