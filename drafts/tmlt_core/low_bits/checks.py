"""tmlt_core, low-order bits of Gaussian noise."""

from __future__ import annotations

from wild.tmlt_core.audits import BITS, RELEASE, RHO, ZCDP, says

CHECKS = [
    RELEASE.entry("AddGaussianNoise", [([], [1.0])], says("AddGaussianNoise", RHO), **BITS, **ZCDP),
]
