"""Figures of results: the pictures of the page, and a histogram of outputs that are single numbers."""

import numpy as np
import pytest

import audit

pytest.importorskip("matplotlib")


def laplace(data, size, rng):
    return np.sum(data) + rng.laplace(scale=0.2, size=size)


def rows(data, size, rng):
    return np.sum(data) + rng.laplace(scale=0.2, size=(size, 2))


@pytest.mark.parametrize(("mechanism", "titles"), [(laplace, ["Outputs"]), (rows, [])])
def test_a_result_is_drawn(mechanism, titles):
    result = audit.check_privacy(mechanism, audit.PrivacyClaim(1.0), [([0.0], [1.0])], budget=4_000, workers=0)
    assert result.verdict == "FAIL"
    drawn = [axes.get_title() for axes in result.plot().axes]
    assert drawn == [*titles, "Errors of tests that tell the two datasets apart"]
    if titles:
        texts = [text.get_text() for text in result.plot().axes[0].get_legend().get_texts()]
        assert texts[:2] == ["outputs on left", "outputs on right"]
        assert texts[2].startswith("event: output ")
