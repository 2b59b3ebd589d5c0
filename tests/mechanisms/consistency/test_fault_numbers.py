"""The true privacy that the faults state: leaking events have the stated probability, and none on the other side.

Null: the stated probability. 20,000 outputs, exact binomial tests, 1e-8 each.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms.consistency.density_theorems import L1Losses
from mechanisms.consistency.stable_counts import new_label_probability
from mechanisms.faults import consistency as faults
from mechanisms.faults.consistency.utility import NoiseOnTheMean, SideConstant, SideTooSmall

N = 20_000


def fault(name):
    (check,) = [c for c in faults.CHECKS if type(getattr(c, "mechanism", None)).__name__ == name]
    return check


def both(check):
    return [check.mechanism(data, N, np.random.default_rng((3, side))) for side, data in enumerate(check.pairs[0])]


def vote_one(s):
    return stats.laplace.sf(-s)


LEAKS = [  # event that has no probability on the left, and its probability on the right, epsilon = 1
    ("OneNoiseForAllCubes", lambda z: (z[:, 0] == 0) & (z[:, -1] == 1), 1 - math.exp(-0.5)),
    ("EmptyCubesVoteZero", lambda z: z[:, 3] == 1, 1 - math.exp(-0.5) / 2),
    (
        "CentersFromTheData",
        lambda z: z[:, 1] != z[:, 2],
        vote_one(0.5) * vote_one(1.0) + (1 - vote_one(0.5)) * (1 - vote_one(1.0)),
    ),
    ("RepresentativesFromTheRecords", lambda z: z == 0.4, 1 / (2 + math.exp(0.5))),
]


@pytest.mark.parametrize(("name", "event", "probability"), LEAKS, ids=[name for name, *_ in LEAKS])
@pytest.mark.false_alarm(2e-08)
def test_leaks_have_the_stated_mass(name, event, probability):
    check = fault(name)
    left, right = both(check)
    assert not event(left).any()
    assert stats.binomtest(int(event(right).sum()), N, probability).pvalue > 1e-8
    assert f"{probability:.3f}" in type(check.mechanism).__doc__


@pytest.mark.parametrize("name", ["CubesFromTheData", "SizeFromTheLabels"])
@pytest.mark.false_alarm(2e-08)
def test_data_dependent_cubes_show_where_they_end(name):
    """Some two points always agree on one side and disagree with probability above 0.3 on the other."""
    left, right = both(fault(name))
    shares = [[np.mean(z[:, i] != z[:, j]) for i in range(6) for j in range(i)] for z in (left, right)]
    assert any(min(pair) == 0 and max(pair) > 0.3 for pair in zip(*shares, strict=True))


@pytest.mark.false_alarm(2e-08)
def test_predictions_with_fresh_noise_add_up():
    """Four votes 1 have probability 1/16 against e^-2 / 16 at epsilon = 0.5."""
    left, right = both(fault("NoisePerQuery"))
    for z, probability in ((left, math.exp(-2) / 16), (right, 1 / 16)):
        assert stats.binomtest(int(np.all(z == 1, axis=1).sum()), N, probability).pvalue > 1e-8


@pytest.mark.false_alarm(2e-08)
def test_labels_up_to_two_triple_the_loss():
    """Votes (0, 1): 1/4 after the move, e^-1.5 / 4 before, at epsilon = 0.5."""
    left, right = both(fault("UncheckedLabels"))
    for z, probability in ((left, math.exp(-1.5) / 4), (right, 0.25)):
        assert stats.binomtest(int(((z[:, 0] == 0) & (z[:, -1] == 1)).sum()), N, probability).pvalue > 1e-8


def test_broken_risks_are_the_stated_ones():
    assert SideTooSmall()(1000) == pytest.approx(0.202, abs=1e-3)
    assert SideConstant()(10**6) == pytest.approx(0.0243, abs=1e-4)
    drawn = NoiseOnTheMean()(10**6, 100, np.random.default_rng(1))
    u = (np.arange(10_000) + 0.5) / 10_000
    margin = np.abs(0.8 * np.sin(2 * np.pi * u))
    limit = np.mean(margin * np.exp(-margin / 2)) / 2
    assert limit == pytest.approx(0.187, abs=1e-3)
    assert drawn.mean() == pytest.approx(limit, abs=0.01)


def test_losses_of_densities_stay_within_their_support():
    losses = L1Losses("uniform")(10**3, 50, np.random.default_rng(2))
    assert losses.shape == (50,)
    assert 0 <= losses.min() <= losses.max() <= 2


WRONG_LEVELS = [  # what a threshold of a stability histogram gives for delta at epsilon = 1
    ("decimal logarithm", 1e-6, 2 * math.log10(2e6) + 1, 9.2e-4),
    ("decimal logarithm", 1e-3, 2 * math.log10(2e3) + 1, 1.8e-2),
    ("half threshold", 1e-6, math.log(2e6) + 1, 3.5e-4),
    ("no logarithm", 1e-6, 3.0, math.exp(-1) / 2),
    ("without + 1", 1e-2, 2 * math.log(200), math.exp(0.5) * 0.01 / 4),
    ("log(1/delta)", 1e-2, 2 * math.log(100) + 1, 0.005),
]


@pytest.mark.parametrize(("name", "delta", "level", "stated"), WRONG_LEVELS)
def test_thresholds_give_the_stated_delta(name, delta, level, stated):
    assert new_label_probability(1.0, level) == pytest.approx(stated, rel=0.03)
    assert (stated <= delta) == (name in ("without + 1", "log(1/delta)"))
