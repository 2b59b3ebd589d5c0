"""The bounds of one mean and of several: exact type-I error by enumeration, coverage, and how tight they are."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.extensions.utility.means import LogGrid, Region, _LogWealth, _lowest
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


LEVEL = 1e-7


def samples_of(means, rng, replicates=3000):
    draws = [np.minimum(mean * rng.exponential(size=replicates + 300), 10 * mean) for mean in means]
    return [summarize(d[:300], d[300:], (0.0, 10 * m), 0.02) for d, m in zip(draws, means, strict=True)]


@pytest.fixture(scope="module")
def curve():
    sizes = 2.0 ** np.arange(6, 13)
    means = sizes**-0.5
    return np.log(sizes), means, samples_of(means, np.random.default_rng(3))


@pytest.mark.false_alarm(1e-07)
def test_bounds_of_every_form_hold_the_truth(curve):
    """Null: 7 sizes, 3000 losses each, region of level 1e-7, which is the false-alarm probability of all forms at
    once (the truncation at 10 means changes them by 5e-5 relative, far inside)."""
    x, means, samples = curve
    region = Region(samples, LEVEL)
    rng = np.random.default_rng(4)
    grid = LogGrid(x, np.ones(len(x)))
    for form in (grid.exponent(), grid.bend, grid.at(0), *rng.normal(size=(10, len(x)))):
        low, high = region.bounds(form)
        assert low <= float(form @ np.log(means)) <= high


def test_the_dual_bound_is_close_to_the_best_point_of_the_region(curve):
    """Search the region's boundary by hand for two means: the dual bound is not below the best point found, and
    within 3 % of the width."""
    x, _, samples = curve
    pair = samples[:2]
    region = Region(pair, 0.01)
    form = np.array([-1.0, 1.0])

    first, second = (np.linspace(0.8 * s.mean, 1.2 * s.mean, 600) for s in pair)
    total = pair[0].log_wealth(first)[:, None] + pair[1].log_wealth(second)[None, :]
    reached = np.where(total < math.log(100), np.log(second)[None, :] - np.log(first)[:, None], -np.inf).max()
    low, high = region.bounds(form)
    assert reached <= high <= reached + 0.03 * (high - low)
    assert x[0] < x[1]


@pytest.mark.parametrize("high", [1.0, math.inf])
@pytest.mark.parametrize("unit", [1e-6, 1e-2, 1.0, 1e4])
def test_no_mean_has_less_wealth_than_the_least(unit, high):
    losses = unit * np.random.default_rng(6).beta(0.3, 3, size=20_000)
    sample = summarize(losses[:500], losses[500:], (0.0, unit * high), 0.02)
    place, least = _lowest(sample)
    means = np.append(np.geomspace(1e-3, 1 / 1e-3, 200_001) * place, 1e9 * unit)
    lowest = sample.log_wealth(means[means <= unit * high]).min()
    assert lowest - 1e-5 <= least <= lowest


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.83])
def test_the_wealth_between_two_means_is_the_less_of_both_but_beside_the_least(mean):
    """Only in the cell where it is least, and in those next to it, does the bound have to be lower."""
    losses = np.random.default_rng(7).random(4_000) < mean
    sample = summarize(losses[:500].astype(float), losses[500:].astype(float), (0.0, 1.0), 0.02)
    place, least = _lowest(sample)
    wealth = _LogWealth(sample, place, least, 12.0)
    ends = sample.log_wealth(np.exp(wealth.grid))
    lower = np.flatnonzero(wealth.between != np.minimum(ends[1:], ends[:-1]))
    cell = np.searchsorted(np.exp(wealth.grid), place) - 1
    assert lower.tolist() == [cell - 1, cell, cell + 1]
    assert (wealth.between[lower] == least).all()


def test_a_mean_that_may_be_zero_is_not_bounded():
    zero = summarize(np.zeros(10), np.zeros(100), (0.0, 1.0), 0.01)
    half = summarize(np.full(10, 0.5), np.full(100, 0.5), (0.0, 1.0), 0.01)
    region = Region([zero, half], 0.01)
    assert region.unbounded == [0]
    assert region.bounds(np.array([1.0, 0.0])) == (-math.inf, math.inf)
    low, high = region.bounds(np.array([0.0, 1.0]))
    assert low < math.log(0.5) < high


def test_the_forms_of_regression():
    x = np.log([10.0, 20.0, 40.0, 80.0, 160.0])
    grid = LogGrid(x, np.array([1.0, 2.0, 1.0, 3.0, 1.0]))
    straight = 3.0 - 0.5 * x
    assert grid.exponent() @ straight == pytest.approx(0.5)
    assert grid.bend @ straight == pytest.approx(0.0)
    bent = straight - 0.1 * np.maximum(x - x[2], 0)
    assert grid.bend @ bent == pytest.approx(0.1)
    for count in (3, 4, 5, 6, 9):  # the exponent 0.02 x grows by 0.01 (x_last - x_first) over half the grid
        x = np.log(2.0) * np.arange(count)
        even = LogGrid(x, np.ones(count))
        assert even.bend @ (-0.01 * x**2) == pytest.approx(0.01 * np.ptp(x))
    assert grid.at(-1) @ straight == straight[-1]
