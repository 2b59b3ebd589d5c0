"""Losses of two pmfs by the naive sum, of two densities by closed forms, and composed ones: lower <= truth <= upper.

Compositions are held to closed forms, exact finite products and dp_accounting. Arguments that break the rules.
"""

import math
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import compose_pmfs, create_pmf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.errors import InvalidArgument
from audit.laws import (
    DIRECTIONS,
    ComposedLoss,
    DensityLoss,
    FiniteLoss,
    GaussianLoss,
    Laplace,
    LaplaceLoss,
    compose,
    no_loss,
)
from audit.laws.product import LatticeLoss, _dominating, sum_losses


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
    p, q = loss.tails(0.3, "left")
    assert p - math.exp(0.3) * q >= exact.delta(0.3, "left")  # those of the pair that dominates


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
    assert loss.epsilon_lower_bound(loss.mass_at_infinity("left")) < math.inf  # it may be less by the error of a tail


def test_mass_outside_the_lattice_is_kept_at_its_ends() -> None:
    points = 0.1 * np.arange(4.0)  # the losses lie between -1 and 1
    masses, infinite = _dominating(LaplaceLoss(1.0)._tails(points, "left"), points, 0.1)
    assert masses.sum() + infinite == pytest.approx(1.0, abs=1e-15)


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


weights = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)


def normalized(counts: list[int]) -> np.ndarray:
    return np.array(counts) / sum(counts)


def test_randomized_response_by_hand() -> None:
    # p = e / (1 + e): losses +1 and -1; delta(eps) = p - e^eps (1 - p).
    p = math.e / (1 + math.e)
    loss = FiniteLoss({"yes": p, "no": 1 - p}, {"yes": 1 - p, "no": p})
    assert loss.max_loss("left") == pytest.approx(1.0, rel=1e-12)
    assert loss.delta(0.5) == pytest.approx(p - math.exp(0.5) * (1 - p), abs=1e-15)
    assert loss.tails(1.0, "left") == (0.0, 0.0)  # the loss is 1 up to rounding, not more
    assert loss.tails(0.999, "left") == pytest.approx((p, 1 - p))


def test_a_missing_outcome_has_infinite_loss_in_one_direction() -> None:
    loss = FiniteLoss({"a": 0.9, "b": 0.1}, {"a": 1.0})
    assert loss.mass_at_infinity("left") == 0.1
    assert loss.mass_at_infinity("right") == 0.0
    assert loss.max_loss("left") == math.inf
    assert loss.max_loss("right") == pytest.approx(-math.log(0.9))
    assert loss.delta(5.0) == loss.delta(5.0, "left") == pytest.approx(0.1)
    assert loss.delta(5.0, "right") == 0.0
    assert loss.epsilon(0.05) == loss.epsilon_lower_bound(0.05) == math.inf
    assert loss.epsilon(0.2) == 0.0


@given(weights, weights, st.floats(0, 4))
@settings(max_examples=60, deadline=None)
def test_delta_and_tails_agree_with_the_naive_sums(left: list[int], right: list[int], epsilon: float) -> None:
    p, q = normalized(left), normalized(right)
    loss = FiniteLoss(p, q)
    for side, (top, bottom) in {"left": (p, q), "right": (q, p)}.items():
        naive = sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(top, bottom, strict=True))
        assert loss.delta(epsilon, side) == pytest.approx(naive, abs=1e-12)  # type: ignore[arg-type]
        tail_p, tail_q = loss.tails(epsilon, side)  # type: ignore[arg-type]
        assert tail_p - math.exp(epsilon) * tail_q == pytest.approx(naive, abs=1e-9)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0.5, 0.4], [0.5, 0.5]),
        ([1.2, -0.2], [0.5, 0.5]),
        ([math.nan, 1.0], [0.5, 0.5]),
        ([0.5, 0.5], [1.0]),
        ([], []),
        ({"a": 1.0}, [1.0]),
        ([[1.0]], [[1.0]]),
        (["x"], [1.0]),
    ],
)
def test_what_is_not_a_pair_of_pmfs_is_refused(left: object, right: object) -> None:
    with pytest.raises(InvalidArgument):
        FiniteLoss(left, right)  # type: ignore[arg-type]


EPSILONS = (0.0, 0.2, 0.7, 1.0, 1.3)


def laplace_pair(loc: float = 0.0) -> DensityLoss:
    left, right = (Laplace(place, 1.0) for place in (loc, loc + 1))
    return DensityLoss(left.log_density, right.log_density, left.cdf, right.cdf, (loc, loc + 1))


def test_laplace_pair_against_its_closed_form() -> None:
    loss, exact = laplace_pair(), LaplaceLoss(1.0)
    assert loss.tail_error < 1e-12
    for epsilon in EPSILONS:
        for side in DIRECTIONS:
            truth = exact.delta(epsilon)
            assert loss.delta_lower_bound(epsilon, side) - 1e-15 <= truth <= loss.delta(epsilon, side) + 1e-15
            assert loss.delta(epsilon, side) == pytest.approx(truth, abs=1e-11)
    assert loss.max_loss("left") == pytest.approx(1.0, rel=1e-12)
    assert loss.epsilon(0.1) == pytest.approx(exact.epsilon(0.1), abs=1e-10)
    loss.threshold_error = 0.1  # as for densities that are known to no more than that
    for epsilon in EPSILONS:
        assert loss.delta_lower_bound(epsilon) <= exact.delta(epsilon) <= loss.delta(epsilon)


@pytest.mark.parametrize("loc", [0.0, 0.1, 1000.3])
def test_a_plateau_at_the_threshold_does_not_exceed_it(loc: float) -> None:
    # The log-ratio is 1 up to rounding on a set of probability 1/2; "> 1" is false there.
    loss = laplace_pair(loc)
    assert loss.tails(1.0, "left")[0] < 1e-9
    assert loss.tails(1.0 - 1e-6, "left")[0] == pytest.approx(0.5, abs=1e-6)
    assert loss.tails(-1.0, "left")[0] == pytest.approx(1 - math.exp(-1) / 2, abs=1e-9)


def test_laplace_of_unequal_scale_by_hand() -> None:
    # Laplace(0, 1) against Laplace(0, 2): the ratio 2 e^(-|x|/2) exceeds e^t for |x| < 2 (ln 2 - t) = r, so that
    # p = 1 - e^-r and q = 1 - e^(-r/2). At t = 0, r = ln 4: delta = 3/4 - 1/2.
    left, right = stats.laplace(0, 1), stats.laplace(0, 2)
    loss = DensityLoss(left.logpdf, right.logpdf, breakpoints=[0.0], left_cdf=left.cdf, right_cdf=right.cdf)
    assert loss.tails(0.0, "left") == pytest.approx((0.75, 0.5), abs=1e-10)
    assert loss.total_variation() == pytest.approx(0.25, abs=1e-13)
    assert loss.max_loss("left") == pytest.approx(math.log(2), rel=1e-12)
    assert loss.max_loss("right") == math.inf


def test_disjoint_parts_of_the_support_have_infinite_loss() -> None:
    # Uniform on [0, 1] against uniform on [1/4, 5/4].
    left, right = stats.uniform(0, 1), stats.uniform(0.25, 1)
    loss = DensityLoss(left.logpdf, right.logpdf, left.cdf, right.cdf, breakpoints=(0, 0.25, 1, 1.25))
    for side in DIRECTIONS:
        assert loss.mass_at_infinity(side) == pytest.approx(0.25, abs=1e-15)
        assert loss.delta(3.0, side) == pytest.approx(0.25, abs=1e-12)
    assert loss.epsilon(0.2) == math.inf
    assert loss.epsilon(0.26) == 0.0


def test_rounding_of_densities_widens_the_brackets() -> None:
    left, right = stats.laplace(0, 1), stats.laplace(1, 1)

    def rough(x: Any) -> Any:
        return left.logpdf(x) + 1e-11 * np.sin(1e9 * np.asarray(x))

    plain, rounded = (DensityLoss(f, right.logpdf, left.cdf, right.cdf, (0, 1)) for f in (left.logpdf, rough))
    assert rounded.threshold_error > plain.threshold_error > 0


NORMAL, WIDE, UNIFORM = stats.norm(0, 1), stats.norm(1, 2), stats.uniform(0, 1)


@pytest.mark.parametrize(
    ("left", "right", "settings", "said"),
    [
        (NORMAL, WIDE, {}, "monotone between them; it is not on \\["),
        (NORMAL, NORMAL, {"left_atoms": {0.0: 0.5}}, "total mass"),
        (UNIFORM, UNIFORM, {"breakpoints": (0, 3)}, "ends of the densities"),
        (NORMAL, NORMAL, {"breakpoints": [math.inf]}, "breakpoints"),
        (NORMAL, NORMAL, {"left_atoms": {0.0: -0.5}}, "left_atoms"),
        (NORMAL, NORMAL, {"right_atoms": {0.0: 2.0}}, "right_atoms"),
    ],
)
def test_what_is_no_pair_of_laws_is_refused(left: Any, right: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        DensityLoss(left.logpdf, right.logpdf, left.cdf, right.cdf, **settings)
