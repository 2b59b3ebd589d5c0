"""Say by which seeds, and where, outputs are drawn.

A stream of seeds has numbered children. A block is one call, with a seed of its own; `Side` and `Calls` are the blocks
of a dataset, and of several in a random order. `Place` names the workers.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from audit.defaults import DEFAULT_EXECUTOR
from audit.errors import InvalidArgument
from audit.validate import integer

_WORD = 2**32
_ADDRESS = re.compile(r"(dask|tcp|tls)://(\[[^\[\]/]+\]|[^\[\]:/]+):[0-9]{1,5}")
_EXECUTORS = (
    "be one of 'serial', 'processes', 'dask://scheduler:port', 'tls://scheduler:port', or a concurrent.futures.Executor"
)


def name_key(name: str) -> int:
    """Return the number of a check's name: its seeds depend on it, and on no other check."""
    return zlib.crc32(name.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Stream:
    """A named source of seeds: children are numbered, and every stage of an audit has its own number."""

    PROBE, FIT, SEARCH, SEQUENTIAL, ASIDE, LONG, PLANT, EARLY, FIRST, DIVERGENCE = range(8, 18)  # of a check's stream

    entropy: int  # seed of the run
    key: tuple[int, ...] = ()  # path from the root to this stream

    def child(self, *numbers: int) -> Stream:
        return Stream(self.entropy, (*self.key, *numbers))

    @classmethod
    def of(cls, seed: int, name: str) -> Stream:
        """Return the stream of a check, which depends on the run's seed and the check's name only."""
        return cls(seed, (name_key(name),))

    def seed(self) -> np.random.SeedSequence:
        """Return the seed sequence of this stream, numbered as `SeedSequence.spawn` numbers children."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.key)

    def digest(self, *numbers: int) -> np.random.SeedSequence:
        """Return a seed sequence whose entropy is a digest of a child, without a spawn key that would name it."""
        path = ",".join(map(str, (self.entropy, *self.key, *numbers)))
        return np.random.SeedSequence(int.from_bytes(hashlib.sha256(path.encode()).digest()[:16], "big"))

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed())


Block = tuple[Any, int, np.random.SeedSequence]  # one call: a dataset, how many outputs, and the seed

_ROUNDS = 256  # of calls, that are mixed at once. TIME
BLOCK = 16_384  # outputs in a block; small enough for the cache, large enough to hide the cost of a call


@dataclass(frozen=True)
class Side:
    """`total` outputs on one side of a pair, in calls of one size with seeds from one stream."""

    dataset: Any
    total: int
    stream: Stream
    size: int = BLOCK

    def __len__(self) -> int:
        """Return the number of blocks; only the last one may be short."""
        return -(-self.total // self.size)

    def block(self, index: int) -> Block:
        """Return block number `index`."""
        return self.dataset, min(self.size, self.total - index * self.size), self.stream.digest(index)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks."""
        return map(self.block, range(len(self)))


class Calls:
    """The calls on several sides, mixed: in every round, each side that is not done has one, in a random order.

    Nothing is stored for a call, so that an audit of any length can be sent to a worker.
    """

    def __init__(self, sides: Sequence[Side], seed: int = 0) -> None:
        self._sides, self._seed = tuple(sides), seed
        self._rounds = [0, *sorted({len(side) for side in sides if len(side)})]  # at the last ones, sides are done
        self._live = [tuple(at for at, side in enumerate(sides) if len(side) > done) for done in self._rounds]
        lengths = np.diff(self._rounds).tolist()
        self._starts = [0, *accumulate(rounds * len(live) for rounds, live in zip(lengths, self._live, strict=False))]

    def __len__(self) -> int:
        return self._starts[-1]

    @property
    def outputs(self) -> int:
        return sum(side.total for side in self._sides)

    def locate(self, call: int) -> tuple[int, int]:
        """Return the side of a call, and its number among the calls of that side."""
        part = bisect_right(self._starts, call) - 1
        live = self._live[part]
        ahead, place = divmod(call - self._starts[part], len(live))
        number = self._rounds[part] + ahead
        return _mix(self._seed, number // _ROUNDS, live)[number % _ROUNDS][place], number

    def __getitem__(self, call: int) -> Block:
        side, number = self.locate(call)
        return self._sides[side].block(number)


@lru_cache(maxsize=16)
def _mix(seed: int, part: int, sides: tuple[int, ...]) -> list[list[int]]:
    """Return the sides in the random order that they have in each of some rounds that follow each other."""
    order: list[list[int]] = np.random.default_rng([seed, part]).permuted([sides] * _ROUNDS, axis=1).tolist()
    return order


@dataclass(frozen=True)
class Place:
    """Where work is done. It can be sent to other processes unless it holds an executor object."""

    executor: str | Executor = DEFAULT_EXECUTOR  # or "serial", "dask://host:port", or an executor object
    workers: int | None = None  # calls that run at a time, or None; 0 means this process; a cluster has its own number
    code: Mapping[str, str] | None = None  # the code that workers must have, from `describe_code`

    def __post_init__(self) -> None:
        local = self.is_local
        if not (local or self.is_cluster or isinstance(self.executor, Executor)):
            raise InvalidArgument.of("executor", _EXECUTORS, self.executor)
        if self.workers is None:
            return
        workers = integer(self.workers, "workers", at_least=1 if isinstance(self.executor, Executor) else 0)
        if local and workers == 0:
            object.__setattr__(self, "executor", "serial")
        elif self.executor == "serial" or self.is_cluster:
            raise InvalidArgument(
                f"executor={self.executor!r} has its own workers, got workers={workers}: leave `workers` out"
            )
        object.__setattr__(self, "workers", workers or None)

    @property
    def is_here(self) -> bool:
        return self.executor == "serial"

    @property
    def is_local(self) -> bool:
        """True unless calls go to a cluster, or to the executor of somebody else."""
        return self.executor in (DEFAULT_EXECUTOR, "serial")

    @property
    def is_cluster(self) -> bool:
        """True for host:port after dask://, tcp:// or tls://."""
        return isinstance(self.executor, str) and _ADDRESS.fullmatch(self.executor) is not None

    def share(self, checks: int, width: int) -> Place | None:
        """Return where each of some checks, run side by side, may have its blocks drawn; None if only by itself."""
        if self.is_cluster:
            return self  # the scheduler shares it out
        is_divisible = self.executor == DEFAULT_EXECUTOR and width >= 2 * checks
        return replace(self, workers=width // checks) if is_divisible else None


HERE = Place("serial")


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
