"""pure_ldp, low-order bits of histogram encoding."""

from __future__ import annotations

import numpy as np

from audit import Local, PrecisionCheck, PrivacyClaim
from wild.mechanism import Served

_SAYS = 'pure-ldp 1.2.0, docstring of FreqOracleClient: "epsilon (float): Privacy budget"'
VALUES = 4


def one_hot(value: int) -> np.ndarray:
    """Return the vector to which histogram encoding adds noise; shape (VALUES,)."""
    return np.eye(VALUES)[value - 1]


CHECKS = [
    PrecisionCheck(
        name="pure-ldp/HE bits eps=1",
        mechanism=Served("pure_ldp", "HE", own_randomness=True),
        claim=PrivacyClaim(1.0, 0.0, Local(), _SAYS),
        pairs=[(1, 2)],
        budget=20_000,
        query=one_hot,
    ),
]
