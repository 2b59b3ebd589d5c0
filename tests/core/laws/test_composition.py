"""Composed losses: closed forms, exact finite products, dp_accounting, and the bracket lower <= truth <= upper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import compose_pmfs, create_pmf
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.laws import ComposedLoss, FiniteLoss, GaussianLoss, LaplaceLoss, compose, no_loss
from audit.laws.product import LatticeLoss, sum_losses


def two_laplace(a: float, epsilon: float) -> float:
    """Profile of two Laplace coordinates with equal a: 1 - e^(-s/2) (1 + s/4), s = 2a - eps."""
    s = max(0.0, 2 * a - epsilon)
    return 1 - math.exp(-s / 2) * (1 + s / 4)


@pytest.mark.parametrize("a", [1e-3, 0.5, 1.0, 6.0])
def test_two_laplace_coordinates_against_the_closed_form(a: float) -> None:
    loss = compose([LaplaceLoss(a)] * 2)
    for share in (0.0, 0.25, 0.5, 0.9, 0.999, 1.0, 1.5):
        epsilon = share * 2 * a
        truth = two_laplace(a, epsilon)
        assert loss.delta_lower_bound(epsilon) <= truth <= loss.delta(epsilon)
        assert loss.delta(epsilon) == pytest.approx(truth, abs=1e-8)
        assert loss.delta_lower_bound(epsilon) == pytest.approx(truth, abs=1e-4)


def test_gaussian_coordinates_on_the_lattice_bracket_their_closed_form() -> None:
    loss, exact = ComposedLoss([GaussianLoss(1.0)] * 2, grid=1e-3), GaussianLoss(math.sqrt(2))
    for epsilon in (0.0, 1.0, 5.0):
        assert loss.delta_lower_bound(epsilon) <= exact.delta(epsilon) <= loss.delta(epsilon)
        assert loss.delta(epsilon) == pytest.approx(exact.delta(epsilon), abs=1e-6)
    assert loss.epsilon(1e-5) == pytest.approx(exact.epsilon(1e-5), abs=1e-4)
    assert loss.epsilon(0.0) == math.inf


pmf = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any).map(lambda c: np.array(c) / sum(c))


@given(pmf, pmf, pmf, pmf, st.floats(0, 3))
@settings(max_examples=25, deadline=None)
def test_lattice_brackets_the_exact_product(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, epsilon: float
) -> None:
    exact = FiniteLoss(np.outer(a, c).ravel(), np.outer(b, d).ravel())
    parts = [FiniteLoss(a, b), FiniteLoss(c, d)]
    if not any(part.parts for part in parts):
        assert exact.total_variation() == pytest.approx(0.0, abs=1e-15)
        return
    loss = ComposedLoss(parts)
    for side in ("left", "right"):
        truth = exact.delta(epsilon, side)  # type: ignore[arg-type]
        assert loss.delta_lower_bound(epsilon, side) <= truth + 1e-15  # type: ignore[arg-type]
        assert truth <= loss.delta(epsilon, side) + 1e-15  # type: ignore[arg-type]
        assert loss.delta(epsilon, side) - loss.delta_lower_bound(epsilon, side) < 2e-3  # type: ignore[arg-type]
        assert loss.mass_at_infinity(side) == pytest.approx(exact.mass_at_infinity(side), abs=1e-12)  # type: ignore[arg-type]


def test_composed_tails_lie_within_the_displacement() -> None:
    loss, exact = ComposedLoss([GaussianLoss(0.6), GaussianLoss(0.8)], grid=1e-3), GaussianLoss(1.0)
    assert loss.threshold_error < 5e-3
    for threshold in (-1.0, 0.3, 2.0):
        low, high = (exact.tails(threshold + sign * loss.threshold_error, "left") for sign in (1, -1))
        for value, least, most in zip(loss.tails(threshold, "left"), low, high, strict=True):
            assert least - loss.tail_error <= value <= most + loss.tail_error


def test_coordinates_of_equal_laws_drop_out_and_one_is_returned_as_it_is() -> None:
    loss = LaplaceLoss(0.3)
    assert compose([no_loss(), loss, FiniteLoss([0.5, 0.5], [0.5, 0.5])]) is loss
    assert compose([no_loss()]).epsilon(0.0) == compose([]).epsilon(0.0) == 0.0


def test_mass_at_infinity_multiplies() -> None:
    leak = FiniteLoss([0.9, 0.1], [1.0, 0.0])
    loss = ComposedLoss([leak, leak, LaplaceLoss(1.0)])
    assert loss.mass_at_infinity("left") == pytest.approx(1 - 0.9**2)
    assert loss.mass_at_infinity("right") == 0.0
    assert loss.delta(50.0, "left") == pytest.approx(0.19, abs=1e-9)
    assert loss.epsilon(0.1) == math.inf


@pytest.mark.parametrize("a", [50.0, 800.0, 5000.0])
def test_losses_beyond_the_floating_point_range_stay_on_the_safe_side(a: float) -> None:
    # Next to a, a coordinate of 1e-3 does not matter: 1 - e^((40 - a) / 2) within 1e-3.
    loss = compose([LaplaceLoss(a), LaplaceLoss(1e-3)])
    assert loss.delta(40.0) == pytest.approx(-math.expm1((40 - a) / 2), abs=2e-3)
    assert loss.delta_lower_bound(40.0) <= loss.delta(40.0)
    assert loss.epsilon(0.0) == a + 1e-3


CUT = 1e-15
# step; cells, first place, mass at infinity and number of each part. The range of the second sum takes two passes over
# the profile, that of the third one pass for each cell, and the fourth keeps a part of its cells only.
CASES = [
    (1e-3, [(500, -200, 0.01, 3), (2000, -900, 0.0, 2)]),
    (1.0, [(50, -20, 0.1, 10)]),
    (500.0, [(5, -2, 0.0, 4)]),
    (0.01, [(100, -50, 1e-9, 2000)]),
    (0.1, [(7, 3, 0.9, 2), (7, -3, 0.0, 1)]),
]


def drawn(step: float, cells: int, first: int, infinite: float) -> LatticeLoss:
    masses = np.random.default_rng(cells).dirichlet(np.full(cells, 0.3)) * (1 - infinite)
    return LatticeLoss(step, first, masses, infinite)


@pytest.mark.parametrize(("step", "sizes"), CASES)
def test_sums_have_the_profile_that_dp_accounting_finds(step: float, sizes: list[tuple[int, int, float, int]]) -> None:
    parts = [(drawn(step, *size), times) for *size, times in sizes]
    total = sum_losses(parts, CUT)
    powers = [
        create_pmf(
            dict(enumerate(loss.masses.tolist(), loss.first)), step, loss.infinite, pessimistic_estimate=True
        ).self_compose(times, CUT)
        for loss, times in parts
    ]
    known = powers[0]
    for power in powers[1:]:
        known = compose_pmfs(known, power, CUT)
    places = np.r_[total.first - 3, total.first, -1, -0.5, 0, 0.3, np.linspace(1, 200, 20), 1e6]
    expected = [known.get_delta_for_epsilon(float(t)) for t in places * step]
    np.testing.assert_allclose(total.profile(places * step), expected, rtol=0, atol=1e-12)


def test_a_small_profile_keeps_its_digits() -> None:
    # Masses fall from 1 to 1e-200: no difference of larger numbers would show the last ones.
    masses = np.logspace(0, -200, 4000)
    loss = LatticeLoss(0.25, -2000, masses, 0.0)
    losses = np.arange(-2000, 2000) * 0.25
    thresholds = np.array([-500.0, -3.1, 0.0, 0.1, 450.3, 499.5, 499.7])
    expected = [masses[losses > t] @ -np.expm1(t - losses[losses > t]) for t in thresholds]
    np.testing.assert_allclose(loss.profile(thresholds), expected, rtol=1e-10)
    assert loss.profile(np.array([499.75, 500.0, 1e300])).tolist() == [0.0, 0.0, 0.0]


def test_a_part_that_is_infinite_leaves_nothing_else() -> None:
    sure, other = LatticeLoss(1.0, 0, np.zeros(2), 1.0), drawn(1.0, 7, -3, 0.0)
    assert sum_losses([(sure, 1), (other, 3)], CUT).profile(np.array([5.0])).tolist() == [1.0]
