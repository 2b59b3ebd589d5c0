"""The bound of epsilon by one event: no worse than two exact bounds of its probabilities, below the estimate."""

import math

import pytest

from audit.extensions.files.confusion import event_epsilon_lower_bound
from audit.statistics.binomial import proportion_lower_bound, proportion_upper_bound


@pytest.mark.parametrize(
    ("hits", "other"), [((18, 20), (2, 20)), ((20, 20), (0, 20)), ((5, 10), (5, 10)), ((9, 9), (1, 30))]
)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_event_bound_is_no_worse_than_two_bounds_and_no_better_than_the_estimate(hits, other, delta):
    found = event_epsilon_lower_bound(*hits, *other, delta=delta, significance=0.05)
    low, high = proportion_lower_bound(*hits, 0.025), proportion_upper_bound(*other, 0.025)
    assert found >= (math.log((low - delta) / high) if low > delta else 0.0) - 1e-9
    if other[0] > 0:
        assert found <= max(0.0, math.log(max(hits[0] / hits[1] - delta, 1e-9) / (other[0] / other[1])))
