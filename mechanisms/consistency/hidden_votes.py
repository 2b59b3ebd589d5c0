"""Votes on any number of cells, kept as one polynomial: what is stored does not tell which cells had records.

A table with entries for the occupied cells alone shows which cells are occupied. A table of all cells has 2^30 entries
in 30 dimensions. Here the cells are mapped to elements of the field GF(2^bits) by a public hash, and the vote of a cell
is the lowest bit of a polynomial of degree < n there, n the number of records. The polynomial is drawn at random among
those that give each occupied cell its noisy vote.

Proof note. Let x_1, ..., x_m be the elements of the occupied cells, m <= n, and p_i the probability of a vote 1 at x_i.
The values of a uniform polynomial at any n elements are independent and uniform (Vandermonde), so that the draw has the
density prod_i 2 p_i(v_i) against the uniform law of all 2^(bits n) polynomials, v_i its bit at x_i. A cell without
records has p = 1/2 and the factor 1. So the ratio of the laws on two datasets of n records is that of the votes in all
cells, which Theorem 3.1 of Bousquet et al. (2022) bounds by e^epsilon. The coefficients are (epsilon, 0)-DP under
substitution, and so is all that is computed from them. Two cells with the same hash are one cell with the records of
both; the hash does not look at the data. The votes of any n cells have the law that noise on all cells gives them.

GF(2^bits) is a quadratic extension of GF(2^(bits/2)), whose products are looked up in tables of logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from audit.errors import InvalidArgument

Elements = np.ndarray  # of uint32
_MODULI = {2: 0b111, 4: 0b10011, 8: 0x11D, 16: 0x1100B}  # primitive polynomials over GF(2)
BITS = 32


@dataclass(frozen=True)
class Field:
    """The field with 2^(2 half) elements; an element is the number `high << half | low`.

    Parameters
    ----------
    half : {2, 4, 8, 16}
    """

    half: int

    def __post_init__(self) -> None:
        if self.half not in _MODULI:
            raise InvalidArgument.of("half", f"be one of {', '.join(map(str, _MODULI))}", self.half)

    @property
    def size(self) -> int:
        """Number of elements."""
        return 1 << 2 * self.half

    def multiply(self, a: Elements, b: Elements) -> Elements:
        """Return products, entry by entry; t^2 = t + d."""
        power, log, d = _tables(self.half)

        def times(u: Elements, v: Elements) -> Elements:
            return np.where((u == 0) | (v == 0), 0, power[log[u] + log[v]]).astype(np.uint32)

        mask = np.uint32((1 << self.half) - 1)
        a, b = np.asarray(a, dtype=np.uint32), np.asarray(b, dtype=np.uint32)
        (a1, a0), (b1, b0) = ((x >> np.uint32(self.half), x & mask) for x in (a, b))
        high, low = times(a1, b1), times(a0, b0)
        middle = times(a1 ^ a0, b1 ^ b0) ^ low  # a1 b1 + a1 b0 + a0 b1
        return np.asarray(middle << np.uint32(self.half) | (low ^ times(high, np.full_like(high, d))))

    def inverse(self, a: Elements) -> Elements:
        """Return a^(size - 2), entry by entry."""
        result, square = np.ones_like(a), np.asarray(a, dtype=np.uint32)
        for _ in range(2 * self.half - 1):
            square = self.multiply(square, square)
            result = self.multiply(result, square)
        return result

    def evaluate(self, coefficients: Elements, x: Elements) -> Elements:
        """Return the values of a polynomial, lowest coefficient first, by Horner's rule."""
        value = np.zeros(np.shape(x), dtype=np.uint32)
        for coefficient in coefficients[::-1]:
            value = self.multiply(value, x) ^ coefficient
        return value

    def interpolate(self, x: Elements, values: Elements) -> Elements:
        """Return the coefficients of the polynomial of degree < len(x) with these values at distinct elements."""
        size = len(x)
        product = np.zeros(size + 1, dtype=np.uint32)  # of all (t - x_i)
        product[0] = 1
        for root in x:
            product[1:] = product[:-1] ^ self.multiply(product[1:], root)
            product[0] = self.multiply(product[0], root)
        derivative = np.where(np.arange(1, size + 1) % 2 == 1, product[1:], 0).astype(np.uint32)
        weights = self.multiply(values, self.inverse(self.evaluate(derivative, x)))
        found = np.zeros(size, dtype=np.uint32)
        quotient = np.ones(size, dtype=np.uint32)  # coefficient k of product / (t - x_i), for all i
        for k in range(size - 1, -1, -1):
            found[k] = np.bitwise_xor.reduce(self.multiply(weights, quotient))
            quotient = product[k] ^ self.multiply(x, quotient)
        return found


@lru_cache(maxsize=4)
def _tables(half: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return powers of the generator (twice around), their logarithms, and d with t^2 + t + d irreducible."""
    order = (1 << half) - 1
    power, log = np.zeros(2 * order, dtype=np.uint32), np.zeros(order + 1, dtype=np.int64)
    value = 1
    for exponent in range(order):
        power[exponent] = power[exponent + order] = value
        log[value] = exponent
        value = value << 1 ^ (_MODULI[half] if value >> half - 1 else 0)
    elements = np.arange(1, order + 1)
    squares = power[2 * log[elements] % order]
    reached = set((squares ^ elements).tolist()) | {0}  # t^2 + t
    return power, log, next(d for d in range(1, order + 1) if d not in reached)


@dataclass(frozen=True, eq=False)
class HiddenVotes:
    """The released votes of all cells.

    Parameters
    ----------
    coefficients : array of uint32, shape (records,)
        Of the polynomial, lowest first.
    bits : {4, 8, 16, 32}
        log2 of the size of the field.
    """

    coefficients: Elements
    bits: int = BITS

    @property
    def field(self) -> Field:
        """The field of the polynomial."""
        return Field(self.bits // 2)

    def __getitem__(self, keys: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return the votes of cells, shape (len(keys),)."""
        elements, which = np.unique(elements_of(keys, self.bits), return_inverse=True)
        return (self.field.evaluate(self.coefficients, elements) & np.uint32(1)).astype(np.int8)[which]

    def __len__(self) -> int:
        return len(self.coefficients)


def elements_of(keys: Sequence[tuple[int, ...]], bits: int = BITS) -> Elements:
    """Return the field element of each cell, by a public hash."""
    digests = (blake2b(repr(key).encode(), digest_size=4).digest() for key in keys)
    return np.array([int.from_bytes(digest, "big") % (1 << bits) for digest in digests], dtype=np.uint32)


def draw_votes(
    keys: Sequence[tuple[int, ...]], margins: np.ndarray, epsilon: float, rng: np.random.Generator, bits: int = BITS
) -> HiddenVotes:
    """Release the votes of all cells; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    keys : sequence of tuples of int, one for each record
        The cell of each record.
    margins : array, shape (n,)
        Label minus 1/2 of each record.
    epsilon : float > 0
    rng : numpy.random.Generator
    bits : {4, 8, 16, 32}
    """
    size, field = len(keys), Field(bits // 2)
    if size > field.size:
        raise InvalidArgument.of("keys", f"be at most {field.size}, the elements of the field", size)
    occupied, which = np.unique(elements_of(keys, bits), return_inverse=True)
    sums = np.bincount(which, weights=margins, minlength=len(occupied))
    votes = sums + rng.laplace(scale=1 / epsilon, size=len(occupied)) > 0
    known = set(occupied.tolist())
    free = (element for element in range(field.size) if element not in known)
    filled = np.array([next(free) for _ in range(size - len(occupied))], dtype=np.uint32)
    values = rng.integers(field.size, size=size, dtype=np.uint64).astype(np.uint32)
    values[: len(occupied)] = values[: len(occupied)] & ~np.uint32(1) | votes
    return HiddenVotes(field.interpolate(np.concatenate([occupied, filled]), values), bits)
