"""diffpriv_pure, deviation of Gaussian noise at epsilon above 1."""

from __future__ import annotations

from audit import AddRemove, PrivacyClaim
from wild.searched import EVERY_SETTING, Release, gaussian


def _gaussian(epsilon: float, delta: float) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, AddRemove(), 'diffpriv-pure 0.1.0, README: "Relaxed (ε, δ)-DP"')


CHECKS = [
    Release("diffpriv_pure", "diffpriv-pure", "diffpriv-pure 0.1.0", own_randomness=False).search(
        "gaussian_sigma",
        [([], [1.0])],
        _gaussian,
        mechanism=gaussian("diffpriv_pure", "gaussian_sigma", "deviation"),
        **EVERY_SETTING,
    ),
]
