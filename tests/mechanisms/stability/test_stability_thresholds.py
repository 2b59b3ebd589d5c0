"""Teachers in O(1) and runs in O(queries) against their literal forms.

False alarms: each comparison of distributions at most 1e-7 (Kolmogorov's bound of Dvoretzky, Kiefer and Wolfowitz), the
transcripts 1e-7 (goodness of fit), fixed seeds on top.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit import AuditError
from mechanisms.stability.aggregate import VoteTable
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.long_runs import RunCounts, ThresholdService, released_queries
from mechanisms.stability.online import NO_ANSWER, Transcripts
from mechanisms.stability.thresholds import ThresholdERM, ThresholdTask, best_thresholds, wrong_votes


def far_apart(left, right):
    """Whether two samples differ by more than chance: 1e-7 by the DKW bound on each side."""
    at = np.sort(np.r_[left, right])
    ranks = [np.searchsorted(np.sort(part), at, side="right") / len(part) for part in (left, right)]
    allowed = sum(math.sqrt(math.log(4 / 1e-7) / (2 * len(part))) for part in (left, right))
    return np.max(np.abs(ranks[0] - ranks[1])) > allowed


@pytest.mark.parametrize(("theta", "size"), [(0.5, 1), (0.5, 7), (0.2, 30), (0.9, 200), (0.0, 5), (1.0, 5)])
@pytest.mark.false_alarm(1e-07)
def test_teachers_in_constant_time_have_the_law_of_trained_ones(theta, size):
    """20,000 of each."""
    task, rng = ThresholdTask(theta), np.random.default_rng(2)
    sizes = np.full(20_000, size)
    assert not far_apart(task.teachers(sizes, rng), task.trained(sizes, rng))


def test_the_comparison_sees_a_wrong_sampler():
    task, rng = ThresholdTask(0.5), np.random.default_rng(3)
    assert far_apart(task.teachers(np.full(20_000, 30), rng), task.trained(np.full(20_000, 40), rng))


def test_empty_chunks_and_the_ends():
    assert ThresholdTask(0.3).teachers(np.zeros(4, dtype=int), np.random.default_rng(0)).tolist() == [0.5] * 4


def test_least_empirical_error_by_hand():
    """Labels 0 1 0 1 1 at .1 .2 .4 .6 .9: cuts have 2, 1, 2, 1, 2, 3 errors; the first best is between .1 and .2."""
    X, y = np.array([0.4, 0.1, 0.9, 0.2, 0.6]), np.array([0, 0, 1, 1, 1])
    learner = ThresholdERM().fit(X, y)
    assert learner.threshold_ == pytest.approx(0.15)
    assert learner.predict([0.1, 0.16, 0.9]).tolist() == [0, 1, 1]
    assert ThresholdERM().fit(X[:, None], y).threshold_ == learner.threshold_


def test_equal_features_stand_on_one_side():
    """Between .2 and .7 two errors at least one side; no cut goes through the two examples at .5."""
    threshold = ThresholdERM().fit(np.array([0.5, 0.5, 0.2]), np.array([0, 1, 0])).threshold_
    assert threshold in (pytest.approx(0.35), pytest.approx(0.75))


@pytest.mark.parametrize("flip", [0.0, 0.3])
def test_least_empirical_error_against_all_cuts(flip):
    rng = np.random.default_rng(4)
    features = rng.random((200, 9))
    labels = ThresholdTask(0.4, flip).labels(features, rng)
    for x, y, t in zip(features, labels, best_thresholds(features, labels), strict=True):
        ordered = np.r_[0.0, np.sort(x), 1.0]
        errors = [np.sum((x >= cut) != y) for cut in (ordered[:-1] + ordered[1:]) / 2]
        assert np.sum((x >= t) != y) == min(errors)


def test_true_error():
    task = ThresholdTask(0.3, 0.1)
    assert task.error([0.3, 0.5]).tolist() == pytest.approx([0.1, 0.1 + 0.8 * 0.2])


def test_wrong_votes_against_counting():
    rng = np.random.default_rng(5)
    for theta in (0.0, 0.4, 1.0):
        thresholds, features = np.clip(rng.normal(theta, 0.1, 50), 0, 1), np.r_[rng.random(200), theta, 0.0]
        counted = ((features >= thresholds[:, None]) != (features >= theta)).sum(axis=0)
        np.testing.assert_array_equal(wrong_votes(thresholds, features, theta), counted)


@pytest.mark.false_alarm(1e-07)
def test_one_long_run_has_the_law_of_transcripts():
    """30,000 runs of 5 queries: goodness of fit to the computed law, alarm 1e-7."""
    votes = (np.arange(15)[:, None] < np.array([9, 12, 8, 15, 10])).astype(np.int8)
    calibration = Calibration(1.0, 2.5, 2)
    law = Transcripts(VoteTable(), calibration).law(votes)
    values, distances = VoteTable()(votes)
    rng, found = np.random.default_rng(6), []
    for _ in range(30_000):
        released, asked = released_queries(distances, calibration, rng)
        codes = np.where(released, values, BOTTOM)
        codes[asked:] = NO_ANSWER
        found.append(codes)
    assert law.fit_pvalue(np.array(found), rng) > 1e-7
    assert law.fit_pvalue(np.where(np.array(found) == NO_ANSWER, BOTTOM, found), rng) < 1e-7


def test_a_run_ends_with_its_last_bottom():
    calibration = Calibration(1e-3, 5.0, 3)
    distances = np.full(100_000, 10.0)
    distances[[7, 20_000, 90_000, 95_000]] = 0.0
    released, asked = released_queries(distances, calibration, np.random.default_rng(0))
    assert asked == 90_001
    assert np.flatnonzero(~released[:asked]).tolist() == [7, 20_000, 90_000]
    assert not released[asked:].any()
    released, asked = released_queries(np.full(50, np.inf), calibration, np.random.default_rng(0))
    assert released.all()
    assert asked == 50


def test_counts_of_a_service():
    service = ThresholdService(ThresholdTask(0.5, 0.2), 20_000, 101, Calibration(0.01, 20.0, 5), 400)
    for seed in range(5):
        counts = service.run(np.random.default_rng(seed))
        assert isinstance(counts, RunCounts)
        assert counts.right + counts.wrong + counts.bottoms + counts.unanswered == 400
        assert counts.bottoms <= 5
        assert counts == service.run(np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ThresholdTask(1.2), "theta"),
        (lambda: ThresholdTask(0.5, 0.5), "flip"),
        (lambda: ThresholdService(ThresholdTask(), 0, 3, Calibration(1.0, 1.0, 1), 5), "records"),
        (lambda: ThresholdService(ThresholdTask(), 9, 0, Calibration(1.0, 1.0, 1), 5), "n_teachers"),
        (lambda: ThresholdService(ThresholdTask(), 9, 3, Calibration(1.0, 1.0, 1), 0), "queries"),
        (lambda: ThresholdERM().fit([0.2, 1.2], [0, 1]), "X"),
        (lambda: ThresholdERM().fit([[0.2, 0.3]], [0]), "X"),
        (lambda: ThresholdERM().fit([0.2, 0.3], [0, 2]), "y"),
        (lambda: ThresholdTask(0.5, 0.1).teachers([3, 4], np.random.default_rng(0)), "sizes"),
    ],
)
def test_what_is_refused(make, name):
    with pytest.raises(AuditError, match=f"`{name}` must"):
        make()


def test_predicting_before_fit_is_refused():
    with pytest.raises(AuditError, match="fit"):
        ThresholdERM().predict([0.1])
