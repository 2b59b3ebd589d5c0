"""Stand-ins for Python's sources of randomness, which fork: `random.Random`, `SystemRandom` and `secrets`."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from audit.extensions.enumeration.deferred import Deferred, Draw
from audit.extensions.enumeration.following import Branches, Follower

_FLOAT = range(2**53)


def uniform(follower: Follower) -> Any:
    """Return a multiple of 2^-53 in [0, 1), uniform."""
    return Deferred(Draw(follower, _FLOAT, float)) if follower.known is None else follower.next_known()


def below(follower: Follower, number: int, kind: type = int, low: int = 0) -> Any:
    """Return an integer in [low, low + number), uniform, of which as little is known as is asked for."""
    if number <= 0:
        raise ValueError("empty range")
    if number == 1:
        return kind(low)
    if follower.known is not None:
        return follower.next_known()
    return Deferred(Draw(follower, range(low, low + number), kind))


def rearrange(follower: Follower, values: Any) -> bool:
    """Shuffle a list of few different values, if it is one, by a fork over these for each place from the last.

    A uniform order of the entries gives the last place to a value with the share of its entries, and so on; equal
    values are not told apart. It does not depend on the order before, which is therefore forgotten first.
    """
    if type(values) is not list or any(type(value) not in (int, bool, str) for value in values):
        return False
    if len({*map(_told_apart, values)}) == len(values):
        return False
    values.sort(key=_told_apart)
    made: list[Any] = []
    for last in range(len(values) - 1, 0, -1):
        counts = Counter(map(_told_apart, values[: last + 1]))
        if len(counts) == 1:
            break
        chosen = follower.choose(
            ("arrangement", len(values), tuple(made)),
            lambda counts=counts: Branches(list(counts), list(counts.values()), sum(counts.values())),  # type: ignore[misc]
        )
        made.append(chosen)
        at = next(at for at, value in enumerate(values) if _told_apart(value) == chosen)
        values.insert(last, values.pop(at))
    return True


def _told_apart(value: Any) -> tuple[str, Any]:
    """Return what tells a value from others: True is not 1."""
    return type(value).__name__, value


def some_bytes(follower: Follower, number: int) -> bytes:
    """Return bytes, each of them a fork over 256 values."""
    found: list[int] = []
    for _ in range(number):
        signature = ("bytes", number, tuple(found))
        found.append(follower.choose(signature, lambda: Branches(range(256), [1] * 256, 256)))
    return bytes(found)


class ForkingBytes:
    """A stream of random bytes, as a program reads them from a pipe or a device."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def __deepcopy__(self, memo: Any) -> ForkingBytes:
        return self

    def read(self, size: int = -1) -> bytes:
        """Return bytes; the stream has no end, so that reading all of it is refused."""
        if size is None or size < 0:
            self._follower.not_followed("a read of the whole stream, which has no end")
        return some_bytes(self._follower, size)


class ForkingRandom(random.Random):
    """A `random.Random` that forks. All but the three sources below is Python's own code, and so is what they feed.

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

    def shuffle(self, x: Any) -> None:
        if not rearrange(self._follower, x):
            super().shuffle(x)

    def randbytes(self, n: int) -> bytes:
        return some_bytes(self._follower, n)

    def seed(self, *arguments: Any, **named: Any) -> None:
        self.gauss_next = None
        if "_follower" in self.__dict__:
            self._follower.not_followed("the source was seeded by the code")

    def getstate(self) -> Any:
        self._follower.not_followed("the state of the source was read")

    def setstate(self, state: Any) -> None:
        self._follower.not_followed("the state of the source was set")

    __reduce__ = __getstate__ = getstate


class ForkingSystemRandom(ForkingRandom, random.SystemRandom):  # type: ignore[misc]
    """The same, for code that asks for a source of the system."""
