"""Aggregate samplers of the votes from two histograms and of the learners, against the learners themselves.

Two-sample Kolmogorov-Smirnov tests, 800 draws a side, level 1e-7: a gap of 0.15 in a distribution function is missed
with probability below 1e-2, and the wrong samplers below are far beyond it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms.consistency.concepts import Thresholds
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.learner_theorems import SemiSupervisedTrials
from mechanisms.consistency.semi_private import SemiPrivateLearner, threshold_errors
from mechanisms.consistency.semi_supervised import SemiSupervisedLearner
from mechanisms.consistency.stable_theorems import PairRisk, StableRisk
from mechanisms.consistency.stable_votes import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.consistency.voronoi import radius_for
from mechanisms.consistency.votes import Cells
from mechanisms.distributions import Cauchy, Uniform
from mechanisms.distributions.zoo import cauchy_parity

DRAWS, LEVEL = 800, 1e-7


def weak(n):
    """A delta at which small samples retain something."""
    return math.log(0.2)


def literal_risks(learner, n, side, draws):
    """Risk of a learner on Cauchy parity, by the exact costs of the cells where it votes 1."""
    distribution = cauchy_parity()
    zero = distribution.bayes_risk + float(distribution.cost_of_zero(-np.inf, np.inf))
    found = np.full(draws, zero)
    for index in range(draws):
        data = distribution.sample(n, np.random.default_rng((1, index)))
        learner.set_params(random_state=index).fit(data.X, data.y)
        keys = np.array([key[0] for key in learner.votes_], dtype=float)
        cells = Cells.of(distribution, (keys - 0.5) * side, (keys + 0.5) * side)
        found[index] += float(np.sum(cells.cost_of_one - cells.cost_of_zero))
    return found


@pytest.mark.false_alarm(1e-07)
def test_votes_from_two_histograms():
    n = 400
    literal = literal_risks(StableVoronoiClassifier(1, 1.0, 0.2), n, radius_for(n, 1.0), DRAWS)
    aggregate = StableRisk(cauchy_parity, weak)(n, DRAWS, np.random.default_rng(2))
    assert stats.ks_2samp(literal, aggregate).pvalue > LEVEL
    wrong = StableRisk(cauchy_parity, weak, epsilon=0.4)(n, DRAWS, np.random.default_rng(2))
    assert stats.ks_2samp(literal, wrong).pvalue < LEVEL


@pytest.mark.false_alarm(1e-07)
def test_votes_from_one_histogram_of_pairs():
    n = 400
    literal = literal_risks(PairHistogramClassifier(1, 2.0, 0.2), n, side_for(n, 1), DRAWS)
    aggregate = PairRisk(weak, 2.0)(n, DRAWS, np.random.default_rng(3))
    assert stats.ks_2samp(literal, aggregate).pvalue > LEVEL
    wrong = PairRisk(weak, 1.0)(n, DRAWS, np.random.default_rng(3))
    assert stats.ks_2samp(literal, wrong).pvalue < LEVEL


def literal_threshold_errors(feature, n, public, draws):
    """Errors of the learner on records of a feature, true threshold at the median."""
    found, middle = np.empty(draws), float(feature.quantile(np.array([0.5]))[0])
    for index in range(draws):
        rng = np.random.default_rng((4, index))
        X = feature.draw(n, rng)
        learner = SemiPrivateLearner(Thresholds(), feature.draw(public, rng), 1.0, random_state=index)
        chosen = float(learner.fit(X, (middle <= X).astype(int)).concept_[0])
        found[index] = abs((1.0 if np.isinf(chosen) else float(feature.cdf(chosen))) - 0.5)
    return found


@pytest.mark.parametrize("feature", [Uniform(), Cauchy()], ids=repr)
@pytest.mark.false_alarm(1e-07)
def test_the_error_of_thresholds_does_not_depend_on_the_feature(feature):
    literal = literal_threshold_errors(feature, 40, 15, DRAWS)
    aggregate = threshold_errors(0.5, 40, 15, 1.0, DRAWS, np.random.default_rng(5))
    assert stats.ks_2samp(literal, aggregate).pvalue > LEVEL
    wrong = threshold_errors(0.5, 400, 150, 1.0, DRAWS, np.random.default_rng(5))
    assert stats.ks_2samp(literal, wrong).pvalue < LEVEL


@pytest.mark.false_alarm(1e-07)
def test_the_semi_supervised_learner_and_its_aggregate_sampler():
    n, labeled, draws = 400, 30, 20
    literal = np.empty(300)
    for index in range(literal.size):
        rng = np.random.default_rng((6, index))
        X = rng.random(n + labeled)
        y = np.r_[(X[:labeled] >= 0.5).astype(int), np.full(n, -1)]
        learner = SemiSupervisedLearner(Thresholds(), 1.0, n**-2.0, draws, random_state=index).fit(X, y)
        literal[index] = abs(min(float(learner.learner_.concept_[0]), 1.0) - 0.5)
    trials, rng = SemiSupervisedTrials("uniform", n, labeled, draws), np.random.default_rng(7)
    aggregate = np.array([trials._error(rng) for _ in range(300)])
    assert stats.ks_2samp(literal, aggregate).pvalue > LEVEL


def test_cells_of_the_line_are_those_of_the_learner():
    keys = SpaceGrid(1, 0.25, centered=True).keys_of(np.array([[-0.13], [-0.12], [0.12], [0.13]]))
    assert keys == [(-1,), (0,), (0,), (1,)]
