"""Integrate sums of c x^p e^(rx), piece by piece, with rational r and with brackets around every c.

Uniform, exponential and Laplace laws have such densities, and so has what comparisons leave of them: products and
integrals of such sums are such sums. A function is a list of pieces between rational ends, one after the other, and is
0 elsewhere. A bracket is a pair of integers in units of 2^-1024, which every operation rounds outward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from audit.extensions.enumeration.enumerated_law import exponential

_BITS = 1024
ONE = 1 << _BITS

Bracket = tuple[int, int]
Terms = dict[tuple[int, Fraction], Bracket]  # by p and r
Pieces = list[tuple[Fraction, Fraction, Terms]]


def bracket(low: Fraction, high: Fraction | None = None) -> Bracket:
    """Return a bracket around a rational number, or around all between two."""
    return math.floor(low * ONE), math.ceil((low if high is None else high) * ONE)


def product(one: Bracket, other: Bracket) -> Bracket:
    """Return a bracket around the product of what two brackets hold."""
    ends = [first * second for first in one for second in other]
    return min(ends) >> _BITS, -(-max(ends) >> _BITS)


def quotient(one: Bracket, other: Bracket) -> Bracket:
    """Return a bracket around a quotient by a positive number."""
    lows, highs = ([sign * (end << _BITS) // by for end in one for by in other] for sign in (1, -1))
    return min(lows), -min(highs)


@lru_cache(maxsize=10_000)
def power_of_e(x: Fraction) -> Bracket:
    """Return a bracket around e^x."""
    low, high = exponential(abs(x))
    return bracket(low, high) if x >= 0 else bracket(1 / high, 1 / low)


def _times(one: Bracket, factor: Fraction) -> Bracket:
    low, high = sorted(end * factor.numerator for end in one)
    return low // factor.denominator, -(-high // factor.denominator)


def _sum(terms: Iterable[tuple[tuple[int, Fraction], Bracket]]) -> Terms:
    found: Terms = {}
    for key, (low, high) in terms:
        before = found.get(key, (0, 0))
        found[key] = before[0] + low, before[1] + high
    return found


def _value(terms: Terms, x: Fraction) -> Bracket:
    values = [product(_times(c, x**p), power_of_e(r * x)) for (p, r), c in terms.items()]
    return sum(low for low, _ in values), sum(high for _, high in values)


def _antiderivative(terms: Terms) -> Terms:
    def parts() -> Iterable[tuple[tuple[int, Fraction], Bracket]]:
        for (p, r), c in terms.items():
            if r == 0:
                yield (p + 1, r), _times(c, Fraction(1, p + 1))
            factor = 1 / r if r else Fraction(0)
            for k in range(p + 1) if r else ():
                yield (p - k, r), _times(c, factor)
                factor *= -(p - k) / r

    return _sum(parts())


def _composed(terms: Terms, slope: Fraction, shift: Fraction) -> Terms:
    """Return the terms as a function of y, where x = slope y + shift."""
    return _sum(
        ((k, r * slope), _times(moved, math.comb(p, k) * slope**k * shift ** (p - k)))
        for (p, r), c in terms.items()
        for moved in [product(c, power_of_e(r * shift))]
        for k in range(p + 1)
    )


def multiplied(one: Pieces, other: Pieces) -> Pieces:
    """Return the product of two functions."""
    return [
        (max(start, begin), min(end, stop), _sum(((p + q, r + s), product(c, d)) for (p, r), c in first.items()
                                                  for (q, s), d in second.items()))
        for start, end, first in one
        for begin, stop, second in other
        if max(start, begin) < min(end, stop)
    ]  # fmt: skip


def integral(function: Pieces) -> Bracket:
    """Return a bracket around the integral of a function."""
    total = (0, 0)
    for start, end, terms in function:
        total = _through(total, _antiderivative(terms), start, end)
    return total


def _through(total: Bracket, primitive: Terms, start: Fraction, end: Fraction) -> Bracket:
    before, upto = _value(primitive, start), _value(primitive, end)
    return total[0] + upto[0] - before[1], total[1] + upto[1] - before[0]


def mass_beside(
    density: Pieces, slope: Fraction, shift: Fraction, domain: tuple[Fraction, Fraction], is_below: bool
) -> Pieces:
    """Return the integral of a density below (or above) slope y + shift, as a function of y in a domain; slope > 0."""
    first, last = domain
    total, so_far, found = integral(density), (0, 0), Pieces()

    def add(start: Fraction, end: Fraction, make: Terms | None, constant: Bracket) -> None:
        start, end = max(first, start), min(last, end)
        if start >= end:
            return
        terms = [((0, Fraction(0)), constant if is_below else (total[0] - constant[1], total[1] - constant[0]))]
        for key, (low, high) in _composed(make, slope, shift).items() if make else ():
            terms.append((key, (low, high) if is_below else (-high, -low)))
        found.append((start, end, _sum(terms)))

    at = first
    for start, end, terms in density:
        begin, stop = (start - shift) / slope, (end - shift) / slope
        add(at, begin, None, so_far)
        primitive = _antiderivative(terms)
        before = _value(primitive, start)
        add(max(at, begin), stop, primitive, (so_far[0] - before[1], so_far[1] - before[0]))
        so_far, at = _through(so_far, primitive, start, end), max(at, stop)
    add(at, last, None, so_far)
    return found
