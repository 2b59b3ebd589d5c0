"""A result of each kind of the core as text, in one line, and in a notebook."""

from typing import ClassVar

from audit import PrivacyClaim, plugins
from tests.core.mechanisms import PAIR, laplace
from tests.core.shown import ShownResults


class TestCore(ShownResults):
    RUNS: ClassVar = {"privacy": dict(mechanism=laplace, claim=PrivacyClaim(0.3), pairs=[PAIR], budget=4_000)}

    def test_they_are_the_kinds_of_the_core(self):
        assert set(self.RUNS) == set(plugins.CORE.kinds)

    def test_a_witness_is_part_of_the_text(self, results):
        assert "\n  left  = np.array([" in str(results["privacy"])
        assert "\n  event: output " in str(results["privacy"])
