"""flwr, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import Local, PrivacyClaim
from wild.flwr.audits import RELEASE, SAYS
from wild.searched import EVERY_SETTING, gaussian


def _local(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, Local(), f"Flower 1.41.0, {SAYS}")


CHECKS = [
    RELEASE.entry(
        "LocalDpMod searched",
        [([-0.5], [0.5])],
        "",
        claim=_local,
        mechanism=gaussian("flwr", "LocalDpMod searched", "deviation"),
        **EVERY_SETTING,
    ),
]
