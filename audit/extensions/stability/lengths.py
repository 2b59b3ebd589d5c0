"""Lengths without rounding: numbers of outputs as fractions, and norms compared with a bound by their powers."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from audit.api import InvalidArgument

_INFINITY = math.inf


@dataclass(frozen=True)
class Length:
    """A distance, held as one of its powers, so that no root is taken and nothing is rounded.

    Examples
    --------
    >>> from fractions import Fraction
    >>> diagonal = Length(Fraction(2), power=2)  # of the unit square
    >>> diagonal.exceeds(1.4142135623730951), diagonal.exceeds(1.414213562373095)
    (False, True)
    """

    raised: Fraction | float  # the distance to this power
    power: int = 1  # 2 for Euclidean lengths, whose squares are rational

    def exceeds(self, bound: Any) -> bool:
        """Return whether the distance is larger than a number >= 0, which is taken as it is stored."""
        if bound == _INFINITY:
            return False
        return bool(self.raised > exact(bound) ** self.power)

    def rounded_up(self) -> float:
        """Return a floating-point number that is not below the distance."""
        if self.raised == _INFINITY:
            return _INFINITY
        try:
            number = math.sqrt(self.raised) if self.power == 2 else float(self.raised)
        except OverflowError:
            return _INFINITY
        while self.exceeds(number):
            number = math.nextafter(number, _INFINITY)
        return number


NOWHERE = Length(_INFINITY)
ZERO = Length(Fraction(0))


def exact(number: Any) -> Fraction:
    """Return a finite number as the fraction that it stores; raise `InvalidArgument` for anything else."""
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, (bool, int, float, Fraction, Decimal, Integral, Rational)):
        try:
            return Fraction(number)
        except (ValueError, OverflowError):
            pass
    raise InvalidArgument.of("a length", "be measured between finite numbers", number)


def difference(left: Any, right: Any) -> Fraction | float:
    """Return |left - right|; 0 for two equal infinities and for two NaN, infinity where one of two is not finite."""
    if type(left) is int and type(right) is int:  # most outputs: the short way
        return Fraction(abs(left - right))
    if _is_finite(left) and _is_finite(right):
        return abs(exact(left) - exact(right))
    return Fraction(0) if record_key(left) == record_key(right) else _INFINITY


def norm(parts: Iterable[Fraction | float], order: float) -> Length:
    """Return the l0, l1, l2 or linf norm of absolute values."""
    sizes = list(parts)
    if order == 0:
        return Length(Fraction(sum(size != 0 for size in sizes)))
    if _INFINITY in sizes:
        return NOWHERE
    if order == _INFINITY:
        return Length(max(sizes, default=Fraction(0)))
    return Length(sum((size**order for size in sizes), Fraction(0)), int(order))


def record_key(record: Any) -> Any:
    """Return the key of a record: NaN is like NaN, 0.0 is not like -0.0, 1 is not like True or 1.0."""
    if isinstance(record, np.generic):
        record = record.item()
    if type(record) is int:
        return ("int", record)
    if isinstance(record, float):
        return ("float", struct.unpack("<q", struct.pack("<d", record))[0])
    if isinstance(record, np.ndarray):
        return ("array", record.shape, tuple(map(record_key, record.ravel().tolist())))
    if isinstance(record, (list, tuple)):
        return (type(record).__name__, tuple(map(record_key, record)))
    if is_frame(record):
        return ("frame", tuple(record.columns), record_key(rows_of(record)))
    if isinstance(record, dict):
        return ("dict", frozenset((record_key(key), record_key(entry)) for key, entry in record.items()))
    return (type(record).__name__, record)


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame, of pandas or polars."""
    return hasattr(value, "columns") and (hasattr(value, "itertuples") or hasattr(value, "rows"))


def rows_of(dataset: Any) -> Any:
    """Return the rows of a data frame as tuples; any other dataset as it is."""
    if not is_frame(dataset):
        return dataset
    return dataset.rows() if hasattr(dataset, "rows") else list(dataset.itertuples(index=False, name=None))


def _is_finite(number: Any) -> bool:
    if type(number) is float:
        return math.isfinite(number)
    return isinstance(number, (int, Fraction)) or (isinstance(number, (Real, Decimal)) and math.isfinite(number))
