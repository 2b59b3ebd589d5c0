"""Test on the code itself that states which read alike go on alike.

A run that reaches a known state goes on by a branch that no run has taken there, or ends: the exploration concludes
that all ways into a state go on as any of them was seen to. Here a state is entered by each way, and the run goes on by
a branch that was found by another one, and along the graph to an output. The draws must be those of the graph, in its
order, and so must the output. From each way runs go on differently: in turn by branches of equal
chances, and by branches that are drawn with their weights, which come to the end of a loop that is seldom left.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from audit.extensions.enumeration.following import Node, Output, Step, path_to

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
        """Return the branches of a state that lead to outputs and were found by other ways into it."""
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
