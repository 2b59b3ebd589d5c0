"""A result of a privacy check as a figure."""

import pytest

import audit
from audit import PrivacyClaim
from tests.core.mechanisms import PAIR, laplace


def test_the_outputs_and_the_event_of_a_privacy_check_are_drawn():
    pytest.importorskip("matplotlib")
    result = audit.check_privacy(mechanism=laplace, claim=PrivacyClaim(0.3), pairs=[PAIR], budget=4_000)
    first, second = result.plot().axes
    assert second.get_title() == "Errors of tests that tell the two datasets apart"
    texts = [text.get_text() for text in first.get_legend().get_texts()]
    assert texts[:2] == ["outputs on left", "outputs on right"]
    assert texts[2].startswith("event: output ")
