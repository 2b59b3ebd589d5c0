"""Follow edges of a stated graph in the code: forks, weights, ends and outputs must be those that are stated.

A run goes along the graph to an edge, over it, and on to an output. Nothing is taken from the statement but the numbers
of the branches: at each fork the code says anew what its branches weigh. So a graph that was invented is found at the
first edge of the code that it does not have.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from audit.api import CannotKeep, Raised, identify, is_of_subject, shorten
from audit.extensions.enumeration.apart import WatchState
from audit.extensions.enumeration.following import Branches, Differs, EndOfRun, Follower, Restart
from audit.extensions.enumeration.lazy_calls import CallLaw, LazyCalls, call_law
from audit.extensions.enumeration.outputs import known_output
from audit.extensions.enumeration.stated_graph import PlainNode, StatedGraph, distances, nodes_of
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

_WANDERING = 60  # branches after which a run takes the shortest way


@dataclass(frozen=True)
class EdgeReplay:
    """Say how many edges of a graph runs of the code went over, and what was found otherwise than stated."""

    edges: int
    tested: int
    behind: tuple[str, ...] = ()  # what differs, or what the code did unseen
    assumed: tuple[str, ...] = ()


Choice = tuple[PlainNode, int]  # a stated node, and the branch to take


class StatedFollower(Follower):
    """Take the branches of a script, and compare what the code says of each fork with what is stated."""

    watch: Watch | None = None

    def choose(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Any:
        """Return the data of the branch that the script takes."""
        if self.stopped is not None:
            raise self.stopped
        if self.position == len(self.script):
            self.stop(Differs("the code goes on to draw where an output is stated"))
        node, branch = cast(Choice, self.script[self.position])
        assert self.watch is not None
        self.watch.stop()  # of this package there is nothing to be seen
        branches = compute()
        self.watch.start()
        stated = node.total, [edge.weight for edge in node.edges]
        if (branches.total, list(branches.weights)) != stated:
            self.stop(Differs(f"at draw {self.position + 1} the code has other branches than are stated"))
        self.position += 1
        return branches.data[branch]


class Script(NamedTuple):
    """The choices of a run, the edges that it goes over, and the output that it must have."""

    choices: list[Choice]
    edges: list[tuple[int, int, int]]
    output: str


class _Planner:
    """Plan runs along a stated graph."""

    def __init__(self, graph: StatedGraph, seed: int) -> None:
        self.graph, self._random = graph, random.Random(seed)
        self.nodes = [nodes_of(graph, part) for part in range(len(graph.parts))]
        self._nearest = [distances(nodes) for nodes in self.nodes]
        self._to = [self._first_ways(nodes) for nodes in self.nodes]
        self._hosts: dict[int, list[tuple[int, int]]] = {}
        for part, nodes in enumerate(self.nodes):
            for number in self._to[part]:
                if nodes[number].kind == "@":
                    self._hosts.setdefault(nodes[number].part, []).append((part, number))
        self.edges = [
            (part, number, branch)
            for part, nodes in enumerate(self.nodes)
            for number in self._to[part]
            for branch in range(len(nodes[number].edges))
            if self._goes_on(part, number, branch) and self._is_within_reach(part)
        ]

    def _is_within_reach(self, part: int) -> bool:
        return part == 0 or bool(self.graph.parts[part].call) or part in self._hosts

    @staticmethod
    def _first_ways(nodes: Sequence[PlainNode]) -> dict[int, tuple[int, int] | None]:
        """Return for each node that is reached the node and the branch before it, on a shortest way."""
        found: dict[int, tuple[int, int] | None] = {0: None} if nodes else {}
        waiting = list(found)
        for number in waiting:  # it grows on the way
            for branch, edge in enumerate(nodes[number].edges):
                if edge.node is not None and edge.node not in found:
                    found[edge.node] = number, branch
                    waiting.append(edge.node)
        return found

    def _goes_on(self, part: int, number: int, branch: int) -> bool:
        edge = self.nodes[part][number].edges[branch]
        return edge.output is not None or edge.node in self._nearest[part]

    def script(self, part: int, number: int, branch: int) -> Script:
        """Return a run over an edge and on to an output of the whole code, or of a call that is run by itself."""
        found = Script([], [], "")
        text = self._through(found, part, number, branch)
        return found._replace(output=text)

    def _through(self, found: Script, part: int, number: int, branch: int) -> str:
        host = None
        if part and not self.graph.parts[part].call:
            host = self._random.choice(self._hosts[part])
            self._lead(found, *host)
        self._lead_within(found, part, number)
        output = self._on(found, part, number, branch)
        if host is None:
            return self.graph.parts[part].outputs[output]
        found.edges.append((*host, output))
        return self._after(found, *host, output)

    def _after(self, found: Script, part: int, number: int, branch: int) -> str:
        """Go on behind a branch of a node that stands for a call; its choices were made."""
        edge = self.nodes[part][number].edges[branch]
        output = edge.output if edge.node is None else self._on(found, part, edge.node)
        assert output is not None
        if not part or self.graph.parts[part].call:
            return self.graph.parts[part].outputs[output]
        host = self._leading.pop()
        return self._after(found, *host, output)

    def _lead(self, found: Script, part: int, number: int) -> None:
        """Go from the start to a node that stands for a call."""
        self._leading: list[tuple[int, int]] = []
        if part and not self.graph.parts[part].call:
            host = self._random.choice(self._hosts[part])
            self._lead(found, *host)
            self._leading.append(host)
        self._lead_within(found, part, number)

    def _lead_within(self, found: Script, part: int, number: int) -> None:
        way, at = [], self._to[part][number]
        while at is not None:
            way.append(at)
            at = self._to[part][at[0]]
        for step in reversed(way):
            self._take(found, part, *step)

    def _on(self, found: Script, part: int, number: int, branch: int | None = None) -> int:
        """Go from a node to an output of its part, at random, at last by a shortest way; return which."""
        nearest: dict[Any, int] = self._nearest[part]
        for count in range(10**6):
            edges = self.nodes[part][number].edges
            if branch is None:
                open_ = [at for at in range(len(edges)) if self._goes_on(part, number, at)]
                if count > _WANDERING:
                    branch = min(open_, key=lambda at: nearest.get(edges[at].node, 0))
                else:
                    branch = self._random.choice(open_)
            self._take(found, part, number, branch)
            edge, branch = edges[branch], None
            if edge.output is not None:
                return edge.output
            assert edge.node is not None
            number = edge.node
        raise AssertionError("a shortest way ends")

    def _take(self, found: Script, part: int, number: int, branch: int) -> None:
        """Add a branch to a script: itself, or the choices of one call that returns its output."""
        node = self.nodes[part][number]
        found.edges.append((part, number, branch))
        if node.kind == "@":
            inner = node.part
            last = self._ways_to(inner, branch)
            self._lead_within(found, inner, last[0])
            self._take(found, inner, *last)
        else:
            found.choices.append((node, branch))

    def _ways_to(self, part: int, output: int) -> tuple[int, int]:
        """Return a node and a branch of a part that end with an output."""
        ways = [
            (number, branch)
            for number in self._to[part]
            for branch, edge in enumerate(self.nodes[part][number].edges)
            if edge.output == output
        ]
        return self._random.choice(ways)


class _Runner:
    """Run the code by scripts."""

    def __init__(self, call: Callable[[], Any], follower: StatedFollower, watch: Watch, graph: StatedGraph) -> None:
        self._call, self._follower, self._watch = call, follower, watch
        self.lazy = LazyCalls(follower, StateReader(call, watch), watch)
        self.lazy.follow({part.call: _law_of(number, part) for number, part in enumerate(graph.parts) if part.call})

    def difference(self, script: Script, call: str) -> str | None:
        """Return what a run by a script does otherwise than stated; None if nothing."""
        run = self._call if not call else self.lazy.met.get(call)
        if run is None:
            return f"no run has called {call}"
        self._follower.begin(list(script.choices))  # type: ignore[arg-type]
        try:
            self._watch.start()
            found = self._output(run)
        except Restart:
            raise
        except (EndOfRun, CannotKeep) as reason:
            return str(reason)
        finally:
            self._watch.stop()
        if self._follower.stopped is not None:
            return str(self._follower.stopped)
        if self._follower.position < len(script.choices):
            return f"the code ends after {self._follower.position} draws, where {len(script.choices)} are stated"
        return None if found == script.output else f"the output is {found}, stated is {script.output}"

    def _output(self, run: Callable[[], Any]) -> str:
        try:
            value = known_output(run())
        except EndOfRun:
            raise
        except BaseException as error:
            if not is_of_subject(error):
                raise
            return shorten(str(Raised(error)))
        return shorten(identify(value))


def _law_of(number: int, part: Any) -> CallLaw:
    total, *weights = map(int, part.law.split())
    return call_law(number, [int(text) for text in part.outputs], weights, total)


def replay_edges(
    call: Callable[[], Any], follower: StatedFollower, gate: WatchState, graph: StatedGraph, number: int, seed: int
) -> EdgeReplay:
    """Run code over a random sample of the edges of its stated graph, in this process."""
    tested, problems = set[tuple[int, int, int]](), set[str]()
    with Watch(follower, gate) as watch:
        follower.watch, planner, chance = watch, _Planner(graph, seed), random.Random(seed)
        edges = list(planner.edges)
        chance.shuffle(edges)
        edges.sort(key=lambda edge: edge[0] > 0 and bool(graph.parts[edge[0]].call))  # calls by themselves at last
        runner = _Runner(call, follower, watch, graph)
        if not graph.parts[0].nodes:
            problems |= {said for said in [runner.difference(Script([], [], graph.parts[0].outputs[0]), "")] if said}
        for edge in _sampled(edges, number):
            if problems or gate.is_over:
                break
            if edge not in tested:
                script = planner.script(*edge)
                problems |= {said for said in [runner.difference(script, graph.parts[edge[0]].call)] if said}
                tested.update(script.edges)
    return EdgeReplay(len(edges), len(tested & set(edges)), tuple(sorted({*problems, *watch.behind})))


def _sampled(edges: list[tuple[int, int, int]], number: int) -> list[tuple[int, int, int]]:
    step = max(1, -(-len(edges) // number))
    return edges[::step]
