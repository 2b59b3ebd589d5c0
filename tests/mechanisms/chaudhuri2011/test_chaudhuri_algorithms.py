"""Classes by brute force, algorithms against reference values, numbers of the theorems, and the estimators.

"Computed independently" means: by another implementation.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms.exponential import ExponentialMechanism
from mechanisms.papers.chaudhuri2011 import lower_bounds, metric
from mechanisms.papers.chaudhuri2011.a1 import A1, Mistakes
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.accuracy import (
    CONCENTRATED,
    UNIFORM,
    RegionTrials,
    agrees_with_points,
    draw_on_points,
    fail_on_sphere,
    grid_points_up_to,
    interval_weights,
    longest,
    shortest,
)
from mechanisms.papers.chaudhuri2011.classifier import CoverClassifier, LabelPrivateCoverClassifier
from mechanisms.papers.chaudhuri2011.faults import forget_size
from mechanisms.papers.chaudhuri2011.privacy import (
    enumerated_epsilon,
    example_mistakes,
    first_threshold_pair,
    halves,
    label_flip_epsilon,
    middles,
    threshold_ratio,
    worst_epsilon,
    worst_flip,
)
from mechanisms.papers.chaudhuri2011.sample_sizes import (
    agnostic_parts,
    agnostic_size,
    label_private_size,
    metric_size,
    realizable_size,
)
from mechanisms.papers.chaudhuri2011.separators import (
    LinearSeparatorClass,
    band_mass,
    cap_mass,
    covering_radius,
    fibonacci_sphere,
)
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, ThresholdClass, ThresholdProblem

CIRCLE, SPHERE = LinearSeparatorClass(2), LinearSeparatorClass(3)


def examples(rng, dim, m):
    X = rng.normal(size=(m, dim)) if dim in (2, 3) else rng.integers(0, 11, (m, dim)) / 10  # ties with thresholds
    return Labeled(X[:, 0] if dim == 1 else X, rng.choice([-1, 1], m))


@pytest.mark.parametrize(("hypotheses", "dim"), [(THRESHOLDS, 1), (CIRCLE, 2), (SPHERE, 3), (StumpClass(4), 4)])
def test_mistakes_are_those_of_the_labels(hypotheses, dim):
    """4,100 examples and more are counted in blocks."""
    rng = np.random.default_rng(dim)
    cover = hypotheses.packing_cover(0.1)
    for m in (*rng.integers(1, 40, 20).tolist(), *([4_100, 9_000, 40_000] if dim == 3 else [])):
        data = examples(rng, dim, m)
        data.X[::7] = 0.0  # on every boundary of separators
        plain = [np.count_nonzero(hypotheses.predict(cover[i : i + 1], data.X) != data.y) for i in range(len(cover))]
        np.testing.assert_array_equal(hypotheses.mistakes(cover, data), plain)


def test_a_point_on_the_boundary_is_positive():
    assert THRESHOLDS.predict(np.array([0.3]), np.array([0.3, 0.29])).tolist() == [[1, -1]]
    assert CIRCLE.predict(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [-1.0, 0.0]])).tolist() == [[1, -1]]


@pytest.mark.parametrize(("m", "s", "indices"), [(20, 0.075, [1, 4, 7, 10, 13, 16, 19]), (12, 0.025, range(13))])
def test_the_sample_cover_uses_every_so_many_classes(m, s, indices):
    """r = floor(m s), indices r, 3 r + 1, 5 r + 2, ...: thresholds halfway between points (i + 1/2) / m."""
    X = middles(m)
    np.testing.assert_allclose(THRESHOLDS.sample_packing_cover(X, s), np.array(list(indices)) / m)
    np.testing.assert_array_equal(THRESHOLDS.sample_packing_cover(X, s), THRESHOLDS.sample_packing_cover(X[::-1], s))
    assert THRESHOLDS.sample_packing_cover(middles(6), 0.17).tolist() == pytest.approx([1 / 6, 2 / 3, 1.0])


def test_sample_covers_of_separators_cover_and_pack():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 2))
    cover = CIRCLE.sample_packing_cover(X, 0.15)
    angles = rng.uniform(0, 2 * math.pi, 2000)
    anyone = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert CIRCLE.sample_disagreement(anyone, cover, X).min(axis=1).max() <= 0.15 + 1e-12
    assert (CIRCLE.sample_disagreement(cover, cover, X) + np.eye(len(cover))).min() > 0.15


def test_covering_radii_of_known_solids():
    """The octahedron: arccos(1 / sqrt 3); more Fibonacci points leave smaller holes."""
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    assert covering_radius(octahedron) == pytest.approx(math.acos(1 / math.sqrt(3)) / math.pi)
    assert covering_radius(fibonacci_sphere(4_000)) < covering_radius(fibonacci_sphere(400))
    assert [len(SPHERE.packing_cover(s)) for s in (0.2, 0.1)] == pytest.approx([33, 135], abs=3)
    assert band_mass(3, 0.25) == pytest.approx(0.25)
    assert cap_mass(3, 0.5) == pytest.approx(0.5)
    for wrong in (LinearSeparatorClass(4), LinearSeparatorClass(5)):
        with pytest.raises(InvalidArgument, match="be 2 or 3"):
            wrong.packing_cover(0.3)


@pytest.mark.parametrize("radius", [0.3, 0.05, 0.5])
def test_a_cover_of_stumps_covers(radius):
    assert StumpClass(8).doubling_dim == 5.0
    cover = StumpClass(2).packing_cover(radius)
    assert len(cover) == StumpClass(2).cover_size(radius)
    assert {tuple(row) for row in cover[:, [0, 2]].tolist()} == {(0, 1), (0, -1), (1, 1), (1, -1)}
    probes = np.linspace(0, 1, 1_001)
    assert np.abs(probes[:, None] - np.unique(cover[:, 1])).min(axis=1).max() <= radius + 1e-12


def test_no_stump_is_added_by_rounding():
    """1 / (2 / 98) exceeds 49 in doubles."""
    assert StumpClass(3).cover_size(1 / 98) == 6 * 49


# alpha, J, m, exact epsilon, P(event | S), P(event | S'), total variation: computed independently
TABLE = [
    (1.0, 2, 1, 0.500000, 0.622, 0.378, 0.2449),
    (1.0, 5, 1, 0.796046, 0.292, 0.132, 0.1602),
    (1.0, 20, 1, 0.948209, 0.0799, 0.0309, 0.0489),
    (1.0, 5, 8, 0.992199, 0.0123, 0.00456, 0.0077),
    (0.5, 20, 1, 0.474777, 0.0633, 0.0394, 0.0239),
]


@pytest.mark.parametrize(("alpha", "size", "m", "exact", "left", "right", "distance"), TABLE)
def test_the_worst_pair_has_the_closed_form(alpha, size, m, exact, left, right, distance):
    grid = tuple(THRESHOLDS.packing_cover(1 / (2 * size)).tolist())
    laws = [ExponentialMechanism(Mistakes(THRESHOLDS), grid, 1.0, alpha).law(s) for s in first_threshold_pair(size, m)]
    loss, first = laws[0].loss_against(laws[1]), sorted(law.pmf[1 / (2 * size)] for law in laws)
    assert worst_epsilon(alpha, m, threshold_ratio(size)) == pytest.approx(exact, abs=1e-6)
    assert loss.epsilon(0.0) == pytest.approx(exact, abs=1e-6)
    assert loss.delta(0.0) == pytest.approx(distance, abs=6e-5)
    assert first == pytest.approx([right, left], rel=6e-3)


def test_breaking_the_exponent_breaks_the_closed_form():
    """The enumeration sees what the closed form does not allow: no 1/2, or a squared error."""
    kinds = example_mistakes(5)
    assert enumerated_epsilon(kinds, 4, lambda k: halves(k, 2.0)) == pytest.approx(1.9713, abs=1e-4)
    squared = enumerated_epsilon(kinds, 4, lambda k: -(k**2) / 8)
    assert squared > worst_epsilon(1.0, 4, threshold_ratio(5)) + 0.4
    assert worst_epsilon(0.5, 50, threshold_ratio(21), 20) == pytest.approx(9.996, abs=5e-3)


@pytest.mark.parametrize(("m", "accuracy", "alpha", "share"), [(4, 0.3, 1.0, 0.9050), (12, 0.1, 0.5, 0.9852)])
def test_label_flips_of_a3(m, accuracy, alpha, share):
    predicted = THRESHOLDS.predict(A3(alpha, accuracy).cover(middles(m)), middles(m))
    assert label_flip_epsilon(predicted, alpha) / alpha == pytest.approx(share, abs=5e-5)
    assert worst_flip(predicted, alpha)[0] == pytest.approx(label_flip_epsilon(predicted, alpha), abs=1e-12)


def test_kappa_hat_and_the_cap():
    algorithm = A1(0.5, 0.1, smoothness_cap=2.0**60)
    assert [math.log(algorithm.smoothness_hat(m)) for m in (28_045, 56_090, 140_225)] == pytest.approx(
        [0, 8.8, 35.1], abs=0.05
    )
    assert A1(0.5, 0.1).smoothness_hat(10**6) == pytest.approx(2.0**16)
    with pytest.raises(InvalidArgument, match="keep the cover below"):
        A1(0.5, 0.1, smoothness_cap=2.0**60).cover(np.zeros(140_225))
    for wrong in ({"accuracy": 1.0}, {"beta": 0.0}, {"smoothness_cap": 0.5}, {"epsilon": 0.0}):
        with pytest.raises(InvalidArgument, match=next(iter(wrong))):
            A1(**wrong)


def test_intervals_and_grids_have_one_law():
    """The weight of intervals between examples is that of their grid points."""
    rng = np.random.default_rng(0)
    data = Labeled(rng.integers(0, 33, 30) / 32, rng.choice([-1, 1], 30))
    chances, first, counts = interval_weights(data, 64, 0.7)
    grid = (2 * np.arange(64) + 1) / 128
    literal = np.exp(-0.35 * THRESHOLDS.mistakes(grid, data))
    assert np.repeat(chances / counts, counts.astype(int)).tolist() == pytest.approx((literal / literal.sum()).tolist())
    assert grid_points_up_to(np.array([0.5, 1 / 128]), 64).tolist() == [32, 1]
    assert first[0] == 0


def test_sample_sizes_computed_independently():
    assert agnostic_size(0.5, 0.1, 0.1) == 28045
    assert agnostic_size(0.05, 0.2, 0.1, math.log(75.5)) == 9917
    assert agnostic_size(0.5, 0.2, 0.1, 0.0, math.log2(7)) == 12793
    assert [realizable_size(*a, 0.1) for a in ((0.5, 0.1), (0.02, 0.1), (0.9, 0.05))] == [35057, 53807, 75658]
    assert [label_private_size(0.5, 0.1, 0.1, noise) for noise in (0.0, 0.2)] == [4578, 23758]
    assert label_private_size(0.05, 0.2, 0.1) == 4209
    assert [metric_size(r) for r in (0.1, 0.01)] == [2629, 32311]
    for most, total, privacy in ((5, 9439, 888), (10, 11345, 1079), (20, 15336, 1478), (40, 23336, 2278)):
        parts = agnostic_parts(0.5, 0.2, 0.1, math.log(0.5 + 0.75 * (6 + 4 * math.exp(0.5 * most))))
        assert (math.ceil(max(parts)), round(parts[1])) == (total, privacy)


def test_lower_bounds_computed_independently():
    found = [value for _, value, _ in lower_bounds.success_cases()]
    assert found[:2] == pytest.approx([0.030, 0.0038], rel=0.03)
    assert found[2] < 1.5e-4
    found = [lower_bounds.best_private_success(20, e, tuple(range(21))) for e in (0.05, 0.02)]
    assert found == pytest.approx([0.061, 0.053], abs=5e-4)
    assert lower_bounds.lemma_targets(20, 0.05) == (6, 8, 10, 12, 14)
    # two datasets, two outputs: randomized response is the best
    assert lower_bounds.best_private_success(1, 1.0, (0, 1)) == pytest.approx(math.e / (1 + math.e))
    assert lower_bounds.realizable_tail() == pytest.approx(8.12e-3, rel=1e-3)
    bounds = [next(iter(lower_bounds.tail_cases(rate)))[2] for rate in (3 / 80, 3 / 40, 3 / 20)]
    assert bounds == pytest.approx([1.11e-2, 6.1e-6, 1.9e-12], rel=0.02)


def test_geometry_computed_independently():
    assert metric.close_pair_mass(3, 0.5) * 4 == pytest.approx(1.17, abs=5e-3)
    assert metric.close_pair_mass(10, 0.5) * 512 == pytest.approx(7.66, abs=5e-3)
    assert metric.packing_by_deletion(10, 0.03) < 256  # 0.026 is the last radius on a grid of 0.001
    assert metric.printed_band_smoothness(10, 1 / math.sqrt(10)) == pytest.approx(-4.69, abs=5e-3)
    (case,) = [case for case in metric.band_cases((1.5,)) if case[0].startswith("n=10 ")]
    assert case[1:] == pytest.approx((1.16, 2.85), abs=5e-3)


def test_intervals_by_hand_and_a_lemma_that_is_not_for_every_size():
    """Lemma 23 fails in most of 200 samples at m = 20 and r = 0.1 (fixed seed)."""
    x = np.array([0.1, 0.4, 0.5])
    assert [shortest(x, j) for j in range(4)] == pytest.approx([0, 0, 0.1, 0.4])
    assert [longest(x, j) for j in range(4)] == pytest.approx([0.5, 0.6, 0.9, 1.0])
    assert draw_on_points(partial(agrees_with_points, 0.1), 20, 200, np.random.default_rng(0)).mean() < 0.5


def test_failure_probabilities():
    """Computed independently: 0.1 at m = 81 on the sphere; 0.994 with the scale forgotten, at a tenth of alpha too."""
    sphere = [fail_on_sphere(0.5, 0.2, 0.1, 81, np.random.default_rng(seed)) for seed in range(60)]
    assert np.mean(sphere) == pytest.approx(0.1, abs=0.05)
    wrong = {"smoothness": 75.5, "exponent": lambda wrong, m: 10 * forget_size(wrong, m)}
    found = CONCENTRATED.failures(0.5, 0.2, 200, 100, np.random.default_rng(0), **wrong)
    assert found.mean() == pytest.approx(0.994, abs=2e-3)
    assert UNIFORM.failures(0.5, 0.1, 28045, 100, np.random.default_rng(0)).max() < 1e-50


@pytest.mark.false_alarm(2e-09)
def test_examples_have_the_noise_and_the_window_of_their_problem():
    """Null: a fifth of 20,000 labels is wrong, half and eta / 3 of the points in the window; 6 deviations each."""
    problem = replace(CONCENTRATED, noise=0.2)
    data = problem.draw(20_000, np.random.default_rng(3))
    wrong = data.y != np.where(problem.target <= data.X, 1, -1)
    inside = np.abs(data.X - problem.target) <= problem.eta / 3
    assert wrong.mean() == pytest.approx(0.2, abs=0.0175)
    assert inside.mean() == pytest.approx(0.5 + problem.eta / 3, abs=0.0215)
    assert ThresholdProblem(0.5, 0.0, 0.01) == CONCENTRATED


def test_algorithms_by_default():
    assert A1() == A1(1.0, 0.1, ThresholdClass(), 0.1, 2.0**16)
    assert A3() == A3(1.0, 0.1, ThresholdClass())


def test_the_cover_of_a1_by_hand():
    """kappa_hat is 1: points s = a / 4 from their neighbors' middles, for 28,000 examples and for few."""
    for m in (10, 28_000):
        np.testing.assert_allclose(A1(0.5, 0.1).cover(np.zeros(m)), (np.arange(20) + 0.5) / 20)


def test_the_cover_of_a3_by_hand():
    """A quarter of the accuracy is two of twenty points: thresholds with 2, 7, 12, 17 and 20 of them below."""
    points = (np.arange(20) + 0.5) / 20
    assert [np.sum(points < threshold) for threshold in A3(1.0, 0.4).cover(points)] == [2, 7, 12, 17, 20]
    learner = LabelPrivateCoverClassifier(classes=[False, True]).fit(points[:, None], points > 0.5)
    assert learner.learner_.algorithm == A3(1.0, 0.1)
    assert learner._rows(np.array([[0.99], [1.0]])).tolist() == [0.99, 1 - 2**-53]


def test_bad_input_is_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 4)), np.arange(20) % 2
    for learner, rule in (
        (CoverClassifier(hypotheses="trees"), "`hypotheses` must be 'half-planes' or 'stumps', got 'trees'"),
        (CoverClassifier(projection=3), "`projection` must leave at most 2 features, got 3"),
        (CoverClassifier(accuracy=1.5), "`accuracy`"),
        (LabelPrivateCoverClassifier(projection=2), "`projection` must leave 1 feature, got 2"),
    ):
        with pytest.raises(ValueError, match=rule):
            learner.set_params(classes=[0, 1]).fit(X, y)
    for hypotheses in (StumpClass(3), SPHERE):
        with pytest.raises(InvalidArgument, match=r"`X` must have shape \(n, 3\)"):
            hypotheses.predict(np.zeros((1, 3)), np.zeros((4, 2)))
    with pytest.raises(InvalidArgument, match=r"`X` must lie in the cube \[0, 1\]"):
        THRESHOLDS.predict(np.zeros(1), np.array([1.5]))
    with pytest.raises(InvalidArgument, match="`y` must"):
        THRESHOLDS.mistakes(np.array([0.5]), Labeled(np.array([0.1]), np.array([0])))


@pytest.mark.parametrize("inside", [True, False])
def test_the_examples_of_a_region_lie_on_the_sphere_and_in_it(inside):
    x = RegionTrials(4, 0.5, inside).draw(100, np.random.default_rng(0)).X
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0)
    assert np.all((np.abs(x[:, 0]) <= 0.5) == inside)
