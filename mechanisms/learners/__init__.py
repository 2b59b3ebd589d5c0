"""Private learners as scikit-learn estimators, one for each of the five papers; needs scikit-learn.

They take any labels and any number of features, and work with `clone`, `Pipeline`, `cross_val_score` and grids. Each
maps every record by itself, without looking at the others: clip to public bounds, scale to the unit cube, project by a
public matrix. Such a map changes no claim. Then one learner of the papers' packages is fitted, and its release is all
that is kept.
"""

from __future__ import annotations

from mechanisms.learners.classifiers import (
    CoverClassifier,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
)
from mechanisms.learners.regressor import CubeMeanRegressor
from mechanisms.papers.bassily2018.classifier import TeacherVoteClassifier
from mechanisms.parts.ledger import PrivacyLedger, PrivacySpent
from mechanisms.parts.private_estimator import PrivacyLeakWarning, PrivateClassifier, PrivateEstimator

__all__ = [
    "CoverClassifier",
    "CubeMeanRegressor",
    "CubeVoteClassifier",
    "LabelPrivateNeighbors",
    "LocalVoteClassifier",
    "PrivacyLeakWarning",
    "PrivacyLedger",
    "PrivacySpent",
    "PrivateClassifier",
    "PrivateEstimator",
    "TeacherVoteClassifier",
]
