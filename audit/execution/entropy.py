"""Replace the operating system's entropy from outside, so that code that seeds itself can be run again.

Code that is audited by an argument such as `random_state` is not the code that its users run. Here it runs as it is:
what it reads of `os.urandom`, `secrets`, `random`, NumPy's `SeedSequence`, `default_rng`, `RandomState` and the global
generators comes from a generator of the audit. Code in C or Rust that asks the operating system itself is not reached,
nor are its threads and processes; its runs differ from one another under one seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_WORD = 2**32


@contextmanager
def entropy_from(rng: np.random.Generator) -> Iterator[None]:
    """Let everything that asks Python or NumPy for entropy get it from `rng`; the global generators are put back.

    NumPy seeds itself by `secrets.randbits`, and `secrets` and `random.SystemRandom` read `random._urandom` at each
    call. `random.Random` seeds itself in C, so that `seed` is given a number where it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.execution.entropy import entropy_from
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
