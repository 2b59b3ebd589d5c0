"""eeprivacy, one noise for all coordinates."""

from __future__ import annotations

from audit import Substitution
from wild.eeprivacy.audits import RELEASE

CHECKS = [
    RELEASE.entry(
        "PrivateVectorClampedMeanLaplace",
        [([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]])],
        'docstring of PrivateVectorClampedMeanLaplace: "With the Laplace Mechanism, noise is scaled to the L1 norm"',
        relation=Substitution(),
    ),
]
