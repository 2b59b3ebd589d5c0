"""The numbers that the faults state: delta at infinity, epsilon at delta = 1e-6, computed from their laws."""

from __future__ import annotations

import math

import pytest

from mechanisms.faults.stability import CHECKS
from mechanisms.faults.stability.chunks import SMALL, OverlappingChunks
from mechanisms.faults.stability.noise import REFERENCE
from mechanisms.stability.bounds import composed_epsilon, proved_epsilon, release_probability
from mechanisms.stability.calibration import printed_soft

BY_NAME = {check.name.removeprefix("fault/stability "): check for check in CHECKS}


def loss_of(name):
    check = BY_NAME[name]
    left, right = check.pairs[0]
    return check.mechanism.law(left).loss_against(check.mechanism.law(right))


@pytest.mark.parametrize(
    ("name", "delta"),
    [
        ("no query noise, printed", 0.0073),
        ("one query noise, printed", 0.0024),
        ("threshold zero", 0.9995),
        ("threshold without m", 3.67e-6),
        ("threshold without delta", 3.7e-3),
        ("half the threshold", 1.64e-4),
        ("decimal logarithm", 6.7e-4),
        ("distance to instability, noise scale doubled", 5e-4),
        ("distance to instability, off by one", math.e * 0.5e-6),
        ("distance to instability, literal gap, unstable", 3.69e-6),
        ("distance to instability, no noise", 1.0),
    ],
)
def test_probability_that_gives_the_side_away(name, delta):
    assert loss_of(name).delta(50.0) == pytest.approx(delta, rel=0.02)


@pytest.mark.parametrize(
    ("name", "level", "epsilon"),
    [
        ("query noise too small lam=1", 0.0, 2.77),
        ("distance to instability, literal gap, stable", 0.0, 2.0),
        ("gap, calibrated T=1, stopping times", 1e-6, 1.96),
        ("gap, calibrated T=2, stopping times", 1e-6, 1.726),
        ("gap, calibrated T=5, stopping times", 1e-6, 1.10),
        ("overlapping chunks s=10, printed", 1e-6, 1.256),
        ("cutoff off, 150 epochs", 1e-6, 1.42),
    ],
)
def test_epsilon_of_a_fault(name, level, epsilon):
    assert loss_of(name).epsilon(level) == pytest.approx(epsilon, rel=0.01)


def test_what_is_hidden_at_the_reference_point():
    assert composed_epsilon(1e-6, 3 / REFERENCE.lam, 11) == pytest.approx(0.483, abs=2e-3)
    five = proved_epsilon(1e-6, REFERENCE.lam, REFERENCE.threshold, 11, 1000, lipschitz=5)
    assert five == pytest.approx(1.61, abs=5e-3)


@pytest.mark.parametrize(("cutoff", "stated"), [(1, 0.0109), (5, 0.0049), (10, 0.0035), (50, 0.0016)])
def test_same_noise_for_both_tests(cutoff, stated):
    lam = printed_soft(1.0, 1e-6, cutoff, 1000).lam
    assert 1 - 2 * release_probability(1.0, lam) == pytest.approx(stated, abs=6e-5)


def test_a_unanimous_vote_gets_its_answer():
    assert release_probability(SMALL.threshold - 3, SMALL.lam) == pytest.approx(0.80, abs=5e-3)


def test_a_shared_record_moves_distances_by_its_shares():
    check = BY_NAME["overlapping chunks s=3, one epoch lam=1"]
    left, right = (check.mechanism.queries(side) for side in check.pairs[0])
    assert set(abs(left - right)) == {3.0}
    assert isinstance(check.mechanism.queries, OverlappingChunks)
