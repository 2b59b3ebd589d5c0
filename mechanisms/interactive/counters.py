"""Counters of a stream: at each step the next event is taken, and the number of events so far is released.

Implements the binary tree of Chan, Shi and Song 2011 (section 3.3) for a stream of known length T: the sum of each
dyadic interval gets Laplace noise once, and a prefix is the sum of the noisy nodes that cover it. An event touches at
most log2(T) + 1 nodes, which the noise pays for: streams that differ in one event are (epsilon, 0)-close. The
dataset is the stream, which the object reads; the analyst decides how far.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from audit import Group, InteractiveCheck, PrivacyClaim, Substitution, Verdict

SOURCE = "Chan, Shi & Song 2011, theorem 3.5"
LENGTH = 8


class TreeCounter:
    """Counts events of a stream of bits; private for one event."""

    def __init__(self, stream: Any, rng: np.random.Generator, epsilon: float = 1.0) -> None:
        self.stream, self.rng, self.taken = list(stream), rng, 0
        self.scale = (int(math.log2(len(self.stream))) + 1) / epsilon
        self.nodes: dict[tuple[int, int], float] = {}

    def step(self) -> float:
        """Take the next event, and return the noisy number of events so far."""
        if self.taken == len(self.stream):
            raise EOFError("the stream has ended")
        self.taken += 1
        return self.prefix(self.taken)

    def size(self) -> int:
        """Return the number of events that were taken, which is public."""
        return self.taken

    def prefix(self, length: int) -> float:
        """Return the sum of the noisy nodes that cover a prefix."""
        return sum([self.node(level, start) for level, start in nodes_of(length)])

    def node(self, level: int, start: int) -> float:
        """Return the noisy sum of a dyadic interval; its noise is drawn once."""
        if (level, start) not in self.nodes:
            self.nodes[level, start] = sum(self.stream[start : start + (1 << level)]) + self.noise(level)
        return self.nodes[level, start]

    def noise(self, level: int) -> float:
        return float(self.rng.laplace(scale=self.scale))


@cache
def nodes_of(length: int) -> tuple[tuple[int, int], ...]:
    """Return level and start of the dyadic intervals that cover a prefix, the longest first."""
    levels = [level for level in range(length.bit_length() - 1, -1, -1) if length >> level & 1]
    return tuple((level, length >> level + 1 << level + 1) for level in levels)


STEPS = [("step",)] * LENGTH
NOTHING = [0] * LENGTH


def event_at(*times: int) -> list[int]:
    """Return a stream with events at some times."""
    return [int(time in times) for time in range(LENGTH)]


def _check(name: str, claim: PrivacyClaim, changed: list[tuple[int, ...]], **settings: Any) -> InteractiveCheck:
    pairs = [(NOTHING, event_at(*times)) for times in changed]
    name = f"interactive/tree counter, {name}"
    return InteractiveCheck(name=name, make=TreeCounter, claim=claim, pairs=pairs, analyst=STEPS, **settings)


_ONE = PrivacyClaim(1.0, 0.0, Substitution(), SOURCE)
_SIX = PrivacyClaim(1.0, 0.0, Group(6), "false: the tree is private for one event")
CHECKS = [
    _check("one event", _ONE, [(0,), (LENGTH - 1,)], budget="auto", tolerance=0.5),
    _check("six events of one user", _SIX, [(0, 1, 2, 3, 4, 5)], budget=10_000, expected=Verdict.FAIL),
]
