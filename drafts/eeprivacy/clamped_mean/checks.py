"""eeprivacy, values that are not clamped."""

from __future__ import annotations

from audit import Substitution
from wild.eeprivacy.audits import RELEASE

CHECKS = [
    RELEASE.entry(
        "PrivateClampedMean",
        [([0.0, 0.0], [0.0, 30.0])],
        'docstring of PrivateClampedMean: "Compute a mean, bounding sensitivity with clamping"',
        relation=Substitution(),
        named="eps=1, a value out of bounds",
    ),
]
