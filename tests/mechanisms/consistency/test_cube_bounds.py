"""The terms of the consistency proof: expectations against plain sums, and reference values computed elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms.consistency.binomials import mean_inverse, probability_at_most
from mechanisms.consistency.cube_bounds import CubeProblem
from mechanisms.consistency.cube_theorems import CubeRisk
from mechanisms.distributions import ZOO


@pytest.mark.parametrize(("n", "p"), [(1, 1.0), (10, 0.3), (1000, 0.001), (10**5, 0.01)])
@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_mean_inverse_is_the_sum(n, p, power):
    k = np.arange(1, n + 1)
    expected = np.sum(stats.binom.pmf(k, n, p) / k**power)
    assert mean_inverse(n, np.array([p]), power)[0] == pytest.approx(expected, rel=1e-9)


def test_binomial_distribution_function_beyond_32_bits():
    """n = 10^11 and mean 5: Poisson to 1e-10; the routine of scipy that is named bdtr returns nonsense here."""
    chance = probability_at_most(3, 10**11, np.array([5e-11]))[0]
    assert chance == pytest.approx(stats.poisson(5).cdf(3), rel=1e-8)
    assert probability_at_most(-1, 10, np.array([0.5]))[0] == 0
    assert probability_at_most(10, 10, np.array([0.5]))[0] == 1


def test_sampling_error_is_the_mean_absolute_deviation():
    """Brute force over all counts for one cell of mass 1: E|Bin(n, m) / n - m|."""
    problem = CubeProblem("step", 30, side=1.0)
    m = float(problem.cells.share[0])
    k = np.arange(31)
    assert problem.sampling_error() == pytest.approx(np.sum(stats.binom.pmf(k, 30, m) * np.abs(k / 30 - m)), rel=1e-9)


def test_approximation_of_a_step_is_exact():
    """Cubes of side 1: eta is 0.9 on 1/pi and 0.2 after; E|eta - mean| = 2 * 0.7 * p (1 - p)."""
    p = 1 / math.pi
    assert CubeProblem("step", 10, side=1.0).approximation(4096) == pytest.approx(2 * 0.7 * p * (1 - p), rel=1e-3)


@pytest.mark.parametrize("name", list(ZOO))
@pytest.mark.parametrize("n", [10, 1000])
def test_the_certified_bound_is_above_the_exact_excess(name, n):
    problem = CubeProblem(name, n)
    assert problem.excess(1.0) <= problem.certified_excess(1.0)
    assert problem.excess(0.1) <= problem.certified_excess(0.1)


REFERENCE = [  # mean excess at epsilon = 1, by simulation before this package existed, with its relative tolerance
    ("smooth", 10**5, 6.6e-4, 0.06),
    ("step", 10**6, 2.5e-4, 0.06),
    ("mixture", 10**5, 0.060, 0.03),
    ("fat-cantor", 10**6, 0.024, 0.05),
    ("sin(1/x)", 10**7, 0.0070, 0.03),
    ("checkerboard", 10**5, 0.134, 0.02),
    ("octants", 10**6, 0.072, 0.02),
    ("cantor-uniform", 10**5, 0.031, 0.05),
]


@pytest.mark.parametrize(("name", "n", "value", "tolerance"), REFERENCE)
def test_excess_matches_the_reference(name, n, value, tolerance):
    assert CubeProblem(name, n).excess(1.0) == pytest.approx(value, rel=tolerance)


def test_cubes_that_are_too_small_or_of_constant_size_stay_wrong():
    assert CubeProblem("smooth", 1000, side=1e-3).excess(1.0) == pytest.approx(0.202, abs=1e-3)
    assert CubeProblem("smooth", 10**6, side=0.3).excess(1.0) == pytest.approx(0.0243, abs=1e-4)


def test_noise_alone_costs_half_the_margin_when_there_is_nothing_to_see():
    assert CubeRisk("smooth", 1e-9)(10) == pytest.approx(0.5, abs=1e-6)
    assert CubeRisk("pure-noise")(1000) == pytest.approx(0.5)
