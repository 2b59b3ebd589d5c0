"""Two pmfs on a finite set: the naive sum over cells is the twin of every quantity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import InvalidArgument
from audit.laws import FiniteLoss

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
