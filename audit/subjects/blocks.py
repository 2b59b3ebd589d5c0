"""Blocks: the unit of sampling, a fixed number of outputs with a seed of its own.

Neither the number of workers nor the memory at hand changes which outputs are drawn: block `i` of a stream has
seed `SeedSequence(entropy, spawn_key=(*stream, i))`, whoever draws it and whenever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from audit.subjects.workers import HERE, Place, open_pool

BLOCK = 16_384  # outputs in a block; small enough for the cache, large enough to hide the cost of a call
_ALONE = 1.0  # seconds of drawing that are done here before a pool is opened, which takes about as long
_TASK = 300.0  # seconds of work in one call of a pool at most, unless one block takes longer
_MOST = 16_384  # blocks in one call
_CALLS_PER_WORKER = 16  # at least, so that the last ones end at about the same time

T = TypeVar("T")


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
        """Return the stream below this one with the given numbers."""
        return Stream(self.entropy, (*self.key, *numbers))

    def seed(self) -> np.random.SeedSequence:
        """Return the seed sequence of this stream, numbered as `SeedSequence.spawn` numbers children."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.key)

    def rng(self) -> np.random.Generator:
        """Return a generator seeded by this stream."""
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
        """Return the number of blocks; only the last one may be short."""
        return -(-self.total // BLOCK)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Yield the blocks from number `first` to before `last`; all of them by default."""
        for index in range(first, len(self) if last is None else min(last, len(self))):
            size = min(BLOCK, self.total - index * BLOCK)
            yield Block(self.dataset, size, self.stream.child(index).seed())


def blocks(dataset: Any, total: int, stream: Stream) -> Iterator[Block]:
    """Cut `total` outputs into blocks, each with its own child seed."""
    return Side(dataset, total, stream).blocks()


def map_blocks(
    work: Callable[[Iterable[Block]], T], sides: Sequence[Side], place: Place = HERE
) -> Iterator[tuple[int, T]]:
    """Apply `work` to all blocks of all sides, a group of consecutive ones at a time, in order.

    What takes a moment is done here, the rest at `place`, unless `work` cannot be sent. What is sent are `work` with
    the datasets, once, and numbers of blocks: outputs stay where they are drawn. How blocks are grouped depends on the
    time that they take, so merge the groups of a side by a sum, or by what else does not depend on the grouping.

    Yields
    ------
    (int, T)
        Number of the side, and what `work` made of a group of its blocks.
    """
    if place.is_here or place.workers == 1:
        yield from ((number, work(side.blocks())) for number, side in enumerate(sides) if len(side))
        return
    group, total = _Group(work, sides), sum(map(len, sides))
    single = ((number, index, index + 1) for number, side in enumerate(sides) for index in range(len(side)))
    begun, alone = time.perf_counter(), _ALONE
    for done, block in enumerate(single):
        spent = time.perf_counter() - begun
        if done and spent > alone and spent / done * (total - done) > alone:
            if _can_be_sent(group):
                with open_pool(place) as pool:
                    size = group_size(spent / done, total - done, pool.width)
                    yield from pool.map(group, groups_from(sides, block, size))
                return
            alone = float("inf")
        yield group(block)


@dataclass(frozen=True)
class _Group:
    """What a worker needs for any group of blocks."""

    work: Callable[[Iterable[Block]], Any]
    sides: Sequence[Side]

    def __call__(self, group: tuple[int, int, int]) -> tuple[int, Any]:
        side, first, last = group
        return side, self.work(self.sides[side].blocks(first, last))


def _can_be_sent(group: _Group) -> bool:
    import cloudpickle

    try:
        return bool(cloudpickle.dumps(group))
    except Exception:  # a mechanism that holds a lock or an open file, say
        return False


def group_size(seconds: float, left: int, width: int) -> int:
    """Return how many blocks make a call, when a block takes `seconds` and `left` blocks are left."""
    return max(1, min(_MOST, int(_TASK / seconds), left // (_CALLS_PER_WORKER * width)))


def groups_from(sides: Sequence[Side], start: tuple[int, int, int], size: int) -> Iterator[tuple[int, int, int]]:
    """Yield all groups from a block on: number of the side, first block, and the one after the last."""
    first_side, first_block, _ = start
    for number, side in enumerate(sides[first_side:], first_side):
        for index in range(first_block if number == first_side else 0, len(side), size):
            yield number, index, min(index + size, len(side))
