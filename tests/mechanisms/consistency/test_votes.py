"""The votes of cells: exact law against brute force, and the aggregate sampler against the literal learner.

Two-sample tests: Kolmogorov-Smirnov, 1500 draws a side, level 1e-7; a gap of 0.12 in a distribution function is then
missed with probability below 1e-3 (Massart's band), which the tests of wrong samplers below use.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidArgument
from mechanisms.consistency.cube_bounds import CubeProblem, named
from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.consistency.grids import SpaceGrid, UnitGrid, side_for
from mechanisms.consistency.votes import Cells, excess_losses, mean_excess, mean_vote, sample_votes, vote_probability
from mechanisms.distributions import zoo

DRAWS, LEVEL = 1500, 1e-7


def brute_force(n, p, q, epsilon):
    """P(vote = 1) as a double sum over records in the cell and records of label 1."""
    total = np.arange(n + 1)
    inside = stats.binom.pmf(total, n, p)
    each = [np.sum(stats.binom.pmf(np.arange(k + 1), k, q / p) * law(np.arange(k + 1) - k / 2, epsilon)) for k in total]
    return float(inside @ each)


def law(s, epsilon):
    return stats.laplace(scale=1 / epsilon).sf(-np.asarray(s, dtype=float))


CASES = [
    (1, 0.3, 0.2, 1.0),
    (7, 0.5, 0.1, 0.5),
    (40, 0.9, 0.5, 2.0),
    (41, 1.0, 0.5, 1.0),
    (300, 0.02, 0.015, 1.0),
    (5, 1.0, 1.0, 1.0),
    (400, 0.5, 0.28, 0.1),
    (400, 0.5, 0.05, 3.0),
    (400, 0.999, 0.9, 0.02),
]


@pytest.mark.parametrize("case", CASES)
def test_mean_vote_is_the_double_sum(case):
    n, p, q, epsilon = case
    assert mean_vote(n, np.array([p]), np.array([q]), epsilon)[0] == pytest.approx(brute_force(*case), abs=2e-12)


def test_mean_vote_far_from_a_tie_is_a_moment():
    """n = 10^9, label 1 wins by 10^4 deviations: the vote is wrong with probability E e^(-epsilon D / 2) / 2."""
    n, p, q, epsilon = 10**9, 0.5, 0.4, 1e-7
    wrong = (1 + 0.4 * math.expm1(-epsilon / 2) + 0.1 * math.expm1(epsilon / 2)) ** n / 2
    assert 1 - mean_vote(n, np.array([p]), np.array([q]), epsilon)[0] == pytest.approx(wrong, rel=1e-6)


def test_vote_probability_is_the_laplace_tail():
    s = np.linspace(-40, 40, 33)
    np.testing.assert_allclose(vote_probability(0.7, s), law(s, 0.7), rtol=1e-9)


@pytest.mark.parametrize("bad", [(0.5, 0.6), (0.5, -0.1), (1.5, 0.2)])
def test_impossible_masses_are_refused(bad):
    with pytest.raises(InvalidArgument):
        mean_vote(10, np.array([bad[0]]), np.array([bad[1]]), 1.0)


def literal_excess(name, n, epsilon, draws):
    """Excess risks of the learner fitted to fresh records."""
    distribution, cells = named(name), CubeProblem(name, n).cells
    found = np.empty(draws)
    for index in range(draws):
        data = distribution.sample(n, np.random.default_rng((3, index)))
        learner = CubeClassifier(distribution.dim, epsilon, random_state=index).fit(data.X, data.y)
        found[index] = cells.excess(learner.votes_[None].astype(float))[0]
    return found


@pytest.mark.parametrize("name", ["smooth", "mixture", "octants"])
@pytest.mark.false_alarm(1e-07)
def test_the_aggregate_sampler_has_the_law_of_the_learner(name):
    n, epsilon = 200, 0.5
    literal = literal_excess(name, n, epsilon, DRAWS)
    cells = CubeProblem(name, n).cells
    aggregate = excess_losses(cells, n, epsilon, DRAWS, np.random.default_rng(4))
    assert stats.ks_2samp(literal, aggregate).pvalue > LEVEL
    spread = literal.std() / math.sqrt(DRAWS)
    assert abs(literal.mean() - mean_excess(cells, n, epsilon)) < 6 * spread


def test_the_two_sample_test_rejects_a_wrong_sampler():
    """Noise of scale 3 / epsilon instead of 1 / epsilon on `smooth`, n = 200: the gap is above 0.3."""
    cells = CubeProblem("smooth", 200).cells
    right, wrong = (excess_losses(cells, 200, e, DRAWS, np.random.default_rng(5)) for e in (0.5, 0.5 / 3))
    assert stats.ks_2samp(right, wrong).pvalue < LEVEL


@pytest.mark.false_alarm(1.5e-07)
def test_sampled_votes_have_the_exact_mean():
    """Null: exact probabilities, 20,000 draws of 15 cells; binomial tests, 1e-8 each."""
    cells = CubeProblem("sqrt-density", 200).cells
    votes = sample_votes(cells, 200, 1.0, 20_000, np.random.default_rng(6))
    chances = mean_vote(200, cells.mass, cells.positive, 1.0)
    for count, chance in zip(votes.sum(axis=0).tolist(), chances.tolist(), strict=True):
        assert stats.binomtest(int(count), 20_000, chance).pvalue > 1e-8


def test_excess_of_constant_rules_is_the_cost():
    cells = CubeProblem("step", 1000).cells
    ones, zeros = np.ones((1, len(cells))), np.zeros((1, len(cells)))
    assert cells.excess(ones)[0] == pytest.approx(cells.cost_of_one.sum())
    assert cells.excess(zeros)[0] == pytest.approx(cells.cost_of_zero.sum())


def test_weighted_points_give_the_same_cells_as_integrals():
    d, grid = zoo.atoms(), UnitGrid(1, 0.1)
    from_points = Cells.of_points(grid.cell_of(d.atoms.locations[:, None]), d.atoms.masses, d.atoms.margins, grid.size)
    from_boxes = Cells.of(d, *grid.boxes())
    for name in ("mass", "positive", "cost_of_one", "cost_of_zero"):
        np.testing.assert_allclose(getattr(from_points, name), getattr(from_boxes, name), atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cells_and_boxes_agree(dim):
    grid = UnitGrid(dim, side_for(500, dim))
    points = np.random.default_rng(1).random((1000, dim))
    low, high = (np.reshape(end, (-1, dim)) for end in grid.boxes())
    index = grid.cell_of(points)
    assert np.all((points >= low[index]) & (points < high[index]))
    assert grid.cell_of(np.ones((1, dim)))[0] == grid.size - 1
    np.testing.assert_array_equal(grid.cell_of(grid.centers()), np.arange(grid.size))


def test_the_number_of_cubes_survives_rounding():
    assert [UnitGrid(1, side_for(k * k, 1)).cuts for k in range(1, 400)] == list(range(1, 400))


@pytest.mark.parametrize("centered", [False, True])
def test_cubes_of_space_hold_their_points(centered):
    grid = SpaceGrid(2, 0.3, centered)
    points = np.random.default_rng(2).normal(size=(200, 2)) * 5
    for key, point in zip(grid.keys_of(points), points, strict=True):
        low = grid.lower_corner(key)
        assert np.all((point >= low - 1e-12) & (point < low + grid.side + 1e-12))
