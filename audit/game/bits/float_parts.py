"""Take a double apart: exponent, lowest set bit, low-order byte, decimals; all exact.

A finite double is odd * 2^k or zero; k is the exponent of its lowest set bit. A sum fl(c + noise) inherits the grid of
whichever of the two is coarser, and that grid is what the bits leak.
"""

from __future__ import annotations

import numpy as np

MANTISSA = 53  # bits of a double's significand, the implicit one included
_SPECIAL = 1 << 20  # codes above this stand for values that have no lowest bit
ZERO, MINUS_ZERO, INFINITE, MISSING = (_SPECIAL + i for i in range(4))
_DECIMALS = 9  # a number with more decimals than this is taken to have no decimal grid
_MOST_ZEROS = 8


def exponents(values: np.ndarray) -> np.ndarray:
    """Return e with 2^(e-1) <= |x| < 2^e; `ZERO` and its neighbors for values that have none."""
    return _with_specials(values, np.frexp(values)[1].astype(np.int64))


def lowest_bits(values: np.ndarray) -> np.ndarray:
    """Return k such that |x| = odd * 2^k; `ZERO` and its neighbors for values that have none."""
    fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    whole = np.ldexp(np.abs(fraction), MANTISSA).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return _with_specials(values, exponent - MANTISSA + np.frexp(lowest)[1] - 1)


def trailing_zeros(values: np.ndarray) -> np.ndarray:
    """Count the zero bits at the end of the significand, 0..8 (8 means 8 or more); special values as they are."""
    k = lowest_bits(values)
    zeros = np.minimum(k - (exponents(values) - MANTISSA), _MOST_ZEROS)
    return np.where(k >= _SPECIAL, k, zeros)


def low_bytes(values: np.ndarray) -> np.ndarray:
    """Return the last eight bits of the significand, 0..255."""
    return (np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) & np.uint64(255)).astype(np.int64)


def decimals(values: np.ndarray) -> np.ndarray:
    """Return the fewest decimals that give the double back, 0..8; 9 when more are needed."""
    found = np.full(values.shape, _DECIMALS, dtype=np.int64)
    finite = np.where(np.isfinite(values), values, 0.5**60)
    for places in reversed(range(_DECIMALS)):
        found[np.round(finite, places) == finite] = places
    return found


def classes(values: np.ndarray) -> np.ndarray:
    """Return 0 for normal, 1 for subnormal, else the special codes (zero, minus zero, infinite, missing)."""
    tiny = np.abs(values) < np.finfo(np.float64).tiny
    return _with_specials(values, tiny.astype(np.int64))


def difference_bits(values: np.ndarray, constant: float) -> np.ndarray:
    """Return the lowest set bit of the exact real number x - c, rounding error included (Knuth's two-sum)."""
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = values - constant
        back = rounded - values
        error = (values - (rounded - back)) + (-constant - back)
    return np.where(error == 0, lowest_bits(rounded), lowest_bits(error))


def survives_round_trip(values: np.ndarray, constant: np.ndarray | float) -> np.ndarray:
    """Return whether (x - c) + c == x: whether some double n gives x = fl(c + n).

    If any n does, the double nearest to x - c does as well, up to ties: it lies nearest to the reals that round to x.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((values - constant) + constant == values)


def _with_specials(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    zero = np.where(np.signbit(values), MINUS_ZERO, ZERO)
    codes = np.where(values == 0, zero, codes)
    codes = np.where(np.isinf(values), INFINITE, codes)
    return np.where(np.isnan(values), MISSING, codes)
