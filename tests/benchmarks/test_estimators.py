"""The list of our estimators is complete, and those that are named are audited."""

import pytest

pytest.importorskip("sklearn")

from benchmarks import estimators
from mechanisms import learners


def test_all_of_our_learners_are_audited_and_a_name_chooses():
    kinds = {type(estimator) for estimator, _, _ in estimators.ours()}
    names = [name for name in learners.__all__ if name.endswith(("Classifier", "Regressor", "Neighbors"))]
    assert {kind.__name__ for kind in kinds} == set(names) - {"PrivateClassifier"}
    assert estimators.audited(estimators.ours(), ["nobody"]) == {}
