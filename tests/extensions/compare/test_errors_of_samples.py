"""Errors of a sample: by hand, coverage of the intervals, and outputs that have no error.

Coverage is tested at a nominal 0.05 with 600 samples: were it 0.05, more than 65 misses would have a probability below
1e-7 (binomial, exact). Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest

from audit.execution.seeds import Stream
from audit.extensions.compare.samples import draw_sample, errors_of
from audit.mechanism.call import SubjectFailed
from audit.outputs.encode import encode

MOST_MISSES = 65


def outputs(values):
    return encode(values, len(values))


def test_by_hand():
    """|outputs - 2| = 1, 0, 3, 0: mean 1, standard deviation sqrt(6 / 4)."""
    found = errors_of(outputs(np.array([1.0, 2.0, 5.0, 2.0])), 2)
    assert (found.count, found.mean) == (4, 1.0)
    assert found.standard_error == pytest.approx(np.sqrt(1.5) / 2)
    assert found.median_interval == (0.0, 3.0)
    vectors = errors_of(outputs(np.array([[1.0, 5.0], [0.0, 4.0]])), np.array([0, 4]))
    assert vectors.mean == 0.5


@pytest.mark.parametrize(
    ("values", "truth"),
    [(["a", "b"], 1), (np.array([1.0, np.nan]), 1), (np.zeros((3, 2)), 1), (np.zeros((3, 2)), np.zeros(3))],
)
def test_outputs_that_have_no_error(values, truth):
    assert errors_of(outputs(values), truth) is None


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.false_alarm(1e-07)
def test_the_interval_of_the_median_covers(discrete):
    """|Laplace(1)| has median log 2; rounded, 1: P(|rounded| <= 0) = 1 - e^(-1/2) = 0.39, P(<= 1) = 0.78."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(600):
        noise = rng.laplace(size=101)
        low, high = errors_of(outputs(np.rint(noise) if discrete else noise), 0.0).median_interval
        missed += not low <= (1.0 if discrete else np.log(2)) <= high
    assert missed <= MOST_MISSES


def test_samples_are_repeatable_and_timed():
    def noisy(data, size, rng):
        return data + rng.laplace(size=size)

    first, again = (draw_sample(noisy, 3.0, 500, Stream(4)) for _ in range(2))
    assert np.array_equal(first.outputs.numbers, again.outputs.numbers)
    assert len(np.unique(first.outputs.numbers)) == 500
    assert first.per_second > 0
    with pytest.raises(SubjectFailed):
        draw_sample(lambda data, size, rng: 1 / 0, 3.0, 500, Stream(4))
