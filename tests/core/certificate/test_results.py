"""A result of each kind of the core as text, in one line, in a notebook, and as a figure."""

from typing import ClassVar

import pytest

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

    def test_its_outputs_and_its_event_are_drawn(self, results):
        pytest.importorskip("matplotlib")
        first, second = results["privacy"].plot().axes
        assert second.get_title() == "Errors of tests that tell the two datasets apart"
        texts = [text.get_text() for text in first.get_legend().get_texts()]
        assert texts[:2] == ["outputs on left", "outputs on right"]
        assert texts[2].startswith("event: output ")
