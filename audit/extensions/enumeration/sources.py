"""Stand-ins for Python's and NumPy's sources of randomness, which fork."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial, wraps
from itertools import islice
from typing import Any

import numpy as np

from audit.extensions.enumeration.deferred import Deferred, DeferredDraw, force
from audit.extensions.enumeration.following import Branches, Follower

_FLOAT = range(2**53)


def uniform(follower: Follower) -> Any:
    """Return a multiple of 2^-53 in [0, 1), uniform."""
    return Deferred(DeferredDraw(follower, _FLOAT, float)) if follower.known is None else follower.take_number()


def below(follower: Follower, number: int, kind: type = int, low: int = 0) -> Any:
    """Return an integer in [low, low + number), uniform, of which as little is known as is asked for."""
    if number <= 0:
        raise ValueError("empty range")
    if number == 1:
        return kind(low)
    if follower.known is not None:
        return follower.take_number()
    return Deferred(DeferredDraw(follower, range(low, low + number), kind))


class ForkingRandom(random.Random):
    """A `random.Random` that forks. All but the three sources below is Python's own code, fed by them.

    `_randbelow` rejects bits of `getrandbits` until they are in range, so that its law is uniform.
    """

    def __new__(cls, follower: Follower) -> ForkingRandom:
        return super().__new__(cls, 0)  # type: ignore[call-arg]

    def __init__(self, follower: Follower) -> None:
        super().__init__(0)
        self._follower = follower

    def __deepcopy__(self, memo: Any) -> ForkingRandom:
        return self

    def random(self) -> Any:
        return uniform(self._follower)

    def getrandbits(self, k: int) -> Any:
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        return below(self._follower, 1 << int(k))

    def _randbelow(self, n: int) -> Any:
        return below(self._follower, n)

    def seed(self, *arguments: Any, **named: Any) -> None:
        self.gauss_next = None
        if "_follower" in self.__dict__:
            self._follower.give_up("the source was seeded by the code")

    def getstate(self, *arguments: Any) -> Any:
        self._follower.give_up("the state of the source was read or set")

    setstate: Any = getstate
    __reduce__ = __getstate__ = getstate


_TAIL = 2.0**-80  # an infinite law is followed up to a tail of this probability, which is lost
_MOST_VALUES = 20_000
_BITS = 256  # probabilities of the infinite laws are rounded down to multiples of 2^-256


def _fill(follower: Follower, make: Callable[[], Any], size: Any, dtype: Any) -> Any:
    """Return one value, or an array of them; numbers that are not yet known make an array of objects."""
    if size is None:
        return make()
    shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
    with follower.in_parts():
        values = [make() for _ in range(math.prod(shape))]
    if any(type(value) is Deferred for value in values):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found.reshape(shape)
    return np.array(values, dtype=dtype).reshape(shape)


def _evenly(number: int) -> Branches:
    return Branches(range(number), [1] * number, number)


def _geometric(chance: Fraction) -> Iterator[Fraction]:
    """Yield the probabilities of 0, 1, ...: rounded down, so that the products of a long sequence stay short."""
    left = Fraction(1)
    yield Fraction(0)
    while True:
        yield left * chance
        left = Fraction(math.floor(left * (1 - chance) * 2**320), 2**320)


class _Forking:
    """Draw each value from its ideal law, for both stand-ins."""

    _follower: Follower

    def _each(self, make: Callable[..., Any], size: Any, dtype: Any, *parameters: Any) -> Any:
        """Draw for each entry of the parameters, broadcast to the size."""
        if all(np.ndim(parameter) == 0 for parameter in parameters):
            plain = [parameter.item() if isinstance(parameter, np.generic) else parameter for parameter in parameters]
            return _fill(self._follower, lambda: make(*plain), size, dtype)
        arrays = np.broadcast_arrays(*parameters)
        shape = arrays[0].shape if size is None else ((size,) if isinstance(size, (int, np.integer)) else tuple(size))
        arrays = tuple(np.broadcast_to(array, shape) for array in arrays)
        found = np.empty(shape, dtype=object)
        with self._follower.in_parts():
            for index in np.ndindex(shape):
                found[index] = make(*(array[index].item() for array in arrays))
        return found if any(type(value) is Deferred for value in found.ravel()) else found.astype(dtype)

    def _whole_numbers(self, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool) -> Any:
        if high is None:
            low, high = 0, low
        kind = dtype if isinstance(dtype, type) else np.dtype(dtype).type  # NumPy gives scalars of this type
        with self._follower.in_parts():  # an array holds known numbers of its type
            found = self._each(
                lambda a, b: below(self._follower, int(b) + endpoint - int(a), kind, int(a)), size, dtype, low, high
            )
            if not isinstance(found, np.ndarray):
                return found
            return np.array([force(value) for value in found.ravel()], dtype=dtype).reshape(found.shape)

    def _law(self, name: str, parameters: tuple[Any, ...], terms: Iterator[Fraction]) -> int:
        """Return a natural number with these probabilities, rounded down; the tail is lost."""

        def branches() -> Branches:
            weights, left = list[int](), 1 << _BITS
            for term in islice(terms, _MOST_VALUES):
                weights.append(math.floor(term * 2**_BITS))
                left -= weights[-1]
                if left <= 2**_BITS * _TAIL:
                    break
            values = [value for value, weight in enumerate(weights) if weight]
            return Branches(values, [weights[value] for value in values], 1 << _BITS, f"the tail of {name}")

        return int(self._follower.choose((name, *map(repr, parameters)), branches))

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        def one(n: int, p: float) -> int:
            chance, number = Fraction(p), int(n)
            if number > 1024:
                self._follower.give_up(f"binomial with n = {number}")
            terms = (math.comb(number, k) * chance**k * (1 - chance) ** (number - k) for k in range(number + 1))
            return self._law("binomial", (number, p), terms)

        return self._each(one, size, np.int64, n, p)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._each(lambda p: self._law("geometric", (p,), _geometric(Fraction(p))), size, np.int64, p)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        pool, axis = (np.arange(int(a)), 0) if np.ndim(a) == 0 else (np.asarray(a), axis)
        number = 1 if size is None else int(np.prod(size))
        if not replace and number > 1 and p is not None:
            self._follower.give_up("choice without replacement, with p")
        if not replace and number > 1 and not shuffle:
            self._follower.give_up("choice without replacement, in NumPy's own order")
        with self._follower.in_parts():
            indices = self._indices(pool.shape[axis], number, replace, p)
        if size is None:
            return int(indices[0]) if np.ndim(a) == 0 else np.take(pool, indices[0], axis=axis)
        found = np.take(pool, np.array(indices, dtype=np.int64).reshape(size), axis=axis)
        return np.asarray(found, dtype=pool.dtype)  # an array also where its shape is ()

    def _indices(self, size: int, number: int, replace: bool, p: Any) -> list[int]:
        if p is not None:
            return [self._by_weight(p, size) for _ in range(number)]
        if replace or number == 1:
            return [int(below(self._follower, size)) for _ in range(number)]
        indices = list(range(size))
        self._mix(indices)  # its first entries are a sample in random order
        return indices[:number]

    def _by_weight(self, p: Any, number: int) -> int:
        """Return an index as NumPy finds it: by a search for a uniform among the cumulated probabilities."""
        weights = np.asarray(p, dtype=np.float64)
        cumulated = weights.cumsum()
        cumulated /= cumulated[-1]

        def branches() -> Branches:
            ends = [min(2**53, math.ceil(Fraction(float(end)) * 2**53)) for end in cumulated]
            pieces = [(index, end - start) for index, (start, end) in enumerate(zip([0, *ends], ends, strict=False))]
            pieces = [(index, weight) for index, weight in pieces if weight > 0]
            return Branches([index for index, _ in pieces], [weight for _, weight in pieces], 2**53)

        return int(self._follower.choose(("choice", weights.tobytes()), branches))

    def _mix(self, values: Any) -> None:
        """Shuffle in place (Fisher and Yates); the choices so far are part of the signature."""
        so_far: list[int] = []
        for last in range(len(values) - 1, 0, -1):
            number, made = last + 1, tuple(so_far)
            signature = ("shuffle", len(values), made)
            other = self._follower.choose(signature, partial(_evenly, number))
            so_far.append(other)
            if isinstance(values, np.ndarray) and (values.ndim > 1 or values.dtype.kind == "V"):  # entries are views
                values[[last, other]] = values[[other, last]]
            else:
                values[last], values[other] = values[other], values[last]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        if axis:
            self._follower.give_up("shuffle along another axis than the first")
        self._mix(x)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        if axis:
            self._follower.give_up("permutation along another axis than the first")
        values = np.arange(int(x)) if np.ndim(x) == 0 else np.array(x)
        with self._follower.in_parts():
            self._mix(values)
        return values

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._each(lambda a, b: a + (b - a) * uniform(self._follower), size, np.float64, low, high)

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class ForkingGenerator(_Forking, np.random.Generator):
    """A NumPy generator that forks."""

    def __init__(self, follower: Follower) -> None:
        np.random.Generator.__init__(self, np.random.PCG64(0))
        self._follower = follower

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        if size is None and dtype is np.float64 and out is None:
            return uniform(self._follower)
        if np.dtype(dtype) != np.float64 or out is not None:
            self._follower.give_up("random into an array, or in single precision")
        return _fill(self._follower, lambda: uniform(self._follower), size, np.float64)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        return self._whole_numbers(low, high, size, dtype, endpoint)


class ForkingRandomState(_Forking, np.random.RandomState):
    """A NumPy `RandomState` that forks."""

    def __init__(self, follower: Follower) -> None:
        np.random.RandomState.__init__(self, 0)
        self._follower = follower

    def random_sample(self, size: Any = None) -> Any:
        return _fill(self._follower, lambda: uniform(self._follower), size, np.float64)

    random = random_sample

    def rand(self, *shape: int) -> Any:
        return self.random_sample(shape or None)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        return self._whole_numbers(low, high, size, dtype, False)


def _asked_of_numpy(real: Any, scratch: Any, own: Any) -> Any:
    """Return a method that first asks a generator of NumPy's: its refusals are kept, in its words."""

    @wraps(own)
    def method(self: Any, *arguments: Any, **named: Any) -> Any:
        if Deferred not in {*map(type, arguments), *map(type, named.values())}:
            lent: Any = copy.copy if own.__name__ == "shuffle" else lambda value: value
            getattr(scratch, real)(*map(lent, arguments), **{name: lent(value) for name, value in named.items()})
        return own(self, *arguments, **named)

    return method


def _ask_numpy(kind: type, scratch: Any) -> None:
    for name in dir(kind.__mro__[2]):
        own = next((vars(base)[name] for base in kind.__mro__[:2] if name in vars(base)), None)
        if own is not None and not name.startswith("_"):
            setattr(kind, name, _asked_of_numpy(name, scratch, own))


def _refuse_the_rest(kind: type) -> None:
    """Let every other public method end the run: the real generator below must never be asked."""
    for base in kind.__mro__[2:]:
        for name in vars(base):
            if name.startswith("_") or any(name in vars(own) for own in kind.__mro__[:2]):
                continue

            def refuse(self: Any, *arguments: Any, _name: str = name, **named: Any) -> Any:
                self._follower.give_up(f"{kind.__name__.removeprefix('Forking')}.{_name}")

            setattr(kind, name, property(refuse) if name in ("bit_generator", "_bit_generator") else refuse)


_SCRATCH = np.random.default_rng(0), np.random.RandomState(0)
_ask_numpy(ForkingGenerator, _SCRATCH[0])
_ask_numpy(ForkingRandomState, _SCRATCH[1])
_refuse_the_rest(ForkingGenerator)
_refuse_the_rest(ForkingRandomState)
