"""Wealth: the expectation of one step, exactly, over two-point and three-point laws at the edge of a claim."""

import math

import numpy as np
import pytest

from audit.extensions.sequential.wealth import Wealth, epsilon_grid

EPSILONS = (0.0, 0.1, 1.0, 3.0)
DELTAS = (0.0, 1e-5, 0.1, 0.3)
POSTERIORS = np.array([1e-9, 0.02, 0.2, 0.4, 0.5, 0.6, 0.8, 0.98, 1 - 1e-9])


def steps_of(left, right, epsilon, delta, one_sided=False):
    """Return the factors of one step for each bettor and each pair of posteriors; shape (bettors, pairs)."""
    wealth = Wealth(np.array([epsilon]), delta, one_sided)
    factors = wealth._step_factors(np.asarray(left), np.asarray(right))
    return np.exp(factors - wealth._penalties[:, :, None])[:, 0, :]


def expected(left, right, posteriors, epsilon, delta, one_sided):
    """Exact expectation of every bettor's factor over all pairs of outcomes of a step."""
    a, b = np.meshgrid(posteriors, posteriors, indexing="ij")
    return steps_of(a.ravel(), b.ravel(), epsilon, delta, one_sided) @ np.outer(left, right).ravel()


def edge_laws(epsilon, delta):
    """Laws that keep the claim with equality somewhere: two-sided, one-sided in either direction, additive only."""
    odds = math.exp(epsilon)
    high, low = (odds + delta) / (1 + odds), (1 - delta) / (1 + odds)
    yield (high, low), (low, high)
    small = (1 - delta) / (2 * odds)
    yield (odds * small + delta, 1 - odds * small - delta), (small, 1 - small)
    yield (small, 1 - small), (odds * small + delta, 1 - odds * small - delta)
    yield (delta, 1 - delta), (0.0, 1.0)
    yield (delta, 0.0, 1 - delta), (0.0, delta, 1 - delta)
    rest = (1 - delta) / (1 + odds)
    yield (delta, 0.0, odds * rest, rest), (0.0, delta, rest, odds * rest)


def keeps(left, right, epsilon, delta):
    gap = np.array(left) - math.exp(epsilon) * np.array(right)
    other = np.array(right) - math.exp(epsilon) * np.array(left)
    return max(gap[gap > 0].sum(), other[other > 0].sum()) <= delta + 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("one_sided", [False, True])
def test_no_bettor_gains_on_laws_at_the_edge(epsilon, delta, one_sided):
    rng = np.random.default_rng(3)
    for left, right in edge_laws(epsilon, delta):
        assert keeps(left, right, epsilon, delta)
        for _ in range(12):
            posteriors = rng.choice(POSTERIORS, len(left))
            assert np.all(expected(left, right, posteriors, epsilon, delta, one_sided) <= 1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bettor_gains_on_random_laws_with_the_least_delta_they_keep(epsilon):
    rng = np.random.default_rng(4)
    for _ in range(60):
        left, right = rng.dirichlet([0.5] * 3, 2)
        gap, other = left - math.exp(epsilon) * right, right - math.exp(epsilon) * left
        delta = max(gap[gap > 0].sum(), other[other > 0].sum())
        assert np.all(expected(left, right, rng.choice(POSTERIORS, 3), epsilon, delta, True) <= 1 + 1e-9)


def test_the_penalty_is_tight():
    # epsilon 0, delta 0.3: P = (0.3, 0, 0.7), Q = (0, 0.3, 0.7). Sure guesses on the first two outputs double the
    # wealth each: E A = 0.3 * 2 + 0.7 = 1.3 = 1 + delta e^-0, so that the graded bettor is exactly fair.
    found = expected((0.3, 0.0, 0.7), (0.0, 0.3, 0.7), [1 - 1e-12, 1e-12, 0.5], 0.0, 0.3, False)
    assert found[0] == pytest.approx(1.0, abs=1e-9)


def test_a_law_beyond_the_claim_pays():
    right = 1 / (1 + math.exp(-1.5))
    found = expected((right, 1 - right), (1 - right, right), [right, 1 - right], 1.0, 0.0, False)
    assert found[0] > 1.02


def test_hand_computed_step():
    # theta = 1/2 at epsilon 0; sureness 0.8, right on both: (0.8 / 0.5)^2 = 2.56
    assert steps_of([0.8], [0.2], 0.0, 0.0)[0] == pytest.approx(2.56)
    # right, then wrong: 1.6 * 0.4 = 0.64; divided by (1 + 0.1)^2 at delta 0.1
    assert steps_of([0.8], [0.8], 0.0, 0.1)[0] == pytest.approx(0.64 / 1.21)
    # abstaining costs the penalty all the same
    assert steps_of([0.5], [0.5], 0.0, 0.1)[0] == pytest.approx(1 / 1.21)


def test_a_batch_is_the_product_of_its_steps():
    rng = np.random.default_rng(0)
    left, right = rng.random(20), rng.random(20)
    grid = epsilon_grid(0.4)
    together, apart = Wealth(grid, 0.01, True), Wealth(grid, 0.01, True)
    together.bet(left, right)
    for a, b in zip(left, right, strict=True):
        apart.bet(np.array([a]), np.array([b]))
    assert np.allclose(together.highest, apart.highest)
    assert np.allclose(together._log_wealth, apart._log_wealth)


def test_the_wealth_is_the_sum_of_what_the_bettors_have():
    """Each starts with its share, and its factors multiply; the highest wealth over the steps is kept."""
    left, right = np.array([0.9, 0.8, 0.3]), np.array([0.2, 0.4, 0.1])
    wealth = Wealth(np.array([0.1]), 0.0, False)
    wealth.bet(left, right)
    owned = np.exp(wealth._log_shares[:, :1]) * steps_of(left, right, 0.1, 0.0).cumprod(axis=1)
    assert np.exp(wealth._log_shares[:, 0]).sum() <= 1 + 1e-12
    assert wealth.highest[0] == pytest.approx(math.log(owned.sum(axis=0).max())) != 0.0
