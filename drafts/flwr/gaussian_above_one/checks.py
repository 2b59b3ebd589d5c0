"""flwr, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import Local, PrivacyClaim
from wild.searched import EVERY_SETTING, Release, gaussian

_SAYS = (
    'Flower 1.41.0, LocalDpMod(clipping_norm, sensitivity, epsilon, delta): "Modifier for local differential privacy"'
)


def _local(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, Local(), _SAYS)


CHECKS = [
    Release("flwr", "flwr", "Flower 1.41.0", own_randomness=False).search(
        "LocalDpMod searched",
        [([-0.5], [0.5])],
        _local,
        mechanism=gaussian("flwr", "LocalDpMod searched", "deviation"),
        budget=8_000,
        **EVERY_SETTING,
    ),
]
