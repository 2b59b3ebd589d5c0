"""Base learners, students, and one-pass SGD against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit import AuditError
from mechanisms.stability.aggregate import BinaryClassificationService, SubsampleAggregate
from mechanisms.stability.average_stability import CELLS, CellStability, deviation, two_stage_deviation
from mechanisms.stability.base_learners import (
    AxisRectangle,
    CellMeanLearner,
    CellMeans,
    DecisionStump,
    FirstRecordLearner,
    logistic_regression,
)
from mechanisms.stability.sgd import STEPS, OnePassSGD, ReplaceOne, one_pass, sigmoid
from mechanisms.stability.thresholds import ThresholdERM
from mechanisms.stability.transfer import KnowledgeTransferLearner, coins_for_silence


def test_rectangle():
    X, y = np.array([[0, 0], [2, 1], [1, 3], [5, 5]]), np.array([0, 1, 1, 0])
    learner = AxisRectangle().fit(X, y)
    assert learner.predict([[1, 1], [1.5, 2], [2, 3], [2.1, 2], [0, 2]]).tolist() == [1, 1, 1, 0, 0]
    assert AxisRectangle().fit(X, np.zeros(4, dtype=int)).predict(X).tolist() == [0, 0, 0, 0]


def test_stump_against_all_cuts():
    rng = np.random.default_rng(1)
    for _ in range(100):
        X, y = rng.integers(0, 5, (8, 3)).astype(float), rng.integers(0, 2, 8)
        cuts = [-1.0, 0.5, 1.5, 2.5, 3.5, 9.0]
        best = min(min(np.sum((X[:, j] >= c) != y), np.sum((X[:, j] < c) != y)) for j in range(3) for c in cuts)
        assert np.sum(DecisionStump().fit(X, y).predict(X) != y) == best


def test_logistic_regression_is_scikit_learns():
    pytest.importorskip("sklearn")
    model = logistic_regression(2.0, 50).fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    assert model.predict([[0.0], [3.0]]).tolist() == [0, 1]
    assert (model.C, model.max_iter) == (2.0, 50)


def test_first_record():
    assert FirstRecordLearner()([0.3, 0.2], [1, 0])([0.1, 0.9]).tolist() == [1.0, 1.0]
    with pytest.raises(AuditError, match="`y` must"):
        FirstRecordLearner()([], [])


def test_cell_means_by_hand():
    score = CellMeanLearner(4)([0.1, 0.2, 0.3, 1.0, 0.8], [1, 0, 1, 1, 1])
    assert score([0.0, 0.26, 0.6, 0.99]).tolist() == [0.5, 1.0, 0.5, 1.0]


@pytest.mark.false_alarm(6e-07)
def test_cell_means_from_counts_have_the_moments_of_the_literal_learner():
    """Null: equal means and mean squares in each of 3 cells; 4,000 literal and 100,000 drawn, 5.6 errors: 1e-7."""
    means, size, rng = (0.1, 0.5, 0.9), 9, np.random.default_rng(2)
    literal = []
    for _ in range(4000):
        X = rng.random(size)
        y = rng.random(size) < np.array(means)[np.minimum((X * 3).astype(int), 2)]
        literal.append(CellMeanLearner(3)(X, y)(np.array([0.1, 0.5, 0.9])))
    drawn = CellMeans(means, size).draw(100_000, rng)
    for power in (1, 2):
        left, right = np.array(literal) ** power, drawn**power
        error = np.sqrt(left.var(axis=0) / len(left) + right.var(axis=0) / len(right))
        assert np.all(np.abs(left.mean(axis=0) - right.mean(axis=0)) <= 5.6 * error)


@pytest.mark.parametrize(
    "cell", [CellStability(40, 0.1, 0.3), CellStability(7, 0.25, 0.5), CellStability(5, 1.0, 0.02)]
)
@pytest.mark.false_alarm(3e-07)
def test_exact_stability_against_replaced_records(cell):
    """Null: mean, variance and mu^2 are the computed ones; 200,000 draws, 5.6 standard errors: 1e-7 each."""
    rng, size = np.random.default_rng(3), 200_000
    inside = rng.random((size, cell.size)) < cell.share
    ones = inside & (rng.random((size, cell.size)) < cell.mean)
    again = rng.random(size) < cell.share
    again_one = again & (rng.random(size) < cell.mean)
    count, total = inside.sum(axis=1), ones.sum(axis=1)
    other_count, other_total = count - inside[:, 0] + again, total - ones[:, 0] + again_one

    def score(total, count):
        return np.where(count > 0, total / np.maximum(count, 1), 0.5)

    first, second = score(total, count), score(other_total, other_count)
    centered = (first - cell.expected) ** 2
    for drawn, exact in ((first, cell.expected), (centered, cell.variance), ((first - second) ** 2, cell.squared)):
        assert abs(drawn.mean() - exact) <= 5.6 * drawn.std() / math.sqrt(size) + 1e-12


def test_steele_never_fails_on_cells():
    assert all(cell.variance <= cell.size / 2 * cell.squared * (1 + 1e-12) for cell in CELLS)


def test_deviations():
    assert deviation(400, 0.01) == pytest.approx(math.sqrt(800) * 0.01)
    assert two_stage_deviation(400, 0.01) == pytest.approx(4 * math.sqrt(800) * 0.01)


@pytest.mark.parametrize("steps", STEPS)
def test_one_pass_against_a_loop(steps):
    rng = np.random.default_rng(4)
    pair = ReplaceOne(OnePassSGD(steps, 0.1), 12)
    X, y = pair.records((12,), rng)
    theta = np.zeros(5)
    for t, step in enumerate(pair.learner.step_sizes(12)):
        theta = theta - step * ((1 / (1 + math.exp(-theta @ X[t])) - y[t]) * X[t] + 0.1 * theta)
    learner = OnePassSGD(steps, 0.1).fit(X, y)
    np.testing.assert_allclose(learner.coef_, theta, rtol=1e-12)
    np.testing.assert_allclose(learner.predict(X[:3]), 1 / (1 + np.exp(-X[:3] @ theta)), rtol=1e-12)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("steps", STEPS)
def test_no_record_moves_further_than_proved(steps, shuffled):
    for penalty in (0.0, 0.1):
        pair = ReplaceOne(OnePassSGD(steps, penalty), 30, shuffled)
        moves = pair.parameter_moves(2000, np.random.default_rng(5))
        assert 0 < moves.max() <= pair.largest_moves().max()
        assert moves.mean() <= pair.bound()
    decreasing = ReplaceOne(OnePassSGD("decreasing", 0.1), 400).largest_moves()
    np.testing.assert_allclose(decreasing, 20 / 410, rtol=1e-9)


def test_scores_of_the_ends():
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]
    assert one_pass(np.zeros((2, 3, 4)), np.zeros((2, 3)), np.ones(3)).shape == (2, 4)


def service(**changes):
    settings = {"epsilon": 50.0, "delta": 1e-2, "cutoff": 5, "max_queries": 400, "calibrated": True, "random_state": 1}
    return SubsampleAggregate(ThresholdERM(), 41, **{**settings, **changes})


@pytest.mark.parametrize("label_private", [False, True])
def test_a_student_learns_from_released_labels(label_private):
    rng = np.random.default_rng(6)
    X = rng.random(4000 if not label_private else 800)
    y = (X >= 0.3).astype(int)
    public = None if label_private else rng.random(400)
    learner = KnowledgeTransferLearner(service(), ThresholdERM(), public, random_state=2).fit(X, y)
    assert learner.labels_.shape == (400,)
    assert set(np.unique(learner.labels_)) <= {-2, -1, 0, 1}
    points = rng.random(2000)
    assert learner.score(points, points >= 0.3) > 0.95
    assert "KnowledgeTransferLearner" in repr(learner)


def test_the_label_private_student_never_sees_the_labels_of_the_second_half():
    rng = np.random.default_rng(7)
    X = rng.random(400)
    y = (X >= 0.5).astype(int)
    other = np.r_[y[:200], 1 - y[200:]]
    first, second = (
        KnowledgeTransferLearner(service(), ThresholdERM(), random_state=2).fit(X, labels) for labels in (y, other)
    )
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.false_alarm(1e-07)
def test_coins():
    """100,000 coins: 5.4 standard errors, alarm 1e-7."""
    labels = np.r_[np.full(50_000, -1), np.full(50_000, -2), 0, 1]
    filled = coins_for_silence(labels, 3)
    assert filled[-2:].tolist() == [0, 1]
    assert set(np.unique(filled)) == {0, 1}
    assert abs(filled[:-2].mean() - 0.5) <= 5.4 * 0.5 / math.sqrt(100_000)


def test_the_service_of_the_corollary_sizes_itself():
    sized = BinaryClassificationService(ThresholdERM(), 4.0, 1e-6, 1000, 0.01)
    mistakes = 0.01 * 1000 + math.sqrt(1000 * math.log(3 * sized.n_teachers / 0.05) / 2)
    assert (sized.cutoff, sized.n_teachers % 2) == (math.ceil(3 * mistakes), 1)
    with pytest.raises(AuditError, match="exceed the cutoff"):
        BinaryClassificationService(ThresholdERM(), 4.0, 1e-6, 50, 0.01)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: KnowledgeTransferLearner(ThresholdERM(), ThresholdERM()), "service"),
        (lambda: KnowledgeTransferLearner(service(), 3), "student"),
        (lambda: AxisRectangle().fit([1.0, 2.0], [0, 1]), "X"),
        (lambda: DecisionStump().fit([[1.0], [2.0]], [0, 3]), "y"),
        (lambda: logistic_regression(0.0), "strength"),
        (lambda: CellMeanLearner(0), "cells"),
        (lambda: CellMeanLearner(3)([1.5], [1]), "X"),
        (lambda: CellStability(0, 0.5, 0.5), "size"),
        (lambda: CellStability(5, 1.5, 0.5), "share"),
        (lambda: CellStability(5, 0.5, -0.5), "mean"),
        (lambda: OnePassSGD("fast"), "steps"),
        (lambda: OnePassSGD(penalty=-1.0), "penalty"),
        (lambda: OnePassSGD().fit([[2.0]], [1]), "X"),
        (lambda: ReplaceOne(OnePassSGD(), 0), "n"),
    ],
)
def test_what_is_refused(make, name):
    with pytest.raises(AuditError, match=f"`{name}` must"):
        make()
