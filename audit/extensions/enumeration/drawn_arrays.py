"""Arrays of many numbers that are not known yet: what is asked of each of them waits, and a sum is one fork.

A comparison of 200 uniforms with known numbers has 2^200 results, and 201 sums. So in arrays of more than a dozen a
comparison is kept as a step of each number, which has two values from then on; any function of a number of two values
is a step as well. Where such numbers are added up, whose two values lie equally far apart, the fork is over the number
of higher ones, by the convolution of their laws. From then on the draws are linked by that number, and whatever else is
asked of one ends the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit.extensions.enumeration.deferred import TWO_VALUES, Deferred, cut, force, shape, size_of
from audit.extensions.enumeration.following import Branches

MANY = 12  # numbers, beyond which not all that they may be is told apart
_GROWS = {np.less: False, np.less_equal: False, np.greater: True, np.greater_equal: True}
_LONGEST, _BITS = 1024, 256  # bits of a common denominator, and of probabilities that are rounded down
_USUAL = (None, False)
_Pieces = tuple[range, range]


def drawn_array(values: list[Any]) -> DrawnArray:
    """Return numbers as an array, which shares no memory."""
    found = DrawnArray(len(values), dtype=object)
    found[:] = values
    return found


def _is_two_valued(value: Any) -> bool:
    if type(value) is not Deferred:
        return True
    is_said = any(name.startswith(TWO_VALUES) for name, _, _ in value._steps)
    return (is_said or size_of(value._draw.support) <= 2) and not value.is_rough()


def _with_step(number: Any, name: str, function: Callable[[Any, Any], Any], other: Any) -> Any:
    """Return what follows from a number of two values, which is monotone, whatever the function."""
    if type(number) is not Deferred:
        return function(number, other)
    found = Deferred(number._draw, (*number._steps, (TWO_VALUES + name, function, other)))
    support = number._draw.support
    found._grows = bool(found.at(support[-1]) >= found.at(support[0]))
    return found


class DrawnArray(np.ndarray):
    """A row of numbers, as objects, of which some are not known yet."""

    def _values(self) -> list[Any]:
        return list(self.view(np.ndarray))

    def _is_told_apart(self) -> bool:
        """Test whether it is a row of numbers of two values at most."""
        return self.ndim == 1 and all(map(_is_two_valued, self._values()))

    def _known(self) -> Any:
        """Return an array of known numbers, after forks, where each has two values at most; else the objects."""
        if not self._is_told_apart():
            return self.view(np.ndarray)
        unknown = next(filter(_is_unknown, self._values()), None)
        with nullcontext() if unknown is None else unknown._draw.follower.in_parts():
            return np.array([force(value, "an array") for value in self._values()])

    def _each(self, name: str, function: Callable[[Any, Any], Any], others: list[Any] | None = None) -> Any:
        """Return the numbers after a step; None where it cannot wait."""
        others = [()] * len(self) if others is None else others
        if len(others) != len(self) or any(map(_is_unknown, others)):
            return None
        pairs = zip(self._values(), others, strict=True)
        return drawn_array([_with_step(value, name, function, other) for value, other in pairs])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if method == "__call__" and not named and self.ndim == 1:
            found = self._later(ufunc, inputs)
            if found is not None:
                return found
        if "out" in named:
            named["out"] = tuple(value.view(np.ndarray) for value in named["out"])
            inputs = tuple(value.view(np.ndarray) if type(value) is DrawnArray else value for value in inputs)
        found = getattr(ufunc, method)(*map(_plain, inputs), **named)
        is_row = isinstance(found, np.ndarray) and found.dtype == object and found.ndim == 1
        return drawn_array(list(found)) if is_row and any(map(_is_unknown, found)) else found

    def _later(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        at = next(number for number, value in enumerate(inputs) if value is self)
        others = _row(inputs[1 - at], len(self)) if len(inputs) == 2 else [()] * len(self)
        if ufunc.nout != 1 or len(inputs) > 2 or others is None:
            return None
        is_rough = any(_is_unknown(value) and value.is_rough() for value in self._values())
        if not (ufunc in _GROWS and not is_rough) and not self._is_told_apart():
            return None
        if len(inputs) == 1:
            return self._each(ufunc.__name__, lambda value, _: ufunc(value))
        function = ufunc if at == 0 else lambda value, other: ufunc(other, value)
        return self._each(f"{ufunc.__name__} {at}", function, others)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        if function is np.where and len(arguments) == 3 and type(arguments[0]) is DrawnArray and not named:
            mask, *ends = arguments
            rows = [_row(end, len(mask)) for end in ends]
            if None not in rows and mask._is_told_apart():
                kind = np.where(True, *ends).dtype.type
                pairs = [(kind(one), kind(other)) for one, other in zip(*rows, strict=True)]
                if issubclass(kind, (np.number, np.bool_)):
                    return mask._each("where", lambda value, pair: pair[0] if value else pair[1], pairs)
        if function is np.count_nonzero and len(arguments) == 1 and not named:
            return type(np.count_nonzero([]))((self != 0).sum())
        if function in (np.sum, np.mean):
            return super().__array_function__(function, types, arguments, named)
        return function(*_all_plain(arguments), **named)

    def astype(self, dtype: Any, *arguments: Any, **named: Any) -> Any:
        """Return the numbers as those of another type."""
        kind = np.dtype(dtype).type
        if self._is_told_apart() and issubclass(kind, (np.number, np.bool_)):
            return self._each(f"as {kind.__name__}", lambda value, _: kind(value))
        return self._known().astype(dtype, *arguments, **named)

    def tolist(self) -> Any:
        """Return the numbers as those of Python."""
        if not self._is_told_apart():
            return self.view(np.ndarray).tolist()
        return list(self._each("item", lambda value, _: value.item() if isinstance(value, np.generic) else value).flat)

    def sum(self, *arguments: Any, **named: Any) -> Any:
        """Return the sum, after a fork over what it may be."""
        is_usual = all(given in _USUAL for given in arguments) and all(given in _USUAL for given in named.values())
        found = _sum_of(self._values()) if is_usual and self.ndim == 1 else None
        return self._known().sum(*arguments, **named) if found is None else found

    def mean(self, *arguments: Any, **named: Any) -> Any:
        """Return the mean, after a fork over what it may be."""
        found = None if arguments or named or self.ndim != 1 else _sum_of(self._values())
        if found is None or not isinstance(found, (np.integer, np.float64)):
            return self._known().mean(*arguments, **named)
        return np.float64(found) / self.size

    def __repr__(self) -> str:
        return repr(self._known())

    def __str__(self) -> str:
        return str(self._known())


def _is_unknown(value: Any) -> bool:
    return type(value) is Deferred


def _plain(value: Any) -> Any:
    return value._known() if type(value) is DrawnArray else value


def _all_plain(arguments: Any) -> Any:
    return [type(value)(_all_plain(value)) if type(value) in (list, tuple) else _plain(value) for value in arguments]


def _row(value: Any, size: int) -> list[Any] | None:
    """Return known numbers as a row; None where there are no such ones. Python's own take the type of the others."""
    if isinstance(value, (bool, int, float, np.generic)) and not issubclass(type(value), Deferred):
        return [value] * size
    if isinstance(value, (list, tuple)):
        value = np.array(value)
    if type(value) is not np.ndarray or value.dtype == object or value.shape not in ((size,), ()):
        return None
    return list(np.broadcast_to(value, (size,)))


class SumGroup:
    """Draws that are linked by their sum: how many of them have the higher one of two values."""

    def __init__(self, members: list[Any], pieces: list[_Pieces], higher: int, signature: tuple[Any, ...]) -> None:
        self.members, self.pieces, self.higher = members, pieces, higher
        self.region = higher, signature

    def value(self, draw: Any, share: Fraction) -> Any:
        """Return the number of a draw in a run with known numbers: the higher ones are neighbors, from a place on."""
        at, size = self.members.index(draw), len(self.members)
        is_high = (at - math.floor(share * (size - 1))) % size < self.higher
        piece = self.pieces[at][is_high]
        return draw.value(piece[math.floor(share * (size_of(piece) - 1))])


def _pieces(number: Deferred) -> _Pieces:
    """Return the points where a number of two values has the lower one, and where it has the higher one."""
    support = number._draw.support
    first = number.at(support[0])
    count = cut(number, lambda value: value == first)[0]
    return (support[:count], support[count:]) if number._grows else (support[count:], support[:count])


def _sum_of(values: list[Any]) -> Any:
    """Return the sum of numbers of two values each, after a fork; None where there is no rule for it."""
    if not values or not all(map(_is_two_valued, values)):
        return None
    ends = [[value.at(value._draw.support[at]) if _is_unknown(value) else value for at in (0, -1)] for value in values]
    every = [np.bool_(end) if type(end) is bool else end for pair in ends for end in pair]
    if len(set(map(type, every))) > 1 or not all(map(_is_exact, every)):
        return None
    exact = [(Fraction(float(one)), Fraction(float(other))) for one, other in ends]
    widths, lowest = {abs(one - other) for one, other in exact} - {0}, sum(map(min, exact), Fraction(0))
    kind = type(np.array(every[:1]).sum())
    if not widths:
        return kind(lowest)
    if len(widths) > 1:
        return None
    numbers = [value for value, (one, other) in zip(values, ends, strict=True) if one != other]
    follower = numbers[0]._draw.follower
    if len({id(number._draw) for number in numbers}) < len(numbers):
        follower.not_followed("a sum of numbers of which two follow from one draw")
    if any(number._draw.group is not None for number in numbers):
        follower.not_followed("a sum of numbers whose draws were asked for another sum, or compared, before")
    signature = ("sum", *((shape(number), number._draw.support) for number in numbers), range(len(numbers)))
    higher, pieces = follower.choose(signature, partial(_convolved, numbers))
    group = SumGroup([number._draw for number in numbers], pieces, higher, signature)
    for number in numbers:
        number._draw.group = group
    return kind(lowest + widths.pop() * higher)


def _is_exact(value: Any) -> bool:
    """Test whether sums of thousands of such numbers are exact, in any order."""
    return bool(abs(value) <= 2**20) and (float(value) * 2**16).is_integer()


def _convolved(numbers: list[Deferred]) -> Branches:
    """Return the law of how many numbers have their higher value."""
    weights, total, pieces = [1], 1, list(map(_pieces, numbers))
    for piece in pieces:
        low, high = map(size_of, piece)
        common = math.gcd(low, high)
        low, high = low // common, high // common
        total *= low + high
        weights = [low * one + high * other for one, other in zip([*weights, 0], [0, *weights], strict=True)]
    if total.bit_length() > _LONGEST:
        weights, total = [(weight << _BITS) // total for weight in weights], 1 << _BITS
    kept = [number for number, weight in enumerate(weights) if weight]
    data = [(number, pieces) for number in kept]
    return Branches(data, [weights[number] for number in kept], total, "the rounding of a sum")
