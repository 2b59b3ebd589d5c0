"""Laws: likelihoods, closed forms by hand, and which privacy loss a pair of laws has."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidArgument
from audit.laws import (
    DIRECTIONS,
    ComposedLoss,
    Finite,
    FiniteLoss,
    Gaussian,
    GaussianLoss,
    Laplace,
    LaplaceLoss,
    Law,
    PointMass,
    PrivacyLoss,
    Product,
    TwoSidedGeometric,
    compose,
    geometric_loss,
    no_loss,
)
from audit.laws import outputs as discrete_laws
from audit.laws.privacy_loss import _MONOTONE_TOLERANCE, _limit
from tests.core.laws.thresholded import ThresholdedLaplace


def test_likelihoods_are_those_of_scipy() -> None:
    x = np.array([-3.0, 0.0, 0.7, 40.0])
    np.testing.assert_allclose(Laplace(1, 2).log_likelihood(x), stats.laplace.logpdf(x, 1, 2))
    np.testing.assert_allclose(Gaussian(1, 2).log_likelihood(x), stats.norm.logpdf(x, 1, 2))
    z = np.array([-2, 0, 5])
    expected = stats.dlaplace.logpmf(z - 1, -math.log(0.3))
    np.testing.assert_allclose(TwoSidedGeometric(1, 0.3).log_likelihood(z), expected)


def test_impossible_outputs_have_likelihood_zero() -> None:
    assert TwoSidedGeometric(0, 0.5).log_likelihood(np.array([0.5]))[0] == -np.inf
    assert Laplace(0, 1).log_likelihood(np.array([np.nan, np.inf])).tolist() == [-np.inf, -np.inf]
    assert Finite({"a": 1.0}).log_likelihood(np.array(["a", "b"])).tolist() == [0.0, -np.inf]
    thresholded = ThresholdedLaplace(3.0, 2.0, 4.0).log_likelihood(np.array([0.0, 2.0, 4.5]))
    assert thresholded[0] == pytest.approx(math.log(1 - math.exp(-0.5) / 2))  # F(4), loc 3, scale 2
    assert thresholded[1] == -np.inf
    assert thresholded[2] == pytest.approx(stats.laplace.logpdf(4.5, 3, 2))


def test_rows_and_objects_are_outcomes() -> None:
    law = Finite({(0, 1): 0.25, (1, 0): 0.75})
    rows = np.array([[0, 1], [1, 0]])
    objects = np.empty(2, dtype=object)
    objects[:] = [(0, 1), [1, 0]]
    for outputs in (rows, rows.astype(float), rows.astype(bool), objects):
        np.testing.assert_allclose(np.exp(law.log_likelihood(outputs)), [0.25, 0.75])


def test_product_likelihood_is_the_sum() -> None:
    law, x = Product((Laplace(0, 1), Gaussian(0, 1))), np.array([[0.5, 1.0], [2.0, -1.0]])
    expected = stats.laplace.logpdf(x[:, 0]) + stats.norm.logpdf(x[:, 1])
    np.testing.assert_allclose(law.log_likelihood(x), expected)


@pytest.mark.parametrize(
    ("left", "right", "loss"),
    [
        (Laplace(0, 2), Laplace(3, 2), LaplaceLoss(1.5)),
        (Gaussian(3, 2), Gaussian(0, 2), GaussianLoss(1.5)),
        (TwoSidedGeometric(4, 0.5), TwoSidedGeometric(2, 0.5), geometric_loss(2, 0.5)),
        (Product((Laplace(0, 1), Laplace(0, 1))), Product((Laplace(0, 1), Laplace(1, 1))), LaplaceLoss(1.0)),
        (Laplace(0.1 + 0.2, 1), Laplace(0.1 + 0.2, 1), no_loss()),
    ],
)
def test_pairs_with_a_closed_form_get_it(left: Law, right: Law, loss: PrivacyLoss) -> None:
    assert left.loss_against(right) == loss


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Laplace(0, 1), Laplace(1, 2)),
        (Laplace(0, 1), Gaussian(0.5, 2)),
        (Gaussian(0, 1), Gaussian(1, 3)),
        (Gaussian(0, 1), Laplace(0, 1)),
        (Laplace(1e6, 1), Laplace(1e6 + 1, 0.5)),
        (ThresholdedLaplace(2, 1, 5.0), ThresholdedLaplace(3, 2, 4.0)),
        (ThresholdedLaplace(7, 1, 5.0), ThresholdedLaplace(6, 1, 5.0)),
        (ThresholdedLaplace(7, 1, 5.0), PointMass(0)),
        (Laplace(0, 1), PointMass(0)),
    ],
    ids=repr,
)
def test_bounds_against_a_riemann_sum(left: Laplace, right: Laplace) -> None:
    """The naive twin: sum max(0, p - e^eps q) over 400,000 cells and the atoms."""
    center = left.kinks[0]
    edges = np.linspace(center - 60, center + 60, 400_001)
    p, q = (np.diff(law.antiderivative(edges)) for law in (left, right))
    values = sorted({*left.atoms, *right.atoms})
    p, q = (np.r_[mass, [law.atoms.get(v, 0.0) for v in values]] for mass, law in ((p, left), (q, right)))
    loss = left.loss_against(right)
    for epsilon in (0.0, 0.4, 1.1):
        for side, top, bottom in (("left", p, q), ("right", q, p)):
            naive = float(np.maximum(top - math.exp(epsilon) * bottom, 0).sum())
            assert loss.delta(epsilon, side) == pytest.approx(naive, abs=1e-6)  # type: ignore[arg-type]
            assert loss.delta_lower_bound(epsilon, side) <= loss.delta(epsilon, side)  # type: ignore[arg-type]


def test_geometric_laws_of_two_ratios_far_apart_lose_nearly_all() -> None:
    loss = TwoSidedGeometric(0, 0.5).loss_against(TwoSidedGeometric(300, 0.6))
    assert min(loss.delta(1.0, "left"), loss.delta(1.0, "right")) == pytest.approx(1.0, abs=1e-12)


def test_geometric_laws_of_two_ratios_against_a_long_sum() -> None:
    left, right = TwoSidedGeometric(0, 0.5), TwoSidedGeometric(1, 0.6)
    z = np.arange(-300, 301).astype(float)
    p, q = left.pmf(z), right.pmf(z)
    loss = left.loss_against(right)
    for epsilon in (0.0, 0.5):
        assert loss.delta(epsilon, "left") == pytest.approx(np.maximum(p - math.exp(epsilon) * q, 0).sum(), abs=1e-13)
        assert loss.delta(epsilon, "right") == pytest.approx(np.maximum(q - math.exp(epsilon) * p, 0).sum(), abs=1e-13)
    assert loss.max_loss("right") == math.inf
    # Left over right is largest at z = 0: (1/3) / (0.25 * 0.6)
    assert loss.max_loss("left") == pytest.approx(math.log((1 / 3) / (0.25 * 0.6)), rel=1e-9)


def test_a_range_that_misses_much_bounds_the_loss_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """One percent of the heavier law is missed: it counts as an infinite loss, and of the lighter law nothing is."""
    left, right = TwoSidedGeometric(0, 0.5), TwoSidedGeometric(1, 0.6)
    whole = left.loss_against(right)
    monkeypatch.setattr(discrete_laws, "_NEGLIGIBLE", 0.01)
    part = left.loss_against(right)
    for epsilon in (0.0, 0.5):
        assert part.delta(epsilon, "left") == pytest.approx(whole.delta(epsilon, "left"), rel=1e-12)
        assert 0 <= part.delta(epsilon, "right") - whole.delta(epsilon, "right") < 0.01
    assert 0.001 < part.mass_at_infinity("right") < 0.01


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Laplace(0, 1), Finite({0: 1.0})),
        (TwoSidedGeometric(0, 0.5), Gaussian(0, 1)),
        (Product((Laplace(0, 1),)), Laplace(0, 1)),
        (Product((Laplace(0, 1),)), Product((Laplace(0, 1), Laplace(0, 1)))),
    ],
)
def test_laws_of_different_kinds_cannot_be_compared(left: Law, right: Law) -> None:
    with pytest.raises(InvalidArgument, match="other"):
        left.loss_against(right)


@pytest.mark.parametrize(
    ("loss", "epsilon", "delta"),
    [
        (LaplaceLoss(1.0), 0.0, 0.3934693402873666),  # 1 - e^-0.5
        (LaplaceLoss(1.0), 0.5, 0.22119921692859513),  # 1 - e^-0.25
        (LaplaceLoss(1.0), 1.0, 0.0),
        (LaplaceLoss(1.0), 2.0, 0.0),
        # ncdf(mu/2 - e/mu) - exp(e) ncdf(-mu/2 - e/mu) with mpmath at 40 digits
        (GaussianLoss(1.0), 1.0, 0.12693673750664395),
        (GaussianLoss(0.5), 1.0, 0.0068295949831145754),
        (GaussianLoss(3.0), 2.0, 0.68587416571604937),
        (GaussianLoss(1.0), 10.0, 9.8127058268469559e-23),
    ],
)
def test_profiles_by_hand_and_by_high_precision(loss: PrivacyLoss, epsilon: float, delta: float) -> None:
    for found in (loss.delta(epsilon), loss.delta_lower_bound(epsilon)):
        assert found == pytest.approx(delta, rel=1e-12, abs=0.0 if delta else 1e-15)


def test_laplace_tails_by_hand() -> None:
    # a = 1: the loss is 1 with probability 1/2 under the numerator, e^-1 / 2 under the denominator.
    loss = LaplaceLoss(1.0)
    assert loss.tails(1.0, "left") == (0.0, 0.0)  # strict
    just_below = loss.tails(1.0 - 1e-12, "left")
    assert just_below == pytest.approx((0.5, math.exp(-1) / 2), abs=1e-11)
    # -1 with probability e^-1 / 2 under the numerator: P(L > -1) = 1 - e^-1 / 2
    assert loss.tails(-1.0, "left") == pytest.approx((1 - math.exp(-1) / 2, 0.5), abs=1e-15)
    assert loss.tails(-1.1, "left") == (1.0, 1.0)


@pytest.mark.parametrize("loss", [LaplaceLoss(0.7), GaussianLoss(1.3), geometric_loss(3, 0.6)], ids=repr)
@pytest.mark.parametrize("level", [1e-8, 1e-3, 0.05])
def test_epsilon_inverts_delta_on_the_safe_side(loss: PrivacyLoss, level: float) -> None:
    upper, lower = loss.epsilon(level), loss.epsilon_lower_bound(level)
    assert loss.delta(upper) <= level * (1 + 1e-12) + 1e-15
    assert lower <= upper <= lower + 1e-12 * (1 + upper)
    assert loss.delta_lower_bound(max(0.0, lower - 1e-6)) > level


@pytest.mark.parametrize(("shift", "ratio"), [(1, 0.5), (2, 0.5), (5, 0.5), (1_500, 0.99)])
def test_geometric_loss_against_the_two_pmfs(shift: int, ratio: float) -> None:
    # The naive twin: the two pmfs on a range that holds all but a negligible part of the mass.
    z = np.arange(-5_000, 5_206)
    pmf = [(1 - ratio) / (1 + ratio) * ratio ** np.abs(z - k) for k in (0, shift)]
    twin, loss = FiniteLoss(*pmf), geometric_loss(shift, ratio)
    assert loss.max_loss("left") == pytest.approx(-shift * math.log(ratio), rel=1e-12)
    for epsilon in (0.0, 0.3, math.log(2), 1.0):
        assert loss.delta(epsilon) == pytest.approx(twin.delta(epsilon), abs=1e-13)
    assert geometric_loss(-shift, ratio).delta(0.1) == pytest.approx(loss.delta(0.1), abs=1e-15)


@pytest.mark.parametrize("loss", [no_loss(), LaplaceLoss(0), GaussianLoss(0), geometric_loss(0, 0.5)], ids=repr)
def test_equal_laws_lose_nothing(loss: PrivacyLoss) -> None:
    assert loss.delta(0.0) == loss.epsilon(0.0) == loss.total_variation() == 0.0
    assert [loss.max_loss(side) for side in DIRECTIONS] == [0.0, 0.0]
    assert loss.parts == ()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Laplace(0, 0),
        lambda: Laplace(math.nan, 1),
        lambda: Gaussian(0, -1),
        lambda: TwoSidedGeometric(0.5, 0.5),  # type: ignore[arg-type]
        lambda: TwoSidedGeometric(0, 1),
        lambda: Finite({"a": 0.4}),
        lambda: Finite([0.5, 0.5]),  # type: ignore[arg-type]
        lambda: PointMass(math.inf),
        lambda: Product(()),
        lambda: Product((1.0,)),  # type: ignore[arg-type]
        lambda: ComposedLoss([]),
        lambda: compose([LaplaceLoss(1.0)] * 2, grid=0.0),
        lambda: LaplaceLoss(-1.0),
        lambda: GaussianLoss(math.inf),
        lambda: geometric_loss(1, 1.0),
        lambda: geometric_loss(0.5, 0.5),  # type: ignore[arg-type]
        lambda: LaplaceLoss(1.0).delta(-0.1),
        lambda: LaplaceLoss(1.0).delta(math.nan),
        lambda: LaplaceLoss(1.0).epsilon(1.1),
        lambda: LaplaceLoss(1.0).delta(0.1, "up"),  # type: ignore[arg-type]
        lambda: LaplaceLoss(1.0).tails(math.inf, "left"),
    ],
)
def test_arguments_outside_their_sets_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgument):
        wrong()  # type: ignore[operator]


@pytest.mark.parametrize(("share", "limit"), [(0.9, 1.0), (1.1, math.inf)])
def test_a_log_ratio_that_goes_on_by_more_than_rounding_has_no_limit(share, limit):
    assert _limit(lambda x: 1.0 + share * 2 * _MONOTONE_TOLERANCE + 0 * x, 9.0, 1.0) == limit
