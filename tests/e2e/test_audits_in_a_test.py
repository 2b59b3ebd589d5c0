"""A test's share of the significance is shared out over its audits as they come: 1/2, 1/6, 1/12 of it, and so on."""

pytest_plugins = ["pytester"]


SUITE = """
import numpy as np
import pytest
from audit import PrivacyClaim

PAIRS = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]

def noisy_sum(data, size, rng):
    return data.sum() + rng.laplace(size=size)

@pytest.mark.parametrize("number", range(3))
def test_tight(dp_audit, number):
    dp_audit.privacy(noisy_sum, PrivacyClaim(1.0), PAIRS)

def test_twice(dp_audit):
    for _ in range(2):
        dp_audit.privacy(noisy_sum, PrivacyClaim(1.0), PAIRS)
"""


def test_tight_tests_pass_at_the_defaults_and_spend_their_shares(pytester):
    pytester.makepyfile(test_tight=SUITE)
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    outcome.assert_outcomes(passed=4)
    outcome.stdout.fnmatch_lines(["significance 0.0271 of 0.05 used by 5 audits"])  # 1/2 of each, and 1/6
