"""Votes kept as a polynomial: the field is a field, the votes are kept, and the coefficients have the stated law."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.consistency.grids import SpaceGrid
from mechanisms.consistency.hidden_votes import Field, HiddenVotes, draw_votes, elements_of
from mechanisms.consistency.votes import vote_probability

HALVES = pytest.mark.parametrize("half", [2, 4, 8, 16])


@HALVES
def test_the_field_is_one(half):
    field, rng = Field(half), np.random.default_rng(half)
    a, b, c = (rng.integers(field.size, size=400, dtype=np.uint64).astype(np.uint32) for _ in range(3))
    multiply = field.multiply
    np.testing.assert_array_equal(multiply(a, b), multiply(b, a))
    np.testing.assert_array_equal(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c))
    np.testing.assert_array_equal(multiply(multiply(a, b), c), multiply(a, multiply(b, c)))
    np.testing.assert_array_equal(multiply(a, np.ones_like(a)), a)
    some = a[a > 0]
    np.testing.assert_array_equal(multiply(some, field.inverse(some)), 1)


@HALVES
def test_interpolation_meets_its_values(half):
    field, rng = Field(half), np.random.default_rng(half)
    x = rng.permutation(min(field.size, 1000))[:12].astype(np.uint32)
    values = rng.integers(field.size, size=len(x), dtype=np.uint64).astype(np.uint32)
    np.testing.assert_array_equal(field.evaluate(field.interpolate(x, values), x), values)


@pytest.mark.false_alarm(1e-7)
def test_coefficients_of_two_records_have_the_law_of_the_proof():
    """All 256 polynomials over the field of 16 elements, 5,000 draws: chi-square at 1e-7, seen to reject."""
    keys, field, chances = [(0,), (1,)], Field(2), []
    for margins in ([0.5, -0.5], [0.5, 0.5]):
        ones, x = vote_probability(1.0, np.array(margins)), elements_of(keys, 4)
        assert len(set(x.tolist())) == 2
        table = np.array(list(itertools.product(range(16), repeat=2)), dtype=np.uint32)
        bits = np.array([field.evaluate(row, x) & 1 for row in table])
        chances.append(np.prod(2 * np.where(bits == 1, ones, 1 - ones), axis=1) / 256)
        assert chances[-1].sum() == pytest.approx(1)
    rng = np.random.default_rng(4)
    drawn = [draw_votes(keys, np.array([0.5, -0.5]), 1.0, rng, 4).coefficients for _ in range(5_000)]
    counts = np.bincount([16 * int(a) + int(b) for a, b in drawn], minlength=256)
    assert stats.chisquare(counts, chances[0] * 5_000).pvalue > 1e-7
    assert stats.chisquare(counts, chances[1] * 5_000).pvalue < 1e-7
    assert np.max(np.abs(np.log(chances[0] / chances[1]))) <= 1.0


def test_what_is_kept_has_the_size_of_the_records_whatever_they_are():
    far = draw_votes([(0,), (10**9,), (-5,)], np.full(3, 0.5), 50.0, np.random.default_rng(0))
    near = draw_votes([(0,)] * 3, np.full(3, 0.5), 50.0, np.random.default_rng(0))
    for votes in (far, near):
        assert isinstance(votes, HiddenVotes)
        assert vars(votes).keys() == {"coefficients", "bits"}
        assert votes.coefficients.shape == (3,)
        assert votes.coefficients.dtype == np.uint32


def test_nodes_that_are_filled_in_are_not_those_of_the_records():
    """Twice the same cell, whose element is 0, the first one that is free otherwise: its vote must be kept."""
    key = next((i,) for i in range(1_000) if elements_of([(i,)], 4)[0] == 0)
    for seed in range(20):
        votes = draw_votes([key, key], np.full(2, 0.5), 1e6, np.random.default_rng(seed), bits=4)
        assert votes[[key]].tolist() == [1]


def test_thirty_dimensions_need_no_table_and_sure_votes_are_right():
    rng = np.random.default_rng(1)
    X = rng.random((200, 30))
    y = (X[:, 0] > 0.5).astype(int)
    learner = CubeClassifier(30, 1e6, random_state=0).fit(X, y)
    assert len(learner.votes_) == 200
    assert learner.score(X, y) > 0.9  # most records are alone in their cubes
    ones = learner.predict(rng.random((2_000, 30))).mean()
    assert 0.44 < ones < 0.56  # empty cubes toss fair coins: outside with probability below 1e-7


def test_the_last_cube_of_an_axis_holds_its_end():
    learner = CubeClassifier(2)
    learner.side_ = 0.5
    assert learner._keys(SpaceGrid(2, 0.5), np.array([[1.0, 0.5], [0.2, 1.0]])) == [(1, 1), (0, 1)]
