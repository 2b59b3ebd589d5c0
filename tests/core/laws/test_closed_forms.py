"""Closed forms against hand computations, against each other, and against dp_accounting."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.errors import InvalidArgument
from audit.laws import (
    DIRECTIONS,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    PrivacyLoss,
    geometric_loss,
    no_loss,
)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (0.0, 0.3934693402873666),  # 1 - e^-0.5
        (0.5, 0.22119921692859513),  # 1 - e^-0.25
        (1.0, 0.0),
        (2.0, 0.0),
    ],
)
def test_laplace_profile_by_hand(epsilon: float, delta: float) -> None:
    loss = LaplaceLoss(1.0)
    assert loss.delta(epsilon) == pytest.approx(delta, abs=1e-15)
    assert loss.delta_lower_bound(epsilon) == pytest.approx(delta, abs=1e-15)


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"),
    [
        # ncdf(mu/2 - e/mu) - exp(e) ncdf(-mu/2 - e/mu) with mpmath at 40 digits
        (1.0, 1.0, 0.12693673750664395),
        (0.5, 1.0, 0.0068295949831145754),
        (3.0, 2.0, 0.68587416571604937),
        (1.0, 10.0, 9.8127058268469559e-23),
    ],
)
def test_gaussian_profile_by_high_precision(mu: float, epsilon: float, delta: float) -> None:
    assert GaussianLoss(mu).delta(epsilon) == pytest.approx(delta, rel=1e-12)


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


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_geometric_loss_against_the_two_pmfs(shift: int) -> None:
    # The naive twin: the two pmfs on a range that holds all but 0.5^200 of the mass.
    ratio, z = 0.5, np.arange(-200, 206)
    pmf = [(1 - ratio) / (1 + ratio) * ratio ** np.abs(z - k) for k in (0, shift)]
    twin, loss = FiniteLoss(*pmf), geometric_loss(shift, ratio)
    assert loss.max_loss("left") == pytest.approx(shift * math.log(2), rel=1e-12)
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
