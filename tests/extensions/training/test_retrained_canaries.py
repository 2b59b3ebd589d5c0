"""One-run canary bounds: hand-checked p-values, exact validity at the edge, ties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from audit import AuditError
from audit.extensions.training.canaries.retrained import (
    canary_epsilon_lower_bound,
    guessing_epsilon_lower_bound,
    guessing_pvalue,
)


def test_hand_checked_pvalues():
    third = math.log(2)  # theta = 2/3
    assert guessing_pvalue(2, 2, 2, third) == pytest.approx(4 / 9)
    # one canary: theta + 2 delta (1 - theta)
    assert guessing_pvalue(1, 1, 1, third, 0.1) == pytest.approx(2 / 3 + 0.2 / 3)
    # r = 2, v = 2: P(Bin = 1) / 1 = 4/9 beats P(Bin < 2) / 2 = 5/18; m = 5
    assert guessing_pvalue(2, 2, 5, third, 0.01) == pytest.approx(4 / 9 + 2 * 5 * 0.01 * 4 / 9)
    assert guessing_pvalue(0, 2, 2, third) == 1.0


def test_hand_checked_bounds():
    root = 0.05 ** (1 / 100)  # all of 100 right: theta^100 = .05
    assert guessing_epsilon_lower_bound(100, 100, 1000) == pytest.approx(math.log(root / (1 - root)), abs=1e-6)
    assert guessing_epsilon_lower_bound(100, 100, 1000, delta=1e-5) < math.log(root / (1 - root))
    assert guessing_epsilon_lower_bound(50, 100, 1000) == 0.0
    assert guessing_epsilon_lower_bound(100, 100, 1000, delta=1.0) == 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_exact_validity_on_private_mechanisms(delta, epsilon):
    m, level = 60, 0.05
    refuting = np.array([guessing_epsilon_lower_bound(v, m, m, delta=delta) > epsilon for v in range(m + 1)])
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    each = binom.pmf(range(m + 1), m, delta + (1 - delta) * theta)  # each canary revealed with probability delta
    assert each @ refuting <= level
    at_once = (1 - delta) * binom.pmf(range(m + 1), m, theta)  # all of them revealed together
    at_once[m] += delta
    assert at_once @ refuting <= level
    assert np.all(np.diff(refuting.astype(int)) >= 0)


def test_scores():
    rng = np.random.default_rng(0)
    included, left_out = rng.normal(4.0, 1.0, 500), rng.normal(0.0, 1.0, 500)
    assert canary_epsilon_lower_bound(included, left_out, guesses=200) > 3
    assert canary_epsilon_lower_bound(left_out, included, guesses=200) == 0.0
    assert canary_epsilon_lower_bound(included, left_out, guesses=(100, 0)) == pytest.approx(
        guessing_epsilon_lower_bound(100, 100, 1000)
    )


def test_ties_never_help():
    assert canary_epsilon_lower_bound(np.zeros(100), np.zeros(100), guesses=100) == 0.0
    # one clear canary above a tie of 1 + 1: two guesses "included" count one right
    tied = canary_epsilon_lower_bound([5.0, 1.0], [1.0, 0.0], guesses=(2, 0), significance=0.5)
    assert tied == guessing_epsilon_lower_bound(1, 2, 4, significance=0.5)


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
    bound = canary_epsilon_lower_bound(included, left_out, guesses=2 * each, significance=0.4)
    assert bound <= guessing_epsilon_lower_bound(right, 2 * each, len(order), significance=0.4) + 1e-9


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: canary_epsilon_lower_bound([1.0], [math.nan], guesses=1), "scores_out"),
        (lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=3), "guesses"),
        (lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=(1, 1, 0)), "pair"),
        (lambda: guessing_pvalue(3, 2, 5, 1.0), "right"),
        (lambda: guessing_pvalue(1, 6, 5, 1.0), "guesses"),
        (lambda: guessing_pvalue(1, 2, 5, -1.0), "epsilon"),
    ],
)
def test_refusals(call, word):
    with pytest.raises(AuditError, match=word):
        call()
