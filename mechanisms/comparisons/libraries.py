"""The noise of the three libraries: functions that build their objects, and the laws that their documentation states.

OpenDP's `make_laplace` adds discrete Laplace noise to integers, P(k) proportional to e^(-|k| / scale), and to floats
Laplace noise rounded to the finest grid that floats have. diffprivlib's Geometric has P(k) proportional to
e^(-epsilon |k| / sensitivity). PyDP's LaplaceMechanism adds Laplace noise of scale sensitivity / epsilon, rounded to a
grid of about 2^-40 of that scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from audit.errors import MissingExtra
from audit.extensions.adapters import Documented, LibraryObject
from audit.extensions.adapters.opendp import OpenDP, dp
from audit.laws import Laplace, Law, Product, TwoSidedGeometric

try:
    from diffprivlib import mechanisms as diffprivlib_mechanisms
    from pydp.algorithms import laplacian, numerical_mechanisms
except ImportError as error:
    raise MissingExtra.of(str(error.name)) from None

dp.enable_features("contrib")
Query = Callable[[Any], Any]


def build_opendp_laplace(scale: float, of_integers: bool) -> Any:
    """Build make_laplace on vectors: of integers with discrete noise, or of floats."""
    kind = int if of_integers else float
    domain = dp.atom_domain(T=int) if of_integers else dp.atom_domain(T=float, nan=False)
    return dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=scale)


def build_diffprivlib(kind: str, **parameters: Any) -> Any:
    """Build one of diffprivlib's mechanisms."""
    return getattr(diffprivlib_mechanisms, kind)(**parameters)


def build_pydp(kind: str, **parameters: Any) -> Any:
    """Build one of PyDP's mechanisms or algorithms."""
    return getattr(numerical_mechanisms if kind.endswith("Mechanism") else laplacian, kind)(**parameters)


def law_of_noisy(query: Query, scale: float, of_integers: bool, dataset: Any) -> Law:
    """Return the law of a query's answer with independent noise on every entry: Laplace, or geometric."""

    def law_at(location: float) -> Law:
        if of_integers:
            return TwoSidedGeometric(int(location), math.exp(-1 / scale))
        return Laplace(float(location), scale)

    answer = np.asarray(query(dataset))
    return Product(tuple(map(law_at, answer.tolist()))) if answer.ndim else law_at(answer.item())


def opendp_laplace(query: Query, scale: float, of_integers: bool) -> Documented:
    """OpenDP's make_laplace on a query, with its documented law."""
    measurement = OpenDP(partial(build_opendp_laplace, scale, of_integers), query, vectorized=True)
    return Documented(measurement, partial(law_of_noisy, query, scale, of_integers))


def diffprivlib_noise(query: Query, kind: str, epsilon: float, sensitivity: float = 1) -> Documented:
    """diffprivlib's Laplace or Geometric on a query, with its documented law."""
    build = partial(build_diffprivlib, kind, epsilon=epsilon, sensitivity=sensitivity)
    law = partial(law_of_noisy, query, sensitivity / epsilon, kind == "Geometric")
    return Documented(LibraryObject(build, query, method="randomise"), law)


def pydp_laplace(query: Query, epsilon: float, sensitivity: float = 1.0) -> Documented:
    """PyDP's LaplaceMechanism on a query that answers with floats, with its documented law."""
    build = partial(build_pydp, "LaplaceMechanism", epsilon=epsilon, sensitivity=sensitivity)
    law = partial(law_of_noisy, query, sensitivity / epsilon, False)
    return Documented(LibraryObject(build, query, method="add_noise"), law)
