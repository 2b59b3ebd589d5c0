"""The release of each estimator and its law, the argument of `check_estimator(..., release=...)`."""

from typing import Any

from mechanisms.estimators import PrivateEstimator, StatedRelease
from mechanisms.papers.bassily2018.classifier import TeacherVoteClassifier, TeacherVoteRelease
from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier
from mechanisms.papers.berrett2019.law import LocalVoteRelease
from mechanisms.papers.bousquet2022.algorithm2 import CubeVoteClassifier, CubeVoteRelease
from mechanisms.papers.bousquet2022.regression import CubeMeanRegressor, CubeMeanRelease
from mechanisms.papers.chaudhuri2011.classifier import CoverClassifier, CoverRelease, LabelPrivateCoverClassifier
from mechanisms.papers.zhao2024.classifier import LabelPrivateNeighbors, LabelPrivateNetwork, LabelRelease

_KINDS: dict[type[PrivateEstimator], type[StatedRelease]] = {
    CubeVoteClassifier: CubeVoteRelease,
    CoverClassifier: CoverRelease,
    LabelPrivateCoverClassifier: CoverRelease,
    LocalVoteClassifier: LocalVoteRelease,
    LabelPrivateNeighbors: LabelRelease,
    LabelPrivateNetwork: LabelRelease,
    CubeMeanRegressor: CubeMeanRelease,
    TeacherVoteClassifier: TeacherVoteRelease,
}


def release_of(estimator: Any, features: int) -> StatedRelease | None:
    """Return the release of an estimator of this package on some number of features; None where no law is stated."""
    kind = _KINDS.get(type(estimator))
    return None if kind is None else kind(estimator, features)
