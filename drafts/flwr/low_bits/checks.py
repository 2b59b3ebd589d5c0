"""flwr, low-order bits of Gaussian noise."""

from __future__ import annotations

from audit import Local, PrecisionCheck, PrivacyClaim
from wild.mechanism import Served

_SAYS = (
    'Flower 1.41.0, LocalDpMod(clipping_norm, sensitivity, epsilon, delta): "Modifier for local differential privacy"'
)

CHECKS = [
    PrecisionCheck(
        name="flwr/LocalDpMod, one parameter, bits eps=0.9 delta=0.001",
        mechanism=Served("flwr", "LocalDpMod, one parameter"),
        claim=PrivacyClaim(0.9, 1e-3, Local(), _SAYS),
        pairs=[([0.1], [0.3])],
        budget=8_000,
        query=lambda update: update[0],
        tolerance=2.0,
    ),
]
