"""multi_freq_ldpy, low-order bits of histogram encoding."""

from __future__ import annotations

import numpy as np

from audit import Local, PrecisionCheck, PrivacyClaim
from wild.mechanism import Served

_SAYS = 'multi-freq-ldpy 0.2.5, docstring of HE_Client: ":param epsilon: privacy guarantee"'
VALUES = 5


def one_hot(value: int) -> np.ndarray:
    """Return the vector to which histogram encoding adds noise; shape (VALUES,)."""
    return np.eye(VALUES)[value]


CHECKS = [
    PrecisionCheck(
        name="multi-freq-ldpy/HE bits eps=1",
        mechanism=Served("multi_freq_ldpy", "HE", own_randomness=True),
        claim=PrivacyClaim(1.0, 0.0, Local(), _SAYS),
        pairs=[(0, 1)],
        budget=20_000,
        query=one_hot,
    ),
]
