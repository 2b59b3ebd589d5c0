"""Ask the auditor of jax-privacy about recorded outputs: they are the scores of canaries that were in, or out.

Its bound speaks of events "the score is at least t" that are likelier for canaries that were in. A user without
knowledge of the mechanism tries both datasets as "in" and both signs of the score: each gets a quarter of the
significance.
"""

from __future__ import annotations

import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor

SIGNIFICANCE = 0.05


def verdict(left, right, epsilon, delta):
    """Return whether the claim is refuted, with the largest bound; None where the outputs are not scores."""
    if left.ndim > 1:
        return None, "takes one score for each output"
    pairs = [(sign * a, sign * b) for a, b in ((left, right), (right, left)) for sign in (1.0, -1.0)]
    bounds = [
        CanaryScoreAuditor(np.asarray(inside), np.asarray(outside)).epsilon_clopper_pearson(
            SIGNIFICANCE / len(pairs), delta
        )
        for inside, outside in pairs
    ]
    return bool(max(bounds) > epsilon), f"epsilon >= {max(bounds):.3g}"
