"""The joint region of several means: it holds them, and its bounds of linear forms are valid and not wasteful."""

import math

import numpy as np
import pytest

from audit.extensions.utility.means import LogGrid, Region, _lowest
from audit.statistics.bounds import summarize

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
