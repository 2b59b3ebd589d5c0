"""A test's share of the significance is spent on the audits that its text makes: all of it, none twice."""

import pytest

from audit.pytest_plugin.auditor import audits_in

pytest_plugins = ["pytester"]


def one(dp_audit):
    dp_audit.privacy(1, 2, 3)


def two(dp_audit):
    if dp_audit.privacy(1, 2, 3):
        dp_audit.randomness(1, 2)


def looped(dp_audit):
    for epsilon in (1, 2):
        dp_audit.privacy(epsilon)


def comprehended(dp_audit):
    return [dp_audit.privacy(epsilon) for epsilon in (1, 2)]


def inner(dp_audit):
    def audited():
        dp_audit.privacy(1)

    audited()


def handed_on(dp_audit):
    one(dp_audit)


def renamed(dp_audit):
    fixture = dp_audit
    fixture.privacy(1)


def unused(dp_audit):
    return None


@pytest.mark.parametrize(
    ("function", "audits"),
    [
        (one, 1),
        (two, 2),
        (looped, None),
        (comprehended, None),
        (inner, None),
        (handed_on, None),
        (renamed, None),
        (unused, None),
        (len, None),
        (None, None),
    ],
)
def test_audits_are_counted_where_the_text_says_how_many(function, audits):
    assert audits_in(function) == audits


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


def test_tight_tests_pass_at_the_defaults_and_spend_everything(pytester):
    pytester.makepyfile(test_tight=SUITE)
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    outcome.assert_outcomes(passed=4)
    outcome.stdout.fnmatch_lines(["significance 0.0458 of 0.05 used by 5 audits"])  # 3/4, and 1/2 + 1/6 of the last
