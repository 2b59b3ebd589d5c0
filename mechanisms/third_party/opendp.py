"""OpenDP's measurements: Laplace, geometric and Gaussian noise, and randomized response.

The measurements are built by `opendp.measurements` (make_laplace, make_geometric, make_gaussian,
make_randomized_response_bool), and each claim is read off the measurement's own privacy map. The scalar measurements
are called once an output, nearly all of the time for conversion in the Python binding. The vector forms are audited
with more outputs: the answer is repeated `size` times, and the library adds independent noise to every coordinate.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from audit import AddRemove, Local, PrivacyCheck, PrivacyClaim, Substitution
from audit.adapters.opendp import OpenDP, dp
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


def _claim(epsilon: float, relation: Any, maker: str, delta: float = 0.0) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, relation, f"privacy map of opendp.measurements.{maker}; {DATA}")


def _check(
    name: str, mechanism: OpenDP, claim: PrivacyClaim, pair: tuple[Any, Any], tolerance: float = _TOLERANCE
) -> PrivacyCheck:
    """Return a check that would notice half the noise, if not less, by its tolerance as a share of epsilon."""
    return PrivacyCheck(
        name=name,
        mechanism=mechanism,
        claim=claim,
        pairs=[pair],
        method="fixed",
        tolerance=tolerance * claim.point.epsilon,
    )


def _count_checks() -> list[PrivacyCheck]:
    affairs = column("affairs")
    swap, removal = extreme_swap(affairs), without_first(affairs, affairs > 0)
    return [
        _check(
            name="opendp/women with an affair, make_laplace eps=1",
            mechanism=OpenDP(partial(laplace, 1.0), count_positive),
            claim=_claim(laplace(1.0).map(1), Substitution(), "make_laplace"),
            pair=swap,
            tolerance=_SCALAR_TOLERANCE,
        ),
        _check(
            name="opendp/women with an affair, make_geometric on a vector add-remove eps=2",
            mechanism=OpenDP(partial(geometric_vector, 0.5), count_positive, vectorized=True),
            claim=_claim(geometric_vector(0.5).map(1), AddRemove(), "make_geometric"),
            pair=removal,
        ),
        _check(
            name=f"opendp/women with an affair, make_gaussian on a vector delta={DELTA:g}",
            mechanism=OpenDP(partial(gaussian_vector, 2.0), count_positive, vectorized=True),
            claim=_claim(approximate_epsilon(2.0), Substitution(), "make_gaussian", DELTA),
            pair=swap,
        ),
    ]


def _other_checks() -> list[PrivacyCheck]:
    sensitivity = AGE.sensitivity(RECORDS)
    return [
        _check(
            name="opendp/mean age, make_laplace on a vector eps=1",
            mechanism=OpenDP(partial(laplace_vector, sensitivity), AGE, vectorized=True),
            claim=_claim(laplace_vector(sensitivity).map(sensitivity), Substitution(), "make_laplace"),
            pair=extreme_swap(column("age")),
        ),
        _check(
            name="opendp/one woman's answer, make_randomized_response_bool",
            mechanism=OpenDP(partial(warner, 0.75), had_affair),
            claim=_claim(warner(0.75).map(1), Local(), "make_randomized_response_bool"),
            pair=(float(column("affairs").min()), float(column("affairs").max())),
            tolerance=_SCALAR_TOLERANCE,
        ),
    ]


CHECKS: list[PrivacyCheck] = [*_count_checks(), *_other_checks()]
