"""What scores say that they look for is in the vocabulary that a certificate may use, and nothing else is."""

import numpy as np
import pytest

from audit import PrivacyClaim, check_precision, check_privacy
from audit.scorers.vocabulary import unknown_words

PAIR = (np.zeros(2), np.array([1.0, 0.0]))


def number(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def vector(data, size, rng):
    return data + rng.laplace(size=(size, 2))


def texts(data, size, rng):
    return ["a" * n for n in rng.poisson(4, size)]


@pytest.mark.parametrize("mechanism", [number, vector, texts])
def test_every_score_uses_known_words(mechanism):
    result = check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], budget=4_000)
    assert result.evidence.game.looked_for
    assert unknown_words(result.evidence.game.looked_for) == []


def test_scores_of_bits_use_known_words():
    result = check_precision(number, PrivacyClaim(1.0), [PAIR], budget=2_000)
    assert unknown_words(result.evidence.game.looked_for) == []


def test_other_words_are_unknown():
    said = ("thresholds", "12 cells", "12 cells and more", "everything")
    assert unknown_words(said) == ["12 cells and more", "everything"]
