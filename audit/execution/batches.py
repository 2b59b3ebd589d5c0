"""Draw outputs in blocks: a block is one call, with a fixed number of outputs and a seed of its own.

Neither the number of workers nor the memory at hand changes which outputs are drawn: the seed of block `i` of a stream
follows from the stream and `i`, whoever draws it and whenever. It is a digest and says nothing about the stage of the
audit, and neither does the order of the calls, which is drawn.
"""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVar

import cloudpickle
import numpy as np

from audit.execution.deadline import one_thread
from audit.execution.seeds import HERE, Block, Place, Stream
from audit.execution.workers import open_pool

BLOCK = 16_384  # outputs in a block; small enough for the cache, large enough to hide the cost of a call
_ALONE = 1.0  # seconds of drawing that are done here before a pool is opened, which takes about as long
_TASK = 300.0  # seconds of work in one call of a pool at most, unless one block takes longer
_MOST = 16_384  # blocks in one call
_CALLS_PER_WORKER = 16  # at least, so that the last ones end at about the same time

T = TypeVar("T")
Group = tuple[int, int]  # consecutive calls: the first, and the one after the last


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
        return Block(self.dataset, min(self.size, self.total - index * self.size), self.stream.child(index).digest())

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
        self._live = [[number for number, side in enumerate(sides) if len(side) > done] for done in self._rounds]
        lengths = np.diff(self._rounds).tolist()
        self._starts = [0, *accumulate(rounds * len(live) for rounds, live in zip(lengths, self._live, strict=False))]
        self._last: tuple[int, list[int]] = -1, []  # a round, and the order of its sides

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
        if self._last[0] != number:
            self._last = number, random.Random(f"{self._seed} {number}").sample(live, len(live))
        return self._last[1][place], number

    def __getitem__(self, call: int) -> Block:
        side, number = self.locate(call)
        return self._sides[side].block(number)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": (-1, [])}


def map_blocks(work: Callable[[Iterable[Block]], T], calls: Calls, place: Place = HERE) -> Iterator[T]:
    """Apply `work` to groups of consecutive calls, and yield its values in order.

    Grouping depends on the time that calls take: the values must be joined by a sum, a concatenation, or the like.
    """

    def on_group(group: Group) -> T:
        with one_thread():  # as in other processes: the same sums, and no threads that wait for each other
            return work(map(calls.__getitem__, range(*group)))

    alone = place.is_here or place.workers == 1
    started, limit = time.perf_counter(), float("inf") if alone else _ALONE
    done, step = 0, 1
    while done < len(calls):
        spent, left = time.perf_counter() - started, len(calls) - done
        if done and spent > limit and spent / done * left > limit:
            try:
                cloudpickle.dumps(on_group)
            except Exception:  # a mechanism that holds a lock or an open file, say: it stays here
                limit = float("inf")
            else:
                with open_pool(place, shares=True) as pool:
                    yield from pool.map(
                        on_group, groups_from(len(calls), done, group_size(spent / done, left, pool.width))
                    )
                return
        step = max(1, min(_MOST, done)) if spent < _ALONE / 8 else step  # as long as calls are fast, groups grow
        end = min(done + step, len(calls))
        yield on_group((done, end))
        done = end


def group_size(seconds: float, left: int, width: int) -> int:
    """Return how many blocks make a call, when a block takes `seconds` and `left` blocks are left."""
    return max(1, min(_MOST, int(_TASK / seconds), left // (_CALLS_PER_WORKER * width)))


def groups_from(count: int, start: int, size: int) -> Iterator[Group]:
    """Yield all groups of `size` calls from number `start` to before `count`."""
    for index in range(start, count, size):
        yield index, min(index + size, count)
