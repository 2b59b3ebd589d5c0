"""Numbers that are drawn but not yet known: a comparison with one splits the values that it may still have.

A draw is uniform on a range of integers: the values of an integer, or the multiples of 2^-53 of a floating-point
number. Sums, products and quotients with known numbers are kept as steps, and done when they matter, with the
operations that Python itself would have done. Every step is monotone, since rounding is monotone, so that bisection
finds the thresholds. Any other use needs the value, and is a fork over all that are left, if these are few.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from audit.extensions.enumeration.following import Branches, Follower

WIDEST = 4096  # values that a number may still have when all are told apart
_UNIT = 2.0**-53


def size_of(support: range) -> int:
    """Return the length of a range, which `len` refuses beyond 2^63."""
    return max(0, -((support.start - support.stop) // support.step))


class DeferredDraw:
    """One draw: uniform on a range, which shrinks as comparisons split it."""

    __slots__ = ("follower", "kind", "support")

    def __init__(self, follower: Follower, support: range, kind: type) -> None:
        self.follower, self.support, self.kind = follower, support, kind
        follower.drawn.append(self)

    def value(self, point: int) -> Any:
        """Return the number at a point of the range."""
        return point * _UNIT if self.kind is float else self.kind(point)

    def split(self, signature: tuple[Any, ...], compute: Callable[[], list[tuple[Any, range]]]) -> Any:
        """Fork into pieces of the support, each with a result; return the result of the piece that the run takes."""
        said, known = (*signature, self.support), self.follower.branches

        def branches() -> Branches:
            if said not in known:
                pieces = [(result, piece) for result, piece in compute() if piece]
                known[said] = Branches(pieces, [size_of(piece) for _, piece in pieces], size_of(self.support))
            return known[said]

        result, self.support = self.follower.choose(said, branches)
        return result


class Deferred:
    """A number that follows from one draw; code sees an int or a float."""

    __slots__ = ("_draw", "_grows", "_steps")

    def __init__(self, draw: DeferredDraw, steps: tuple[tuple[Any, ...], ...] = (), grows: bool = True) -> None:
        self._draw, self._steps, self._grows = draw, steps, grows

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.at(self._draw.support[0]))

    def at(self, point: int) -> Any:
        """Return the number where its draw is at a point."""
        value = self._draw.value(point)
        for _, function, other in self._steps:
            value = function(value, other)
        return value

    def ends(self) -> list[Any]:
        """Return the smallest and the largest value of the number."""
        return [self.at(self._draw.support[0]), self.at(self._draw.support[-1])]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(force(self, name), name)

    def __deepcopy__(self, memo: Any) -> Deferred:
        return self

    def __bool__(self) -> bool:
        return bool(compare("ne", self, 0))

    def __round__(self, digits: int | None = None) -> Any:
        return _integer_part(self, round) if digits is None else round(force(self, "round"), digits)

    def __format__(self, form: str) -> str:
        return format(force(self, "format"), form)

    def __abs__(self) -> Any:
        return -self if compare("lt", self, 0) else self

    def __neg__(self) -> Any:
        return _calculate("mul", lambda value, _: -value, self, -1)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return ~force(self, "~")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """Return the result of an operator whose left operand is a number of NumPy."""
        name = _UFUNCS.get(ufunc.__name__, "")
        if method != "__call__" or named or not name:
            self._draw.follower.give_up(f"np.{ufunc.__name__} of a number that is not known yet")
        left, *right = inputs
        own = f"__{name if left is self else MIRRORED.get(name, f'r{name}')}__"
        return getattr(Deferred, own)(self, *(right if left is self else [left]))


def force(number: Any, use: str = "use") -> Any:
    """Return the value of a number, after a fork over all that it may still have; refuse if there are too many."""
    if type(number) is not Deferred:
        return number
    draw = number._draw
    if (size := size_of(draw.support)) > WIDEST:
        draw.follower.give_up(f"a number with {size} possible values was fixed, for {use}")
    if size > 1:
        support = draw.support
        draw.split(("force",), lambda: [(None, support[at : at + 1]) for at in range(size)])
    return number.at(draw.support[0])


def _count(number: Deferred, holds: Callable[[Any], bool]) -> int:
    """Return at how many points from the left a test holds, which does not hold again behind them."""
    support = number._draw.support
    low, high = 0, size_of(support)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(number.at(support[middle])) else (low, middle)
    return low


def _integer_part(number: Deferred, function: Callable[[Any], int]) -> int:
    """Return an integer part, after a fork over all that are possible."""
    if not all(map(math.isfinite, number.ends())):
        return function(force(number, function.__name__))
    draw = number._draw

    def parts() -> list[tuple[int, range]]:
        found: list[tuple[int, range]] = []
        at = 0
        while at < size_of(draw.support):
            if len(found) > WIDEST:
                draw.follower.give_up(f"a number with more than {WIDEST} integer parts was made an integer")
            whole = function(number.at(draw.support[at]))
            end = _count(number, partial(is_within, whole))
            found.append((whole, draw.support[at:end]))
            at = end
        return found

    def is_within(whole: int, value: Any) -> bool:
        return function(value) <= whole if number._grows else function(value) >= whole

    whole: int = draw.split((function.__name__, shape(number)), parts)
    return whole


def shape(number: Deferred) -> tuple[Any, ...]:
    """Return the steps of a number as plain data, which say how it follows from its draw."""
    return (number._draw.kind, *((name, type(other).__name__, repr(other)) for name, _, other in number._steps))


MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_UFUNCS = {
    **{"less": "lt", "less_equal": "le", "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge"},
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv"},
}


def compare(name: str, number: Deferred, other: Any) -> Any:
    """Compare with a known number, by a fork over the results."""
    function: Callable[[Any, Any], Any] = getattr(operator, name)
    if isinstance(other, np.ndarray):
        with number._draw.follower.in_parts():
            return np.array([compare(name, number, entry) for entry in other.ravel()]).reshape(other.shape)
    if other is number:
        return name in ("le", "ge", "eq")
    if type(other) is Deferred:
        if size_of(number._draw.support) < size_of(other._draw.support):
            return compare(MIRRORED[name], other, force(number, "comparison with another draw"))
        other = force(other, "comparison with another draw")
    if not isinstance(other, (int, float, Fraction, np.integer, np.floating)):
        return NotImplemented
    if size_of(number._draw.support) == 1 or other != other:
        return function(number.at(number._draw.support[0]), other)

    first, second = (operator.lt, operator.le) if number._grows else (operator.gt, operator.ge)

    def pieces() -> list[tuple[Any, range]]:
        support = number._draw.support
        ends = _count(number, lambda value: first(value, other)), _count(number, lambda value: second(value, other))
        parts = [support[: ends[0]], support[slice(*ends)], support[ends[1] :]]
        results = groupby(filter(None, parts), lambda part: function(number.at(part[0]), other))
        joined = [(result, list(equal)) for result, equal in results]
        return [(result, range(equal[0].start, equal[-1].stop, support.step)) for result, equal in joined]

    return number._draw.split((name, shape(number), type(other), repr(other)), pieces)


def _calculate(name: str, function: Any, number: Deferred, other: Any) -> Any:
    """Return the result of an operator; a step where it is monotone, else by the value of the number."""
    if isinstance(other, np.ndarray):
        found = np.empty(other.shape, dtype=object)
        found.ravel()[:] = [_calculate(name, function, number, entry) for entry in other.ravel()]
        return found
    if type(other) is Deferred and size_of(number._draw.support) > size_of(other._draw.support):
        other = force(other, name)
    direction = _DIRECTIONS[name](other) if _is_kept(function, number, other) else None
    if direction is None or size_of(number._draw.support) == 1:
        return function(force(number, name), other)
    return Deferred(number._draw, (*number._steps, (name, function, other)), number._grows == direction)


def _is_kept(function: Any, number: Deferred, other: Any) -> bool:
    """Test whether a step has Python's numbers, which do not wrap, and a result at both ends."""
    kinds = (int, float, np.integer) if isinstance(number, float) else (int, float)
    if not isinstance(number, (int, float)) or not isinstance(other, kinds) or not math.isfinite(other):
        return False
    try:
        return all(function(end, other) is not None for end in number.ends())
    except ArithmeticError:
        return False


def _by_sign(other: Any) -> bool | None:
    return other > 0 or (False if other < 0 else None)


# whether a number grows with each operator, given the other operand; None where it is not monotone, or not followed
_DIRECTIONS: dict[str, Callable[[Any], bool | None]] = {
    **dict.fromkeys(("add", "radd", "sub"), lambda other: True),
    "rsub": lambda other: False,
    **dict.fromkeys(("mul", "rmul", "truediv"), _by_sign),
    "floordiv": lambda other: True if other > 0 else None,
    **dict.fromkeys(("pow", "rpow", "mod", "rmod", "rtruediv", "rfloordiv", "divmod", "rdivmod"), lambda other: None),
    **dict.fromkeys(
        ("and", "rand", "or", "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift"), lambda other: None
    ),
}


def _install() -> None:
    """Set the operators of `Deferred`."""

    def calculate_with(name: str) -> Callable[[Deferred, Any], Any]:
        is_plain = hasattr(operator, f"__{name}__") or name == "divmod"
        plain = divmod if name.endswith("divmod") else getattr(operator, f"__{name if is_plain else name[1:]}__")
        function = plain if is_plain else lambda value, other: plain(other, value)
        return lambda number, other: _calculate(name, function, number, other)

    def compare_with(name: str) -> Callable[[Deferred, Any], Any]:
        return lambda number, other: compare(name, number, other)

    def round_with(function: Any) -> Callable[[Deferred], int]:
        return lambda number: _integer_part(number, function)

    def force_for(name: str, function: Any) -> Callable[[Deferred], Any]:
        return lambda number: function(force(number, name))

    for name in _DIRECTIONS:
        setattr(Deferred, f"__{name}__", calculate_with(name))
    for name in MIRRORED:
        setattr(Deferred, f"__{name}__", compare_with(name))
    for name, function in {"int": int, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil}.items():
        setattr(Deferred, f"__{name}__", round_with(function))
    for name, function in {"float": float, "hash": hash, "str": str, "repr": repr, "index": operator.index}.items():
        setattr(Deferred, f"__{name}__", force_for(name, function))


_install()
