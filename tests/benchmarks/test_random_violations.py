"""Random violations on an interval, of which the benchmark has more, are suspected at the defaults."""

import numpy as np
import pytest

import audit
from audit import Verdict
from benchmarks.violations import Violation
from tests.core.scorers.test_interval_scan import CLAIM, PAIR


@pytest.mark.parametrize("seed", range(10))
def test_random_violations_are_suspected(seed):
    """At a ratio of e^3 the power is above 0.99."""
    violation = Violation.drawn(3.0, np.random.default_rng(seed))
    result = audit.check_privacy(violation, CLAIM, PAIR, seed=seed, workers=0, confirmation=None)
    assert result.verdict is Verdict.FAIL
