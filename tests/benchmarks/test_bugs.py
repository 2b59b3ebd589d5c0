"""The bug benchmark is what it says: 20 mechanisms, laws checked against hand-computed probabilities."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from benchmarks.bugs import BUGS
from benchmarks.bugs.at_one import BUDGET, certified_bound
from benchmarks.bugs.event_values import checks, draw_reference, value_of_events
from benchmarks.bugs.noise_mechanisms import TruncatedGeometric
from benchmarks.bugs.rappor import Rappor
from benchmarks.bugs.sparse_vector import ABOVE, svt1

BY_NAME = {bug.name: bug for bug in BUGS}


def test_truncated_geometric_by_hand():
    """n = 5, k = 3: D = 17 * 9^4; from 0, P(0) = 9/17, and from 1, P(0) = 8/17: ratio 9/8."""
    mechanism, total = TruncatedGeometric(), 17 * 9**4
    assert mechanism.cumulative(0)[[0, -1]].tolist() == [9 * 9**4, total]
    assert mechanism.cumulative(1)[0] == 8 * 9**4
    laws = [np.diff(mechanism.cumulative(c), prepend=0) / total for c in range(6)]
    worst = max(np.abs(np.log(a / b)).max() for a, b in pairwise(laws))
    assert worst == pytest.approx(math.log(9 / 8), abs=1e-12)


@pytest.mark.false_alarm(1e-07)
def test_six_bits_differ_and_each_is_sent_at_its_rate():
    """RAPPOR sends a set bit with 0.5125; 160,000 draws, each bit within 6 standard errors (miss below 1e-7)."""
    mechanism = Rappor(0.75, (0.55, 0.45))
    assert np.sum(mechanism.bloom(0) != mechanism.bloom(1)) == 6
    sent = mechanism(np.array([0.0]), 160_000, np.random.default_rng(0)).mean(axis=0)
    assert np.all(np.abs(sent - np.where(mechanism.bloom(0), 0.5125, 0.4875)) < 6 * 0.5 / 400)


@pytest.mark.false_alarm(1e-06)
def test_first_query_above_at_its_probability():
    """SVT1 on a_1 = 1, t = 0.5: P(above) = P(Lap(40) - Lap(20) >= -0.5), by quadrature; exact test at 1e-6."""
    flags = svt1(0.1)(np.ones(1), 50_000, np.random.default_rng(0))
    grid = np.linspace(-600, 600, 240_001)
    chance = np.trapezoid(stats.laplace.pdf(grid, scale=20) * stats.laplace.sf(grid - 0.5, scale=40), grid)
    assert stats.binomtest(int((flags == ABOVE).sum()), 50_000, float(chance)).pvalue > 1e-6


@pytest.mark.false_alarm(0.05, seeded=True)
def test_the_certified_bound_stays_below_the_truth():
    """NoisyHist2 (epsilon 10); the bound is also above 1 (miss below 1e-6)."""
    bug = BY_NAME["NoisyHist2"]
    assert 1.0 < certified_bound(bug.mechanism, bug.pair, 20_000, 0) < bug.epsilon


def test_the_value_of_chosen_events():
    """Laplace, epsilon 1: below the truth by more than the sample's error; judged where nothing leaks, nothing."""
    check = next(iter(checks(BUDGET)))
    left, right = draw_reference(check, 200_000)
    judged = value_of_events(check, 5000, 0, [left, right])
    assert judged.scorer == "monotone"
    assert 0.85 < judged.bound < 1 - 3 * judged.error
    assert value_of_events(check, 5000, 0, [left, left]).bound == 0.0
