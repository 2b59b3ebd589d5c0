"""privjail, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.privjail.audits import RELEASE
from wild.searched import EVERY_SETTING, gaussian


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), "privjail 0.1.2, gaussian_mechanism(eps, delta)")


CHECKS = [
    RELEASE.entry(
        "gaussian searched",
        [([], [1.0])],
        "",
        claim=_gaussian,
        mechanism=gaussian("privjail", "gaussian searched", "deviation"),
        **EVERY_SETTING,
    ),
]
