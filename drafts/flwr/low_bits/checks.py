"""flwr, low-order bits of Gaussian noise."""

from __future__ import annotations

from audit import Local
from wild.flwr.audits import RELEASE, SAYS

CHECKS = [
    RELEASE.entry(
        "LocalDpMod, one parameter",
        [([0.1], [0.3])],
        SAYS,
        epsilon=0.9,
        delta=1e-3,
        relation=Local(),
        bits=True,
        query=lambda update: update[0],
        tolerance=2.0,
    ),
]
