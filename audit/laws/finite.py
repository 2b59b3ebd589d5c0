"""Privacy loss of two probability mass functions on a common finite set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from audit.base.errors import InvalidArgument
from audit.laws.loss import DIRECTIONS, Direction, FloatArray, PrivacyLoss, Tails, opposite

Pmf = Mapping[Any, float] | ArrayLike

_LOSS_ROUNDING = 1e-12
_MOST_CELLS = 4096


class FiniteLoss(PrivacyLoss):
    """Privacy loss of two pmfs; every derived quantity is exact up to rounding.

    Parameters
    ----------
    left, right : mappings outcome -> probability, or two arrays of shape (cells,)
        Arrays are aligned cell by cell; an outcome that a mapping does not hold has probability 0.
        Probabilities are finite, >= 0 and sum to 1 within 1e-9.

    Raises
    ------
    InvalidArgument
        When a pmf lies outside that set, or the shapes or the kinds of the two differ.

    Notes
    -----
    `tails` counts a loss as larger than t when it exceeds t by more than 1e-12 (1 + |t|), so that a loss of
    log(e^1) is not "> 1" by rounding. `delta` does not depend on it.
    """

    threshold_error = _LOSS_ROUNDING

    def __init__(self, left: Pmf, right: Pmf) -> None:
        first, second = _aligned(left, right)
        self._pmf: dict[Direction, FloatArray] = {"left": first, "right": second}
        self._sorted = {side: self._ordered(side) for side in self._pmf}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteLoss) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"FiniteLoss(left={self._pmf['left']!r}, right={self._pmf['right']!r})"

    @classmethod
    def merged(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Multiply pmfs as long as at most 4096 different losses come out; exact up to rounding."""
        products: list[FiniteLoss] = []
        for part in parts:
            assert isinstance(part, FiniteLoss)
            product = products[-1]._times(part) if products else part._lumped()
            if products and product._pmf["left"].size <= _MOST_CELLS:
                products[-1] = product
            else:
                products.append(part._lumped())
        return list(products)

    def max_loss(self, direction: Direction) -> float:
        """Give the largest log ratio of the two pmfs over the numerator's support."""
        return max(0.0, float(self._sorted[direction][0][-1]))

    def mass_at_infinity(self, direction: Direction) -> float:
        """Give the numerator's probability of the cells that the denominator never hits."""
        return math.fsum(self._pmf[direction][self._pmf[opposite(direction)] == 0])

    def _times(self, other: FiniteLoss) -> FiniteLoss:
        left, right = (np.outer(self._pmf[side], other._pmf[side]).ravel() for side in DIRECTIONS)
        return FiniteLoss(left, right)._lumped()

    def _lumped(self) -> FiniteLoss:
        """Join cells whose losses differ by rounding only: the likelihood ratio is sufficient."""
        left, right = self._pmf["left"], self._pmf["right"]
        with np.errstate(divide="ignore"):
            losses = np.clip(np.log(left) - np.log(right), -1e300, 1e300)
        order = np.argsort(losses)
        group = np.r_[0, np.cumsum(np.diff(losses[order]) > 1e-14 * (1 + np.abs(losses[order][1:])))]
        return FiniteLoss(*(np.bincount(group, weights=pmf[order]) for pmf in (left, right)))

    def _key(self) -> tuple[bytes, bytes]:
        return self._pmf["left"].tobytes(), self._pmf["right"].tobytes()

    def _ordered(self, direction: Direction) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sort the losses; give them with p and q of {loss >= this one}, and a closing 0."""
        numerator, denominator = self._pmf[direction], self._pmf[opposite(direction)]
        with np.errstate(divide="ignore"):
            losses = np.log(numerator) - np.log(denominator)
        order = np.argsort(losses, kind="stable")
        p = np.append(np.cumsum(numerator[order][::-1])[::-1], 0.0)
        q = np.append(np.cumsum(denominator[order][::-1])[::-1], 0.0)
        return losses[order], p, q

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        losses, p, q = self._sorted[direction]
        first = np.searchsorted(losses, thresholds + _LOSS_ROUNDING * (1 + np.abs(thresholds)), side="right")
        return p[first], q[first], np.zeros(thresholds.shape)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        values = np.array([self._divergence(float(t), direction) for t in thresholds])
        return values, values

    def _divergence(self, threshold: float, direction: Direction) -> float:
        """Sum the positive parts of p - e^t q over the cells: no cancellation between cells."""
        numerator, denominator = self._pmf[direction], self._pmf[opposite(direction)]
        factor = math.exp(min(threshold, 700.0))
        return float(np.sum(np.maximum(numerator - factor * denominator, 0.0)))

    def _trade_off(self, alphas: FloatArray) -> FloatArray:
        """Interpolate between the Neyman-Pearson tests without randomisation; exact."""
        _, power, size = self._sorted["right"]
        ascending = np.argsort(size, kind="stable")
        sizes, powers = np.clip(size[ascending], 0, 1), np.maximum.accumulate(power[ascending])
        last = np.append(sizes[1:] > sizes[:-1], True)
        return 1 - np.interp(alphas, sizes[last], powers[last])


def _aligned(left: Pmf, right: Pmf) -> tuple[FloatArray, FloatArray]:
    if isinstance(left, Mapping) != isinstance(right, Mapping):
        raise InvalidArgument("`left` and `right` must be both mappings or both arrays of probabilities")
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        outcomes = list(dict.fromkeys([*left, *right]))
        return _aligned(*([pmf.get(outcome, 0.0) for outcome in outcomes] for pmf in (left, right)))
    first, second = _vector(left, "left"), _vector(right, "right")
    if first.shape != second.shape:
        raise InvalidArgument(f"`left` and `right` must have one shape, got {first.shape} and {second.shape}")
    kept = (first > 0) | (second > 0)
    return first[kept], second[kept]


def _vector(values: Pmf, name: str) -> FloatArray:
    return probabilities(list(values.values()) if isinstance(values, Mapping) else values, name)


def probabilities(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as a probability vector, or raise; the sum may miss 1 by at most 1e-9."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "hold real probabilities", values) from None
    if array.ndim != 1 or array.size == 0:
        raise InvalidArgument.of(name, "be a non-empty vector of probabilities", values)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InvalidArgument.of(name, "hold finite probabilities >= 0", values)
    total = math.fsum(array)
    if abs(total - 1) > 1e-9:
        raise InvalidArgument.of(name, "sum to 1 within 1e-9", total)
    return array
