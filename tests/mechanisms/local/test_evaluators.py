"""Numbers computed without simulation, against quadrature, simulation, and reference values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from audit import AuditError, InequalityCheck, Verdict
from audit.checks.allowance import Allowance
from audit.checks.run import run_check
from audit.execution.seeds import Stream
from mechanisms.distributions.zoo import cantor_times_uniform, smooth
from mechanisms.local import concentration, excess, rates
from mechanisms.local.agreement import AggregateExcess
from mechanisms.local.cells import draw_statistics, expected_excess, tabulate
from mechanisms.local.consistency import RiskOn
from mechanisms.local.grid import Grid
from mechanisms.local.hard_family import LeastFavorableFamily, ball_volume, line_family, plane_family
from mechanisms.local.regressogram import baseline_excess, draw_baseline_excess, vote_for_one
from mechanisms.local.settings import SETTINGS, Cone, Slab, absolute_moment

SLABS = {name: setting for name, setting in SETTINGS.items() if isinstance(setting, Slab)}


@pytest.mark.parametrize("name", SLABS)
def test_kinds_of_cells_are_the_cells(name):
    """The table of kinds gives the same excess as integrating every cell of the grid."""
    setting = SETTINGS[name]
    side = {1: 9, 2: 5, 3: 3}[setting.dim]
    whole = tabulate(setting.distribution(), Grid(setting.dim, 0.5 / side))
    kinds = setting.cells(side)
    assert kinds.multiplicity.sum() == whole.multiplicity.sum() == (2 * side + 1) ** setting.dim
    for n in (1e3, 1e7):
        assert kinds.expected_excess(n, 1.0) == pytest.approx(whole.expected_excess(n, 1.0), rel=1e-9)


def test_cells_of_the_cone_by_quadrature():
    cone, side = Cone(), 4
    table, h = cone.cells(side), 0.5 / 4

    def margin(y, x):
        return 2 * 0.6 * math.hypot(x, y)

    for i, j in ((0, 0), (1, 3), (4, 4)):
        x, y = i * h, j * h
        low = [c - h for c in (x, y)]
        high = [min(c + h, 0.5) for c in (x, y)]
        value = integrate.dblquad(margin, low[0], high[0], low[1], high[1], epsabs=1e-10)[0]
        assert table.signed[i * (side + 1) + j] == pytest.approx(value, abs=1e-8)
    total = integrate.dblquad(margin, -0.5, 0.5, -0.5, 0.5, epsabs=1e-10)[0]
    assert np.sum(table.multiplicity * table.cost_of_zero) == pytest.approx(total, abs=1e-8)


@pytest.mark.parametrize(
    ("n", "stated", "budget"), [(100, 0.2176, 20_000), (10_000, 0.0985, 20_000), (10**6, 0.01059, 40_000)]
)
@pytest.mark.false_alarm(1e-08)
def test_evaluator_against_the_aggregate_sampler(n, stated, budget):
    """Null: equal means. Bounded-mean test at 1e-8; a PASS confines the mean of the draws to 8 %."""
    setting = SETTINGS["d=1 s=1"]
    side = setting.half_cells(n)
    value = setting.excess(n, 1.0, side)
    assert value == pytest.approx(stated, rel=0.02)
    sampler = AggregateExcess(setting.distribution(), n, 0.5 / side, 1.0)
    check = InequalityCheck(
        name="mean", losses=sampler, support=(0.0, 0.5), bound=value, sense="==", tolerance=0.08 * value
    )
    result = run_check(check, Allowance(budget, 1e-8, Stream(n)))
    assert result.verdict is Verdict.PASS, result.reason


@pytest.mark.parametrize("name", ["d=1 s=1", "d=1 s=2", "d=1 s=5", "d=1 s=1/2"])
def test_limit_constants(name):
    setting = SETTINGS[name]
    predicted = {"d=1 s=1": 10, "d=1 s=2": 2.280, "d=1 s=5": 0.620, "d=1 s=1/2": 137.3}[name]
    n = setting.users(64)
    size = (setting.lipschitz * (1 / 128) ** setting.smoothness) ** (1 + setting.margin_exponent)
    assert setting.constant(1.0) * n**-setting.exponent / size == pytest.approx(predicted, rel=5e-4)


def test_discretization_of_the_constant_is_a_twelfth():
    """s = 1: the sum over cells exceeds the integral, 10, by 1/4 - 1/6, whatever the dimension (Euler-Maclaurin)."""
    cells = np.arange(1, 400)
    limit = 0.25 + float(np.sum(4 * cells * stats.norm.sf(cells / math.sqrt(10))))
    assert limit == pytest.approx(10 + 1 / 12, abs=1e-3)
    line = SETTINGS["d=1 s=1"]
    n = line.users(8192)
    assert line.excess(n) * 16384**2 == pytest.approx(limit, rel=1e-4)


def test_settings_state_their_class():
    for name, setting in SLABS.items():
        x = np.linspace(0, 1, 4001)
        eta = 0.5 + setting.coefficient * np.sign(x - 0.5) * np.abs(x - 0.5) ** setting.power
        assert eta.min() >= -1e-12
        assert eta.max() <= 1 + 1e-12
        start, end = x[:-1, None], x[:-1, None] + np.array([0.00025, 0.01, 0.3])
        near = 0.5 + setting.coefficient * np.sign(end - 0.5) * np.abs(end - 0.5) ** setting.power
        inside = end <= 1
        quotient = (np.abs(near - eta[:-1, None]) / (end - start) ** setting.smoothness)[inside]
        assert quotient.max() <= setting.lipschitz * (1 + 1e-6), name
        assert quotient.max() >= setting.lipschitz * 0.98, name
        for t in (0.01, 0.1, setting.largest_margin):
            assert np.mean(np.abs(eta - 0.5) <= t) <= setting.margin_constant * t**setting.margin_exponent + 2e-3
    assert SETTINGS["d=1 s=1/2"].lipschitz == pytest.approx(0.99, abs=1e-3)
    with pytest.raises(AuditError, match="keep eta within"):
        Slab(1, 1.5, 1.0)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_early_grid_refutes_a_true_rate(name):
    """Ten random grids within n = 100 to 10,000; nothing is drawn, the verdicts are exact."""
    setting, rng = SETTINGS[name], np.random.default_rng(3)
    for _ in range(10):
        between = np.round(10 ** rng.uniform(2, 4, rng.integers(4, 8))).astype(int).tolist()
        check = rates.early_check(name, setting, sorted({100, 10_000, *between}))
        result = run_check(check, Allowance(2, 1e-3, Stream(0)))
        assert result.verdict is Verdict.INCONCLUSIVE, result.reason


def test_absolute_moments():
    for order in (1.0, 1.5, 3.0):
        value = integrate.quad(lambda z, q=order: 2 * z**q * stats.norm.pdf(z), 0, 40)[0]
        assert absolute_moment(order) == pytest.approx(value, rel=1e-8)


@pytest.mark.false_alarm(2e-08)
def test_regressogram_against_counts():
    """Null: equal means. 20,000 draws, 5.6 standard errors, alarm 2e-8; the normal law is off by less than 3 %."""
    setting = SETTINGS["d=1 s=1"]
    value = baseline_excess(setting, 10_000, 10)
    drawn = draw_baseline_excess(setting.distribution(), 10_000, 20, 20_000, np.random.default_rng(4))
    assert abs(drawn.mean() - value) <= 5.6 * drawn.std() / 20_000**0.5 + 0.03 * value


def test_vote_against_the_exact_law():
    """ones - zeros of a multinomial, summed exactly: 200 users, a cell of mass 0.1 with eta = 0.7."""
    votes = range(0, 201)
    exact = sum(stats.binom.pmf(k, 200, 0.1) * stats.binom.sf(math.ceil(k / 2) - 1, k, 0.7) for k in votes)
    close = vote_for_one(np.array([0.1]), np.array([0.04]), 200)[0]
    assert close == pytest.approx(exact, abs=0.01)


@pytest.mark.false_alarm(1e-08)
def test_tail_by_inversion():
    """Against the normal law for many users, and for one user a half against simulation: 4e6 draws, alarm 1e-8."""
    sd = concentration.deviation(1, 1.0, 100_000, 0.5, 1.0)
    for count in (1, 2, 3):
        above, below = concentration.tail(1, 1.0, 100_000, 0.5, 1.0, count * sd)
        assert above == pytest.approx(stats.norm.sf(count), rel=2e-3)
        assert below == pytest.approx(stats.norm.sf(count), rel=2e-3)
    rng = np.random.default_rng(6)
    size = 4_000_000
    labeled = (rng.random(size) < 0.35) + rng.laplace(scale=0.25, size=size)
    plain = (rng.random(size) < 0.7) + rng.laplace(scale=0.25, size=size)
    centered = labeled - plain / 2  # mean 0.35 - 0.35
    for level in (0.5, 1.0):
        above, below = concentration.tail(1, 16.0, 1, 0.7, 0.5, level)
        width = math.sqrt(math.log(2 / 1e-8) / (2 * size))
        assert abs(np.mean(centered >= level) - above) <= width
        assert abs(np.mean(centered <= -level) - below) <= width


def test_tail_bound_where_it_fails():
    """Reference: an independent inversion gave 0.0025, 0.096, 2.7e3 and 2e16 for P / bound at 5 deviations."""
    for epsilon, ratio in ((13.0, 0.0025), (17.0, 0.096), (25.0, 2.7e3), (40.0, 2.3e16)):
        level = 5 * concentration.deviation(1, epsilon, 100_000, 0.5, 1.0)
        above, _ = concentration.tail(1, epsilon, 100_000, 0.5, 1.0, level)
        assert above / concentration.tail_bound(1, epsilon, 100_000, level) == pytest.approx(ratio, rel=0.03)


@pytest.mark.parametrize(
    ("family", "users", "bound", "private"), [(line_family, 1e4, 4.35e-3, 6.22e-3), (plane_family, 1e8, 3.0e-5, 3.2e-5)]
)
@pytest.mark.false_alarm(1e-08)
def test_least_favorable_family(family, users, bound, private):
    known = family(users)
    assert known.lower_bound == pytest.approx(bound, rel=5e-3)
    assert known.private_excess() == pytest.approx(private, rel=0.02)
    # 4,000 draws with fresh signs: Hoeffding on [0, 2 coin flips], alarm 1e-8 each
    width = 2 * known.coin_flip_excess * math.sqrt(math.log(2 / 1e-8) / 8_000)
    rng = np.random.default_rng(2)
    assert abs(known.draw_private_excess(4_000, rng).mean() - known.private_excess()) <= width
    assert (
        abs(known.draw_majority_excess(4_000, rng).mean() - known.majority_excess())
        <= width + 0.02 * known.majority_excess()
    )


def test_family_by_hand():
    known = line_family(10_000)
    assert (known.sites_per_axis, known.balls, known.weight, known.bump) == (10, 10, 0.1, 1 / 80)
    assert known.site_points[:2, 0].tolist() == [0.025, 0.075]
    assert known.information == pytest.approx(2 * 1e4 * (math.e - 1) ** 2 * (0.1 / 80) ** 2)
    assert known.radius == 1 / 80
    assert ball_volume(2) == pytest.approx(math.pi)
    assert plane_family(1e6).weight == pytest.approx(0.25 / 100)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"dim": 0}, "dim"),
        ({"smoothness": 1.5}, "smoothness"),
        ({"margin_exponent": 1.1}, "margin_exponent"),
        ({"lipschitz": 100.0, "users": 1}, "lipschitz"),
    ],
)
def test_bad_families_are_refused(changes, name):
    good = {"dim": 1, "smoothness": 1.0, "margin_exponent": 0.0, "lipschitz": 1.0, "margin_constant": 1.0, "users": 100}
    with pytest.raises(AuditError, match=f"`{name}` must"):
        LeastFavorableFamily(**{**good, **changes})


def test_consistency_against_reference_values():
    """Computed before this package existed, by another implementation; digits as printed."""
    for name, n, stated in (
        ("smooth", 1e3, 0.169), ("smooth", 1e12, 8.3e-6), ("step", 1e8, 3.2e-3), ("atoms", 1e6, 7.2e-3),
        ("cantor-parity", 1e8, 0.424), ("fat-cantor", 1e10, 0.054), ("cauchy-parity", 1e6, 0.215),
    ):  # fmt: skip
        assert RiskOn(name).excess(n) == pytest.approx(stated, rel=0.02)


def test_the_bound_for_a_constant_eta():
    assert excess.constant_eta_excess(1.0, 1e4) == pytest.approx(0.0987, abs=5e-5)
    ratio = excess.constant_eta_excess(1.0, 100.0) / (10 * 1e-4)
    assert ratio == pytest.approx(98.7, rel=1e-3)


def test_aggregate_sampler_needs_the_right_dimension():
    with pytest.raises(AuditError, match="`grid` must have dim 1"):
        expected_excess(smooth(), 10, 1.0, Grid(2, 0.3))
    shape = draw_statistics(cantor_times_uniform(), 50, 1.0, Grid(2, 0.5), 7, np.random.default_rng(0)).shape
    assert shape == (7, 9)
