"""eeprivacy, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.eeprivacy.audits import ADDED, GAUSSIAN, RELEASE
from wild.searched import EVERY_SETTING, gaussian


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), f"eeprivacy 0.0.5, {GAUSSIAN}")


CHECKS = [
    RELEASE.entry(
        "GaussianMechanism searched",
        ADDED,
        "",
        claim=_gaussian,
        mechanism=gaussian("eeprivacy", "GaussianMechanism searched", "deviation"),
        **EVERY_SETTING,
    ),
]
