"""Audit a function of your own under pytest: `pytest examples/test_noisy_count.py`.

`count` keeps its claim. `count_unscaled` forgets that its query has sensitivity 2, and the second test shows that the
audit sees it; a project would have only the first kind of test.
"""

import numpy as np
import pytest

from audit import AddRemove, PrivacyClaim

RNG_SCALE = 1.0
CLAIM = PrivacyClaim(epsilon=1.0, relation=AddRemove(), source="docstring of count")
PAIRS = [(np.zeros(0), np.ones(1)), (np.ones(9), np.ones(10))]  # nobody against one record, 9 records against 10


def count(data, size, rng):
    """Return `size` independent noisy counts of `data`, each (1, 0)-DP under add/remove."""
    return len(data) + rng.laplace(scale=RNG_SCALE, size=size)


def count_unscaled(data, size, rng):
    """Return noisy counts in which every record counts twice, with the noise for records that count once."""
    return 2 * len(data) + rng.laplace(scale=RNG_SCALE, size=size)


def test_count_keeps_its_claim(dp_audit):
    dp_audit.privacy(count, CLAIM, PAIRS)


def test_a_wrong_sensitivity_is_found(dp_audit):
    with pytest.raises(pytest.fail.Exception, match="FAIL"):
        dp_audit.privacy(count_unscaled, CLAIM, PAIRS)
