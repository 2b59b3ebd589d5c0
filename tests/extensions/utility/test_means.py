"""The mean bounds: exact type-I error by enumeration, coverage on other laws, and how tight they are."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.bounds import summarize


def bernoulli_sample(ones, count, pilot_ones, pilot_count, significance):
    """Return the summary of a sample of ones and zeros; the bounds do not depend on their order."""
    pilot = np.r_[np.ones(pilot_ones), np.zeros(pilot_count - pilot_ones)]
    losses = np.r_[np.ones(ones), np.zeros(count - ones)]
    return summarize(pilot, losses, (0.0, 1.0), significance)


@settings(max_examples=20, deadline=None)
@given(
    count=st.integers(2, 40),
    p=st.floats(0.001, 0.999),
    significance=st.sampled_from([1e-4, 0.01, 0.05, 0.3]),
    pilot_ones=st.integers(0, 5),
)
def test_exact_error_of_both_bounds_on_bernoulli_losses(count, p, significance, pilot_ones):
    """Null: losses are Bernoulli(p). The error of each bound, summed over all outcomes, is at most the significance,
    whatever the pilot was. No randomness: the enumeration is exact."""
    too_high = too_low = 0.0
    for ones in range(count + 1):
        sample = bernoulli_sample(ones, count, pilot_ones, 5, significance)
        probability = stats.binom.pmf(ones, count, p)
        too_high += probability * (sample.lower_bound(significance) > p)
        too_low += probability * (sample.upper_bound(significance) < p)
    assert too_high <= significance * (1 + 1e-9)
    assert too_low <= significance * (1 + 1e-9)


@settings(max_examples=15, deadline=None)
@given(
    values=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    pilot=st.lists(st.floats(0, 1), min_size=2, max_size=5),
    significance=st.sampled_from([0.02, 0.2]),
)
def test_exact_error_on_laws_of_three_values(values, pilot, significance):
    """Null: four losses, uniform on three values. All 81 outcomes are counted: the error of each bound is at most the
    significance, whatever the pilot was (up to the rounding of the mean)."""
    mean = float(np.mean(values))
    too_high = too_low = 0
    for chosen in itertools.combinations_with_replacement(range(3), 4):
        outcome = [values[index] for index in chosen]
        orders = len(set(itertools.permutations(chosen)))
        sample = summarize(np.array(pilot), np.array(outcome), (0.0, 1.0), significance)
        too_high += orders * (sample.lower_bound(significance) > mean + 1e-12)
        too_low += orders * (sample.upper_bound(significance) < mean - 1e-12)
    assert max(too_high, too_low) <= significance * 81


@pytest.mark.parametrize("law", ["uniform", "exponential", "two points", "rare"])
@pytest.mark.false_alarm(2e-07)
def test_bounds_hold_and_are_close_to_the_normal_ones(law):
    """Null: 4000 losses of known mean. False alarm of each bound 1e-7; the width is at most 1.7 normal ones."""
    rng = np.random.default_rng(5)
    draw, mean = {
        "uniform": (lambda k: rng.random(k), 0.5),
        "exponential": (lambda k: np.minimum(rng.exponential(0.05, k), 1), 0.05 * (1 - math.exp(-20))),
        "two points": (lambda k: np.where(rng.random(k) < 0.5, 0.2, 0.8), 0.5),
        "rare": (lambda k: (rng.random(k) < 0.02).astype(float), 0.02),
    }[law]
    losses = draw(4000)
    sample = summarize(draw(500), losses, (0.0, 1.0), 1e-7)
    low, high = sample.lower_bound(1e-7), sample.upper_bound(1e-7)
    assert low < mean < high
    normal = 2 * stats.norm.isf(1e-7) * losses.std() / math.sqrt(4000)
    assert high - low < 1.7 * normal


def test_an_infinite_end_gives_no_bound_there():
    losses = np.random.default_rng(1).exponential(size=1000)
    sample = summarize(losses[:100], losses[100:], (0.0, math.inf), 0.01)
    assert 0.8 < sample.lower_bound(0.01) < 1.0 < sample.upper_bound(0.01) == math.inf
    assert summarize(-losses[:100], -losses[100:], (-math.inf, 0.0), 0.01).lower_bound(0.01) == -math.inf


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_constant_losses_have_bounds_on_both_sides(value):
    sample = summarize(np.full(10, value), np.full(500, value), (0.0, 1.0), 0.01)
    assert sample.lower_bound(0.01) <= value <= sample.upper_bound(0.01)
    assert sample.upper_bound(0.01) - sample.lower_bound(0.01) < 0.03
