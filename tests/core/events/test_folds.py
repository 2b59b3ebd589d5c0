"""The halves of the training outputs, and thresholds on sorted scores; fixed seeds, exact equalities."""

import numpy as np
import pytest

from audit.events.candidates import Folds, Ranked, Thresholds
from audit.outputs.encode import encode
from audit.scorers import Training


def training(left, right):
    return Training(encode(left, len(left)), encode(right, len(right)), None, (0, 1))


def test_single_numbers_are_split_by_turns_and_only_then_sorted():
    """Sorted first, the halves would be two copies of one sample: what one picks would always please the other."""
    left, right = np.random.default_rng(0).laplace(size=(2, 101))
    folds = Folds.of(training(left, right))
    for start, half in enumerate(folds.halves):
        np.testing.assert_array_equal(half.left.numbers, np.sort(left[start::2]))
        np.testing.assert_array_equal(half.right.numbers, np.sort(right[start::2]))
    np.testing.assert_array_equal(folds.whole.left.numbers, np.sort(left))


@pytest.mark.parametrize("thresholds", [Thresholds(1.0, -1.0), Thresholds(2.0, np.nan), Thresholds(np.nan, 0.0)])
def test_frequencies_on_sorted_scores_are_those_of_the_outputs(thresholds):
    """Ties at the threshold count, abstentions count in the denominator only."""
    rng = np.random.default_rng(2)
    left, right = (np.where(rng.random(500) < 0.1, np.nan, rng.integers(-3, 4, 500).astype(float)) for _ in range(2))
    plus, minus = (
        [np.mean(test) for test in tests]
        for tests in (
            [side >= thresholds.upper for side in (left, right)],
            [side <= thresholds.lower for side in (left, right)],
        )
    )
    expected = (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2
    assert thresholds.frequencies(Ranked.of(left, right)) == pytest.approx(expected, abs=1e-15)
