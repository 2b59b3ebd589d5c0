"""The literal classifier: by hand, against the aggregate sampler, and as an estimator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditError
from mechanisms.distributions import Atomic
from mechanisms.distributions.zoo import quadrants, smooth
from mechanisms.local.agreement import LiteralExcess
from mechanisms.local.cells import draw_statistics, tabulate
from mechanisms.local.classifier import LocalHistogramClassifier, consistent_bandwidth, rate_bandwidth
from mechanisms.local.grid import Grid
from mechanisms.local.regressogram import Regressogram

REPLICATES = 2_000
ON_THE_GRID = Atomic([0.0, 0.25, 0.3, 0.75], [0.2, 0.4, 0.1, 0.3], [0.6, -0.4, 0.2, 0.8])


def test_without_noise_the_statistic_is_the_difference_of_two_means():
    # eps = 1e9: the noise has scale 4e-9. Every user sits at x = 0.3: cells 1 and 2 of h = 0.25
    X, y = np.full(40, 0.3), np.r_[np.ones(30), np.zeros(10)].astype(int)
    learner = LocalHistogramClassifier(1e9, 0.25, random_state=5).fit(X, y)
    ones = learner.statistic_[1] + 0.5  # share of labels 1 in half 2
    assert learner.statistic_[[0, 3, 4]] == pytest.approx([0, 0, 0], abs=1e-6)
    assert learner.statistic_[2] == pytest.approx(learner.statistic_[1], abs=1e-6)
    assert ones * 20 == pytest.approx(round(ones * 20), abs=1e-5)
    assert learner.predict([0.3, 0.2]).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("distribution", "bandwidth", "n"),
    [(smooth(), 0.25, 150), (ON_THE_GRID, 0.25, 150), (quadrants(), 0.4, 150)],
    ids=["d=1", "atoms on the grid", "d=2"],
)
@pytest.mark.false_alarm(1e-08)
def test_literal_and_aggregate_statistics_have_one_law(distribution, bandwidth, n):
    """Null: equal laws in every cell. 2,000 against 2,000 draws, two DKW bands, false alarm 1e-8 over all cells.

    The bands together are 0.15 wide: a shift of a cell's mean by half its deviation, or noise wider by half, moves the
    distribution function by 0.19 (0.09 per tail), so that the first is seen with probability above 0.99. Spread is
    what the covariances below are for.
    """
    grid = Grid(distribution.dim, bandwidth)
    rng = np.random.default_rng(20190501)
    literal = LiteralExcess(distribution, n, bandwidth, 4.0).statistics(REPLICATES, rng)
    aggregate = draw_statistics(distribution, n, 4.0, grid, REPLICATES, rng)
    assert literal.shape == aggregate.shape == (REPLICATES, grid.cells)
    width = math.sqrt(math.log(2 * 2 * grid.cells / 1e-8) / (2 * REPLICATES))
    for one, other in zip(literal.T, aggregate.T, strict=True):
        assert stats.ks_2samp(one, other).statistic <= 2 * width
    # covariance of neighbors through the users they share: 5.7 standard errors of the difference, alarm 1e-8
    for sample in (literal,):
        np.testing.assert_allclose(
            np.cov(sample.T), np.cov(aggregate.T), atol=5.7 * 2 * np.var(sample) / REPLICATES**0.5
        )


def test_an_atom_on_the_grid_counts_in_one_cell():
    table = tabulate(ON_THE_GRID, Grid(1, 0.25))
    # cells (-h, h), (0, 2h), (h, 3h), (2h, 4h), (3h, 5h): 0.25 and 0.75 lie in the middle of one cell each, 0.3 in two
    assert table.mass.tolist() == pytest.approx([0.2, 0.5, 0.1, 0.3, 0.0])
    drawn = draw_statistics(ON_THE_GRID, 10**12, 1.0, Grid(1, 0.25), 4, np.random.default_rng(0))
    np.testing.assert_allclose(drawn, np.broadcast_to(table.signed / 2, drawn.shape), atol=1e-4)


@pytest.mark.false_alarm(2e-08)
def test_moments_of_the_statistic():
    """Null: mean and deviation of the evaluator. 20,000 aggregate draws, 6 standard errors, alarm 1e-8 a number."""
    grid = Grid(1, 0.2)
    table = tabulate(smooth(), grid)
    drawn = draw_statistics(smooth(), 400, 2.0, grid, 20_000, np.random.default_rng(8))
    deviation = table.deviation(400, 2.0)
    assert np.all(np.abs(drawn.mean(axis=0) - table.signed / 2) <= 6 * deviation / 20_000**0.5)
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=6 * 1.2 / (2 * 20_000) ** 0.5)


def test_large_epsilon_learns_the_distribution():
    """A fixed seed; at eps = 50 and n = 20,000 the statistic is 20 deviations from 0 outside the boundary's cells."""
    rng = np.random.default_rng(1)
    train, test = smooth().sample(40_000, rng), smooth().sample(4_000, rng)
    learner = LocalHistogramClassifier(50.0, 0.05, random_state=0).fit(train.X, train.y)
    assert learner.score(test.X, test.y) > 1 - smooth().bayes_risk - 0.05
    away = np.array([0.1, 0.25, 0.4, 0.6, 0.75, 0.9])
    assert learner.predict(away).tolist() == [1, 1, 1, 0, 0, 0]


def test_the_same_seed_gives_the_same_fit_and_the_order_of_users_does_not_leak_into_halves():
    X, y = np.linspace(0, 1, 50), np.r_[np.zeros(25), np.ones(25)].astype(int)
    fits = [LocalHistogramClassifier(1e9, 0.5, random_state=3).fit(X, y).statistic_ for _ in range(2)]
    np.testing.assert_array_equal(*fits)
    # sorted by label: without a random split half 1 would have only zeros, and T would be 1/2 larger everywhere
    assert np.all(np.abs(fits[0]) < 0.45)


def test_scikit_learn_takes_it_for_an_estimator():
    base = pytest.importorskip("sklearn.base")
    learner = base.clone(LocalHistogramClassifier(2.0, 0.25, random_state=1))
    assert learner.get_params() == {"epsilon": 2.0, "bandwidth": 0.25, "low": 0.0, "high": 1.0, "random_state": 1}
    assert learner.set_params(epsilon=3.0).epsilon == 3.0
    assert learner.classes_.tolist() == [0, 1]
    with pytest.raises(AuditError, match="`alpha` must be one of epsilon"):
        learner.set_params(alpha=1)


@pytest.mark.parametrize(
    ("X", "y", "rule"),
    [
        (
            [0.1, 1.5],
            [0, 1],
            r"`X` must lie in \[0, 1\]\^1; scale it by bounds that do not come from the data, got 1.5",
        ),
        ([0.1, np.nan], [0, 1], "`X` must be finite"),
        ([0.1, 0.2], [0, 2], "`y` must hold labels 0 and 1 only, got 2"),
        ([0.1, 0.2], [-1, 1], "`y` must hold labels 0 and 1 only, got -1"),
        ([0.1, 0.2], [0], r"`y` must have shape \(2,\), one label for each row of X"),
        ([0.1], [0], "`X` must hold at least two users"),
        (np.zeros((3, 2, 2)), [0, 1, 1], r"`X` must have shape \(n, 2\)"),
    ],
)
def test_bad_data_is_refused(X, y, rule):
    with pytest.raises(AuditError, match=rule):
        LocalHistogramClassifier(1.0, 0.25, random_state=0).fit(X, y)


def test_bad_parameters_and_early_predictions_are_refused():
    with pytest.raises(AuditError, match="`epsilon` must be finite and > 0"):
        LocalHistogramClassifier(0.0, 0.25).fit([0.1, 0.2], [0, 1])
    with pytest.raises(AuditError, match="`fit` must be called before"):
        LocalHistogramClassifier(1.0, 0.25).predict([0.1])
    with pytest.raises(AuditError, match="`X` must lie in"):
        LocalHistogramClassifier(1.0, 0.25, random_state=0).fit([0.1, 0.2], [0, 1]).predict([3.0])


def test_bandwidths_of_the_theorems():
    assert consistent_bandwidth(10**8, 1.0, 1) == pytest.approx(1e-2)
    assert consistent_bandwidth(10**8, 0.1, 2) == pytest.approx(10 ** (-6 / 8))
    assert rate_bandwidth(16, 1.0, 1, 1.0, 1.0) == pytest.approx(0.5)
    assert rate_bandwidth(16, 0.5, 1, 1.0, 2.0) == pytest.approx(0.5)
    assert rate_bandwidth(64, 1.0, 2, 1.0, 1.0) == pytest.approx(0.5)


def test_regressogram_is_a_majority_vote():
    learner = Regressogram(0.5).fit([0.1, 0.2, 0.3, 0.6, 0.7], [1, 1, 0, 0, 0])
    assert learner.predict([0.0, 0.4, 0.5, 0.9]).tolist() == [1, 1, 0, 0]
    assert learner.predict([5.0]).tolist() == [1]  # empty cells go to 1
    assert learner.score([0.1, 0.6], [1, 1]) == 0.5
    with pytest.raises(AuditError, match="`y` must hold labels"):
        Regressogram(0.5).fit([0.1], [3])
    with pytest.raises(AuditError, match="`y` must have shape"):
        Regressogram(0.5).fit([0.1], [0, 1])
