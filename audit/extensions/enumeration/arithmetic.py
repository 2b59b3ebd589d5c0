"""Calculate with numbers that are not known yet: steps that are monotone are kept, and all others need the value.

Sums, differences and products of two numbers from one draw, such as u * u, are kept where they are monotone in it.

The C library rounds logarithms, exponentials and roots within some ulp, and not always upwards where they grow; roots
are rounded by IEEE 754. Bisection still finds the thresholds, with a margin: see `deferred`.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from audit.extensions.enumeration import arithmetic as arithmetic  # its operators are those of the numbers
from audit.extensions.enumeration.deferred import (
    MIRRORED,
    NUMBERS,
    ROUGH,
    Deferred,
    compare,
    force,
    integer_part,
    shape,
    size_of,
    wraps,
)


def _calculate(
    name: str, function: Any, grows: Callable[[Deferred, Any], bool | None], number: Deferred, other: Any
) -> Any:
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


def _least(number: Deferred) -> Any:
    support = number._draw.support
    return min(number.at(support[0]), number.at(support[-1]))


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

    directions: dict[str, Any] = {
        "add": lambda number, other: True,
        "radd": lambda number, other: True,
        "sub": lambda number, other: True,
        "rsub": lambda number, other: False,
        "mul": sign,
        "rmul": sign,
        "truediv": sign,
        "rtruediv": lambda number, other: False if other > 0 and _least(number) > 0 else None,
        "floordiv": lambda number, other: True if other > 0 else None,
        "rshift": lambda number, other: True if other >= 0 else None,
        "lshift": lambda number, other: True if other >= 0 else None,
        "pow": lambda number, other: True if 0 < other <= 64 and _least(number) >= 0 else None,
        "rpow": lambda number, other: other > 1 if 0 < other != 1 and isinstance(number, float) else None,
        **dict.fromkeys(("rmod", "or", "ror", "xor", "rxor", "rfloordiv"), lambda number, other: None),
    }
    for name, grows in directions.items():
        plain = name if hasattr(operator, f"__{name}__") else name[1:]
        function = getattr(operator, f"__{plain}__")
        setattr(Deferred, f"__{name}__", method(name, function if plain == name else _reflected(function), grows))
    for name in MIRRORED:
        setattr(Deferred, f"__{name}__", compared(name))


_install()


_NAMES = ("log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt")
_LOWEST = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0, "sqrt": -0.0}  # below, there is no value
_OPERATORS = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv"},
    **{"power": "pow", "remainder": "mod"},
}
_COMPARISONS = {
    **{"less": ("lt", "gt"), "less_equal": ("le", "ge"), "equal": ("eq", "eq"), "not_equal": ("ne", "ne")},
    **{"greater": ("gt", "lt"), "greater_equal": ("ge", "le")},
}


def _said(name: str, module: str = "") -> str:
    return f"{'' if name == 'sqrt' else ROUGH}{module}{name}"


_STEPS = {name: np.errstate(all="ignore")(getattr(np, name)) for name in _NAMES}


def _of_numpy(name: str, number: Deferred) -> Any:
    if name in _LOWEST and compare("lt", number, _LOWEST[name]):
        return np.float64("nan")
    return Deferred(number._draw, (*number._steps, (_said(name), _STEPS[name], None)), number._grows)


def _ufunc(self: Deferred, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
    """Return the result of a NumPy function on a number; None of its results is known before it must be."""
    name, first = ufunc.__name__, inputs[0]
    if method == "__call__" and not named:
        if name in _NAMES:
            return _of_numpy(name, first)
        if name in ("floor", "ceil", "rint"):
            return integer_part(first, ufunc, np.float64)
        if name == "sign" and type(first) is Deferred and first.__class__ is float:
            return np.float64(0.0 if compare("eq", first, 0) else 1.0 if compare("gt", first, 0) else -1.0)
        if name in ("negative", "absolute", "positive"):
            return {"negative": Deferred.__neg__, "absolute": Deferred.__abs__, "positive": Deferred.__pos__}[name](
                first
            )
        if name in _COMPARISONS:
            own, mirrored = _COMPARISONS[name]
            return compare(own, first, inputs[1]) if type(first) is Deferred else compare(mirrored, inputs[1], first)
        if name in _OPERATORS:
            number, other = inputs if type(first) is Deferred else inputs[::-1]
            return getattr(Deferred, f"__{'' if number is first else 'r'}{_OPERATORS[name]}__")(number, other)
    self._draw.follower.not_followed(f"np.{name} of a number that is not known yet")
    return None


Deferred.__array_ufunc__ = _ufunc  # type: ignore[attr-defined]


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return how many entries of a sorted sequence lie before a number, by a binary search as the one of NumPy."""
    entries, before = np.asarray(a), "lt" if side == "left" else "le"
    if type(v) is not Deferred or sorter is not None or entries.ndim != 1 or entries.dtype.kind not in "iuf":
        return NotImplemented
    low, high = 0, len(entries)
    while low < high:
        middle = (low + high) // 2
        if compare("gt" if before == "lt" else "ge", v, entries[middle].item()):
            low = middle + 1
        else:
            high = middle
    return np.int64(low)


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    """Return a number that is kept between two known ones, as NumPy does."""
    if type(a) is not Deferred or not all(end is None or isinstance(end, (int, float)) for end in (a_min, a_max)):
        return NotImplemented
    kind = type(np.clip(a.at(a._draw.support[0]), a_min, a_max))
    for end, beyond in ((a_min, "lt"), (a_max, "gt")):
        if end is not None and compare(beyond, a, end):
            return kind(end)
    return a if kind is not np.float64 else a.converted(np.float64)


def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    is_float = type(a) is Deferred and isinstance(a, float)
    return integer_part(a, np.rint, np.float64) if is_float and not decimals and out is None else NotImplemented


_FUNCTIONS = {"searchsorted": _searchsorted, "clip": _clip, "round": _round, "around": _round}


def _array_function(self: Deferred, function: Any, types: Any, arguments: Any, named: Any) -> Any:
    """Return the result of a NumPy function on a number; a function without a rule runs as on any other object."""
    own: Any = _FUNCTIONS.get(function.__name__)
    found = NotImplemented if own is None else own(*arguments, **named)
    return function._implementation(*arguments, **named) if found is NotImplemented else found


Deferred.__array_function__ = _array_function  # type: ignore[attr-defined]


def _of_math(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def step(value: Any) -> Any:
        return plain(value)

    def function(*arguments: Any) -> Any:
        if len(arguments) == 1 and type(arguments[0]) is Deferred:
            number = arguments[0]
            lowest = _LOWEST.get(name)
            if lowest is None or not compare("lt" if name == "sqrt" else "le", number, lowest):
                return Deferred(number._draw, (*number._steps, (_said(name, "math."), step, None)), number._grows)
        return plain(*arguments)

    return function


def _copysign(x: Any, y: Any) -> float:
    if type(x) is Deferred:
        x = float(x)
    if type(y) is Deferred:  # the two zeros have other signs
        y = -1.0 if compare("lt", y, 0) else 1.0 if compare("gt", y, 0) else float(y)
    return _PLAIN_COPYSIGN(x, y)


_PLAIN_COPYSIGN = math.copysign


def replacements() -> list[tuple[ModuleType, str, Any]]:
    """Return the replacements of the functions of `math`, and of those that `random` has taken from there."""
    names = [name for name in _NAMES if hasattr(math, name)]
    made = {name: _of_math(name, getattr(math, name)) for name in names}
    found: list[tuple[ModuleType, str, Any]] = [(math, name, made[name]) for name in names]
    found.append((math, "copysign", _copysign))
    return found + [(random, f"_{name}", made[name]) for name in ("log", "exp", "sqrt") if hasattr(random, f"_{name}")]
