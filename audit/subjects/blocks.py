"""Draw outputs in blocks: a block is a fixed number of outputs with a seed of its own.

Neither the number of workers nor the memory at hand changes which outputs are drawn: block `i` of a stream has
seed `SeedSequence(entropy, spawn_key=(*stream, i))`, whoever draws it and whenever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import cloudpickle
import numpy as np

from audit.subjects.pool import HERE, Place, open_pool

BLOCK = 16_384  # outputs in a block; small enough for the cache, large enough to hide the cost of a call
_ALONE = 1.0  # seconds of drawing that are done here before a pool is opened, which takes about as long
_TASK = 300.0  # seconds of work in one call of a pool at most, unless one block takes longer
_MOST = 16_384  # blocks in one call
_CALLS_PER_WORKER = 16  # at least, so that the last ones end at about the same time

T = TypeVar("T")
Group = tuple[int, int, int]  # consecutive blocks: number of the side, the first block, the one after the last


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

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed())


@dataclass(frozen=True)
class Block:
    """`size` outputs on one dataset, drawn with one seed."""

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


def map_blocks(
    work: Callable[[Iterable[Block]], T], sides: Sequence[Side], place: Place = HERE
) -> Iterator[tuple[int, T]]:
    """Apply `work` to groups of consecutive blocks, in order; yield (number of the side, its value).

    Grouping depends on the time that blocks take: the values of a side must be merged by a sum, or the like.
    """
    if place.is_here or place.workers == 1:
        yield from ((number, work(side.blocks())) for number, side in enumerate(sides) if len(side))
        return

    def on_group(group: Group) -> tuple[int, T]:
        side, first, last = group
        return side, work(sides[side].blocks(first, last))

    total, started, limit = sum(map(len, sides)), time.perf_counter(), _ALONE
    for done, block in enumerate(groups_from(sides, (0, 0, 0), 1)):
        spent = time.perf_counter() - started
        if done and spent > limit and spent / done * (total - done) > limit:
            try:
                cloudpickle.dumps(on_group)
            except Exception:  # a mechanism that holds a lock or an open file, say: it stays here
                limit = float("inf")
            else:
                with open_pool(place) as pool:
                    size = group_size(spent / done, total - done, pool.width)
                    yield from pool.map(on_group, groups_from(sides, block, size))
                return
        yield on_group(block)


def group_size(seconds: float, left: int, width: int) -> int:
    """Return how many blocks make a call, when a block takes `seconds` and `left` blocks are left."""
    return max(1, min(_MOST, int(_TASK / seconds), left // (_CALLS_PER_WORKER * width)))


def groups_from(sides: Sequence[Side], start: Group, size: int) -> Iterator[Group]:
    """Yield all groups of `size` blocks from the first block of `start` on."""
    first_side, first_block, _ = start
    for number, side in enumerate(sides[first_side:], first_side):
        for index in range(first_block if number == first_side else 0, len(side), size):
            yield number, index, min(index + size, len(side))
