"""Figures of results: the pictures of the page, and a histogram of outputs that are single numbers."""

import numpy as np
import pytest

import audit

pytest.importorskip("matplotlib")


def laplace(data, size, rng):
    return np.sum(data) + rng.laplace(scale=0.2, size=size)


def test_a_result_is_drawn():
    result = audit.check_privacy(laplace, audit.PrivacyClaim(1.0), [([0.0], [1.0])], budget=4_000, workers=0)
    assert result.verdict == "FAIL"
    first, second = result.plot().axes
    assert second.get_title() == "Errors of tests that tell the two datasets apart"
    texts = [text.get_text() for text in first.get_legend().get_texts()]
    assert texts[:2] == ["outputs on left", "outputs on right"]
    assert texts[2].startswith("event: output ")
