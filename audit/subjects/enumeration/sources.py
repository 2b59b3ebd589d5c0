"""Stand-ins for Python's sources of randomness, which fork: `random.Random`, `SystemRandom` and `secrets`."""

from __future__ import annotations

import random
from typing import Any

from audit.subjects.enumeration.deferred import Deferred, Draw
from audit.subjects.enumeration.following import Branches, Follower

FEW = 32  # an integer with up to this many values is known at once; of a larger one, as little as is asked for
_FLOAT = range(2**53)


def uniform(follower: Follower) -> Any:
    """Return a multiple of 2^-53 in [0, 1), uniform."""
    return Deferred(Draw(follower, _FLOAT, True))


def below(follower: Follower, number: int) -> Any:
    """Return an integer in [0, number), uniform."""
    if number <= 0:
        raise ValueError("empty range")
    if number > FEW:
        return Deferred(Draw(follower, range(number), False))
    if number == 1:
        return 0
    return follower.choose(("below", number), lambda: Branches(range(number), [1] * number, number))


def some_bytes(follower: Follower, number: int) -> bytes:
    """Return bytes, each of them a fork over 256 values."""
    return bytes(
        follower.choose(("byte", at, number), lambda: Branches(range(256), [1] * 256, 256)) for at in range(number)
    )


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
