"""Broken snapping mechanisms: wrong scale, a grid or a clamp that follows the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.queries import count_positive

BUDGET = 200_000
BOUND = 64.0
SOURCE = "claimed after Mironov 2012, snapping mechanism"


def snapped(values: np.ndarray, scale: float) -> np.ndarray:
    """Values rounded to the smallest power of two at or above the scale."""
    grid = 2.0 ** math.ceil(math.log2(scale))
    return grid * np.floor(values / grid + 0.5)


@dataclass(frozen=True)
class HalfScale:
    """Noise of scale 1 / (2 epsilon); rounding to the grid does not give the other half back.

    True privacy: (2 epsilon, 0) on a pair whose counts differ by 1, attained on every grid cell beyond both counts.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        scale = 0.5 / self.epsilon
        return np.clip(snapped(count_positive(dataset) + rng.laplace(scale=scale, size=size), scale), -BOUND, BOUND)


@dataclass(frozen=True)
class GridFollowsTheAnswer:
    """Rounds the noise and adds the exact count, so that the grid starts at the count.

    True privacy: no finite epsilon, delta = 1, on counts whose difference is not a multiple of the grid's step: the
    two sides have no output in common.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        scale = 1 / self.epsilon
        return count_positive(dataset) + snapped(rng.laplace(scale=scale, size=size), scale)


@dataclass(frozen=True)
class ClampFollowsTheAnswer:
    """Clamps to two steps around the exact count instead of to public bounds.

    True privacy: no finite epsilon; delta(epsilon') >= e^-1.5 / 2 = 0.112 for every epsilon' at epsilon = 1, on counts
    0 and 1: the output 3 has that probability under count 1 and none under count 0.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        scale, count = 1 / self.epsilon, count_positive(dataset)
        released = snapped(count + rng.laplace(scale=scale, size=size), scale)
        return np.clip(released, count - 2 * scale, count + 2 * scale)


def _check(name: str, mechanism: Any, epsilon: float) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/snapping {name} eps={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[(np.zeros(4), np.r_[1.0, np.zeros(3)])],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


CHECKS: list[PrivacyCheck] = [
    _check("half scale", HalfScale(0.5), 0.5),
    _check("grid follows the answer", GridFollowsTheAnswer(0.5), 0.5),
    _check("clamp follows the answer", ClampFollowsTheAnswer(1.0), 1.0),
]
