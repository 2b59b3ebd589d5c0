"""opendp, bit vectors of two lengths."""

from __future__ import annotations

from audit import Local
from wild.opendp.audits import BITS_EPSILON, BITVEC, Pairs, one_check

_LENGTHS: Pairs = [([0] * 7 + [1], [0] * 15 + [1])]

CHECKS = [
    one_check(f"{BITVEC}, two lengths", _LENGTHS, BITS_EPSILON, relation=Local(), source=BITVEC),
]
