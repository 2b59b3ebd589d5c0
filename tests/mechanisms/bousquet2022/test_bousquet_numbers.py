"""Exact risks and constants against plain sums, closed forms, and values simulated before this code existed."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms import distributions as zoo
from mechanisms.distributions import ZOO
from mechanisms.papers.bousquet2022 import appendix, spaces
from mechanisms.papers.bousquet2022.algorithm1 import draw_counts, mean_error, threshold
from mechanisms.papers.bousquet2022.algorithm5 import (
    LINE,
    PairHistogramClassifier,
    StableVoronoiClassifier,
    labels_of,
    on_line,
)
from mechanisms.papers.bousquet2022.cells import (
    Cells,
    mean_inverse_visits,
    mean_vote,
    probability_at_most,
    vote_probability,
)
from mechanisms.papers.bousquet2022.faults import share_cell_noise
from mechanisms.papers.bousquet2022.grids import UnitGrid, keys_of, side_for
from mechanisms.papers.bousquet2022.section3 import CubeProblem, cube_risk, printed_sensitivity
from mechanisms.papers.bousquet2022.section4 import (
    LAWS,
    DensityErrors,
    inverse_square,
    lost_mass,
    mean_privacy_error,
    power_limit,
)
from mechanisms.papers.bousquet2022.theorem4_10 import labeled_size, public_size


def laplace_tail(s, epsilon):
    return stats.laplace(scale=1 / epsilon).sf(-np.asarray(s, dtype=float))


def double_sum(n, p, q, epsilon):
    """P(vote = 1) as a double sum over records in the cell and records of label 1."""
    inside, ks = stats.binom.pmf(np.arange(n + 1), n, p), [np.arange(k + 1) for k in range(n + 1)]
    each = [np.sum(stats.binom.pmf(ones, k, q / p) * laplace_tail(ones - k / 2, epsilon)) for k, ones in enumerate(ks)]
    return float(inside @ each)


CASES = [
    (1, 0.3, 0.2, 1.0), (7, 0.5, 0.1, 0.5), (40, 0.9, 0.5, 2.0), (41, 1.0, 0.5, 1.0), (300, 0.02, 0.015, 1.0),
    (5, 1.0, 1.0, 1.0), (400, 0.5, 0.28, 0.1), (400, 0.5, 0.05, 3.0), (400, 0.999, 0.9, 0.02),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_mean_vote_is_the_double_sum(case):
    n, p, q, epsilon = case
    assert mean_vote(n, np.array([p]), np.array([q]), epsilon)[0] == pytest.approx(double_sum(*case), abs=2e-12)


def test_mean_vote_far_from_a_tie_is_a_moment():
    """n = 10^9, label 1 wins by 10^4 deviations: the vote is wrong with probability E e^(-epsilon D / 2) / 2."""
    n, p, q, epsilon = 10**9, 0.5, 0.4, 1e-7
    wrong = (1 + 0.4 * math.expm1(-epsilon / 2) + 0.1 * math.expm1(epsilon / 2)) ** n / 2
    assert 1 - mean_vote(n, np.array([p]), np.array([q]), epsilon)[0] == pytest.approx(wrong, rel=1e-6)
    np.testing.assert_allclose(
        vote_probability(0.7, np.linspace(-40, 40, 33)), laplace_tail(np.linspace(-40, 40, 33), 0.7), rtol=1e-9
    )


def test_expectations_of_binomials():
    """n = 10^11 and mean 5: Poisson to 1e-10; the routine of scipy that is named bdtr returns nonsense here."""
    chance = probability_at_most(3, 10**11, np.array([5e-11]))[0]
    assert chance == pytest.approx(stats.poisson(5).cdf(3), rel=1e-8)
    assert probability_at_most(-1, 10, np.array([0.5]))[0] == 0
    assert probability_at_most(10, 10, np.array([0.5]))[0] == 1
    for n, p in ((1, 1.0), (10, 0.3), (1000, 0.001), (10**5, 0.01)):
        k = np.arange(1, n + 1)
        expected = p * np.sum(stats.binom.pmf(k, n, p) / k)
        assert mean_inverse_visits(n, np.array([p])) == pytest.approx(expected, rel=1e-9)


def test_terms_of_the_bound_by_brute_force():
    """One cell of mass 1: E|Bin(n, m) / n - m|. A step of mass p: E|eta - mean| = 2 * 0.7 * p (1 - p)."""
    problem, k, p = CubeProblem("step", 30, side=1.0), np.arange(31), 1 / math.pi
    m = float(problem.cells.share[0])
    assert problem.sampling_error() == pytest.approx(np.sum(stats.binom.pmf(k, 30, m) * np.abs(k / 30 - m)), rel=1e-9)
    assert CubeProblem("step", 10, side=1.0).approximation(4096) == pytest.approx(2 * 0.7 * p * (1 - p), rel=1e-3)


REFERENCE = [  # mean excess at epsilon = 1, by simulation before this code existed, with its relative tolerance
    ("smooth", 10**5, 6.6e-4, 0.06), ("step", 10**6, 2.5e-4, 0.06),
    ("fat-cantor", 10**6, 0.024, 0.05), ("checkerboard", 10**5, 0.134, 0.02),
    ("octants", 10**6, 0.072, 0.02), ("cantor-uniform", 10**5, 0.031, 0.05),
]  # fmt: skip


def test_excess_matches_the_reference_and_stays_below_the_bound():
    for name, n, value, tolerance in REFERENCE:
        assert CubeProblem(name, n).excess(1.0) == pytest.approx(value, rel=tolerance)
    for name in ZOO:
        problem = CubeProblem(name, 1000)
        assert all(problem.excess(epsilon) <= problem.certified_excess(epsilon) for epsilon in (1.0, 0.1))
    assert CubeProblem("smooth", 1000, side=1e-3).excess(1.0) == pytest.approx(0.202, abs=1e-3)
    assert CubeProblem("smooth", 10**6, side=0.3).excess(1.0) == pytest.approx(0.0243, abs=1e-4)
    assert cube_risk("smooth", 1e-9, 10) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cells_and_boxes_agree(dim):
    grid, points = UnitGrid(dim, side_for(500, dim)), np.random.default_rng(1).random((1000, dim))
    low, high = (np.reshape(end, (-1, dim)) for end in grid.boxes())
    index = grid.cell_of(points)
    assert np.all((points >= low[index]) & (points < high[index]))
    assert grid.cell_of(np.ones((1, dim)))[0] == grid.size - 1
    assert UnitGrid(dim, 0.25).cell_of(np.ones((1, dim)))[0] == 4**dim - 1  # the last cube of an axis holds 1
    assert [UnitGrid(1, side_for(k * k, 1)).cuts for k in range(1, 400)] == list(range(1, 400))
    assert keys_of(np.array([[-0.13], [-0.12], [0.12], [0.13]]), 0.25, 0.125) == [(-1,), (0,), (0,), (1,)]


def test_weighted_points_give_the_same_cells_as_integrals():
    law, grid = zoo.atoms(), UnitGrid(1, 0.1)
    points = Cells.over_points(grid.cell_of(law.locations[:, None]), law.masses, law.margins)
    boxes = Cells.over_boxes(law, *grid.boxes())
    for name in ("mass", "positive", "cost_of_one", "cost_of_zero"):
        np.testing.assert_allclose(getattr(points, name), getattr(boxes, name)[: len(points)], atol=1e-12)
    ones = boxes.excess(np.ones(len(boxes)))
    assert ones == pytest.approx(boxes.cost_of_one.sum())


@pytest.mark.false_alarm(1.2e-8)
def test_mean_error_of_a_count():
    """Null: the closed form. 200,000 draws, six standard errors: 2e-9 each; the threshold is 6.99."""
    for count in (0, 1, 5, 7, 8, 60):
        drawn = draw_counts(np.full(200_000, count), 1.0, math.log(0.1), np.random.default_rng(count)) - count
        gap = abs(np.abs(drawn).mean() - mean_error(count, 1.0, math.log(0.1)))
        assert gap <= 6 * drawn.std() / math.sqrt(200_000)
    far = 2 * (math.log(2) * (math.sqrt(1e9) + 1) - math.log(1e9)) + 1
    assert threshold(1.0, power_limit(10**9)) == pytest.approx(far)
    with pytest.raises(InvalidArgument, match="log_delta"):
        threshold(1.0, 0.0)


L1 = [  # raw mean L1 error, epsilon = 1, delta = n^-2, by simulation before this code existed
    ("uniform", 10**5, 0.046), ("normal", 10**5, 0.24), ("cauchy", 10**6, 0.32),
    ("pareto", 10**5, 0.70), ("normal in the plane", 10**6, 0.42),
]  # fmt: skip


@pytest.mark.parametrize(("law", "n", "value"), L1)
def test_errors_of_densities_match_the_reference(law, n, value):
    drawn = DensityErrors(LAWS[law], n, 1.0, inverse_square(n)).sample(6, np.random.default_rng(3))
    assert drawn[:, 0].mean() == pytest.approx(value, rel=0.05)
    assert np.all(drawn[:, 1] <= 2 * drawn[:, 0] + 1e-9)


def test_costs_and_lost_mass():
    """The exact cost of privacy on the normal law, n = 10^4, on [-1, 1], as it was computed by 400 samples before."""
    assert mean_privacy_error("normal", 10**4, 1.0, inverse_square(10**4), 1.0) == pytest.approx(0.55, abs=0.1)
    assert lost_mass("uniform", 1.0) == pytest.approx(1)
    assert lost_mass("square root", 1.0) == pytest.approx(1 - 1 / (4 * math.log(2)), abs=1e-4)
    drawn = DensityErrors(LAWS["uniform"], 10**6, 1.0, power_limit(10**6)).sample(3, np.random.default_rng(5))
    np.testing.assert_allclose(drawn[:, 0], 1.0)


def test_sizes_and_risks_match_what_the_page_says():
    assert (public_size(0.1, 0.1), labeled_size(0.1, 0.1, 1.0)) == (369, 738)
    assert (public_size(0.1, 0.1, 16), labeled_size(0.1, 0.1, 1.0, 16)) == (5895, 11790)
    for cells, n, value in ((appendix.circle_cells, 10**6, 6.5e-4), (appendix.cube_cells, 10**5, 0.019)):
        assert appendix.cell_risk(cells, n) == pytest.approx(value, rel=0.1)
        assert cells(n).mass.sum() == pytest.approx(1, abs=1e-9)


def test_one_substitution_moves_the_counts_by_2():
    assert printed_sensitivity() == [("histogram counts", 2.0, 1.0)]


def test_the_bound_of_rare_visits_counts_what_lies_outside():
    _, _, bound = next(appendix.visit_cases())  # n = 1,000 and k = 0
    assert bound == pytest.approx(16 * 1_000**-0.25 + 2 * (0.5 - math.atan(math.sqrt(1_000)) / math.pi))


@pytest.mark.parametrize("space", [*appendix.SPACES.values(), spaces.WORDS], ids=[*appendix.SPACES, "words"])
def test_packings_are_maximal_and_cells_are_nearest(space):
    points = appendix.random_points(space, 200, np.random.default_rng(0))
    for radius in (0.7, 0.4, 0.25):
        packing = space.packing(radius)
        distances = space.distances(points, packing.centers)
        assert packing.is_maximal
        assert distances.min(axis=1).max() <= packing.cover + 1e-12
        index = space.cell_of(points, packing)
        np.testing.assert_allclose(distances[np.arange(len(points)), index], distances.min(axis=1), atol=1e-12)


def test_a_cell_without_records_is_never_shown():
    shown = share_cell_noise(on_line((120, 0)), 20_000, np.random.default_rng(0))
    assert (shown > 0).any(axis=0).sum() == 1


@pytest.mark.parametrize("radius", [1.0, 0.4])
def test_centers_are_apart_and_every_place_has_one_within_the_radius(radius):
    space = spaces.TWO_ADIC
    places = [space.place(i) for i in range(200)]
    cells = [key[0] for key in space.keys_of(space.points(places), radius)]
    centers = [center for center, _ in zip(spaces.centers_of(space, radius), range(max(cells) + 1), strict=False)]
    assert min(space.distance(a, b) for i, a in enumerate(centers) for b in centers[:i]) >= radius
    for place, cell in zip(places, cells, strict=True):
        assert cell == next(k for k, center in enumerate(centers) if space.distance(place, center) <= radius)


def test_what_is_drawn_of_both_histograms_of_2_adic_numbers_and_of_words():
    """Two records of one cell, one of another: a 1 counts in the second half. Half of the numbers have an odd 16th."""
    data = Labeled(np.array([0, 0, 1]), np.array([0, 1, 1]))
    plain, paired = (kind(LINE, 1.0, 0.01) for kind in (StableVoronoiClassifier, PairHistogramClassifier))
    assert labels_of(plain, (0, 1), data).tolist() == [0, 0, 1, 2, 3]
    assert labels_of(paired, (0, 2), data).tolist() == [0, 2, 3]
    *_, shares, margins = appendix.dyadic_risk().cells.args
    assert shares[margins > 0].sum() == pytest.approx(0.5)
    _, places, shares, margins = appendix.word_risk().cells.args
    assert [place for place, margin in zip(places, margins, strict=True) if margin > 0] == list(spaces.MONTHS)
    assert shares.sum() == pytest.approx(1)
