"""Calculate with numbers that are not known yet: steps that are monotone are kept, and all others need the value.

Sums, differences and products of two numbers from one draw, such as u * u, are kept where they are monotone in it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.extensions.enumeration.answers import Symbol
from audit.extensions.enumeration.deferred import (
    MIRRORED,
    NUMBERS,
    ROUGH,
    Deferred,
    compare,
    force,
    shape,
    size_of,
    wraps,
)


def _calculate(
    name: str, function: Any, grows: Callable[[Deferred, Any], bool | None], number: Deferred, other: Any
) -> Any:
    if type(other) is Symbol:
        return NotImplemented
    if isinstance(other, np.ndarray):
        flat = [_calculate(name, function, grows, number, entry) for entry in other.ravel()]
        return np.array(flat, dtype=object).reshape(other.shape)
    if type(other) is Deferred:
        if other._draw is number._draw and (joint := _with_itself(name, function, number, other)) is not None:
            return joint
        if size_of(number._draw.support) < size_of(other._draw.support):
            return function(force(number, name), other)
        other = force(other, name)
    if type(number) is not Deferred or size_of(number._draw.support) == 1:
        return function(force(number, name), other)
    if isinstance(other, NUMBERS) and math.isfinite(other):
        direction = grows(number, other)
        if direction is not None and not wraps(number, function, other):
            step = (ROUGH + name if name in _ROUGH_STEPS else name, function, other)
            return Deferred(number._draw, (*number._steps, step), number._grows == direction)
    elif not isinstance(other, NUMBERS):
        return function(force(number, name), other)
    return function(force(number, name), other)


def _with_itself(name: str, function: Any, number: Deferred, other: Deferred) -> Deferred | None:
    """Return a sum, difference or product of two numbers of one draw, where it is monotone; else None."""
    support = number._draw.support
    pairs = [(number.at(end), other.at(end)) for end in (support[0], support[-1])]
    if any(isinstance(part, (np.integer, np.bool_, bool)) for pair in pairs for part in pair):  # they may wrap
        return None
    if number.is_rough() or other.is_rough():  # how far the two are off together is not known
        return None
    if not _is_monotone(name, number._grows == other._grows, min(map(min, pairs))):
        return None
    said = f"{name} of {shape(number)} and {shape(other)}"
    return Deferred(
        number._draw, ((said, lambda value: function(number.of(value), other.of(value)), None),), number._grows
    )


def _is_monotone(name: str, is_same: bool, least: Any) -> bool:
    """Test whether two monotone functions of one draw, in the same direction or not, have a monotone result."""
    return is_same if name == "add" else not is_same if name == "sub" else name == "mul" and is_same and least >= 0


def _is_positive(number: Deferred, or_zero: bool = False) -> bool:
    support = number._draw.support
    least = min(number.at(support[0]), number.at(support[-1]))
    return bool(least >= 0 if or_zero else least > 0)


def _is_float(number: Deferred) -> bool:
    return isinstance(number.at(number._draw.support[0]), float)


_ROUGH_STEPS = ("pow", "rpow")


def _reflected(function: Any) -> Any:
    def swapped(value: Any, other: Any) -> Any:
        return function(other, value)

    return swapped


def _install() -> None:
    """Set the operators of `Deferred`."""

    def method(name: str, function: Any, grows: Any) -> Callable[[Deferred, Any], Any]:
        return lambda number, other: _calculate(name, function, grows, number, other)

    def sign(number: Deferred, other: Any) -> bool | None:
        return bool(other > 0) if other else None

    def compared(name: str) -> Callable[[Deferred, Any], Any]:
        return lambda number, other: compare(name, number, other)

    def whole(number: Deferred, other: Any) -> bool | None:
        return True if other > 0 else None

    directions: dict[str, Any] = {
        "add": lambda number, other: True,
        "radd": lambda number, other: True,
        "sub": lambda number, other: True,
        "rsub": lambda number, other: False,
        "mul": sign,
        "rmul": sign,
        "truediv": sign,
        "rtruediv": lambda number, other: False if other > 0 and _is_positive(number) else None,
        "floordiv": whole,
        "rshift": lambda number, other: True if other >= 0 else None,
        "lshift": lambda number, other: True if other >= 0 else None,
        "pow": lambda number, other: True if 0 < other <= 64 and _is_positive(number, or_zero=True) else None,
        "rpow": lambda number, other: other > 1 if 0 < other != 1 and _is_float(number) else None,
        "rmod": lambda number, other: None,
        "or": lambda number, other: None,
        "ror": lambda number, other: None,
        "xor": lambda number, other: None,
        "rxor": lambda number, other: None,
        "rfloordiv": lambda number, other: None,
    }
    for name, grows in directions.items():
        plain = (
            name[1:]
            if name in ("radd", "rsub", "rmul", "rtruediv", "rpow", "rmod", "ror", "rxor", "rfloordiv")
            else name
        )
        function = getattr(operator, f"__{plain}__")
        setattr(Deferred, f"__{name}__", method(name, function if plain == name else _reflected(function), grows))
    for name in MIRRORED:
        setattr(Deferred, f"__{name}__", compared(name))


_install()
