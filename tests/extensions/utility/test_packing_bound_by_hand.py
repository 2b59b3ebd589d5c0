"""The packing bound against its inequality; refusals name their argument."""

import math

import pytest
from scipy import stats

from audit import AuditError, PrivacyClaim, packing_epsilon_lower_bound
from audit.extensions.utility.packing import group_delta, largest_hit_rate
from tests.offenders import for_each


@pytest.mark.parametrize(("successes", "trials", "size", "distance", "delta"), [
    (90, 100, 50, 1, 0.0), (90, 100, 50, 3, 0.0), (90, 100, 50, 1, 1e-3), (90, 100, 50, 2, 1e-4),
    (40, 100, 10**9, 2, 1e-9), (1, 1, 2, 1, 0.0), (3, 100, 2, 1, 0.0),
    (70, 100, 2, 1, 0.05), (40, 100, 10**40, 1, 1e-9),
])  # fmt: skip
def test_the_packing_bound_is_where_its_inequality_turns(successes, trials, size, distance, delta):
    found = packing_epsilon_lower_bound(successes, trials, size, distance, delta=delta, significance=0.05)
    rate = stats.beta.ppf(0.05, successes, trials - successes + 1)

    def broken(epsilon):
        growth = distance if epsilon == 0 else math.expm1(epsilon * distance) / math.expm1(epsilon)
        return (size - 1) * (rate - delta * growth) > math.exp(epsilon * distance) * (1 - rate)

    assert found == 0.0 or broken(found * (1 - 1e-9))
    assert not broken(found + 1e-9)


def test_group_privacy_beyond_floating_point_is_infinite_and_without_delta_zero():
    assert group_delta(10.0, 100, 1e-3) == math.inf
    claim = PrivacyClaim(0.702)
    assert largest_hit_rate(claim, 10**308, 1000) == pytest.approx(1 / (1 + math.exp(-702) * 1e308), rel=1e-9)


REFUSED = [
    ("trials", lambda: packing_epsilon_lower_bound(0, 0, 2, 1)),
    ("successes", lambda: packing_epsilon_lower_bound(-1, 2, 2, 1)),
    ("successes", lambda: packing_epsilon_lower_bound(3, 2, 2, 1)),
    ("family_size", lambda: packing_epsilon_lower_bound(1, 2, 1, 1)),
    ("distance", lambda: packing_epsilon_lower_bound(1, 2, 2, 0)),
    ("delta", lambda: packing_epsilon_lower_bound(1, 2, 2, 1, delta=2.0)),
    ("significance", lambda: packing_epsilon_lower_bound(1, 2, 2, 1, significance=0.0)),
]


@for_each(REFUSED)
def test_refusals_name_the_argument_and_show_the_value(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        call()
