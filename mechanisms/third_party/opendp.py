"""OpenDP's measurements: Laplace, geometric and Gaussian noise, and randomized response.

The measurements are built by `opendp.measurements` (make_laplace, make_geometric, make_gaussian,
make_randomized_response_bool), and each claim is read off the measurement's own privacy map. The scalar measurements
are called once an output, nearly all of the time for conversion in the Python binding. The vector forms are audited
with more outputs: the answer is repeated `size` times, and the library adds independent noise to every coordinate.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from audit import AddRemove, Local, PrivacyCheck
from audit.extensions.adapters.opendp import OpenDP, dp
from mechanisms.papers.rows import Paper
from mechanisms.queries import count_positive
from mechanisms.real_data import AGE, DATA, RECORDS, column, extreme_swap, without_first

dp.enable_features("contrib")

DELTA = 1e-5
_TOLERANCE, _SCALAR_TOLERANCE = 0.5, 1.0  # of epsilon, twice and four times the usual one: each output costs much


@lru_cache
def laplace_vector(scale: float) -> Any:
    """Laplace noise on vectors of floats, discretized to the smallest float, by make_laplace."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return dp.m.make_laplace(*space, scale=scale)


@lru_cache
def geometric_vector(scale: float) -> Any:
    """Two-sided geometric noise on vectors of integers, by make_geometric."""
    return dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=scale)


@lru_cache
def laplace(scale: float) -> Any:
    """Discrete Laplace noise on an integer, by make_laplace."""
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)


@lru_cache
def gaussian_vector(scale: float) -> Any:
    """Discrete Gaussian noise on vectors of integers, by make_gaussian; its map gives zero-concentrated privacy."""
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=scale)


@lru_cache
def warner(probability: float) -> Any:
    """Binary randomized response that tells the truth with the given probability."""
    return dp.m.make_randomized_response_bool(prob=probability)


def had_affair(answer: Any) -> bool:
    """Return whether one woman had an affair."""
    return bool(answer > 0)


def approximate_epsilon(scale: float) -> float:
    """Epsilon at DELTA of the Gaussian measurement, by OpenDP's own conversion."""
    return float(dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian_vector(scale)), DELTA).map(1.0)[0])


_PAPER, _SWAP = Paper("opendp", "opendp.measurements"), extreme_swap(column("affairs"))
_REMOVED = without_first(_SWAP[0], _SWAP[0] > 0)
_ENDS, _AGED = (float(_SWAP[0].min()), float(_SWAP[0].max())), AGE.sensitivity(RECORDS)


def _check(
    name: str, measurement: Any, query: Any, claimed: Any, pair: Any, relation: Any = None, vectorized: bool = True
) -> PrivacyCheck:
    """Return a check that would notice half the noise, if not less, by its tolerance as a share of epsilon."""
    maker = next(word for word in name.split() if word.startswith("make_"))
    tolerance = (_TOLERANCE if vectorized else _SCALAR_TOLERANCE) * np.ravel(claimed)[0]
    mechanism, where = (
        OpenDP(measurement, query, vectorized=vectorized),
        f"privacy map of opendp.measurements.{maker}; {DATA}",
    )
    return _PAPER.promise(name, where, mechanism, claimed, [pair], relation, method="fixed", tolerance=tolerance)


CHECKS: list[PrivacyCheck] = [
    _check(
        "women with an affair, make_laplace eps=1",
        partial(laplace, 1.0),
        count_positive,
        laplace(1.0).map(1),
        _SWAP,
        vectorized=False,
    ),
    _check(
        "women with an affair, make_geometric on a vector add-remove eps=2",
        partial(geometric_vector, 0.5),
        count_positive,
        geometric_vector(0.5).map(1),
        _REMOVED,
        AddRemove(),
    ),
    _check(
        f"women with an affair, make_gaussian on a vector delta={DELTA:g}",
        partial(gaussian_vector, 2.0),
        count_positive,
        (approximate_epsilon(2.0), DELTA),
        _SWAP,
    ),
    _check(
        "mean age, make_laplace on a vector eps=1",
        partial(laplace_vector, _AGED),
        AGE,
        laplace_vector(_AGED).map(_AGED),
        extreme_swap(column("age")),
    ),
    _check(
        "one woman's answer, make_randomized_response_bool",
        partial(warner, 0.75),
        had_affair,
        warner(0.75).map(1),
        _ENDS,
        Local(),
        vectorized=False,
    ),
]
