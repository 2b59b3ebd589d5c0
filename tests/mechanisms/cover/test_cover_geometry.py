"""Hypothesis classes: labels, mistakes, metrics, covers; radii against brute force and against known solids."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit import AuditError, Labeled
from mechanisms.cover import nets
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.separators import (
    LinearSeparatorClass,
    band_mass,
    cap_mass,
    covering_radius,
    fibonacci_sphere,
)
from mechanisms.cover.thresholds import ThresholdClass

LINE, CIRCLE, SPHERE = ThresholdClass(), LinearSeparatorClass(2), LinearSeparatorClass(3)


def random_examples(rng, dim):
    m = int(rng.integers(1, 40))
    X = rng.integers(0, 11, m) / 10 if dim == 1 else rng.normal(size=(m, dim))
    return Labeled(X, rng.choice([-1, 1], m))


@pytest.mark.parametrize(("hypotheses", "dim"), [(LINE, 1), (CIRCLE, 2), (SPHERE, 3)])
def test_mistakes_are_those_of_the_labels(hypotheses, dim):
    rng = np.random.default_rng(dim)
    cover = hypotheses.packing_cover(0.1)
    for _ in range(30):
        data = random_examples(rng, dim)
        expected = (hypotheses.predict(cover, data.X) != data.y).sum(axis=1)
        np.testing.assert_array_equal(hypotheses.mistakes(cover, data), expected)


@pytest.mark.parametrize("m", [9_000, 40_000])  # three rows of products at a time, and one
def test_mistakes_on_many_examples_are_those_on_few(m):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(m, 3))
    X[::7] = 0.0  # on every boundary
    data = Labeled(X, rng.choice([-1, 1], m))
    cover = SPHERE.packing_cover(0.1)
    plain = np.count_nonzero((cover @ X.T >= 0) != (data.y == 1), axis=1)
    np.testing.assert_array_equal(SPHERE.mistakes(cover, data), plain)


def test_a_point_on_the_boundary_is_positive():
    assert LINE.predict(np.array([0.3]), np.array([0.3, 0.29])).tolist() == [[1, -1]]
    assert CIRCLE.predict(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [-1.0, 0.0]])).tolist() == [[1, -1]]


def test_metrics_by_hand():
    assert LINE.reference_disagreement(0.2, 0.7) == pytest.approx(0.5)
    assert LINE.marginal_disagreement(0.2, 0.7, np.square) == pytest.approx(0.45)
    assert LINE.sample_disagreement(0.2, 0.7, np.array([0.1, 0.2, 0.5, 0.7])) == pytest.approx(0.5)  # 0.2 and 0.5
    assert SPHERE.reference_disagreement(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])) == pytest.approx(0.5)


@pytest.mark.false_alarm(1e-06)
def test_rho_on_the_sphere_is_the_probability_of_disagreement():
    """Null: P = angle / pi. n = 100,000, four standard errors times 1.25: false alarm below 1e-6."""
    x = np.random.default_rng(3).normal(size=(100_000, 3))
    u, v = np.array([1.0, 0, 0]), np.array([0.6, 0.8, 0])
    share = np.mean((x @ u >= 0) != (x @ v >= 0))
    assert abs(share - SPHERE.reference_disagreement(u, v)) < 5 * 0.5 / math.sqrt(100_000)


@pytest.mark.parametrize(("m", "s", "indices"), [(20, 0.075, [1, 4, 7, 10, 13, 16, 19]), (12, 0.025, range(13))])
def test_the_sample_cover_uses_every_so_many_classes(m, s, indices):
    # r = floor(m s), indices r, 3 r + 1, 5 r + 2, ...: thresholds halfway between points (i + 1/2) / m
    X = (np.arange(m) + 0.5) / m
    np.testing.assert_allclose(LINE.sample_packing_cover(X, s), np.array(list(indices)) / m)


def test_the_last_class_is_used_when_the_next_would_lie_beyond():
    # m = 5, r = 1: indices 1, 4 cover 0..5
    assert LINE.sample_packing_cover((np.arange(5) + 0.5) / 5, 0.2).tolist() == pytest.approx([0.2, 0.8])
    # m = 6, r = 1: 1, 4, then 6 in place of 7
    assert LINE.sample_packing_cover((np.arange(6) + 0.5) / 6, 0.17).tolist() == pytest.approx([1 / 6, 2 / 3, 1.0])


def test_the_sample_cover_depends_on_neither_order_nor_labels():
    X = np.random.default_rng(0).random(30)
    np.testing.assert_array_equal(LINE.sample_packing_cover(X, 0.1), LINE.sample_packing_cover(X[::-1].copy(), 0.1))


def test_sample_covers_of_separators_cover_and_pack():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 2))
    cover = CIRCLE.sample_packing_cover(X, 0.15)
    angles = rng.uniform(0, 2 * math.pi, 2000)
    anyone = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert CIRCLE.sample_disagreement(anyone, cover, X).min(axis=1).max() <= 0.15 + 1e-12
    assert (CIRCLE.sample_disagreement(cover, cover, X) + np.eye(len(cover))).min() > 0.15


def test_covering_radii_of_platonic_solids():
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    assert covering_radius(octahedron) == pytest.approx(math.acos(1 / math.sqrt(3)) / math.pi)
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / math.sqrt(3)
    assert covering_radius(tetrahedron) == pytest.approx(math.acos(1 / 3) / math.pi)


@pytest.mark.parametrize("s", [0.2, 0.1, 0.05])
def test_nets_cover_what_probes_find(s):
    net = SPHERE.packing_cover(s)
    probes = fibonacci_sphere(20_001)
    farthest = SPHERE.reference_disagreement(probes, net).min(axis=1).max()
    assert 0.9 * covering_radius(net) <= farthest <= covering_radius(net) + 1e-9 <= s


def test_net_sizes_are_near_those_computed_independently():
    # 33, 135 and 565 by another implementation that estimated the fine radius on 2000 random probes (0.0038)
    sizes = [SPHERE.cover_size(s) for s in (0.2, 0.1, 0.05)]
    assert sizes == [32, 137, 575]


def test_caps_and_bands_in_three_dimensions():
    # Archimedes: the mass of |z| <= w is w, of a cap of angle t (1 - cos t) / 2
    assert band_mass(3, 0.3) == pytest.approx(0.3)
    for radius in (0.2, 0.5, 0.8):
        assert cap_mass(3, radius) == pytest.approx((1 - math.cos(math.pi * radius)) / 2)


@pytest.mark.false_alarm(1e-07)
def test_hard_family_distribution():
    """Null: the stated cdf. n = 50,000, Dvoretzky-Kiefer-Wolfowitz at 1e-7."""
    family = ConcentratedThresholdFamily(0.1)
    assert (family.size, family.smoothness) == (9, 8.0)
    data = family.draw(3, 50_000, np.random.default_rng(2))
    x = np.sort(data.X)
    gap = np.max(np.abs(family.cdf(3, x) - np.arange(1, 50_001) / 50_000))
    assert gap <= math.sqrt(math.log(2 / 1e-7) / 100_000)
    np.testing.assert_array_equal(data.y, np.where(family.center(3) <= data.X, 1, -1))
    assert ConcentratedThresholdFamily.for_samples(0.5, 4).eta == pytest.approx(1 / (6 + 4 * math.e**2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LINE.mistakes(np.array([0.5]), Labeled([1.5], [1])), "`X` must lie in"),
        (lambda: LINE.mistakes(np.array([0.5]), Labeled([np.nan], [1])), "`X` must lie in"),
        (lambda: LINE.mistakes(np.array([0.5]), Labeled([0.5], [0])), "`y` must hold labels -1 and"),
        (lambda: LINE.packing_cover(0.0), "`radius`"),
        (lambda: LINE.sample_packing_cover(np.array([0.2, 1.0]), 0.1), "no threshold labels 1 negative"),
        (lambda: LinearSeparatorClass(1), "`dim`"),
        (lambda: SPHERE.packing_cover(0.005), "`radius` must be more than"),
        (lambda: SPHERE.sample_packing_cover(np.eye(3), 0.1), "on the circle only"),
        (lambda: CIRCLE.mistakes(np.eye(2), Labeled(np.eye(3), [1, 1, 1])), "shape"),
        (lambda: covering_radius(np.abs(fibonacci_sphere(50))), "hemisphere"),
        (lambda: ConcentratedThresholdFamily(0.4), "`eta` must be at most 1/3"),
        (lambda: ConcentratedThresholdFamily.for_samples(1.0, 30), "`most`"),
        (lambda: ConcentratedThresholdFamily(0.1).center(9), "`index` must be below 9"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(AuditError, match=message):
        call()


def test_a_net_that_grows_too_large_is_refused(monkeypatch):
    """The search of holes ends with the limit, far below the number of holes: memory follows the limit."""
    monkeypatch.setattr(nets, "LARGEST_NET", 200)
    with pytest.raises(AuditError, match="leave a net of at most 200 points in dimension 4"):
        LinearSeparatorClass(4).packing_cover(0.0625)
    assert len(nets.apart(np.eye(4), 0.5, 3)) == 3
