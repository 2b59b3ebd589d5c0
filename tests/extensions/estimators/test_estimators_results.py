"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

from sklearn.naive_bayes import GaussianNB

from audit import PrivacyClaim
from audit.extensions.estimators.plugin import PLUGIN
from tests.core.shown import ShownResults


class TestEstimators(ShownResults):
    RUNS: ClassVar = {
        "estimator": dict(
            estimator=GaussianNB(), X=[[0.0], [1.0], [2.0], [3.0]], y=[0, 0, 1, 1], claim=PrivacyClaim(1.0), budget=60
        ),
    }

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
