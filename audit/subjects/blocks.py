"""Blocks: the unit of sampling. A fixed number of outputs, with a seed of its own.

Neither the number of workers nor the memory at hand changes which outputs are drawn: block `i` of a stream has
seed `SeedSequence(entropy, spawn_key=(*stream, i))`, whoever draws it and whenever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from audit.subjects.workers.crew import Crew
from audit.subjects.workers.processes import Processes

BLOCK = 16_384  # outputs a block; small enough for the cache, large enough to hide the cost of a call
_ALONE = 1.0  # seconds of drawing that are done here before a crew is called up: it takes about as long to come
_TASK = 300.0  # seconds of work in one task of a crew at most, unless one block takes longer
_MOST = 16_384  # blocks in one task
_TASKS_A_WORKER = 16  # at least, so that the last ones end at about the same time

T = TypeVar("T")

_crew: ContextVar[Crew | None] = ContextVar("crew", default=None)


@dataclass(frozen=True)
class Stream:
    """A named source of seeds: children are numbered, and every stage of an audit has its own number.

    Parameters
    ----------
    entropy : int
        Seed of the run.
    key : tuple of int
        Path from the root to this stream.
    """

    entropy: int
    key: tuple[int, ...] = ()

    def child(self, *numbers: int) -> Stream:
        """The stream below this one with the given numbers."""
        return Stream(self.entropy, (*self.key, *numbers))

    def seed(self) -> np.random.SeedSequence:
        """The seed sequence of this stream, as `SeedSequence.spawn` numbers its children."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.key)

    def rng(self) -> np.random.Generator:
        """A generator seeded by this stream."""
        return np.random.default_rng(self.seed())


@dataclass(frozen=True)
class Block:
    """`size` outputs on one side of a pair, drawn with one seed."""

    dataset: Any
    size: int
    seed: np.random.SeedSequence


@dataclass(frozen=True)
class Side:
    """`total` outputs on one side of a pair, in blocks with seeds from one stream."""

    dataset: Any
    total: int
    stream: Stream

    def __len__(self) -> int:
        """How many blocks there are; only the last one may be short."""
        return -(-self.total // BLOCK)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """The blocks from number `first` to before `last`; all of them unless given."""
        for index in range(first, len(self) if last is None else min(last, len(self))):
            size = min(BLOCK, self.total - index * BLOCK)
            yield Block(self.dataset, size, self.stream.child(index).seed())


def blocks(dataset: Any, total: int, stream: Stream) -> Iterator[Block]:
    """Cut `total` outputs into blocks, each with its own child seed."""
    return Side(dataset, total, stream).blocks()


@contextmanager
def helped_by(crew: Crew) -> Iterator[None]:
    """Within this context `map_blocks` may call on a crew."""
    token = _crew.set(crew)
    try:
        yield
    finally:
        _crew.reset(token)


def map_blocks(
    work: Callable[[Iterable[Block]], T], sides: Sequence[Side], workers: int = 1
) -> Iterator[tuple[int, T]]:
    """Apply `work` to all blocks of all sides, a group of consecutive ones at a time, in order.

    What takes a moment is done here. For the rest a crew is called up: that of the context, or `workers` local
    processes where there is none. It is sent numbers of blocks, `work` and the datasets, and returns what `work` does:
    outputs stay where they are drawn. How the blocks are grouped depends on the time that they take, so that the
    groups of a side should be merged by a sum, or anything else that does not depend on the grouping.

    Returns
    -------
    iterator of (int, T)
        Number of the side, and what `work` made of a group of its blocks.
    """
    crew = _crew.get()
    if crew is not None:
        yield from _shared(work, sides, crew)
    elif workers > 1:
        with Crew(partial(Processes, workers=workers)) as crew:
            yield from _shared(work, sides, crew)
    else:
        yield from ((number, work(side.blocks())) for number, side in enumerate(sides) if len(side))


@dataclass(frozen=True)
class _Group:
    """What a worker needs to work on any group of blocks; the same for all groups, so that it travels once."""

    work: Callable[[Iterable[Block]], Any]
    sides: Sequence[Side]

    def __call__(self, group: tuple[int, int, int]) -> tuple[int, Any]:
        side, first, last = group
        return side, self.work(self.sides[side].blocks(first, last))


def _shared(work: Callable[[Iterable[Block]], T], sides: Sequence[Side], crew: Crew) -> Iterator[tuple[int, T]]:
    """Draw blocks here until it is clear that it takes long, then in groups by the crew."""
    group, total = _Group(work, sides), sum(map(len, sides))
    single = ((number, index, index + 1) for number, side in enumerate(sides) for index in range(len(side)))
    begun = time.perf_counter()
    for done, block in enumerate(single):
        spent = time.perf_counter() - begun
        if done and spent > _ALONE and spent / done * (total - done) > _ALONE:
            size = group_size(spent / done, total - done, crew.call_up())
            yield from crew.map(group, groups_from(sides, block, size))
            return
        yield group(block)


def group_size(seconds: float, left: int, width: int) -> int:
    """Blocks a task, when a block takes so many seconds and so many blocks are left."""
    return max(1, min(_MOST, int(_TASK / seconds), left // (_TASKS_A_WORKER * width)))


def groups_from(sides: Sequence[Side], start: tuple[int, int, int], size: int) -> Iterator[tuple[int, int, int]]:
    """All groups from a block on, by number of the side, first block, and the one after the last."""
    first_side, first_block, _ = start
    for number, side in enumerate(sides[first_side:], first_side):
        for index in range(first_block if number == first_side else 0, len(side), size):
            yield number, index, min(index + size, len(side))
