"""Numbers that are drawn but not yet known: a comparison with one splits the values that it may still have.

A draw is uniform on a range of integers: the values of an integer, or the multiples of 2^-53 of a floating-point
number. Arithmetic with known numbers is kept as steps and done when it matters, with the operations that Python itself
would have done. Every step is monotone, since rounding is monotone, so that bisection finds the thresholds.

Logarithms, exponentials and powers are rough: the C library and NumPy give them within 4 ulp of a monotone function (as
their documents say), and may fall back by 8. So a point is surely on one side of a threshold where it is there after a
move of 8 ulp either way at each rough step, and so are all before it, or behind it. Those between are looked at if few;
of a flat function, such as u ** 0.001, they are many, and left over.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit.extensions.enumeration.following import Branches, Follower

WIDEST = 4096  # values that a number may still have when all are told apart
NUMBERS = (bool, int, float, np.integer, np.floating)
_UNIT = 2.0**-53
ROUGH = "~"  # begins the name of a step that may not be monotone in its last bits
UNCLEAR = "points around the thresholds of rough functions"
_SAY_ALL = ("lt", "le", "gt", "ge", "force")  # forks whose branches follow from their description
_COARSE = ("round", "floordiv", "rshift")  # steps behind which a number may have few values
_LOOKED_AT = 1024  # points at which a rough step is looked at


def size_of(support: range) -> int:
    """Return the length of a range, which `len` refuses beyond 2^63."""
    return max(0, -((support.start - support.stop) // support.step))


class Draw:
    """One draw: uniform on a range, which shrinks as comparisons split it."""

    __slots__ = ("follower", "is_float", "kind", "support")

    def __init__(self, follower: Follower, support: range, kind: type) -> None:
        self.follower, self.support, self.kind, self.is_float = follower, support, kind, kind is float
        follower.drawn.append(self)

    def value(self, point: int) -> Any:
        """Return the number at a point of the range."""
        return point * _UNIT if self.is_float else self.kind(point)

    def fixed(self, use: str) -> None:
        """Fork over all values; refuse if there are too many."""
        support = self.support
        if size_of(support) > WIDEST:
            self.follower.not_followed(f"a number with {size_of(support)} possible values was fixed, for {use}")
        if size_of(support) > 1:
            self.split(("force",), lambda: [(None, support[at : at + 1]) for at in range(size_of(support))])

    def weight(self, piece: range) -> int:
        """Return the weight of the points of a piece."""
        return size_of(piece)

    def pieces(self, number: Deferred, known: Callable[[Any], Any], other: Any) -> list[tuple[Any, range]]:
        """Return the points left of a threshold, at it and right of it, with the result of a comparison there."""
        if type(self) is not Draw or number._steps or type(other) not in (float, int) or not abs(other) < 2**64:
            parts = three_parts(number, other)
        else:
            point = Fraction(other) * (2**53 if self.is_float else 1)
            below, upto = (_before(self.support, end) for end in (math.ceil(point), math.floor(point) + 1))
            parts = [self.support[:below], self.support[below : max(below, upto)], self.support[max(below, upto) :]]
        return [(known(number.at(part[0])), part) for part in parts if part]

    def whole(self, number: Deferred, function: Callable[[Any], Any]) -> list[tuple[Any, range]]:
        """Return for each integer part the points that surely have it."""
        found, at = [], 0
        while at < size_of(self.support):
            whole = function(number.at(self.support[at]))
            before = partial(_is_before, function, whole, number._grows)
            start = max(at, cut(number, before)[1]) if number.is_rough() else at
            if start > at:
                at = start
                continue
            end, after = cut(number, partial(is_within, function, whole, number._grows))
            if end > at:
                found.append((whole, self.support[at:end]))
            at = max(at + 1, after)
            if len(found) > WIDEST:
                self.follower.not_followed(f"a number with more than {WIDEST} integer parts was made an integer")
        return found

    def split(self, signature: tuple[Any, ...], compute: Callable[[], list[tuple[Any, range]]]) -> Any:
        """Fork into pieces of the support, each with a result; return the result of the piece that the run takes."""
        said = (*signature, self.support)
        known = self.follower.branches if type(self) is Draw and said[0] in _SAY_ALL else {}
        make = partial(self._branches, compute)
        result, self.support = self.follower.choose(said, lambda: known.get(said) or known.setdefault(said, make()))
        return result

    def _branches(self, compute: Callable[[], list[tuple[Any, range]]]) -> Branches:
        pieces = [(result, piece) for result, piece in compute() if piece]
        return Branches(pieces, [self.weight(piece) for _, piece in pieces], self.weight(self.support), UNCLEAR)


class Deferred:
    """A number that follows from one draw; code sees an int or a float."""

    __slots__ = ("_draw", "_grows", "_steps")

    def __init__(self, draw: Draw, steps: tuple[tuple[Any, ...], ...] = (), grows: bool = True) -> None:
        self._draw, self._steps, self._grows = draw, steps, grows

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.at(self._draw.support[0]))

    def at(self, point: int) -> Any:
        """Return the number where its draw is at a point."""
        return self.of(self._draw.value(point))

    def of(self, value: Any) -> Any:
        """Return the number that follows from a value of its draw."""
        for _, function, other in self._steps:
            value = function(value) if other is None else function(value, other)
        return value

    def is_rough(self) -> bool:
        """Test whether a step may not be monotone in its last bits."""
        return any(name.startswith(ROUGH) for name, _, _ in self._steps)

    def moved(self, value: Any) -> list[Any]:
        """Return the numbers that follow from a value of its draw, with each rough step moved either way."""
        values = [value]
        for name, function, other in self._steps:
            try:
                values = [function(value) if other is None else function(value, other) for value in values]
            except (ValueError, ArithmeticError):
                if len(values) > 1:
                    self._draw.follower.not_followed("a function has no value next to one that it has")
                raise
            if name.startswith(ROUGH):
                values = [end for value in values for end in _ends(value)]
        return values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__round__",):
            raise AttributeError(name)
        return getattr(force(self, name), name)

    def __deepcopy__(self, memo: Any) -> Deferred:
        return self

    def __bool__(self) -> bool:
        return bool(self != 0)  # type: ignore[comparison-overlap]  # a comparison of numbers, decided by `compare`

    def __int__(self) -> int:
        return int(integer_part(self, int))

    def __trunc__(self) -> int:
        return int(integer_part(self, math.trunc))

    def __floor__(self) -> int:
        return int(integer_part(self, math.floor))

    def __ceil__(self) -> int:
        return int(integer_part(self, math.ceil))

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return integer_part(self, round)
        if type(digits) is not int or type(self.at(self._draw.support[0])) is not float:
            return round(force(self, "round"), digits)
        return Deferred(self._draw, (*self._steps, ("round", round, digits)), self._grows)  # monotone

    def converted(self, kind: Any) -> Any:
        """Return the number as one of a floating-point kind; conversion rounds, and so is monotone."""
        support = self._draw.support
        try:
            kind(self.at(support[-1]))
        except OverflowError:
            return kind(force(self, "conversion to float"))
        if type(self.at(support[0])) is kind:
            return self
        return Deferred(self._draw, (*self._steps, (kind.__name__, kind, None)), self._grows)

    def __index__(self) -> int:
        return operator.index(force(self, "use as an index"))

    def __float__(self) -> float:
        return float(force(self, "conversion to float"))

    def __hash__(self) -> int:
        return hash(force(self, "hash"))

    def __str__(self) -> str:
        return str(force(self, "str"))

    def __repr__(self) -> str:
        return repr(force(self, "repr"))

    def __format__(self, form: str) -> str:
        return format(force(self, "format"), form)

    def __abs__(self) -> Any:
        return -self if compare("lt", self, 0) else self

    def __neg__(self) -> Any:
        if wraps(self, operator.neg):
            return -force(self, "a minus that wraps")
        return Deferred(self._draw, (*self._steps, ("neg", operator.neg, None)), not self._grows)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        operator.invert(self.at(self._draw.support[0]))  # a floating-point number has no such operation
        return Deferred(self._draw, (*self._steps, ("invert", operator.invert, None)), not self._grows)

    def __mod__(self, other: Any) -> Any:
        draw = self._draw
        if draw.is_float or self._steps or type(other) is not int or other <= 0 or not is_number_of(draw.kind, other):
            return force(self, "%") % other
        return draw.kind(draw.split(("%", other), lambda: _residues(draw.support, other)))

    def __and__(self, other: Any) -> Any:
        if type(other) is int and other >= 0 and not other & (other + 1) and not self._steps:
            return self % (other + 1)
        return force(self, "&") & other

    __rand__ = __and__

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        rest = self % other
        return self // other, rest


def _ends(value: Any) -> tuple[Any, ...]:
    """Return a result of a rough step, moved either way; integers are exact."""
    if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
        return (value,)
    kind: Any = type(value)
    by = abs(value) * kind(8 * np.finfo(kind).eps) + kind(2.0**-1071)
    return tuple(end if math.isfinite(end) else value for end in (value - by, value + by))


def _residues(support: range, modulus: int) -> list[tuple[int, range]]:
    period = modulus // math.gcd(support.step, modulus)
    if min(period, size_of(support)) > WIDEST:
        return [(0, support)]  # refused below: `force` says why
    return [(support[offset] % modulus, support[offset::period]) for offset in range(min(period, size_of(support)))]


def force(number: Any, use: str = "use") -> Any:
    """Return the value of a number, after a fork over all that it may still have."""
    if type(number) is not Deferred:
        return number
    if size_of(number._draw.support) > WIDEST and any(name.startswith(_COARSE) for name, _, _ in number._steps):
        return _by_level(number, use)
    number._draw.fixed(use)
    return number.at(number._draw.support[0])


def _by_level(number: Deferred, use: str) -> Any:
    """Return the value of a number that has few, after a fork over these; the two zeros are told apart."""
    draw = number._draw
    if not all(math.isfinite(number.at(end)) for end in (draw.support[0], draw.support[-1])):
        draw.fixed(use)
    return draw.split(("level", shape(number)), lambda: [(at[0], part) for at, part in draw.whole(number, _level)])


def _level(value: Any) -> tuple[Any, float]:
    return value, math.copysign(1.0, value)


def cut(number: Deferred, holds: Callable[[Any], bool]) -> tuple[int, int]:
    """Return before how many points from the left a test surely holds, and from which on it surely does not."""
    support = number._draw.support

    def count(is_so: Callable[[list[Any]], bool]) -> int:
        low, high = 0, size_of(support)
        while low < high:
            middle = (low + high) // 2
            value = number._draw.value(support[middle])
            low, high = (middle + 1, high) if is_so(number.moved(value)) else (low, middle)
        return low

    if not number.is_rough():
        return (count(lambda values: holds(values[0])),) * 2
    sure, possible = (count(lambda values: test(map(holds, values))) for test in (all, any))  # noqa: B023
    if 0 <= possible - sure <= _LOOKED_AT:
        told = [bool(holds(number.at(support[at]))) for at in range(sure, possible)]
        if told == sorted(told, reverse=True):
            return (sure + sum(told),) * 2
    return min(sure, possible), max(sure, possible)


def three_parts(number: Deferred, other: Any) -> list[range]:
    """Return the points surely left of a threshold, surely at it, and surely right of it."""
    first, second = (operator.lt, operator.le) if number._grows else (operator.gt, operator.ge)
    below, least = cut(number, lambda value: first(value, other))
    most, above = cut(number, lambda value: second(value, other))
    support = number._draw.support
    return [support[:below], support[least : max(least, most)], support[max(least, above) :]]


def integer_part(number: Deferred, function: Callable[[Any], Any], kind: type = int) -> Any:
    """Return an integer part, after a fork over all that are possible; infinity is told apart first."""
    draw = number._draw
    is_finite = all(math.isfinite(number.at(end)) for end in (draw.support[0], draw.support[-1]))
    if not is_finite and (compare("ge", number, math.inf) or compare("le", number, -math.inf)):
        return function(force(number, function.__name__))

    return kind(draw.split((function.__name__, shape(number)), lambda: draw.whole(number, function)))


def is_within(function: Callable[[Any], int], whole: int, grows: bool, value: Any) -> bool:
    return function(value) <= whole if grows else function(value) >= whole


def _is_before(function: Callable[[Any], int], whole: int, grows: bool, value: Any) -> bool:
    return not is_within(function, whole, not grows, value)


def shape(number: Deferred) -> tuple[Any, ...]:
    """Return the steps of a number as plain data, which say how it follows from its draw."""
    steps = ((name, type(other).__name__, repr(other)) for name, _, other in number._steps)
    return (number._draw.kind, *steps)


def compare(name: str, number: Deferred, other: Any) -> Any:
    kind = type(other)
    if kind is not float and kind is not int:  # the most frequent comparisons need no more
        if isinstance(other, np.ndarray):
            with number._draw.follower.in_parts():
                return np.array([compare(name, number, entry) for entry in other.ravel()]).reshape(other.shape)
        if kind is Deferred:
            if other is number and math.isfinite(number.at(number._draw.support[0])):
                return name in ("le", "ge", "eq")
            number, other, name = _one_known(number, other, name)
            if type(number) is not Deferred:
                return getattr(operator, name)(number, other)
        if not _is_comparable(other):
            return NotImplemented
    draw = number._draw
    if draw.support.stop - draw.support.start <= draw.support.step:
        return getattr(operator, name)(force(number), other)
    form = shape(number) if number._steps else draw.kind
    return draw.split((name, form, kind, other if other == other else "nan"), partial(_pieces, name, number, other))


def _is_comparable(other: Any) -> bool:
    if isinstance(other, NUMBERS):
        return True
    try:
        return bool(other == other) and not isinstance(other, str) and bool(other < math.inf)
    except TypeError:
        return False


def _pieces(name: str, number: Deferred, other: Any) -> list[tuple[Any, range]]:
    known = getattr(operator, name)
    return _joined(number._draw.pieces(number, lambda value: known(value, other), other))


def _before(support: range, end: int) -> int:
    return min(size_of(support), max(0, -((support.start - end) // support.step)))


def _joined(pieces: list[tuple[Any, range]]) -> list[tuple[Any, range]]:
    """Join neighboring pieces with one result."""
    found: list[tuple[Any, range]] = []
    for result, piece in pieces:
        if found and found[-1][0] == result and found[-1][1].stop == piece.start:
            found[-1] = result, range(found[-1][1].start, piece.stop, piece.step)
        else:
            found.append((result, piece))
    return found


MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def _one_known(number: Deferred, other: Deferred, name: str) -> tuple[Any, Any, str]:
    """Fix the value of one of two numbers: the one with fewer values."""
    if size_of(number._draw.support) < size_of(other._draw.support):
        return other, force(number, "comparison with another draw"), MIRRORED[name]
    return number, force(other, "comparison with another draw"), name


def wraps(number: Any, function: Any, *others: Any) -> bool:
    """Test whether a step leaves the width of its integers: whether Python's integers give something else at an end.

    In Python's integers every step is monotone. Where both ends stay within the width, so does all that is between.
    """
    support = number._draw.support
    for value in (number.at(support[0]), number.at(support[-1])):
        if not any(isinstance(part, np.integer) for part in (value, *others)):
            return False
        if not all(isinstance(part, (int, np.integer)) for part in (value, *others)):
            return False
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = function(value, *others)
            exact = function(int(value), *map(int, others))
        except (OverflowError, ValueError, ZeroDivisionError):
            return True
        if isinstance(found, (int, np.integer)) and int(found) != exact:
            return True
    return False


def is_number_of(kind: Any, number: int) -> bool:
    """Test whether integers of a kind can be `number`."""
    return kind is int or number <= np.iinfo(kind).max
