"""Blocks: the unit of sampling. A fixed number of outputs, with a seed of its own.

Neither the number of workers nor the memory at hand changes which outputs are drawn: block `i` of a stream has
seed `SeedSequence(entropy, spawn_key=(*stream, i))`, whoever draws it and whenever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import joblib
import numpy as np

BLOCK = 16_384  # outputs a block; small enough for the cache, large enough to hide the cost of a call

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


def blocks(dataset: Any, total: int, stream: Stream) -> Iterator[Block]:
    """Cut `total` outputs into blocks, each with its own child seed."""
    for index, start in enumerate(range(0, total, BLOCK)):
        yield Block(dataset, min(BLOCK, total - start), stream.child(index).seed())


def map_blocks(work: Callable[[Block], T], jobs: Iterator[Block], workers: int) -> Iterator[T]:
    """Apply `work` to every block, in order, on `workers` processes; one worker means in this process."""
    if workers == 1:
        return map(work, jobs)
    run = joblib.Parallel(n_jobs=workers, return_as="generator", pre_dispatch="2*n_jobs")
    return run(joblib.delayed(work)(job) for job in jobs)
