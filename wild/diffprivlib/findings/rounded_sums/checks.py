"""diffprivlib, low-order bits of noise that is added in doubles."""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, EPSILON, Entry, entry
from wild.diffprivlib.mechanism_checks import BITS

_SAMPLER = (
    "Samples from the Laplace distribution are generated using 4 uniform variates, as detailed in [HB21], to prevent "
    "against reconstruction attacks due to limited floating point precision"
)
_NORMAL_SAMPLER = (
    "Samples from the Gaussian distribution are generated using two samples from random.normalvariate as detailed in "
    "[HB21b], to prevent against reconstruction attacks due to limited floating point precision"
)


def _rounded(served: str, says: str = EPSILON, delta: float = 0.0) -> Entry:
    """An audit of the bits of noise that is added to 0 and to 1."""
    return entry(served, BITS, says=says, relation=ADDED, delta=delta, budget=20_000, bits=True)


CHECKS = [
    _rounded("Laplace", _SAMPLER),
    _rounded("LaplaceTruncated"),
    _rounded("LaplaceFolded"),
    _rounded("LaplaceBoundedDomain"),
    _rounded("LaplaceBoundedNoise", delta=0.1),
    _rounded("Gaussian", _NORMAL_SAMPLER, delta=1e-2),
    _rounded("GaussianAnalytic", delta=1e-2),
    _rounded("Staircase"),
]
