"""Private learners as scikit-learn estimators, one for each of the five papers; needs scikit-learn.

Each maps every record by itself, clips to public bounds, scales to the unit cube and projects by a public matrix: no
claim changes. Then one learner of the papers' packages is fitted, and its release is all that is kept.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mechanisms.estimators import PrivacyLeakWarning, PrivacyLedger, PrivacySpent, PrivateClassifier, PrivateEstimator

if TYPE_CHECKING:
    from mechanisms.papers.bassily2018.classifier import TeacherVoteClassifier
    from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier
    from mechanisms.papers.bousquet2022.algorithm2 import CubeVoteClassifier
    from mechanisms.papers.bousquet2022.regression import CubeMeanRegressor
    from mechanisms.papers.chaudhuri2011.classifier import CoverClassifier
    from mechanisms.papers.zhao2024.classifier import LabelPrivateNeighbors

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

# imported when asked for: the folders of the papers import the base of this package
_PLACES = {
    "CoverClassifier": "mechanisms.papers.chaudhuri2011.classifier",
    "CubeMeanRegressor": "mechanisms.papers.bousquet2022.regression",
    "CubeVoteClassifier": "mechanisms.papers.bousquet2022.algorithm2",
    "LabelPrivateNeighbors": "mechanisms.papers.zhao2024.classifier",
    "LocalVoteClassifier": "mechanisms.papers.berrett2019.classifier",
    "TeacherVoteClassifier": "mechanisms.papers.bassily2018.classifier",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)
