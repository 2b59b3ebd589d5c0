"""Releases for the audit: samplers follow their laws, exact constants, and what privacy does not survive.

Null of the sampler tests: the outputs are i.i.d. from the stated law; 20,000 outputs a dataset, 1e-8 each, about 70.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit import PrivacyCheck
from mechanisms import consistency
from mechanisms.consistency.cube_classifier import CubeVotes, flip_pair
from mechanisms.consistency.semi_private import SemiPrivateRelease, equal_pair
from mechanisms.consistency.semi_supervised import SemiSupervisedRelease
from mechanisms.consistency.stable_votes import (
    StableHistograms,
    StableVotes,
    first_moved,
    records_in_cells,
    stable_vote_probability,
)

PRIVACY = [check for check in consistency.CHECKS if isinstance(check, PrivacyCheck)]


def cases():
    known = {}
    for check in PRIVACY:
        known.setdefault((repr(check.mechanism), repr(check.pairs[0])), (check.mechanism, check.pairs[0], check.name))
    return [pytest.param(mechanism, pair, id=name) for mechanism, pair, name in known.values()]


@pytest.mark.parametrize(("mechanism", "pair"), cases())
@pytest.mark.false_alarm(2e-08)
def test_samplers_follow_their_laws(mechanism, pair):
    for seed, dataset in enumerate(pair):
        outputs = mechanism(dataset, 20_000, np.random.default_rng((7, seed)))
        law = mechanism.law(dataset)
        assert law.fit_pvalue(outputs, np.random.default_rng(8)) > 1e-8
        assert np.all(law.log_likelihood(outputs[:500]) > -np.inf)


def test_the_test_of_fit_rejects_a_neighbor():
    """A flip in a cube moves one bit from 0.30 to 0.50 at epsilon = 0.5: rejected at any level in sight."""
    left, right = flip_pair()
    mechanism = CubeVotes(1, 0.5)
    outputs = mechanism(left, 20_000, np.random.default_rng(1))
    assert mechanism.law(right).fit_pvalue(outputs, np.random.default_rng(2)) < 1e-8


def test_queries_show_the_same_law_as_all_cubes():
    left, _ = flip_pair()
    every, asked = CubeVotes(1, 1.0), CubeVotes(1, 1.0, queries=(0.1, 0.3, 0.6, 0.9))
    pmf = asked.law(left).pmf
    for bits, chance in pmf.items():
        assert every.law(left).log_likelihood(np.array([bits]))[0] == pytest.approx(math.log(chance))


def test_one_record_leaks_less_than_epsilon():
    """log(2 e^(1/2) - 1) = 0.8318: a bit that flips with noise around it hides a half of its only record."""
    law = CubeVotes(1, 1.0).law
    pair = (type(flip_pair()[0])(np.array([0.3]), np.array([y])) for y in (0, 1))
    left, right = pair
    assert law(left).loss_against(law(right)).epsilon(0.0) == pytest.approx(math.log(2 * math.exp(0.5) - 1))


def test_both_histograms_cost_two_epsilon_and_half_delta():
    """Moving a label-1 record between large cells; the profile of four counts at epsilon = 1 in four points."""
    crowded = records_in_cells((80, 80), (80, 80))
    mechanism = StableHistograms(1.0, 1e-6)
    loss = mechanism.privacy_loss(crowded, first_moved(crowded, 1))
    for level, delta in ((0.0, 0.3524), (0.5, 0.2215), (1.0, 0.0886), (1.5, 0.0384)):
        assert loss.delta(level) == pytest.approx(delta, abs=2e-4)
    single = records_in_cells((1, 1), (0, 0), (24, 8))
    leak = StableHistograms(1.0, 0.1, (0, 1, 2)).privacy_loss(single, first_moved(single, 1))
    assert leak.delta(30.0) == pytest.approx(0.1 / 2 - 0.1**2 / 16, rel=1e-6)


@pytest.mark.parametrize(("count", "ones"), [(1, 1), (20, 8), (30, 14), (40, 40), (60, 31), (26, 26)])
@pytest.mark.false_alarm(2e-09)
def test_stable_vote_probability_against_draws(count, ones):
    """Null: the quadrature. 200,000 draws, six standard deviations: 2e-9 each."""
    epsilon, delta = 1.0, 0.001
    rng = np.random.default_rng(count)
    level = 2 * math.log(2 / delta) + 1
    c, y = (k + rng.laplace(scale=2.0, size=200_000) for k in (count, ones))
    c, y = np.where(c >= level, c, 0), np.where(y >= level, y, 0)
    rate = np.mean(np.minimum(c, y) > c / 2)
    chance = stable_vote_probability(epsilon, delta, count, ones)
    assert abs(rate - chance) <= 6 * math.sqrt(max(chance, 1e-5) / 200_000)


def test_votes_of_cells_without_label_one_are_zero():
    data = records_in_cells((40, 0), (40, 40))
    assert StableVotes(1.0, 0.1)(data, 2000, np.random.default_rng(0))[:, 0].max() == 0


@pytest.mark.parametrize("records", [1, 2, 10, 40])
def test_semi_private_loss_has_a_closed_form(records):
    release = SemiPrivateRelease(consistency.semi_private.Singletons(), (0.35,), 1.0)
    left, right = equal_pair(0.35, records)
    exact = math.log((1 + math.exp(records / 2)) / (1 + math.exp((records - 2) / 2)))
    assert release.law(left).loss_against(release.law(right)).epsilon(0.0) == pytest.approx(exact)


def test_the_law_of_the_semi_supervised_release_sums_to_one():
    for check in PRIVACY:
        if isinstance(check.mechanism, SemiSupervisedRelease):
            assert sum(check.mechanism.law(check.pairs[0][0]).pmf.values()) == pytest.approx(1, abs=1e-10)


CUBES = "consistency/cube classifier/theorem 3.1"
TIGHT = (f"{CUBES} votes", f"{CUBES} noisy", "consistency/voronoi/")


@pytest.mark.parametrize("check", [c for c in PRIVACY if c.name.startswith(TIGHT)], ids=lambda c: c.name)
def test_epsilon_is_attained_exactly(check):
    law = check.mechanism.law
    losses = [law(left).loss_against(law(right)).epsilon(0.0) for left, right in check.pairs]
    assert max(losses) == pytest.approx(check.claim.epsilon, rel=1e-9)
