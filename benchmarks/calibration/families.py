"""Mechanisms whose privacy is known exactly, at the edge of a claim and any factor beyond it.

Each family states its claim and builds the mechanism whose privacy parameter is `factor` times the claimed one: at
factor 1 the claim is kept with nothing to spare, beyond it the claim is false.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from audit import GaussianClaim, Group, Local, PrivacyClaim, RenyiClaim, ZeroConcentratedClaim
from audit.laws import Finite, Gaussian, Laplace, Law, TwoSidedGeometric

LOCAL = Local()
BIT = ((0, 1),)
GRID = 1024  # steps of the geometric noise on a grid of floating-point numbers


@dataclass(frozen=True)
class Family:
    """A claim of a kind, and mechanisms around its edge; the name has their parameters at factor 1."""

    kind: str
    name: str
    claim: Any
    build: Callable[[float], Any]
    pairs: tuple[tuple[Any, Any], ...] = BIT


@dataclass(frozen=True)
class Noise:
    """The sum of the data plus Laplace or normal noise."""

    family: str
    scale: float

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.laplace(size=size) if self.family == "laplace" else rng.normal(size=size)
        return np.sum(data) + self.scale * noise

    def law(self, data: Any) -> Law:
        """The output law."""
        kind = Laplace if self.family == "laplace" else Gaussian
        return kind(float(np.sum(data)), self.scale)


@dataclass(frozen=True)
class Geometric:
    """`step` times (`data` + two-sided geometric noise); epsilon for each unit of data."""

    epsilon: float
    step: float = 1.0

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        p = -math.expm1(-self.epsilon)
        return self.step * (data + rng.geometric(p, size) - rng.geometric(p, size))

    def law(self, data: Any) -> Law:
        """The output law, for step 1."""
        return TwoSidedGeometric(int(data), math.exp(-self.epsilon))


@dataclass(frozen=True)
class Response:
    """Randomized response over k answers; with probability delta the record is shown under a name of its own."""

    epsilon: float
    answers: int = 2
    delta: float = 0.0

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        other = (data + rng.integers(1, self.answers, size)) % self.answers
        said = np.where(rng.random(size) < self._truth, data, other)
        return np.where(rng.random(size) < self.delta, self.answers + data, said)

    @property
    def _truth(self) -> float:
        return 1 / (1 + (self.answers - 1) * math.exp(-self.epsilon))

    def law(self, data: Any) -> Law:
        """The output law."""
        lie = (1 - self._truth) / (self.answers - 1)
        said = {answer: (1 - self.delta) * (self._truth if answer == data else lie) for answer in range(self.answers)}
        return Finite({**said, self.answers + data: self.delta})


@dataclass(frozen=True)
class OneSided:
    """A fair coin; record 1 is shown with probability delta: exactly (0, delta), through one direction only."""

    delta: float

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        shown = (rng.random(size) < self.delta) & (data == 1)
        return np.where(shown, 2, rng.integers(0, 2, size))

    def law(self, data: Any) -> Law:
        """The output law."""
        shown = self.delta * (data == 1)
        return Finite({0: (1 - shown) / 2, 1: (1 - shown) / 2, 2: shown})


def without_law(mechanism: Any) -> Any:
    """The mechanism as a bare function: the auditor has to learn its score."""
    return lambda data, size, rng: mechanism(data, size, rng)


def as_floats(mechanism: Any) -> Any:
    """The mechanism with its numbers as 64-bit floats."""
    return lambda data, size, rng: np.asarray(mechanism(data, size, rng), dtype=float)


def response_divergence(epsilon: float, order: float) -> float:
    """Renyi divergence of randomized response, order > 1."""
    p, q = special.log_expit(epsilon), special.log_expit(-epsilon)
    return float(np.logaddexp(order * p + (1 - order) * q, order * q + (1 - order) * p)) / (order - 1)


def response_of_divergence(divergence: float, order: float = 2.0) -> Response:
    """Randomized response with that Renyi divergence."""
    return Response(float(optimize.brentq(lambda e: response_divergence(e, order) - divergence, 1e-9, 50.0)))


_SECOND = response_divergence(1.0, 2.0)

LAPLACE = Family("pure", "Laplace", PrivacyClaim(1.0, 0.0, LOCAL), lambda f: Noise("laplace", 1 / f))
RESPONSE = Family("pure", "randomised response", PrivacyClaim(1.0, 0.0, LOCAL), Response)
GEOMETRIC = Family("pure", "geometric", PrivacyClaim(1.0, 0.0, LOCAL), Geometric)
ON_A_GRID = Family(
    "pure", "geometric on a grid", PrivacyClaim(1.0, 0.0, LOCAL), lambda f: Geometric(f / GRID, 1 / GRID), ((0, GRID),)
)
SHOWN_AS_FLOAT = Family(
    "approximate",
    "response, shown with 0.1",
    PrivacyClaim(1.0, 0.1, LOCAL),
    lambda f: as_floats(Response(f, delta=0.1)),
)
SHOWN = Family(
    "approximate", "response, shown with 0.1", PrivacyClaim(1.0, 0.1, LOCAL), lambda f: Response(f, delta=0.1)
)
RARELY_SHOWN = Family(
    "approximate", "response, shown with 0.001", PrivacyClaim(1.0, 0.001, LOCAL), lambda f: Response(f, delta=0.001)
)
ONE_SIDED = Family("approximate", "one-sided, (0, 0.1)", PrivacyClaim(0.0, 0.1, LOCAL), lambda f: OneSided(0.1 * f))
GAUSSIAN = Family("gaussian", "normal", GaussianClaim(1.0, relation=LOCAL), lambda f: Noise("normal", 1 / f))
RENYI_NORMAL = Family(
    "renyi", "normal, order 2", RenyiClaim(2.0, 1.0, relation=LOCAL), lambda f: Noise("normal", 1 / math.sqrt(f))
)
RENYI_RESPONSE = Family(
    "renyi",
    "response, order 2",
    RenyiClaim(2.0, _SECOND, relation=LOCAL),
    lambda f: response_of_divergence(f * _SECOND),
)
CONCENTRATED = Family(
    "zcdp", "normal", ZeroConcentratedClaim(0.5, relation=LOCAL), lambda f: Noise("normal", 1 / math.sqrt(f))
)
LOCAL_RESPONSE = Family(
    "local",
    "response over 4 answers",
    PrivacyClaim(1.0, 0.0, LOCAL),
    lambda f: Response(f, 4),
    ((0, 1), (0, 2), (3, 1)),
)
GROUP = Family(
    "group",
    "Laplace, 2 steps",
    PrivacyClaim(1.0, 0.0, Group(2)),
    lambda f: Noise("laplace", 2 / f),
    (((0, 0), (1, 1)), ((0, 0), (0, 1))),
)
GROUP_GAUSSIAN = Family(
    "group",
    "normal, 2 steps, Gaussian claim",
    GaussianClaim(1.0, relation=Group(2)),
    lambda f: Noise("normal", 2 / f),
    (((0, 0), (1, 1)), ((0, 0), (0, 1))),
)

FAMILIES = (
    LAPLACE,
    RESPONSE,
    GEOMETRIC,
    SHOWN,
    RARELY_SHOWN,
    ONE_SIDED,
    GAUSSIAN,
    RENYI_NORMAL,
    RENYI_RESPONSE,
    CONCENTRATED,
    LOCAL_RESPONSE,
    GROUP,
    GROUP_GAUSSIAN,
)
