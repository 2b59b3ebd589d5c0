"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from audit import PrivacyClaim
from audit.extensions.estimators.plugin import PLUGIN
from tests.core.shown import ShownResults


class NoisyMean(BaseEstimator):
    def fit(self, X, y):
        self.mean_ = np.mean(X) + np.random.default_rng().laplace()
        return self


class TestEstimators(ShownResults):
    RUNS: ClassVar = {
        "estimator": dict(
            estimator=NoisyMean(), X=[[0.0], [1.0], [2.0], [3.0]], y=[0, 0, 1, 1], claim=PrivacyClaim(1.0), budget=20
        ),
    }

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
