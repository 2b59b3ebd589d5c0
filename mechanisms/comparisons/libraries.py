"""The noise of three libraries beside ours: functions that build their objects, with the law that they document.

OpenDP's `make_laplace` adds discrete Laplace noise to integers, and to floats Laplace noise rounded to the finest grid
that floats have. diffprivlib's Geometric has P(k) proportional to e^(-epsilon |k| / sensitivity). PyDP's
LaplaceMechanism rounds Laplace noise to a grid of about 2^-40 of its scale.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from audit.errors import MissingExtra
from audit.extensions.adapters import Documented, LibraryObject
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism

try:
    import opendp.prelude as dp
    from diffprivlib import mechanisms as diffprivlib_mechanisms
    from pydp.algorithms import laplacian, numerical_mechanisms
except ImportError as error:
    raise MissingExtra.of(str(error.name).partition(".")[0]) from None

dp.enable_features("contrib")


def build_opendp_laplace(scale: float, kind: type) -> Any:
    """Build make_laplace on vectors: of integers with discrete noise, or of floats."""
    domain = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
    return dp.m.make_laplace(dp.vector_domain(domain), dp.l1_distance(T=kind), scale=scale)


def build_opendp_response() -> Any:
    """Build make_randomized_response_bool, at epsilon = 1."""
    return dp.m.make_randomized_response_bool(prob=math.exp(1) / (1 + math.exp(1)))


class SideBySide(LibraryObject):
    """A measurement of OpenDP with independent noise on each entry: all outputs of a call are one long vector."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Release the answer `size` times, as copies side by side."""
        answer = np.asarray(self.query(dataset))
        return np.array(self.built(np.tile(answer, size).tolist())).reshape(size, *answer.shape)


def build_diffprivlib(kind: str, **parameters: Any) -> Any:
    """Build one of diffprivlib's mechanisms."""
    return getattr(diffprivlib_mechanisms, kind)(**parameters)


def build_pydp(kind: str, **parameters: Any) -> Any:
    """Build one of PyDP's mechanisms or algorithms."""
    return getattr(numerical_mechanisms if kind.endswith("Mechanism") else laplacian, kind)(**parameters)


def kind_and_sensitivity(ours: LaplaceMechanism | GeometricMechanism) -> tuple[type, float]:
    """Return the type of the answers of ours, and their sensitivity."""
    return (float, ours.l1_sensitivity) if isinstance(ours, LaplaceMechanism) else (int, ours.sensitivity)


def opendp_laplace(ours: LaplaceMechanism | GeometricMechanism) -> Documented:
    """OpenDP's make_laplace with the query and the law of ours."""
    kind, sensitivity = kind_and_sensitivity(ours)
    build = partial(build_opendp_laplace, sensitivity / ours.epsilon, kind)
    return Documented(SideBySide(build, ours.query), ours.law)


def diffprivlib_noise(ours: LaplaceMechanism | GeometricMechanism) -> Documented:
    """diffprivlib's Laplace or Geometric with the query and the law of ours."""
    kind, sensitivity = kind_and_sensitivity(ours)
    name = "Laplace" if kind is float else "Geometric"
    build = partial(build_diffprivlib, name, epsilon=ours.epsilon, sensitivity=sensitivity)
    return Documented(LibraryObject(build, ours.query, method="randomise"), ours.law)


def pydp_laplace(ours: LaplaceMechanism) -> Documented:
    """PyDP's LaplaceMechanism with the query and the law of ours, on a query that answers with floats."""
    build = partial(build_pydp, "LaplaceMechanism", epsilon=ours.epsilon, sensitivity=ours.l1_sensitivity)
    return Documented(LibraryObject(build, ours.query, method="add_noise"), ours.law)
