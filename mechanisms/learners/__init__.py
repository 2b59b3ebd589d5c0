"""Private learners as scikit-learn estimators, one for each of the five papers; needs scikit-learn.

Each maps every record by itself, clips to public bounds, scales to the unit cube and projects by a public matrix: no
claim changes. Then one learner of the papers' packages is fitted, and its release is all that is kept.
"""

from mechanisms.estimators import PrivacyLeakWarning, PrivacyLedger, PrivacySpent, PrivateClassifier, PrivateEstimator
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
