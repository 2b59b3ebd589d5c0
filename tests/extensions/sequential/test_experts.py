"""The tree of cells against a recursion over every pruning; events and directions that experts must find."""

import math

import numpy as np
import pytest
from scipy import special

from audit.extensions.sequential.experts import LinearExpert, tree_predictions


def probability(counts):
    """Of one sequence of sides with these counts, by the definition of the weighting."""
    left, right = counts.sum(axis=1)
    uncut = 0.75 * 0.5 ** (left + right) + 0.25 * math.exp(special.betaln(left + 0.5, right + 0.5)) / math.pi
    if counts.shape[1] == 1:
        return uncut
    half = counts.shape[1] // 2
    return 0.5 * uncut + 0.5 * probability(counts[:, :half]) * probability(counts[:, half:])


@pytest.mark.parametrize("cells", [1, 2, 8, 16])
def test_predictions_are_ratios_of_the_definition(cells):
    rng = np.random.default_rng(cells)
    counts = rng.integers(0, 6, (2, cells)).astype(float)
    found = tree_predictions(counts)
    for cell in range(cells):
        with_left, with_right = (counts + np.outer(side, np.eye(cells)[cell]) for side in ((1, 0), (0, 1)))
        left, right = probability(with_left), probability(with_right)
        assert found[cell] == pytest.approx(left / (left + right), abs=1e-12)


def test_nothing_seen_is_no_opinion():
    assert np.all(tree_predictions(np.zeros((2, 512))) == 0.5)


def test_a_rare_cell_is_found_and_the_rest_left_alone():
    counts = np.full((2, 512), 20.0)
    counts[:, 77] = 60.0, 2.0
    found = tree_predictions(counts)
    assert found[77] > 0.9
    assert np.all(np.abs(np.delete(found, 77) - 0.5) < 0.1)


def test_a_direction_is_learned_from_coordinates_that_each_say_little():
    # 2,000 outputs per dataset in 20 coordinates, shift 0.25: odds of the best guess e^(0.25^2 * 20) at distance 1.1
    rng = np.random.default_rng(0)
    left = np.repeat([True, False], 2_000)
    values = rng.normal(size=(4_000, 20)) + np.where(left, 0.125, -0.125)[:, None]
    expert = LinearExpert()
    expert.learn(values, left)
    fresh = rng.normal(size=(4_000, 20)) + np.where(left, 0.125, -0.125)[:, None]
    # the best guess is right with probability 0.71; a useless one on more than 0.65 of 4,000 has chance < 1e-70
    assert np.mean((expert.predict(fresh)[0] > 0.5) == left) > 0.65


def test_a_direction_survives_wild_numbers_and_sleeps_on_nan():
    rng = np.random.default_rng(1)
    values = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, 5e-324, 1.0], size=(300, 3), p=[0.02, *[0.98 / 6] * 6])
    expert = LinearExpert()
    expert.learn(values, rng.random(300) < 0.5)
    found = expert.predict(values)[0]
    assert np.array_equal(np.isnan(found), np.isnan(values).any(axis=1))
    assert np.all((found[~np.isnan(found)] > 0) & (found[~np.isnan(found)] < 1))
