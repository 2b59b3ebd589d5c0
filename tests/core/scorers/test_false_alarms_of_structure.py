"""A rare output of another structure must not color how the others of its call are read.

All outputs of a call are on one dataset. If the call were read as a whole, "no output of this call is a list" would
count as an event of each single output, and epsilon would be overstated by up to the number of outputs in a call.
"""

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict
from tests.core.mechanisms import PAIR

RARE = {
    "a list among numbers": (lambda x: x, lambda x: [x, 1.0]),
    "a huge integer": (lambda x: int(9 * x), lambda x: 2**70),
}


@pytest.mark.parametrize("kind", RARE)
@pytest.mark.false_alarm(2e-07)
def test_a_rare_structure_is_an_event_of_one_output(kind):
    """Epsilon is 1, the claim 1.2: FAIL below 1e-6 at 60,000 outputs; read by calls, epsilon would be above 3."""
    usual, rare = RARE[kind]

    def mechanism(data, size, rng):
        is_rare = rng.random(size) < 0.008 * (np.e if data.sum() > 0 else 1.0)
        return [(rare if each else usual)(x) for each, x in zip(is_rare, rng.normal(size=size).tolist(), strict=True)]

    result = audit.check_privacy(mechanism, PrivacyClaim(1.2), [PAIR], budget=60_000, seed=7)
    assert result.verdict is not Verdict.FAIL, result.reason
