"""The bound from canaries against a slow computation by its definition; refusals name their argument."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit import AuditError, canary_epsilon_lower_bound
from audit.extensions.training.canaries.retrained import guessing_epsilon_lower_bound, guessing_pvalue
from tests.offenders import for_each


@for_each(product([(9, 10, 12), (30, 30, 30), (55, 80, 200), (1, 1, 1)], [0.0, 0.7, 3.0], [0.0, 1e-3, 0.2]))
def test_the_canary_pvalue_is_its_formula(counts, epsilon, delta):
    right, guesses, canaries = counts
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    beta = stats.binom.sf(right - 1, guesses, theta)
    below = [
        stats.binom.cdf(right - 1, guesses, theta) - stats.binom.cdf(right - 1 - i, guesses, theta)
        for i in range(1, right + 1)
    ]
    alpha = max(mass / i for i, mass in enumerate(below, start=1))
    expected = min(1.0, beta + 2 * canaries * delta * alpha)
    assert guessing_pvalue(right, guesses, canaries, epsilon, delta) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(
    ("right", "guesses", "canaries", "delta"), [(9, 10, 12, 0.0), (70, 80, 200, 1e-4), (30, 30, 30, 0.01)]
)
def test_the_canary_bound_is_where_the_pvalue_passes_the_significance(right, guesses, canaries, delta):
    found = guessing_epsilon_lower_bound(right, guesses, canaries, delta=delta, significance=0.05)
    assert found > 0
    assert guessing_pvalue(right, guesses, canaries, found - 1e-6, delta) <= 0.05
    assert guessing_pvalue(right, guesses, canaries, found + 1e-6, delta) > 0.05


@pytest.mark.parametrize("guesses", [1, 2, 3, 7, (0, 4), (3, 1)])
def test_an_odd_guess_goes_to_the_included(guesses):
    high, low = (math.ceil(guesses / 2), guesses // 2) if isinstance(guesses, int) else guesses
    included, left_out = np.arange(10.0, 20.0), np.arange(10.0)
    expected = guessing_epsilon_lower_bound(high + low, high + low, 20)
    assert canary_epsilon_lower_bound(included, left_out, guesses=guesses) == expected
    worst = canary_epsilon_lower_bound(left_out, included, guesses=guesses, significance=0.3)
    assert worst == 0.0


def test_the_canary_bound_uses_its_delta_and_takes_scores_of_any_number_type():
    included, left_out = np.ones(30, dtype=bool), np.zeros(30, dtype=bool)
    found = canary_epsilon_lower_bound(included, left_out, guesses=60, delta=0.01, significance=0.1)
    assert found == guessing_epsilon_lower_bound(60, 60, 60, delta=0.01, significance=0.1)
    assert 0 < found < canary_epsilon_lower_bound(included, left_out, guesses=60, significance=0.1)


REFUSED = [
    ("scores_in", lambda: canary_epsilon_lower_bound([math.nan], [0.0], guesses=1)),
    ("scores_in", lambda: canary_epsilon_lower_bound([["a"]], [0.0], guesses=1)),
    ("scores_in", lambda: canary_epsilon_lower_bound(["a"], [0.0], guesses=1)),
    ("scores_out", lambda: canary_epsilon_lower_bound([1.0], [[0.0, 1.0], [2.0, 3.0]], guesses=1)),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=(9, 9))),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=3)),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=0)),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=(1, 1, 1))),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=(-1, 1))),
    ("guesses", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=(1, -1))),
    ("significance", lambda: canary_epsilon_lower_bound([1.0], [0.0], guesses=1, significance=1.0)),
    ("canaries", lambda: guessing_pvalue(0, 0, 0, 1.0)),
    ("guesses", lambda: guessing_pvalue(0, 3, 2, 1.0)),
    ("right", lambda: guessing_pvalue(3, 2, 2, 1.0)),
    ("epsilon", lambda: guessing_pvalue(1, 2, 2, -1.0)),
    ("delta", lambda: guessing_pvalue(1, 2, 2, 1.0, 1.5)),
]


@for_each(REFUSED)
def test_refusals_name_the_argument_and_show_the_value(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        call()
