"""pure_ldp, low-order bits of histogram encoding."""

from __future__ import annotations

import numpy as np

from audit import PrecisionCheck
from wild.mechanism import Served
from wild.pure_ldp.audits import EPSILON, LIBRARY, ONE, VALUES, claim_of


def one_hot(value: int) -> np.ndarray:
    """Return the vector to which histogram encoding adds noise; shape (VALUES,)."""
    return np.eye(VALUES)[value - 1]


CHECKS = [
    PrecisionCheck(
        name=f"pure-ldp/HE bits eps={EPSILON:g}",
        mechanism=Served(LIBRARY, "HE", own_randomness=True),
        claim=claim_of(EPSILON),
        pairs=[ONE],
        budget=20_000,
        query=one_hot,
    ),
]
