"""One-run canary bounds: by hand, exactly valid at the edge, ties; refusals name their argument."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from audit.extensions.training.canaries.guesses import canary_scores, right_guesses
from audit.extensions.training.canaries.one_run import epsilon_lower_bound


def test_hand_checked_bounds():
    root = 0.05 ** (1 / 100)  # all of 100 right: theta^100 = .05
    assert epsilon_lower_bound(100, 100, 1000, 0.0, 0.05) == pytest.approx(math.log(root / (1 - root)), abs=1e-5)
    assert epsilon_lower_bound(100, 100, 1000, 1e-5, 0.05) < math.log(root / (1 - root))
    assert epsilon_lower_bound(50, 100, 1000, 0.0, 0.05) == 0.0
    assert epsilon_lower_bound(100, 100, 1000, 1.0, 0.05) == 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_exact_validity_on_private_mechanisms(delta, epsilon):
    m, level = 60, 0.05
    refuting = np.array([epsilon_lower_bound(v, m, m, delta, level) > epsilon for v in range(m + 1)])
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    each = binom.pmf(range(m + 1), m, delta + (1 - delta) * theta)  # each canary revealed with probability delta
    assert each @ refuting <= level
    at_once = (1 - delta) * binom.pmf(range(m + 1), m, theta)  # all of them revealed together
    at_once[m] += delta
    assert at_once @ refuting <= level
    assert np.all(np.diff(refuting.astype(int)) >= 0)


@pytest.mark.parametrize("guesses", [1, 2, 3, 7])
def test_an_odd_guess_goes_to_the_included(guesses):
    included, left_out = np.arange(10.0, 20.0), np.arange(10.0)
    assert right_guesses(included, left_out, guesses) == guesses
    assert right_guesses(left_out, included, guesses) == 0
    assert right_guesses(np.arange(5.0), np.arange(5.0, 20.0), 1) == 0


def test_ties_never_help():
    assert right_guesses(np.zeros(100), np.zeros(100), 100) == 0
    # one clear canary above a tie of 1 + 1: of two guesses "included" one is right, and one of one "left out"
    assert right_guesses(canary_scores([5.0, 1.0], "scores_in"), np.array([1.0, 0.0]), 3) == 2


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.integers(1, 2),
    st.randoms(),
)
def test_no_way_to_break_ties_gives_fewer_right_guesses(included, left_out, each, random):
    order = [(score, random.random(), 1) for score in included] + [(score, random.random(), 0) for score in left_out]
    order.sort()
    if 2 * each > len(order):
        return
    right = sum(member for *_, member in order[-each:]) + sum(1 - member for *_, member in order[:each])
    assert right_guesses(np.array(included), np.array(left_out), 2 * each) <= right
