"""pydp, low-order bits of Laplace noise."""

from __future__ import annotations

from audit import Verdict
from wild.pydp.audits import MACHINE, bits_check

CHECKS = [
    bits_check("ml.LaplaceBoundedDomain", MACHINE, Verdict.FAIL),
]
