"""Test on the code itself the conclusions of the exploration: equal states, and numbers that were not known yet.

A run that reaches a known state goes on by a branch that no run has taken there, or ends: the exploration concludes
that all ways into a state go on as any of them did. Here a state is entered by each way, and the run goes on
by a branch that another one found, and along the graph to an output. The draws must be those of the graph, in
its order, and so must the output. From each way runs go on differently: in turn by branches of equal chances, and by
branches that are drawn with their weights, which come to the end of a loop that is seldom left.

A run is made again with known numbers, and must go the same way. A number that was split by comparisons is made known
at the first point of the rest of its range, at the last one, in the middle, and at a random one.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from audit.api import CannotKeep, Raised, identify
from audit.extensions.enumeration.deferred import Deferred, Draw, force, size_of
from audit.extensions.enumeration.following import EndOfRun, Follower, KnownRun, Node, Output, Step, path_to
from audit.extensions.enumeration.watching import Watch

DIFFER = "states that read alike do not go on alike"
_SHARE = 3  # runs of the exploration, for each one that tests it in another way than before
_LONGEST = 400  # draws of a run by the graph, after which it takes the shortest way to an output
_WAYS = 6  # runs from one state, at most


class Merges(NamedTuple):
    """Count the merges of a graph, and those that runs have gone through."""

    number: int
    tested: int


class Tester:
    """Plan runs along a graph that go through merges: ways into a state of which more is known by other ways."""

    def __init__(self, nodes: list[Node], seed: int) -> None:
        self.nodes, self._random = nodes, random.Random(seed)
        self._nearest = _distances(nodes)
        self.merges = [
            (node, branch)
            for node in nodes
            for branch, end in enumerate(node.ends)
            if type(end) is Node and self._found_otherwise((node, branch), end)
        ]
        self.tested: set[tuple[int, int]] = set()

    def _found_otherwise(self, way: Step | None, node: Node) -> list[int]:
        """Return the branches of a state that lead to outputs and that other ways into it found."""
        return [at for at, found in enumerate(node.ways) if found != way and self._distance(node.ends[at]) is not None]

    def runs(self, at_least: int, explored: int) -> Iterator[tuple[list[Step], Any]]:
        """Yield scripts and the outputs that they must lead to: each merge once, then other ways on."""
        order, most, made = list(self.merges), max(at_least, explored), 0
        self._random.shuffle(order)
        for round_ in range(_WAYS):
            for node, branch in order:
                if made >= most:
                    return
                if round_ or (node.number, branch) not in self.tested:
                    made += 1
                    yield self._path(node, branch, by_weight=round_ % 2 == 1)
            most = max(at_least, explored // _SHARE)

    def _path(self, node: Node, branch: int, by_weight: bool) -> tuple[list[Step], Any]:
        """Return the branches through a merge and on to an output."""
        path, now = path_to(node, branch), node.ends[branch]
        among = self._found_otherwise((node, branch), now) or self._open(now)
        while type(now) is Node:
            chosen = self._next(now, among, len(path), by_weight)
            path.append((now, chosen))
            now = now.ends[chosen]
            among = self._open(now) if type(now) is Node else []
        self._passed(path)
        return path, now

    def _passed(self, path: list[Step]) -> None:
        """Count the merges on the way of a run to an output."""
        passed = [way for way, (at, to) in pairwise(path) if at.ways[to] != way]
        self.tested.update((before.number, by) for before, by in passed)

    def _open(self, node: Node) -> list[int]:
        return [branch for branch, end in enumerate(node.ends) if self._distance(end) is not None]

    def _next(self, node: Node, among: list[int], made: int, by_weight: bool) -> int:
        """Return a branch by its weight or any, and at last one nearest to an output."""
        if made > _LONGEST:
            return min(among, key=lambda branch: self._distance(node.ends[branch]) or 0)
        return self._random.choices(among, [node.branches.weights[branch] for branch in among] if by_weight else None)[
            0
        ]

    def _distance(self, end: Any) -> int | None:
        return 0 if type(end) is Output else self._nearest.get(end.number) if type(end) is Node else None


def tested_merges(
    nodes: list[Node], replayed: Callable[[list[Step]], Any], fewest: int, explored: int
) -> tuple[Merges, bool]:
    """Run through the merges of a graph, and count them; return also whether all go on as the graph says."""
    tester = Tester(nodes, len(nodes))
    is_alike = all(replayed(script) == end.text for script, end in tester.runs(fewest, explored))
    return Merges(len(tester.merges), len(tester.tested)), is_alike


def _distances(nodes: list[Node]) -> dict[int, int]:
    """Return for each state how many draws it is from an output at least."""
    into: dict[int, list[int]] = {}
    waiting: deque[tuple[int, int]] = deque()
    for node in nodes:
        for end in node.ends:
            if type(end) is Node:
                into.setdefault(end.number, []).append(node.number)
        if any(type(end) is Output for end in node.ends):
            waiting.append((node.number, 1))
    found: dict[int, int] = {}
    while waiting:
        number, distance = waiting.popleft()
        if number not in found:
            found[number] = distance
            waiting.extend((before, distance + 1) for before in into.get(number, ()))
    return found


POINTS = ("first", "last", "middle", "random")
_DEEPEST = 50  # containers in an output
_GOLDEN = 0x9E3779B97F4A7C15  # its multiples are spread evenly


def values_of(draw: Draw, number: int, seed: int) -> list[Any]:
    """Return values that a draw, of this number in the run, may still have."""
    support = draw.support
    size = size_of(support)
    if size == 1:
        return [draw.value(support[0])] * len(POINTS)
    random_ = (seed + number + 1) * _GOLDEN % 2**64 * size >> 64
    return [draw.value(support[at]) for at in (0, size - 1, size // 2, random_)]


class RepeatingExplorer(Protocol):
    """Explorer whose runs can be made again."""

    follower: Follower
    watch: Watch
    values: dict[str, Any]
    confirmed: Iterator[int]

    def call_once(self) -> Any:
        """Return the output of the code."""


def is_confirmed(explorer: RepeatingExplorer, text: str) -> bool:
    """Run again with known numbers; return whether the code goes the way of the run before."""
    follower, count = explorer.follower, next(explorer.confirmed)
    if not follower.drawn:  # all was known in the run itself
        return True
    runs = follower.make_known(partial(values_of, seed=1000 * count))
    if all(run.numbers == runs[0].numbers for run in runs):
        del runs[1:]  # nothing is left of the ranges but these numbers
    return all(_is_same(explorer, text, run) for run in runs)


def _is_same(explorer: RepeatingExplorer, text: str, run: KnownRun) -> bool:
    """Test whether a run with known numbers draws as the one before it did, and has its output."""
    follower = explorer.follower
    follower.begin_known(run)
    try:
        value = explorer.call_once()
        found = str(value) if isinstance(value, Raised) else identify(value)
    except (EndOfRun, CannotKeep):
        return False
    finally:
        explorer.watch.stop()
    return bool(found == text and follower.stopped is None and follower.is_used_up())


def known_output(value: Any, depth: int = 0) -> Any:
    """Return an output whose numbers are all known; containers of Python and arrays of objects are looked into."""
    if type(value) is Deferred:
        return force(value, "the output")
    if depth > _DEEPEST:
        return value
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(known_output(entry, depth + 1) for entry in value)
    if type(value) is dict:
        return {known_output(key, depth + 1): known_output(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        known = [known_output(entry, depth + 1) for entry in value.ravel()]
        return np.array(known).reshape(value.shape)
    return value
