"""Logarithms, exponentials and roots of numbers that are drawn but not yet known, and what NumPy makes of such numbers.

The C library rounds these functions within an ulp or so, and not always upwards where they grow. Thresholds are found
by bisection all the same, and the points next to a threshold are all looked at: see `deferred.count`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from audit.enumeration.deferred import ROUGH, Deferred, compare, integer_part

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


def _quiet(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def quiet(value: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(value)

    return quiet


_STEPS = {name: _quiet(getattr(np, name)) for name in _NAMES}


def _of_numpy(name: str, number: Deferred) -> Any:
    if name in _LOWEST and compare("lt", number, _LOWEST[name]):
        return np.float64("nan")
    return Deferred(number._draw, (*number._steps, (ROUGH + name, _STEPS[name], None)), number._grows)


def _ufunc(self: Deferred, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
    """Return what a function of NumPy makes of a number; None of its results is known before it must be."""
    name, first = ufunc.__name__, inputs[0]
    if method == "__call__" and not named:
        if name in _NAMES:
            return _of_numpy(name, first)
        if name in ("floor", "ceil", "rint"):
            return integer_part(first, ufunc, np.float64)
        if name in ("negative", "absolute", "positive"):
            return {"negative": Deferred.__neg__, "absolute": Deferred.__abs__, "positive": Deferred.__pos__}[name](
                first
            )
        if name in _COMPARISONS:
            own, mirrored = _COMPARISONS[name]
            if type(first) is Deferred:
                return getattr(Deferred, f"__{own}__")(first, inputs[1])
            return getattr(Deferred, f"__{mirrored}__")(inputs[1], first)
        if name in _OPERATORS:
            if type(first) is Deferred:
                return getattr(Deferred, f"__{_OPERATORS[name]}__")(first, inputs[1])
            return getattr(Deferred, f"__r{_OPERATORS[name]}__")(inputs[1], first)
    self._draw.follower.not_followed(f"np.{name} of a number that is not known yet")
    return None


Deferred.__array_ufunc__ = _ufunc  # type: ignore[attr-defined]


def _of_math(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def step(value: Any) -> Any:
        return plain(value)

    def function(*arguments: Any) -> Any:
        if len(arguments) == 1 and type(arguments[0]) is Deferred:
            number = arguments[0]
            lowest = _LOWEST.get(name)
            if lowest is None or not compare("lt" if name == "sqrt" else "le", number, lowest):
                return Deferred(number._draw, (*number._steps, (f"{ROUGH}math.{name}", step, None)), number._grows)
        return plain(*arguments)

    return function


def replacements() -> list[tuple[ModuleType, str, Any]]:
    """Return what takes the place of the functions of `math`, and of those that `random` has taken from there."""
    names = [name for name in _NAMES if hasattr(math, name)]
    made = {name: _of_math(name, getattr(math, name)) for name in names}
    found: list[tuple[ModuleType, str, Any]] = [(math, name, made[name]) for name in names]
    return found + [(random, f"_{name}", made[name]) for name in ("log", "exp", "sqrt") if hasattr(random, f"_{name}")]
