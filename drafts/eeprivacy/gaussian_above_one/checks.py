"""eeprivacy, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.searched import EVERY_SETTING, Release, gaussian

_SAYS = 'docstring of GaussianMechanism.execute: "to realize differential private at (`epsilon`, `delta`)"'


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), f"eeprivacy 0.0.5, {_SAYS}")


CHECKS = [
    Release("eeprivacy", "eeprivacy", "eeprivacy 0.0.5", own_randomness=False).search(
        "GaussianMechanism searched",
        [([], [1.0])],
        _gaussian,
        mechanism=gaussian("eeprivacy", "GaussianMechanism searched", "deviation"),
        **EVERY_SETTING,
    ),
]
