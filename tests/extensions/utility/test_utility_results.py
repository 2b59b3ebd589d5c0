"""A result of each kind of the extension as text, in one line, and in a notebook."""

from typing import ClassVar

from audit.extensions.utility.plugin import PLUGIN
from tests.core.shown import ShownResults

DATA = dict(sizes=[64, 128, 256, 512], support=(0, 1))


def losses(n, replicates, rng):
    return rng.random(replicates) * n**-0.5


class TestUtility(ShownResults):
    RUNS: ClassVar = {
        "inequality": dict(values=lambda: [("a", 1.0, 2.0), ("b\nsecond line", 3.0, 2.0)]),
        "guarantee": dict(trials=lambda n, rng: rng.random(n) < 0.8, beta=0.05, budget=1_000),
        "consistency": dict(losses=losses, **DATA, tolerance=0.2, budget=1_000),
        "rate": dict(losses=losses, **DATA, exponent=2.0, budget=2_000),
    }

    def test_they_are_the_kinds_of_the_extension(self):
        assert set(self.RUNS) == {kind.replace("-", "_") for kind in PLUGIN.kinds}
