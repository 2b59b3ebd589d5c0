"""Losses on a lattice against dp_accounting, and against the sum that defines their profile."""

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import compose_pmfs, create_pmf

from audit.laws.product import LatticeLoss, sum_losses

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
