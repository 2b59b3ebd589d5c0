"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

import numpy as np

from audit import PrivacyClaim
from audit.extensions.training.plugin import PLUGIN
from tests.core.shown import ShownResults
from tests.extensions.training.runs.loops import CLAIM, recorded


class TestTraining(ShownResults):
    RUNS: ClassVar = {
        "canaries": dict(scores_in=np.ones(60), scores_out=np.zeros(60), claim=PrivacyClaim(0.5)),
        "accounting": dict(
            accountant=lambda event, delta: event, events=[1.0], delta=1e-5, bracket=lambda event, delta: (0.9, 1.1)
        ),
        "training": dict(run=lambda rng: recorded(1), claim=CLAIM),
    }

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
