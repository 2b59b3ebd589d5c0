"""Grid, binary array and theorems: cells whatever the rounding does, exact privacy, numbers without simulation.

They are held to quadrature, simulation and reference values, and are those that faults state.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from audit import AuditError, Verdict
from mechanisms.papers.berrett2019 import lower_bound, theorems
from mechanisms.papers.berrett2019.evaluator import tabulate
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.lower_bound import line_family, plane_family
from mechanisms.papers.berrett2019.mechanism import BinaryArray, far_pair, noise_scale, one_cell
from mechanisms.papers.berrett2019.theorems import LINE, SETTINGS, absolute_moment
from tests.extensions.utility.test_rate import computed
from tests.offenders import refused


@pytest.mark.parametrize("name", SETTINGS)
def test_kinds_of_cells_are_the_cells(name):
    """The table of kinds gives the same excess as integrating every cell of the grid."""
    setting = SETTINGS[name]
    side = {1: 9, 2: 5, 3: 3}[setting.dim]
    whole, kinds = tabulate(setting.distribution(), Grid(setting.dim, 0.5 / side)), setting.cells(side)
    assert kinds.multiplicity.sum() == whole.multiplicity.sum() == (2 * side + 1) ** setting.dim
    for n in (1e3, 1e7):
        assert kinds.expected_excess(n, 1.0) == pytest.approx(whole.expected_excess(n, 1.0), rel=1e-9)


@pytest.mark.parametrize(("n", "stated"), [(100, 0.2176), (10_000, 0.0985), (10**6, 0.01059)])
def test_the_evaluator_against_reference_values(n, stated):
    """Computed before this package existed, by an aggregate sampler; digits as printed."""
    assert LINE.excess(n, 1.0, LINE.half_cells(n)) == pytest.approx(stated, rel=0.02)


@pytest.mark.parametrize(
    ("name", "predicted"), [("d=1 s=1", 10), ("d=1 s=2", 2.280), ("d=1 s=5", 0.620), ("d=1 s=1/2", 137.3)]
)
def test_limit_constants(name, predicted):
    setting = SETTINGS[name]
    size = (setting.lipschitz * (1 / 128) ** setting.smoothness) ** (1 + setting.margin_exponent)
    assert setting.constant(1.0) * setting.users(64) ** -setting.exponent / size == pytest.approx(predicted, rel=5e-4)


def test_settings_state_their_class():
    for name, setting in SETTINGS.items():
        x = np.linspace(0, 1, 4001)

        def eta(at, s=setting):
            return 0.5 + s.coefficient * np.sign(at - 0.5) * np.abs(at - 0.5) ** s.power

        assert -1e-12 <= eta(x).min() <= eta(x).max() <= 1 + 1e-12
        start, end = x[:-1, None], x[:-1, None] + np.array([0.00025, 0.01, 0.3])
        quotient = (np.abs(eta(end) - eta(start)) / (end - start) ** setting.smoothness)[end <= 1]
        assert setting.lipschitz * 0.98 <= quotient.max() <= setting.lipschitz * (1 + 1e-6), name
        for t in (0.01, 0.1, setting.largest_margin):
            share = np.mean(np.abs(eta(x) - 0.5) <= t)
            assert share <= setting.margin_constant * t**setting.margin_exponent + 2e-3
    assert SETTINGS["d=1 s=1/2"].lipschitz == pytest.approx(0.99, abs=1e-3)


def test_absolute_moments():
    for order in (1.0, 1.5, 3.0):
        value = integrate.quad(lambda z, q=order: 2 * z**q * stats.norm.pdf(z), 0, 40)[0]
        assert absolute_moment(order) == pytest.approx(value, rel=1e-8)


@pytest.mark.false_alarm(1e-08)
def test_tail_by_inversion():
    """Against the normal law for many users, and for one user a half against simulation: 4e6 draws, alarm 1e-8."""
    sd = theorems.deviation(1, 1.0, 100_000, 0.5, 1.0)
    for count in (1, 2, 3):
        sides = theorems.tail(1, 1.0, 100_000, 0.5, 1.0, count * sd)
        assert sides == pytest.approx([stats.norm.sf(count)] * 2, rel=2e-3)
    rng, size = np.random.default_rng(6), 4_000_000
    labeled, plain = ((rng.random(size) < p) + rng.laplace(scale=0.25, size=size) for p in (0.35, 0.7))
    centered, width = labeled - plain / 2, math.sqrt(math.log(2 / 1e-8) / (2 * size))  # mean 0.35 - 0.35
    for level in (0.5, 1.0):
        above, below = theorems.tail(1, 16.0, 1, 0.7, 0.5, level)
        assert abs(np.mean(centered >= level) - above) <= width
        assert abs(np.mean(centered <= -level) - below) <= width


def test_tail_bound_where_it_fails():
    """Reference: an independent inversion gave 0.0025, 0.096, 2.7e3 and 2e16 for P / bound at 5 deviations."""
    for epsilon, ratio in ((13.0, 0.0025), (17.0, 0.096), (25.0, 2.7e3), (40.0, 2.3e16)):
        level = 5 * theorems.deviation(1, epsilon, 100_000, 0.5, 1.0)
        above, _ = theorems.tail(1, epsilon, 100_000, 0.5, 1.0, level)
        assert above / theorems.tail_bound(1, epsilon, 100_000, level) == pytest.approx(ratio, rel=0.03)
    cases = {name: found / bound for name, found, bound in theorems.tail_cases((epsilon,), (100_000,), (1,))}
    assert cases["d=1 eps=40 n=100000 mass=0.5 eta=1 t=5 sd above"] == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize(
    ("family", "users", "bound", "private"), [(line_family, 1e4, 4.35e-3, 6.22e-3), (plane_family, 1e8, 3.0e-5, 3.2e-5)]
)
@pytest.mark.false_alarm(1e-08)
def test_least_favorable_family(family, users, bound, private):
    """Null: equal means. 4,000 draws with fresh signs: Hoeffding on [0, 2 coin flips], alarm 1e-8 each."""
    known, rng = family(users), np.random.default_rng(2)
    assert known.lower_bound == pytest.approx(bound, rel=5e-3)
    assert known.private_excess() == pytest.approx(private, rel=0.02)
    width = 2 * known.coin_flip_excess * math.sqrt(math.log(2 / 1e-8) / 8_000)
    value = known.private_excess()
    assert abs(known.draw_excess(4_000, rng).mean() - value) <= width + 0.02 * value


def test_family_by_hand():
    known = line_family(10_000)
    assert (known.sites_per_axis, known.balls, known.weight, known.bump, known.radius) == (10, 10, 0.1, 1 / 80, 1 / 80)
    assert known.site_points[:2, 0].tolist() == [0.025, 0.075]
    assert known.information == pytest.approx(2 * 1e4 * (math.e - 1) ** 2 * (0.1 / 80) ** 2)
    assert theorems.ball_volume(2) == pytest.approx(math.pi)
    assert plane_family(1e6).weight == pytest.approx(0.25 / 100)


def test_consistency_against_reference_values():
    """Computed before this package existed, by another implementation; digits as printed."""
    for name, n, stated in (
        ("smooth", 1e3, 0.169), ("smooth", 1e12, 8.3e-6), ("step", 1e8, 3.2e-3), ("atoms", 1e6, 7.2e-3),
        ("cantor-parity", 1e8, 0.424), ("fat-cantor", 1e10, 0.054), ("cauchy-parity", 1e6, 0.215),
    ):  # fmt: skip
        assert theorems.RiskOn(name).excess(n) == pytest.approx(stated, rel=0.02)


def test_the_bound_for_a_constant_eta():
    assert theorems.constant_eta_excess(1.0, 1e4) == pytest.approx(0.0987, abs=5e-5)
    assert theorems.constant_eta_excess(1.0, 100.0) / (10 * 1e-4) == pytest.approx(98.7, rel=1e-3)


def test_the_best_rule_of_one_user_by_hand():
    """w = 1: randomized response keeps the label with probability e^eps / (1 + e^eps), and errs by half of the rest."""
    test = lower_bound.SignTest(1.0, 1.0, 0.5)
    assert test.success(1) == pytest.approx(0.5 + 0.25 * math.tanh(0.5), abs=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_true_rates_on_grids_that_begin_too_early_do_not_fail(name):
    """Twenty random grids in n = 100 ... 10,000 a setting; `benchmarks.utility` takes hundreds."""
    setting, rng = SETTINGS[name], np.random.default_rng(0)
    for _ in range(20):
        between = np.round(10 ** rng.uniform(2, 4, rng.integers(4, 8))).astype(int).tolist()
        sizes = sorted({100, 10_000, *between})
        result = computed(theorems.ExcessOf(setting), sizes=sizes, exponent=setting.exponent, margin=0.02)
        assert result.verdict is Verdict.INCONCLUSIVE, (sizes, result.reason)


def test_the_known_early_grid():
    """On these sizes the local exponents 0.078, 0.075, 0.106 look settled, far from 0.3."""
    setting, sizes = SETTINGS["d=1 s=5"], (100, 484, 2045, 2653, 7422, 10_000)
    settings = {"sizes": sizes, "exponent": setting.exponent, "margin": 0.02, "constant": setting.constant(1.0)}
    assert computed(theorems.ExcessOf(setting), **settings, horizon=1).verdict is not Verdict.PASS
    assert computed(theorems.ExcessOf(setting), **settings).verdict is Verdict.INCONCLUSIVE


def test_cells_by_hand():
    """Cells j = 0..4 are the open intervals (j h - h, j h + h); a grid point lies in one, any other point in two."""
    held = Grid(1, 0.25).hits([0.0, 0.1, 0.25, 0.3, 1.0])
    assert [np.flatnonzero(row).tolist() for row in held] == [[0], [0, 1], [1], [1, 2], [4]]
    compared = [j for j in range(11) if abs(0.4 - j * 0.1) < 0.1]
    assert compared == [3, 4, 5]
    assert np.flatnonzero(Grid(1, 0.1).hits([0.4])[0]).tolist() == [4]


def test_cells_of_the_plane_are_products_and_counts_are_sums():
    plane, line = Grid(2, 0.3), Grid(1, 0.3)
    points = np.random.default_rng(3).random((50, 2))
    rows, columns = line.hits(points[:, 0]), line.hits(points[:, 1])
    np.testing.assert_array_equal(plane.hits(points), (rows[:, :, None] & columns[:, None, :]).reshape(50, -1))
    np.testing.assert_array_equal(plane.count(points), plane.hits(points).sum(axis=0))
    assert plane.count(points[:0]).tolist() == [0] * plane.cells


@given(
    bandwidth=st.floats(0.01, 1.5),
    index=st.integers(-3, 120),
    offset=st.sampled_from([0.0, 0.5, -0.5, 1e-16, -1e-16, 1e-9]),
    dim=st.integers(1, 2),
)
@settings(max_examples=300, deadline=None)
def test_a_point_lies_in_one_to_two_cells_an_axis(bandwidth, index, offset, dim):
    x = index * bandwidth + offset * bandwidth
    held = Grid(dim, bandwidth, -5.0, 200.0 if dim == 1 else 5.0).count(np.full((1, dim), x)).sum()
    if dim == 1 or abs(x) < 4:
        assert 1 <= held <= 2**dim


def test_nearest_grid_point_rounds_half_up_in_any_window():
    grid = Grid(2, 0.25)
    points = np.array([[0.0, 0.0], [0.124, 1.0], [0.125, 0.374], [0.376, 0.62]])
    assert [tuple(grid.indices[i]) for i in grid.nearest(points)] == [(0, 0), (0, 4), (1, 1), (2, 2)]
    wide = Grid(1, 0.5, -1.0, 2.0)
    assert (wide.first, wide.last, wide.shape) == (-2, 4, (7,))
    assert np.flatnonzero(wide.hits([-0.75])[0]).tolist() == [0, 1]
    assert wide.nearest([-1.0, 2.0]).tolist() == [0, 6]


# measured with an independent implementation, epsilon = 1; digits as printed
EPSILONS = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]
PROFILES = {
    1: [0.1842, 0.1547, 0.1107, 0.0384, 0.0175, 0.00656, 6.28e-4, 0],
    2: [0.1355, 0.1009, 0.0511, 0.0122, 1.36e-3, 4.50e-4, 3.96e-5, 0],
    3: [0.0977, 0.0598, 0.0219, 2.05e-3, 4.84e-5, 2.11e-6, 1.58e-7, 0],
}
AT_DELTA = {1: [0.851, 0.984, 0.9998], 2: [0.543, 0.804, 0.9975], 3: [0.352, 0.573, 0.849]}  # 1e-2, 1e-3, 1e-5


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_privacy_profile_of_the_worst_pair(dim):
    left, right = map(BinaryArray(dim, 1.0, 0.4).law, far_pair(dim))
    loss = left.loss_against(right)
    assert loss.epsilon(0) == pytest.approx(1.0, rel=1e-12)
    for epsilon, stated in zip(EPSILONS, PROFILES[dim], strict=True):
        assert loss.delta_lower_bound(epsilon) <= loss.delta(epsilon)
        assert loss.delta(epsilon) == pytest.approx(stated, rel=4e-3, abs=1e-9)
    assert [loss.epsilon(delta) for delta in (1e-2, 1e-3, 1e-5)] == pytest.approx(AT_DELTA[dim], abs=6e-4)


def test_one_cell_is_a_column_and_records_outside_the_window_hit_no_cell_or_the_last():
    array = BinaryArray(2, 1.0, 0.4)
    one, whole = (draw(far_pair(2)[0], 9, np.random.default_rng(1)) for draw in (lambda *a: one_cell(array, *a), array))
    np.testing.assert_array_equal(one, whole[:, 0])
    assert BinaryArray(1, 1.0, 0.4).bits((7.0, 1)).tolist() == [0, 0, 0, 0]
    assert BinaryArray(1, 1.0, 0.4).bits((1.3, 1)).tolist() == [0, 0, 0, 1]


test_bad_input_is_refused = refused(
    [
        (lambda: Grid(0, 0.1), "`dim` must"),
        (lambda: Grid(1, np.inf), "`bandwidth` must"),
        (lambda: Grid(1, 2.0**-54), r"into 2\^53 cells"),
        (lambda: Grid(1, 0.1, 1.0, 0.5), "`high` must"),
        (lambda: Grid(1, 0.25).nearest(np.array([[0.5, 0.5]])), r"have shape \(n, 1\)"),
        (lambda: Grid(1, 0.25).nearest([np.nan]), "be finite"),
        (lambda: Grid(1, 0.25).nearest([-0.1, 0.5]), r"lie in \[0, 1\]\^1$"),
        (lambda: BinaryArray(1, 1.0, 0.4, 3), "`half` must"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits(0.5), "`record` must be a pair"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits((0.5, 2)), "`y` must hold labels 0 and 1 only$"),
        (lambda: BinaryArray(1, 1.0, 0.4, 1).bits((0.5, 0.5)), "`y` must hold labels 0 and 1 only"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits(((0.5, 0.5), 1)), r"`x` must have shape \(n, 1\)"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits((np.nan, 1)), "`x` must be finite"),
        (lambda: noise_scale(1, 2.0**-51.1), r"`epsilon` must be at least 2\^-51, in 1 dimensions"),
    ],
    error=AuditError,
)


def test_at_the_edge_of_the_admitted_epsilon_no_bit_is_read():
    """Noise of scale 2^53: no output tells more than its sign, and 40 of 80 are positive but for seven deviations."""
    array = BinaryArray(1, 2.0**-51, 0.4)
    assert array.scale == 2.0**53
    drawn = array(far_pair(1)[0], 20, np.random.default_rng(0))
    assert np.abs(drawn).min() > 2.0**40
    assert 8 < np.sum(drawn > 0) < 72
