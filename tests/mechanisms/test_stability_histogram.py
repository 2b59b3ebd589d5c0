"""The steps and the exact privacy of the stability histogram; Bousquet et al. (2022), Algorithm 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidArgument
from mechanisms.stability_histogram import (
    StabilityHistogram,
    ThresholdLogOneOverDelta,
    ThresholdWithoutOne,
    add_remove_pairs,
    records,
    substitution_pairs,
)

SETTINGS = [(0.25, 0.1), (1.0, 0.1), (1.0, 1e-6), (2.0, 0.01)]


class FixedNoise:
    """Stands in for a generator whose Laplace variates are known."""

    def __init__(self, noise):
        self.noise = noise
        self.drawn = []

    def laplace(self, scale, size):
        self.drawn.append((scale, size))
        return np.broadcast_to(np.asarray(self.noise, dtype=float), size).copy()


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_scale_and_threshold(epsilon, delta):
    mechanism = StabilityHistogram(epsilon, delta)
    assert mechanism.scale == 2 / epsilon
    assert mechanism.threshold == pytest.approx(2 / epsilon * math.log(2 / delta) + 1)


def test_steps_with_known_noise():
    """eps = 1, delta = 0.1: t = 2 log 20 + 1 = 6.99. Counts 6, 6, 0 with noise 0.9 and 1.1: dropped, kept, absent."""
    rng = FixedNoise([0.9, 1.1])
    output = StabilityHistogram(1.0, 0.1, (0, 1, 2))(records(6, 6, 0), 4, rng)
    np.testing.assert_allclose(output, np.tile([0.0, 7.1, 0.0], (4, 1)))
    assert rng.drawn == [(2.0, (4, 2))]  # scale 2 / eps; no noise for the label that does not occur


def test_release_is_a_sparse_map_over_any_universe():
    data = ["a"] * 6 + [("b", 1)] * 6 + [None] * 50
    released = StabilityHistogram(1.0, 0.1).release(data, FixedNoise([0.9, 1.1, -3.0]))
    assert released == {("b", 1): pytest.approx(7.1), None: pytest.approx(47.0)}
    assert StabilityHistogram(1.0, 0.1).release([], FixedNoise(0.0)) == {}


def test_a_label_without_records_is_never_released():
    output = StabilityHistogram(0.25, 0.9, (0, 1))(records(3, 0), 10_000, np.random.default_rng(0))
    assert np.all(output[:, 1] == 0)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_a_new_label_passes_with_a_quarter_of_delta(epsilon, delta):
    mechanism = StabilityHistogram(epsilon, delta)
    noise = stats.laplace(1, mechanism.scale)
    assert noise.sf(mechanism.threshold) == pytest.approx(delta / 4, rel=1e-12)
    (new, old), *_ = [(mechanism.law(b).laws[1], mechanism.law(a).laws[1]) for a, b in substitution_pairs(30.0)]
    assert old.loss_against(new).delta(50.0) == pytest.approx(delta / 4, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "factor"), [(ThresholdWithoutOne, math.exp(0.5) / 4), (ThresholdLogOneOverDelta, 0.5)]
)
def test_decoy_thresholds_leak_less_than_delta(kind, factor):
    mechanism = kind(1.0, 0.1)
    leak = stats.laplace(1, mechanism.scale).sf(mechanism.threshold)
    assert leak == pytest.approx(0.1 * factor, rel=1e-12)
    assert leak < 0.1


def test_three_types_of_pairs_under_substitution():
    """Closed forms at eps = 1, delta = 0.1, q = 0.025: types III, I and II; brackets of the composed loss 1e-6."""
    mechanism, q = StabilityHistogram(1.0, 0.1), 0.025
    third, first, second = [mechanism.privacy_loss(*pair) for pair in substitution_pairs(mechanism.threshold)]
    for epsilon in (0.0, 0.5, 1.0, 1.5):
        slack = max(1.0 - epsilon, 0.0)
        expected = 1 - math.exp(-slack / 2) * (1 + slack / 4)
        assert first.delta(epsilon) == pytest.approx(expected, abs=2e-4)  # counts are large, not infinite
        mixed = q + (1 - q) * max(0.0, 1 - math.exp((epsilon - math.log(1 - q) - 0.5) / 2))
        assert second.delta(epsilon) == pytest.approx(mixed, abs=2e-4)
        assert third.delta(epsilon) == pytest.approx(q, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 0.1), (2.0, 0.1)])
def test_add_remove_costs_half_of_epsilon(epsilon, delta):
    mechanism = StabilityHistogram(epsilon, delta)
    grown, new = [mechanism.privacy_loss(*pair) for pair in add_remove_pairs(mechanism.threshold)]
    assert grown.delta(epsilon / 2) <= delta / 4 * (1 + 1e-9)
    assert grown.delta(0.45 * epsilon) == pytest.approx(1 - math.exp(-0.025 * epsilon), abs=1e-4)
    assert new.delta(epsilon / 2) == pytest.approx(delta / 4, rel=1e-9)


@pytest.mark.parametrize("other", [frozenset({2}), "2", (2, "b"), None])
def test_the_release_has_one_order_whatever_order_the_records_have(other):
    """Labels without an order among themselves; noise of scale 0.02 retains each that occurs 100 times."""
    histogram, first = StabilityHistogram(100.0, 0.5), frozenset({1})
    orders = {
        tuple(histogram.release(data, np.random.default_rng(0)))
        for data in ([first, other] * 100, [other, first] * 100)
    }
    assert len(orders) == 1


def test_a_zero_has_no_sign_and_nan_is_refused():
    histogram = StabilityHistogram(100.0, 0.5)
    for data in ([-0.0, 0.0] * 50, [0.0, -0.0] * 50, np.array([-0.0] * 100)):
        assert str(list(histogram.release(data, np.random.default_rng(0)))) == "[0.0]"
    assert str(list(histogram.release([(-0.0, 1)] * 100, np.random.default_rng(0)))) == "[(0.0, 1)]"
    with pytest.raises(InvalidArgument, match="hold no label that is NaN"):
        histogram.release([0.0, math.nan], np.random.default_rng(0))
