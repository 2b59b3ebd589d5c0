"""Mechanisms of the core's tests, and targets of its runs; the catalog `mechanisms` is a distribution of its own."""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from audit import PrivacyCheck, PrivacyClaim
from audit.laws import Laplace

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


def laplace(data, size, rng):
    """1-DP for a sum that changes by 1."""
    return np.sum(data) + rng.laplace(size=size)


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


@dataclass(frozen=True)
class Copula:
    """Laplace noise of scale 1; normal scores of the outputs of a call have this correlation."""

    correlation: float

    def __call__(self, data, size, rng):
        own, shared = rng.standard_normal(size), rng.standard_normal()
        scores = np.sqrt(1 - self.correlation) * own + np.sqrt(self.correlation) * shared
        return data + stats.laplace.ppf(special.ndtr(scores))


@dataclass(frozen=True)
class Shared:
    """Laplace noise of scale 1, the same for all outputs of a call, or for a random share of them."""

    share: float = 1.0

    def __call__(self, data, size, rng):
        own, shared = rng.laplace(size=size), rng.laplace()
        return data + np.where(rng.random(size) < self.share, shared, own)


@dataclass(frozen=True)
class SharedResponse:
    """Randomized response, one coin for all outputs of a call, or for a random share of them."""

    share: float = 1.0

    def __call__(self, data, size, rng):
        own, shared = rng.random(size), rng.random()
        truthful = np.where(rng.random(size) < self.share, shared, own) < special.expit(1.0)
        return np.where(truthful, data, 1 - data)


CHECKS = [
    PrivacyCheck(name=f"sum eps={epsilon}", mechanism=NoisySum(1 / epsilon), claim=PrivacyClaim(epsilon), pairs=[PAIR])
    for epsilon in (1, 2)
]
