"""Losses of two pmfs by the naive sum, and of two densities by closed forms; arguments that break the rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.errors import InvalidArgument
from audit.laws import DIRECTIONS, DensityLoss, FiniteLoss, Laplace, LaplaceLoss

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
