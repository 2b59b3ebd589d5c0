"""Seeds of all that is drawn: streams with numbered children, and the entropy of code that seeds itself."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

_WORD = 2**32


@dataclass(frozen=True)
class Stream:
    """A named source of seeds: children are numbered, and every stage of an audit has its own number."""

    entropy: int  # seed of the run
    key: tuple[int, ...] = ()  # path from the root to this stream

    def child(self, *numbers: int) -> Stream:
        return Stream(self.entropy, (*self.key, *numbers))

    def seed(self) -> np.random.SeedSequence:
        """Return the seed sequence of this stream, numbered as `SeedSequence.spawn` numbers children."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.key)

    def digest(self) -> np.random.SeedSequence:
        """Return a seed sequence whose entropy is a digest of the stream, without a spawn key that would name it."""
        path = ",".join(map(str, (self.entropy, *self.key)))
        return np.random.SeedSequence(int.from_bytes(hashlib.sha256(path.encode()).digest()[:16], "big"))

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed())


@dataclass(frozen=True)
class Block:
    """`size` outputs on one dataset, drawn with one seed."""

    dataset: Any
    size: int
    seed: np.random.SeedSequence


@contextmanager
def entropy_from(rng: np.random.Generator) -> Iterator[None]:
    """Let everything that asks Python or NumPy for entropy get it from `rng`; the global generators are put back.

    NumPy seeds itself by `secrets.randbits`, and `secrets` and `random.SystemRandom` read `random._urandom` at each
    call. `random.Random` seeds itself in C, so that `seed` is given a number where it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.execution.seeds import entropy_from
    >>> def drawn():
    ...     with entropy_from(np.random.default_rng(7)):
    ...         return np.random.default_rng().random(), np.random.rand(), random.Random().random(), os.urandom(2)
    >>> drawn() == drawn()
    True
    """
    plain_seed, known = random.Random.seed, (random.getstate(), np.random.get_state())  # noqa: NPY002 (what code may use)

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        own = int.from_bytes(rng.bytes(16), "little") if a is None else a
        plain_seed(self, own, version)

    held: list[tuple[Any, str, Any]] = [
        (os, "urandom", rng.bytes),
        (random, "_urandom", rng.bytes),
        (random.Random, "seed", seed),
        (random, "seed", lambda a=None, version=2: seed(random._inst, a, version)),
    ]
    before = [(place, name, getattr(place, name)) for place, name, _ in held]
    try:
        for place, name, value in held:
            setattr(place, name, value)
        random.seed()
        np.random.seed(int(rng.integers(_WORD)))  # noqa: NPY002
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)
        random.setstate(known[0])
        np.random.set_state(known[1])  # noqa: NPY002
