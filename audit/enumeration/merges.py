"""Test on the code itself that states which read alike go on alike.

Exploration ends a run that reaches a known state, and concludes that all from there on is as it was. Here such a state
is entered by the other way, and the run goes on along the graph to an output. The draws must be those of the graph, in
its order, and so must the output. From each state that was entered so, runs go on by different ways, first by those
that no run has taken from there.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from audit.enumeration.following import Node, Output, Step, script_to, steps_of

DIFFER = "states that read alike do not go on alike"
_SHARE = 8  # runs of the exploration, for each one that tests it
_LONGEST = 400  # draws of a run by the graph, after which it takes the shortest way to an output
_WAYS = 6  # runs from one state, at most


class Merges(NamedTuple):
    """Count the merges of a graph, and those that runs have gone through."""

    number: int
    tested: int


def merges_of(nodes: list[Node]) -> list[tuple[Node, int]]:
    """Return the branches that lead to a state which another run had reached before."""
    return [
        (node, branch)
        for node in nodes
        for branch, end in enumerate(node.ends)
        if type(end) is Node and (end.parent is not node or end.branch != branch)
    ]


class Tester:
    """Plan runs along a graph that go through merges."""

    def __init__(self, nodes: list[Node], seed: int) -> None:
        self.nodes, self._random = nodes, random.Random(seed)
        self.merges = merges_of(nodes)
        self.tested: set[tuple[int, int]] = set()
        self._nearest = _distances(nodes)
        self._taken: dict[int, set[tuple[int, int]]] = {}  # by state: what was taken after it was entered anew

    def runs(self, at_least: int, explored: int) -> Iterator[tuple[list[Step], Any]]:
        """Yield scripts and the outputs that they must lead to: each merge once, then further ways on."""
        order = [(node, branch) for node, branch in self.merges if node.ends[branch].number in self._nearest]
        self._random.shuffle(order)
        left = max(at_least, explored // _SHARE)
        for round_ in range(_WAYS):
            again = []
            for node, branch in order:
                if left <= 0:
                    return
                if round_ == 0 and (node.number, branch) in self.tested:
                    again.append((node, branch))
                    continue
                script, end, is_new = self._script(node, branch)
                if round_ == 0 or is_new:
                    left -= 1
                    again.append((node, branch))
                    yield script, end
            order = again

    def _script(self, node: Node, branch: int) -> tuple[list[Step], Any, bool]:
        """Return the choices through a merge and on to an output, and whether any is new from there."""
        script, now = script_to(node, branch), node.ends[branch]
        passed, entered = [(node.number, branch)], now.number
        taken, is_new = self._taken.setdefault(entered, set()), False
        for count in range(10 * _LONGEST):
            chosen = self._next(now, taken, count)
            is_new |= (now.number, chosen) not in taken
            taken.add((now.number, chosen))
            script += steps_of(now, chosen)
            end = now.ends[chosen]
            if type(end) is Output:
                self.tested.update(passed)
                return script, end, is_new
            if end.parent is not now or end.branch != chosen:
                passed.append((now.number, chosen))
            now = end
        return script, None, False

    def _next(self, node: Node, taken: set[tuple[int, int]], count: int) -> int:
        """Return a branch that leads to an output: one that was not taken, else any, at last the nearest."""
        open_ = [branch for branch, end in enumerate(node.ends) if self._distance(end) is not None]
        if count < _LONGEST:
            fresh = [branch for branch in open_ if (node.number, branch) not in taken]
            return self._random.choice(fresh or open_)
        return min(open_, key=lambda branch: self._distance(node.ends[branch]) or 0)

    def _distance(self, end: Any) -> int | None:
        return 0 if type(end) is Output else self._nearest.get(end.number) if type(end) is Node else None


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
