"""OpenDP's measurements at the parameters that an audit asks for: the noise is what the library's own search chooses.

The search returns the least noise whose privacy map promises epsilon (and delta), so that the promise is the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

_SYMMETRIC = dp.symmetric_distance()


def _scalar(kind):
    domain = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=kind)
    return domain, dp.absolute_distance(T=kind)


def _clamped(lower, upper, size=None):
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size)
    return (domain, _SYMMETRIC) >> dp.t.then_clamp((lower, upper))


def least(make, d_in, d_out):
    """Return the measurement of the least scale that promises `d_out` at distance `d_in`."""
    return make(dp.binary_search_param(make, d_in=d_in, d_out=d_out, T=float))


@lru_cache(maxsize=4)
def laplace(epsilon, sensitivity, kind):
    """Laplace noise on a number."""
    return least(lambda scale: dp.m.make_laplace(*_scalar(kind), scale=scale), sensitivity, epsilon)


@lru_cache(maxsize=4)
def gaussian(epsilon, delta, sensitivity, kind):
    """Gaussian noise on a number, by the library's conversion of zero-concentrated privacy."""

    def make(scale):
        metric = dp.absolute_distance(T=float)
        noisy = dp.m.make_gaussian(_scalar(kind)[0], metric, scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noisy), delta)

    return least(make, float(sensitivity), (epsilon, delta))


@lru_cache(maxsize=4)
def clamped_sum(epsilon, lower, upper):
    """The sum of clamped floats."""
    return least(lambda scale: _clamped(lower, upper) >> dp.t.then_sum() >> dp.m.then_laplace(scale), 1, epsilon)


@lru_cache(maxsize=4)
def clamped_mean(epsilon, lower, upper, records):
    """The mean of a known number of clamped floats; replacing one is distance 2."""
    stable = _clamped(lower, upper, records) >> dp.t.then_mean()
    return least(lambda scale: stable >> dp.m.then_laplace(scale), 2, epsilon)


@lru_cache(maxsize=4)
def noisy_max(epsilon):
    """The index of the largest of three scores."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    return least(lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale), 1, epsilon)


@lru_cache(maxsize=4)
def response(epsilon, categories):
    """Randomized response with the largest probability of the truth that promises epsilon."""
    names = [str(number) for number in range(categories)]

    def make(prob):
        return dp.m.make_randomized_response(categories=names, prob=prob)

    # not below chance, and not the truth for certain
    return make(dp.binary_search_param(make, d_in=1, d_out=epsilon, bounds=(1 / categories + 1e-9, 1 - 1e-9), T=float))


def asked(make, query, **fixed):
    """A mechanism that calls the measurement at the setting that is asked for on the answer to a query."""

    def draw(dataset, size, rng, **setting):
        measurement, answer = make(**setting, **fixed), query(dataset)
        return [measurement(answer) for _ in range(size)]

    return draw


def _float_sum(dataset: Sequence[float]) -> float:
    return float(sum(dataset))


def _totals(dataset):
    return [int(sum(column)) for column in zip(*dataset, strict=True)] if dataset else [0, 0, 0]


SEARCHED = {
    "make_laplace searched": asked(laplace, _float_sum, kind=float),
    "make_laplace of integers searched": asked(laplace, sum, kind=int),
    "make_gaussian searched": asked(gaussian, _float_sum, kind=float),
    "sum searched": asked(clamped_sum, list),
    "mean searched": asked(clamped_mean, list),
    "make_noisy_max searched": asked(noisy_max, _totals),
    "make_randomized_response searched": asked(response, str),
}
