"""Private learners as scikit-learn estimators, one for each of the five papers; needs scikit-learn.

They take any labels and any number of features, and work with `clone`, `Pipeline`, `cross_val_score` and grids. Each
maps every record by itself, without looking at the others: clip to public bounds, scale to the unit cube, project by a
public matrix. Such a map changes no claim. Then one learner of the papers' packages is fitted, and its release is all
that is kept.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mechanisms.learners.base import PrivacyLeakWarning, PrivateClassifier, PrivateEstimator
from mechanisms.learners.classifiers import (
    CoverClassifier,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
)
from mechanisms.learners.ledger import PrivacyLedger, PrivacySpent
from mechanisms.learners.regressor import CubeMeanRegressor

if TYPE_CHECKING:
    from mechanisms.papers.bassily2018.classifier import TeacherVoteClassifier

_OF_PAPERS = {"TeacherVoteClassifier": "mechanisms.papers.bassily2018.classifier"}  # they import this package's base

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


def __getattr__(name: str) -> Any:
    if name not in _OF_PAPERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_OF_PAPERS[name]), name)
