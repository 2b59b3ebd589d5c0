"""The noise of the three libraries: functions that build their objects, and the laws that their documentation states.

OpenDP's `make_laplace` adds discrete Laplace noise to integers, P(k) proportional to e^(-|k| / scale), and to floats
Laplace noise rounded to the finest grid that floats have. diffprivlib's Geometric has P(k) proportional to
e^(-epsilon |k| / sensitivity). PyDP's LaplaceMechanism adds Laplace noise of scale sensitivity / epsilon, rounded to a
grid of about 2^-40 of that scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.errors import MissingExtra
from audit.extensions.adapters import Documented, LibraryObject
from audit.extensions.adapters.opendp import OpenDP, dp
from audit.laws import Laplace, Law, Product, TwoSidedGeometric

try:
    from diffprivlib import mechanisms as diffprivlib_mechanisms
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism as PyDPLaplace
except ImportError as error:
    raise MissingExtra.of(str(error.name)) from None

dp.enable_features("contrib")


@dataclass(frozen=True)
class OpenDPLaplace:
    """Builds make_laplace on vectors: of integers with discrete noise, or of floats."""

    scale: float
    of_integers: bool

    def __call__(self) -> Any:
        kind = int if self.of_integers else float
        domain = dp.atom_domain(T=int) if self.of_integers else dp.atom_domain(T=float, nan=False)
        return dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=self.scale)


@dataclass(frozen=True)
class DiffprivlibNoise:
    """Builds Laplace or Geometric."""

    kind: str
    epsilon: float
    sensitivity: float = 1

    def __call__(self) -> Any:
        return getattr(diffprivlib_mechanisms, self.kind)(epsilon=self.epsilon, sensitivity=self.sensitivity)


@dataclass(frozen=True)
class GoogleLaplace:
    """Builds PyDP's LaplaceMechanism."""

    epsilon: float
    sensitivity: float = 1.0

    def __call__(self) -> Any:
        return PyDPLaplace(self.epsilon, self.sensitivity)


@dataclass(frozen=True)
class NoisyAnswer:
    """The law of a query's answer with independent noise on every entry.

    Parameters
    ----------
    query : callable
        dataset -> number, or vector.
    scale : float > 0
        Of Laplace noise; of geometric noise the ratio of two neighboring probabilities is e^(-1 / scale).
    of_integers : bool
        Geometric instead of Laplace.
    """

    query: Callable[[Any], Any]
    scale: float
    of_integers: bool

    def __call__(self, dataset: Any) -> Law:
        answer = np.asarray(self.query(dataset))
        return Product(tuple(map(self._one, answer.tolist()))) if answer.ndim else self._one(answer.item())

    def _one(self, location: float) -> Law:
        if self.of_integers:
            return TwoSidedGeometric(int(location), math.exp(-1 / self.scale))
        return Laplace(float(location), self.scale)


def opendp_laplace(query: Callable[[Any], Any], scale: float, of_integers: bool) -> Documented:
    """OpenDP's make_laplace on a query, with its documented law."""
    measurement = OpenDP(OpenDPLaplace(scale, of_integers), query, vectorized=True)
    return Documented(measurement, NoisyAnswer(query, scale, of_integers))


def diffprivlib_noise(query: Callable[[Any], Any], kind: str, epsilon: float, sensitivity: float = 1) -> Documented:
    """diffprivlib's Laplace or Geometric on a query, with its documented law."""
    law = NoisyAnswer(query, sensitivity / epsilon, kind == "Geometric")
    return Documented(LibraryObject(DiffprivlibNoise(kind, epsilon, sensitivity), query, method="randomise"), law)


def pydp_laplace(query: Callable[[Any], Any], epsilon: float, sensitivity: float = 1.0) -> Documented:
    """PyDP's LaplaceMechanism on a query that answers with floats, with its documented law."""
    law = NoisyAnswer(query, sensitivity / epsilon, of_integers=False)
    return Documented(LibraryObject(GoogleLaplace(epsilon, sensitivity), query, method="add_noise"), law)
