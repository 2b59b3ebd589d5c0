"""Strategies for numbers and columns that break arithmetic: ends of ranges, powers of two, long sums that cancel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit.api import InvalidArgument

_LENGTHS = (0, 1, 2, 3, 4, 8, 16, 16, 64, 64, 256, 1024)  # of columns with a pattern
_POWERS = (1, 10, 20, 24, 31, 52, 53, 62)  # where formats and sums of floats change their steps


def numbers(
    lower: float | None = None, upper: float | None = None, *, integers: bool = False, nan: bool = False
) -> st.SearchStrategy[Any]:
    """Return a strategy for numbers from lower to upper, most of them where arithmetic goes wrong.

    Parameters
    ----------
    lower, upper : number, optional
        Inclusive; unless given, -2^62 and 2^62 for integers, and half of the largest float for floats.
    integers : bool
        Draw integers, not floats.
    nan : bool
        Draw NaN too.

    Raises
    ------
    InvalidArgument
        If the lower number is larger than the upper one.

    References
    ----------
    Casacuberta, Shoemate, Vadhan and Wagaman (2022), Widespread underestimation of sensitivity in differentially
    private libraries: where integers wrap and sums of floats depend on their order.

    Examples
    --------
    >>> from audit import numbers
    >>> from hypothesis import find
    >>> find(numbers(0.0, 1.0), lambda number: 0 < number < 1e-300) > 0
    True
    """
    least, most = (-(2**62), 2**62) if integers else (-math.ldexp(1.0, 1022), math.ldexp(1.0, 1022))
    least, most = (least if lower is None else lower), (most if upper is None else upper)
    if not least <= most:
        raise InvalidArgument.of("lower", f"be at most `upper`, {most!r}", least)
    special = _special_integers(int(least), int(most)) if integers else _special_floats(float(least), float(most))
    if integers:
        return st.one_of(st.sampled_from(special), st.integers(int(least), int(most)))
    drawn = st.floats(float(least), float(most), allow_nan=False)
    kinds = [st.sampled_from(special), drawn, *([st.just(math.nan)] if nan else [])]
    return st.one_of(kinds)


def columns(
    records: st.SearchStrategy[Any], *, min_size: int = 0, max_size: int = 1024
) -> st.SearchStrategy[list[Any]]:
    """Return a strategy for columns: short ones, one value many times, few values in turn, and steps on an offset.

    Parameters
    ----------
    records : strategy
        Of single records, such as `audit.numbers`. Steps on an offset repeat or follow records,
        and never leave the numbers between two that were drawn.
    min_size, max_size : int >= 0
        Of the columns; sums of floats go wrong from some hundreds on.

    Raises
    ------
    InvalidArgument
        If a size is negative, or the smaller one larger than the other.

    Examples
    --------
    >>> from audit import columns, numbers
    >>> from hypothesis import find
    >>> find(columns(numbers(0, 9, integers=True)), lambda column: len(column) > 50)[:3]
    [0, 0, 0]
    """
    if not 0 <= min_size <= max_size:
        raise InvalidArgument.of("min_size", f"be from 0 to `max_size`, {max_size}", min_size)
    lengths = sorted({min(max(length, min_size), max_size) for length in _LENGTHS})
    short = st.lists(records, min_size=min_size, max_size=min(max_size, max(6, min_size)))
    # a long column costs a transformation as much as many short ones: they are one in twelve
    few = st.sampled_from([length for length in lengths if length <= 16] * 4 + lengths)
    cycles = st.lists(records, min_size=1, max_size=3)
    in_turn = st.builds(lambda values, size: (values * size)[:size], cycles, few)
    steps = st.builds(_steps, records, records, few)
    return st.one_of(short, in_turn, steps)


def _steps(base: Any, other: Any, size: int) -> list[Any]:
    """Return a column that starts at `base` and moves to the next numbers in the direction of `other`."""
    if isinstance(base, float) and isinstance(other, float) and math.isfinite(base):
        return [base if place % 2 else float(np.nextafter(base, other)) for place in range(size)]
    return [base if place % 2 else other for place in range(size)]


def _special_floats(least: float, most: float) -> list[float]:
    ends = [least, most, float(np.nextafter(least, most)), float(np.nextafter(most, least)), (least + most) / 2]
    powers = [sign * 2.0**power + step for power in _POWERS for sign in (1, -1) for step in (0.0, 1.0)]
    small = [0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, 2.0**-53, 1 - 2.0**-53, 1 + 2.0**-52, 1e-8, 1e8 + 0.1, 1e15 + 0.3]
    return [*dict.fromkeys(ends), *(number for number in (*small, *powers) if least <= number <= most)]


def _special_integers(least: int, most: int) -> list[int]:
    powers = [sign * 2**power + step for power in _POWERS for sign in (1, -1) for step in (-1, 0, 1)]
    inner = [number for number in (0, 1, -1, 2, 3, *powers) if least <= number <= most]
    return list(dict.fromkeys([least, most, min(least + 1, most), max(most - 1, least), *inner]))
