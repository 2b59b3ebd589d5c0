"""Variants of the encoders that look broken and are not.

Their counterparts in `mechanisms.faults.labels` change one thing more, and break it.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.laws import Finite, Product
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.unary import THEOREM, SymmetricUnaryLabelEncoder, class_pairs


@dataclass(frozen=True)
class Normalized(SymmetricUnaryLabelEncoder):
    """Releases Z / sum Z, and 1 / K everywhere for Z = 0: what the mean of neighbors would weigh differently.

    True privacy: (epsilon, 0), tight: post-processing; the event (Z(y), Z(y')) = (1, 0) still shows.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K shares for every label, shape (n, K)."""
        bits = super().release(labels, rng).astype(float)
        return np.where(bits.any(axis=1, keepdims=True), bits, 1.0) / np.maximum(bits.sum(axis=1, keepdims=True), 1)

    def law(self, label: Any) -> Any:
        """Law of the shares: those of the bits, 0 and all ones apart."""
        table: dict[Hashable, float] = {}
        for bits, mass in bit_masses(self, label).items():
            ones = sum(bits)
            key = tuple(bit / ones for bit in bits) if ones else (1.0,) * self.n_classes
            table[key] = mass
        return Finite(table)


@dataclass(frozen=True)
class RejectsEmpty(SymmetricUnaryLabelEncoder):
    """Draws again while no bit is 1: rejection looks at a private draw.

    True privacy: (epsilon, 0), tight: Z = 0 has probability (1 - p) (1 - q)^(K-1) whatever the label.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K bits for every label, shape (n, K)."""
        return redrawn(super().release, labels, rng, lambda bits: bits.any(axis=1))

    def law(self, label: Any) -> Any:
        """Law of the bits, given that one is 1."""
        return given(bit_masses(self, label), lambda bits: any(bits))


@dataclass(frozen=True)
class RejectsAllButOneHot(SymmetricUnaryLabelEncoder):
    """Draws again until one bit alone is 1.

    True privacy: (epsilon, 0), tight: it is K-ary randomized response.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw a unit vector for every label, shape (n, K)."""
        return redrawn(super().release, labels, rng, lambda bits: bits.sum(axis=1) == 1)

    def law(self, label: Any) -> Any:
        """Law of the bits, given that one alone is 1."""
        return given(bit_masses(self, label), lambda bits: sum(bits) == 1)


@dataclass(frozen=True)
class DropsLastBit(SymmetricUnaryLabelEncoder):
    """K - 1 bits; the last class has none.

    True privacy: (epsilon, 0), tight; (epsilon / 2, 0) between the last class and another.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K - 1 bits for every label, shape (n, K - 1)."""
        return super().release(labels, rng)[:, :-1]

    def law(self, label: Any) -> Product:
        """Law of the bits that are left."""
        return Product(super().law(label).laws[:-1])


@dataclass(frozen=True)
class Complemented(SymmetricUnaryLabelEncoder):
    """Every bit is negated.

    True privacy: (epsilon, 0), tight.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K negated bits for every label, shape (n, K)."""
        return 1 - super().release(labels, rng)

    def law(self, label: Any) -> Product:
        """Law of the bits, 0 and 1 exchanged."""
        own, other = (Finite({0: p, 1: 1 - p}) for p in (self.p_keep, self.q_flip))
        return Product(tuple(own if j == label else other for j in range(self.n_classes)))


@dataclass(frozen=True)
class OneOfTheSetBits(SymmetricUnaryLabelEncoder):
    """Releases the place of one 1, drawn among all of them; any place when there is none.

    True privacy: (0.568, 0) at epsilon = 1, K = 10: post-processing.
    """

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw one place for every label, shape (n,)."""
        bits = super().release(labels, rng)
        return np.asarray(np.argmax((bits + ~bits.any(axis=1, keepdims=True)) * (1 + rng.random(bits.shape)), axis=1))

    def law(self, label: Any) -> Any:
        """Law of the place."""
        table: dict[Hashable, float] = defaultdict(float)
        for bits, mass in bit_masses(self, label).items():
            places = [j for j, bit in enumerate(bits) if bit] or range(self.n_classes)
            for j in places:
                table[j] += mass / len(places)
        return Finite(table)


@dataclass(frozen=True)
class LargestNoisyEntry:
    """Releases the place of the largest entry of the Laplace release alone.

    True privacy: (0.566, 0) at epsilon = 1, K = 10: post-processing. No law is stated; the tolerance concerns events of
    probability 0.01, those that leak have 0.1 and more.
    """

    encoder: LaplaceOneHotEncoder

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.asarray(np.argmax(self.encoder(label, size, rng), axis=1))


def bit_masses(encoder: SymmetricUnaryLabelEncoder, label: int) -> dict[tuple[int, ...], float]:
    """Return the probabilities of all 2^K bit vectors of the vector mechanism."""
    own, other = ({1: p, 0: 1 - p} for p in (encoder.p_keep, encoder.q_flip))
    columns = [own if j == label else other for j in range(encoder.n_classes)]
    vectors = itertools.product((0, 1), repeat=encoder.n_classes)
    return {bits: math.prod(column[bit] for column, bit in zip(columns, bits, strict=True)) for bits in vectors}


def given(masses: dict[tuple[int, ...], float], kept: Any) -> Finite:
    """Return the law of the vectors that are kept."""
    total = math.fsum(mass for bits, mass in masses.items() if kept(bits))
    return Finite({bits: mass / total for bits, mass in masses.items() if kept(bits)})


def redrawn(release: Any, labels: NDArray[np.int64], rng: np.random.Generator, kept: Any) -> NDArray[np.int8]:
    """Draw releases until every one is kept."""
    bits = release(labels, rng)
    while not np.all(fine := kept(bits)):
        bits[~fine] = release(labels[~fine], rng)
    return np.asarray(bits)


def _check(name: str, mechanism: Any, epsilon: float, pairs: list[tuple[int, int]], **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"decoy/labels {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Local(), THEOREM),
        pairs=pairs,
        **{"budget": 20_000, **settings},
    )


_FOUR, _SOME = class_pairs(4), [(0, 1), (0, 9)]
_NOISY = LargestNoisyEntry(LaplaceOneHotEncoder(10, 1.0))

CHECKS: list[PrivacyCheck] = [
    *(_check(f"normalised K={K}", Normalized(K, 1.0), 1.0, [(0, 1), (1, K - 1)]) for K in (4, 8)),
    _check("rejects empty", RejectsEmpty(4, 1.0), 1.0, _FOUR),
    _check("rejects all but one-hot", RejectsAllButOneHot(4, 1.0), 1.0, _FOUR),
    _check("drops the last bit", DropsLastBit(4, 1.0), 1.0, _FOUR),
    _check("drops the last bit, last class", DropsLastBit(4, 1.0), 0.5, [(0, 3), (1, 3), (2, 3)]),
    _check("complemented", Complemented(10, 1.0), 1.0, _SOME),
    _check("one of the set bits", OneOfTheSetBits(10, 1.0), 0.57, _SOME),
    _check("largest noisy entry", _NOISY, 1.0, _SOME, budget=100_000, tolerance=0.6),
]
