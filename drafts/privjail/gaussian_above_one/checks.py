"""privjail, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.searched import EVERY_SETTING, Release, gaussian


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), "privjail 0.1.2, gaussian_mechanism(eps, delta)")


CHECKS = [
    Release("privjail", "privjail", "privjail 0.1.2", own_randomness=False).search(
        "gaussian searched",
        [([], [1.0])],
        _gaussian,
        mechanism=gaussian("privjail", "gaussian searched", "deviation"),
        budget=50_000,
        **EVERY_SETTING,
    ),
]
