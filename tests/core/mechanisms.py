"""Mechanisms of the core's tests, and targets of its runs; the catalog `mechanisms` is a distribution of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit import PrivacyCheck, PrivacyClaim
from audit.laws import Laplace

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


def laplace(data, size, rng):
    """1-DP for a sum that changes by 1."""
    return data.sum() + rng.laplace(size=size)


@dataclass(frozen=True)
class NoisySum:
    """(1 / scale, 0)-DP, with its law."""

    scale: float = 1.25

    def __call__(self, data, size, rng):
        return data.sum() + rng.laplace(scale=self.scale, size=size)

    def law(self, data):
        return Laplace(float(data.sum()), self.scale)


def noise_on_a_grid(data, size, rng):
    """0.1-DP, and all its outputs are multiples of 2^-10, which are added without rounding."""
    share = -np.expm1(-0.1 / 1024)
    return np.rint(data.sum() * 1024) / 1024 + (rng.geometric(share, size) - rng.geometric(share, size)) / 1024


CHECKS = [
    PrivacyCheck(name=f"sum eps={epsilon}", mechanism=NoisySum(1 / epsilon), claim=PrivacyClaim(epsilon), pairs=[PAIR])
    for epsilon in (1, 2)
]
