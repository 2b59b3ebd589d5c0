"""Numbers of the theorems: sample sizes, certificates, success rates, and those that the faults state.

"Computed independently" means: by another implementation, before this package existed.
"""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from audit import PrivacyClaim, check_packing
from audit.laws import FiniteLoss
from mechanisms.cover import converse, metric
from mechanisms.cover.accuracy import CONCENTRATED, UNIFORM, MetricConvergence, SphereTrials, Trials, longest, shortest
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.learners import ReferenceCoverLearner, ThresholdERM
from mechanisms.cover.packing import BesideAPoint, MovingExample, RandomizedLabel, packing_value
from mechanisms.cover.sample_sizes import (
    agnostic_parts,
    agnostic_size,
    label_private_size,
    metric_size,
    realizable_size,
)
from mechanisms.faults.cover import covers, utility, weights


def test_sample_sizes_computed_independently():
    assert agnostic_size(0.5, 0.1, 0.1) == 28045
    assert agnostic_size(0.1, 0.2, 0.1) == 6457
    assert agnostic_size(0.05, 0.2, 0.1, math.log(75.5)) == 9917
    assert agnostic_size(0.5, 0.2, 0.1, 0.0, math.log2(7)) == 12793
    assert [realizable_size(*a, 0.1) for a in ((0.5, 0.1), (0.02, 0.1), (0.9, 0.05))] == [35057, 53807, 75658]
    assert [label_private_size(0.5, 0.1, 0.1, noise) for noise in (0.0, 0.2)] == [4578, 23758]
    assert label_private_size(0.05, 0.2, 0.1) == 4209
    assert [metric_size(r) for r in (0.1, 0.01)] == [2629, 32311]


@pytest.mark.parametrize(
    ("most", "total", "privacy"), [(5, 9439, 888), (10, 11345, 1079), (20, 15336, 1478), (40, 23336, 2278)]
)
def test_sample_sizes_on_the_hard_family(most, total, privacy):
    kappa = 0.5 + 0.75 * (6 + 4 * math.exp(0.5 * most))
    parts = agnostic_parts(0.5, 0.2, 0.1, math.log(kappa))
    assert (math.ceil(max(parts)), round(parts[1])) == (total, privacy)


@pytest.mark.parametrize(("size", "published"), [(10, 8.0), (10**3, 12.7), (10**6, 19.6), (10**12, 33.4)])
def test_packing_certificates_of_erm(size, published):
    design = MovingExample(size)
    result = check_packing(
        ThresholdERM(), PrivacyClaim(1.0), design.dataset, design.hits, family_size=size, distance=1, budget=1000
    )
    assert result.successes == 1000
    assert result.epsilon_lower_bound >= published


@pytest.mark.parametrize(("epsilon", "accuracy", "rank"), [(0.1, 0.1, 19), (1.0, 0.3, 17)])
def test_a_cover_from_the_data_gets_a_large_certificate(epsilon, accuracy, rank):
    """At least 11.5: the hit rate is 0.116 and more; 1000 trials with a fixed seed."""
    design = BesideAPoint(10**6, rank)
    learner = covers.DataCover(epsilon, accuracy)
    result = check_packing(
        learner, PrivacyClaim(epsilon), design.dataset, design.hits, family_size=10**6, distance=1, budget=1000
    )
    assert result.epsilon_lower_bound >= 11.5


@pytest.mark.false_alarm(2e-09)
def test_randomized_response_hits_as_stated():
    """Null: hit rate e / (e + 9). n = 40,000, six standard errors: false alarm 2e-9."""
    response = RandomizedLabel(10, 1.0)
    share = np.mean(response(4, 40_000, np.random.default_rng(0)) == 4)
    assert response.hit_rate == pytest.approx(math.e / (math.e + 9))
    assert abs(share - response.hit_rate) < 6 * math.sqrt(0.25 / 40_000)
    assert packing_value(response.hit_rate, 10, 1) == pytest.approx(1.0)


def test_grid_design_shows_a_quarter_of_epsilon():
    # half of b examples just left (-), half just right (+) of each of K thresholds; alpha = 1
    grid, b = np.arange(50), 40
    wrong = np.where(grid[:, None] == grid[None, :], 0, b / 2)
    p = np.exp(-wrong / 2) / np.exp(-wrong / 2).sum(axis=1, keepdims=True)
    assert packing_value(p[0, 0], 50, b) == pytest.approx(0.25, abs=1e-12)


def test_success_of_a1_on_the_hard_family():
    # computed independently: 0.030, 0.0038; the third one depends on how windows and grid fall together
    found = [value for _, value, _ in converse.success_cases()]
    assert found[:2] == pytest.approx([0.030, 0.0038], rel=0.03)
    assert found[2] < 1.5e-4


def test_linear_programs():
    # computed independently: 0.061 and 0.053 over all classes
    found = [converse.best_private_success(20, e, tuple(range(21))) for e in (0.05, 0.02)]
    assert found == pytest.approx([0.061, 0.053], abs=5e-4)
    assert converse.lemma_targets(20, 0.05) == (6, 8, 10, 12, 14)
    assert converse.lemma_bound(0.05, 0.05, 5) == pytest.approx(20.3, abs=0.05)
    # two datasets, two outputs: randomized response is the best
    assert converse.best_private_success(1, 1.0, (0, 1)) == pytest.approx(math.e / (1 + math.e))


def test_tail_of_a2():
    assert converse.realizable_tail() == pytest.approx(8.12e-3, rel=1e-3)
    bounds = [converse.tail_cases(rate)[0][2] for rate in (3 / 80, 3 / 40, 3 / 20)]
    assert bounds == pytest.approx([1.11e-2, 6.1e-6, 1.9e-12], rel=0.02)


def test_packing_of_balls():
    assert metric.close_pair_mass(3, 1.0) * 4 == pytest.approx(2.0)
    assert metric.close_pair_mass(3, 0.5) * 4 == pytest.approx(1.17, abs=5e-3)
    assert metric.close_pair_mass(10, 0.5) * 512 == pytest.approx(7.66, abs=5e-3)
    assert metric.close_pair_mass(10, 1.0) * 512 == pytest.approx(256)
    assert metric.packing_by_deletion(10, 0.03) < 256  # 0.026 is the last radius on a grid of 0.001


def test_bands():
    assert metric.printed_band_smoothness(10, 1 / math.sqrt(10)) == pytest.approx(-4.69, abs=5e-3)
    (case,) = [case for case in metric.band_cases((1.5,)) if case[0].startswith("n=10 ")]
    assert case[1:] == pytest.approx((1.16, 2.85), abs=5e-3)


def test_intervals_by_hand():
    x = np.array([0.1, 0.4, 0.5])
    assert [shortest(x, j) for j in range(4)] == pytest.approx([0, 0, 0.1, 0.4])
    assert [longest(x, j) for j in range(4)] == pytest.approx([0.5, 0.6, 0.9, 1.0])


def test_breaking_the_size_breaks_the_lemma():
    """Lemma 23 is not for every m: at m = 20 and r = 0.1 it fails in most of 200 samples (fixed seed)."""
    assert MetricConvergence(20, 0.1)(200, np.random.default_rng(0)).mean() < 0.5


def test_failure_probabilities():
    # computed independently: 0.1 at m = 81 on the sphere; 0.994 with the scale forgotten
    sphere = [SphereTrials(0.5, 0.2, 0.1, 81).failure(np.random.default_rng(seed)) for seed in range(60)]
    assert np.mean(sphere) == pytest.approx(0.1, abs=0.05)
    unit = Trials(CONCENTRATED, 0.5, 0.2, 200, 75.5, utility.UnitScale(0.5))
    assert unit.failures(100, np.random.default_rng(0)).mean() == pytest.approx(0.994, abs=2e-3)
    right = Trials(UNIFORM.with_noise(0.2), 0.5, 0.1, 28045)
    assert right.failures(100, np.random.default_rng(0)).max() < 1e-50


def exact_loss(fault, pair):
    """The exact loss of a fault of `weights` with a law."""
    masses = []
    for data in pair:
        penalty = fault.penalty(weights.ThresholdClass().mistakes(fault.grid, data), data)
        masses.append(np.exp(-penalty + penalty.min()) / np.exp(-penalty + penalty.min()).sum())
    return FiniteLoss(*masses)


@pytest.mark.parametrize(
    ("name", "number"),
    [("NoHalf", "1.569"), ("SquaredError", "1.617"), ("ClassBalanced", "2.492")],
)
def test_stated_numbers_of_faults_with_weights(name, number):
    check = next(c for c in weights.CHECKS if type(getattr(c, "mechanism", None)).__name__ == name)
    assert number in inspect.getdoc(type(check.mechanism))
    assert exact_loss(check.mechanism, check.pairs[0]).epsilon(0.0) == pytest.approx(float(number), abs=6e-4)


def test_stated_number_of_the_noisy_min():
    worse = {t: math.exp(-t) * (2 + t) / 4 for t in (1, 3, 10, 12)}
    assert math.log(worse[1] / worse[3]) == pytest.approx(1.489, abs=5e-4)
    assert math.log(worse[10] / worse[12]) == pytest.approx(1.846, abs=5e-4)


def supports(fault, pair, grids):
    """Mass of the left law that the right one cannot give."""
    laws = []
    for data, grid in zip(pair, grids, strict=True):
        chances = np.exp(-fault / 2 * covers.THRESHOLDS.mistakes(grid, data))
        laws.append(dict(zip(grid.tolist(), (chances / chances.sum()).tolist(), strict=True)))
    return sum(mass for outcome, mass in laws[0].items() if outcome not in laws[1])


def test_stated_numbers_of_faults_with_covers():
    pair = next(c for c in covers.CHECKS if "range" in c.name).pairs[0]
    grids = [np.linspace(data.X.min(), data.X.max(), 10) for data in pair]
    assert supports(1.0, pair, grids) == pytest.approx(0.9964, abs=1e-4)
    pair = next(c for c in covers.CHECKS if "distinct" in c.name).pairs[0]
    learner = ReferenceCoverLearner(1.0, 0.9)
    grids = [covers.THRESHOLDS.packing_cover(learner.radius(m)) for m in (400, 401)]
    assert [len(grid) for grid in grids] == [78, 80]
    assert supports(1.0, pair, grids) == pytest.approx(1.0)


def test_the_best_cover_element_without_kappa_is_bad():
    grid = Trials(CONCENTRATED, 0.05, 0.2, 10, 1.0).grid
    assert CONCENTRATED.excess(grid).min() == pytest.approx(0.275)
    assert ConcentratedThresholdFamily(0.01).smoothness == 75.5
