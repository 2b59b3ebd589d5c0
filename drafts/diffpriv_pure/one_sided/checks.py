"""diffpriv_pure, geometric noise on one side."""

from __future__ import annotations

from wild.diffpriv_pure.audits import RELEASE

CHECKS = [
    RELEASE.entry(
        "private_count",
        [([0.0] * 3, [0.0] * 4)],
        'docstring of geometric_noise: "Shifted geometric for pure ε-DP integer counts"',
    ),
]
