"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

from audit import PrivacyClaim
from audit.extensions.interactive.plugin import PLUGIN
from tests.core.mechanisms import PAIR, laplace
from tests.core.shown import ShownResults


class Counts:
    """A session without a budget."""

    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def ask(self):
        return laplace(self.data, 1, self.rng)[0]


class TestInteractive(ShownResults):
    RUNS: ClassVar = {
        "interactive": dict(make=Counts, claim=PrivacyClaim(1.0), pairs=[PAIR], analyst=[("ask",)] * 4, budget=2_000),
    }

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
