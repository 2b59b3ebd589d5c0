"""Binary arrays with the wrong noise: too little, on some cells only, shared, or fresh when it should be kept.

What a joint audit can see. The largest loss of one array needs the noise of all 2^(d+1) changed cells on the far side:
probability 1/16, 1/256 and 1.5e-5 for d = 1, 2, 3. At d = 3 and a claim of 1, half the noise (true epsilon 2) gives a
loss above 1 in 2.6 % and above 1.5 in 0.09 % of the releases: 200,000 releases a side certify 1.4 with the density as
the score, and 0.9 without it. With nine tenths of the noise (true epsilon 1.11) a loss above 1 comes 3 times in
100,000 releases, and sampling the joint release certifies nothing. Such faults are convicted by their own law (the
density is a product, so the worst loss is a sum over cells: `... by its law`), or one coordinate at a time
(`... one cell`), where the claim is epsilon / 2^(d+1) and the largest loss has probability 1/2. The other checks are
black boxes: `Released` hides the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, LabelFlip, Local, PrivacyCheck, PrivacyClaim, Verdict
from audit.laws import Gaussian, Product
from mechanisms.local.binary_array import LocalBinaryArrayMechanism, OneCell, Record, far_pair

BUDGET = 20_000
SOURCE = "claimed after Berrett & Butucea 2019, Theorem 2.1"


@dataclass(frozen=True)
class Released:
    """The sampler of another mechanism without its law: what an audit from outside sees.

    True privacy: that of the mechanism inside.
    """

    array: Any

    def __call__(self, record: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.array(record, size, rng))


@dataclass(frozen=True)
class RateAsScale(LocalBinaryArrayMechanism):
    """Laplace(epsilon / 2^(d+1)) read as a scale, where the text means a rate.

    True privacy: (2^(2d+2) / epsilon, 0) on a far pair: 16, 64, 256 for d = 1, 2, 3 at epsilon = 1.
    """

    @property
    def scale(self) -> float:
        """The rate in the scale's place."""
        return self.epsilon / 2.0 ** (self.dim + 1)


@dataclass(frozen=True)
class HalfSensitivity(LocalBinaryArrayMechanism):
    """Noise of scale 2^d / epsilon, as if a record changed 2^d bits only.

    True privacy: (2 epsilon, 0) on a far pair. A label flip would look right: it costs epsilon.
    """

    @property
    def scale(self) -> float:
        """Half the scale."""
        return 2.0**self.dim / self.epsilon


@dataclass(frozen=True)
class NineTenths(LocalBinaryArrayMechanism):
    """Nine tenths of the noise.

    True privacy: (epsilon / 0.9, 0) on a far pair: 1.11 at epsilon = 1.
    """

    @property
    def scale(self) -> float:
        """Nine tenths of the scale."""
        return 0.9 * 2.0 ** (self.dim + 1) / self.epsilon


@dataclass(frozen=True)
class OneHotScale(LocalBinaryArrayMechanism):
    """Noise of scale 2 / epsilon, right for disjoint cells, where a record changes two bits.

    True privacy: (2^d epsilon, 0) on a far pair. For d = 1 a label flip costs epsilon and shows nothing.
    """

    @property
    def scale(self) -> float:
        """The scale for disjoint cells."""
        return 2 / self.epsilon


@dataclass(frozen=True)
class GaussianSameVariance(LocalBinaryArrayMechanism):
    """Gaussian noise of the variance of the Laplace noise, 2 b^2.

    True privacy: no finite epsilon; mu-Gaussian with mu = sqrt(2^(d+1) / 2) epsilon / 2^(d+1): 0.354, 0.250, 0.177
    for d = 1, 2, 3 at epsilon = 1, so that delta(1) is 4.0e-4, 2.9e-6, 3.7e-10. Sampling has nothing to see: it
    takes the law.
    """

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.bits(record) + rng.normal(scale=self.deviation, size=(size, self.grid.cells))

    @property
    def deviation(self) -> float:
        """Standard deviation of Laplace noise of the right scale."""
        return float(np.sqrt(2) * self.scale)

    def law(self, record: Record) -> Product:
        """Law of one output: independent Gaussian coordinates."""
        return Product(tuple(Gaussian(bit, self.deviation) for bit in self.bits(record).tolist()))


@dataclass(frozen=True)
class NoiseOnHitCellsOnly:
    """Cells whose bit is 0 stay 0.

    True privacy: none (delta = 1 for every epsilon) on two records in different cells.
    """

    array: LocalBinaryArrayMechanism

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.where(self.array.bits(record) == 0, 0.0, self.array(record, size, rng))


@dataclass(frozen=True)
class OneNoisePerUser:
    """One draw is added to every cell of the array.

    True privacy: none (delta = 1 for every epsilon) on two records in different cells: differences are exact.
    """

    array: LocalBinaryArrayMechanism

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.array.bits(record) + rng.laplace(scale=self.array.scale, size=(size, 1))


@dataclass(frozen=True)
class NoisePerQuery:
    """The user answers each of `queries` requests for the array with fresh noise.

    True privacy: (queries * epsilon, 0) on a far pair: 4 for four queries at epsilon = 1.
    """

    array: LocalBinaryArrayMechanism
    queries: int

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.hstack([self.array(record, size, rng) for _ in range(self.queries)])


@dataclass(frozen=True)
class BothArrays:
    """Every user releases B + noise AND y B + noise, each at the scale of one.

    True privacy: (2 epsilon, 0) on a far pair with labels 1, 1.
    """

    dim: int
    epsilon: float
    bandwidth: float

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        halves = (LocalBinaryArrayMechanism(self.dim, self.epsilon, self.bandwidth, half) for half in (1, 2))
        return np.hstack([half(record, size, rng) for half in halves])


@dataclass(frozen=True)
class NoiseSharedBetweenHalves:
    """User i of half 1 and user i of half 2 add the same noise; the two arrays are released.

    Data: `Labeled` with two users, the first in half 1. True privacy: none (delta = 1 for every epsilon) on a flip of
    the second label: the difference of the arrays, B_1 - y B_2, is exact.
    """

    array: LocalBinaryArrayMechanism

    def __call__(self, users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        held = self.array.grid.hits(users.X).astype(float)
        noise = rng.laplace(scale=self.array.scale, size=(size, self.array.grid.cells))
        return np.hstack([held[0] + noise, held[1] * users.y[1] + noise])


def fault_check(
    name: str, mechanism: Any, epsilon: float, pair: tuple[Any, Any], relation: Any = None, **settings: Any
) -> PrivacyCheck:
    """Return a check of a fault that expects conviction; the local relation unless said otherwise."""
    return PrivacyCheck(
        name=f"fault/local {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, relation or Local(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        **{"budget": BUDGET, **settings},
    )


def _by_its_law(name: str, mechanism: LocalBinaryArrayMechanism) -> PrivacyCheck:
    where = f"{name} d={mechanism.dim} by its law"
    return fault_check(where, mechanism, mechanism.epsilon, far_pair(mechanism.dim), budget=4_000, method="exact")


def _one_cell(name: str, mechanism: LocalBinaryArrayMechanism) -> PrivacyCheck:
    claimed = mechanism.epsilon / 2.0 ** (mechanism.dim + 1)
    where = f"{name} d={mechanism.dim} one cell"
    return fault_check(where, OneCell(mechanism, 0), claimed, far_pair(mechanism.dim), budget=50_000)


_PLAIN = LocalBinaryArrayMechanism(1, 1.0, 0.4)
_TWO_USERS = (Labeled(np.array([0.2, 0.6]), np.array([1, 1])), Labeled(np.array([0.2, 0.6]), np.array([1, 0])))

CHECKS: list[PrivacyCheck] = [
    fault_check("rate as scale d=1", Released(RateAsScale(1, 1.0, 0.4)), 1.0, far_pair(1), budget=4_000),
    fault_check("rate as scale d=1 eps=0.5", Released(RateAsScale(1, 0.5, 0.4)), 0.5, far_pair(1), budget=4_000),
    fault_check("rate as scale d=2", Released(RateAsScale(2, 1.0, 0.4)), 1.0, far_pair(2), budget=4_000),
    fault_check("rate as scale d=3", Released(RateAsScale(3, 1.0, 0.4)), 1.0, far_pair(3), budget=4_000),
    fault_check("half sensitivity d=1", Released(HalfSensitivity(1, 1.0, 0.4)), 1.0, far_pair(1)),
    _by_its_law("half sensitivity", HalfSensitivity(2, 1.0, 0.4)),
    _by_its_law("half sensitivity", HalfSensitivity(3, 1.0, 0.4)),
    _one_cell("half sensitivity", HalfSensitivity(2, 1.0, 0.4)),
    _one_cell("half sensitivity", HalfSensitivity(3, 2.0, 0.4)),
    *(_by_its_law("nine tenths of the noise", NineTenths(dim, 1.0, 0.4)) for dim in (1, 2, 3)),
    fault_check("one-hot scale d=1", Released(OneHotScale(1, 1.0, 0.4)), 1.0, far_pair(1)),
    fault_check("one-hot scale d=2", Released(OneHotScale(2, 1.0, 0.4)), 1.0, far_pair(2)),
    _by_its_law("one-hot scale", OneHotScale(3, 1.0, 0.4)),
    *(_by_its_law("gaussian of the same variance", GaussianSameVariance(dim, 1.0, 0.4)) for dim in (1, 2, 3)),
    fault_check("noise on hit cells only", NoiseOnHitCellsOnly(_PLAIN), 1.0, far_pair(1), budget=2_000),
    fault_check("one noise per user", OneNoisePerUser(_PLAIN), 1.0, far_pair(1), budget=4_000),
    fault_check("noise per query, four queries", NoisePerQuery(_PLAIN, 4), 1.0, far_pair(1)),
    fault_check("both arrays per user", BothArrays(1, 1.0, 0.4), 1.0, far_pair(1), budget=200_000),
    fault_check(
        "noise shared between halves", NoiseSharedBetweenHalves(_PLAIN), 1.0, _TWO_USERS, LabelFlip(), budget=4_000
    ),
]
