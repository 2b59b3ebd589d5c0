"""Stumps: mistakes by sorting are those of the labels, covers cover, and the estimator takes many features."""

from __future__ import annotations

import numpy as np
import pytest

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms.cover.learners import LabelPrivateCoverLearner, ReferenceCoverLearner
from mechanisms.cover.stumps import StumpClass

RNG = np.random.default_rng(7)


def test_mistakes_are_those_of_the_labels():
    stumps, X = StumpClass(4), RNG.integers(0, 9, size=(60, 4)) / 8  # thresholds and ties among them
    y = np.where(RNG.random(60) < 0.4, 1, -1)
    cover = np.vstack([stumps.packing_cover(1 / 16), [[2, 0.5, 1.0], [3, 0.25, -1.0]]])
    counted = (stumps.predict(cover, X) != y).sum(axis=1)
    np.testing.assert_array_equal(stumps.mistakes(cover, Labeled(X, y)), counted)


@pytest.mark.parametrize("radius", [0.3, 0.05, 0.5])
def test_a_cover_covers_and_has_the_size_that_it_says(radius):
    cover = StumpClass(2).packing_cover(radius)
    assert len(cover) == StumpClass(2).cover_size(radius)
    assert {tuple(row) for row in cover[:, [0, 2]].tolist()} == {(0, 1), (0, -1), (1, 1), (1, -1)}
    probes = np.linspace(0, 1, 1_001)
    assert np.abs(probes[:, None] - np.unique(cover[:, 1])).min(axis=1).max() <= radius + 1e-12


def test_a_learner_finds_the_feature_that_tells():
    X = RNG.random((400, 12))
    y = np.where(X[:, 7] <= 0.35, 1, -1)
    learner = ReferenceCoverLearner(4.0, 0.1, hypotheses=StumpClass(12), smoothness_cap=1.0, random_state=0).fit(X, y)
    assert learner.hypothesis_[[0, 2]].tolist() == [7.0, -1.0]
    assert np.mean(learner.predict(X) == y) > 0.9


def test_what_is_no_table_of_features_is_refused():
    with pytest.raises(InvalidArgument, match=r"`X` must be finite, of shape \(m, 3\)"):
        StumpClass(3).predict([[0, 0.5, 1.0]], np.zeros((4, 2)))
    with pytest.raises(InvalidArgument, match="be thresholds or separators"):
        LabelPrivateCoverLearner(1.0, 0.1, StumpClass(2)).cover(np.zeros((3, 2)))


def test_the_estimator_takes_stumps():
    pytest.importorskip("sklearn")
    from mechanisms.learners import CoverClassifier

    X = RNG.normal(size=(300, 6))
    labels = np.where(X[:, 4] > 0.5, "high", "low")
    learner = CoverClassifier(8.0, projection=None, classes=["high", "low"], hypotheses="stumps").fit(X, labels)
    predicted = learner.predict(X)
    assert np.mean(predicted == labels) > 0.8
    np.testing.assert_array_equal(predicted == "low", learner.decision_function(X) >= 0)
    with pytest.raises(ValueError, match="`hypotheses` must be 'half-planes' or 'stumps', got 'trees'"):
        CoverClassifier(hypotheses="trees", classes=[0, 1]).fit(X, np.zeros(300, int))
