"""State the graph of an enumeration as texts, so that others can solve it, and follow its edges in the code.

A part is the graph of a whole run, or of a call whose law was found by itself. Each of its nodes is one text: the total
of the weights, then the branches in their order, each with its weight and where it leads. `>7` is the node of number 7,
`=2` the output of number 2, and `-` was not followed: "4 1>7 3=2". A node that begins with `@3` has the outputs of the
call of part 3 as branches, with the weights of its law; one that begins with `~3` draws from that law, and later nodes
split what was drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from audit.api import Count, Limits, shorten
from audit.extensions.enumeration.absorbing_chain import expected_visits, rounded_down
from audit.extensions.enumeration.following import Branches, Node, Output

CALL = "call"  # begins the signature of a choice that stands for a whole call
LARGEST = 200_000  # characters of a graph that is stored; of a larger one its size alone
_BITS, _APART = 512, Fraction(1, 2**128)  # a law was rounded in another way: its own numbers have 256 bits
_FORM = r"([0-9]+( [0-9]+(>[0-9]+|=[0-9]+|-))*|[@~][0-9]+( (>[0-9]+|=[0-9]+|-))*)"
_BRANCH = re.compile(r" (\d*)([>=-])(\d*)")

NodeText = Annotated[str, Limits(pattern=_FORM)]
LawText = Annotated[str, Limits(pattern=r"([0-9]+( [0-9]+)*)?")]


@dataclass(frozen=True)
class GraphPart:
    """Hold the graph of a run, or of a call."""

    call: str  # which call, by its function and arguments; empty where the state of frames says it
    outputs: tuple[str, ...]
    law: LawText  # of a call: the total and the weight of each output, as it is used elsewhere
    nodes: tuple[NodeText, ...]


@dataclass(frozen=True)
class StatedGraph:
    """Hold the graph of the law of one dataset; no parts where it is too large to be stored."""

    states: Count
    parts: tuple[GraphPart, ...]


class CallGraph(NamedTuple):
    """The graph of a call as it was explored, with the keys of its outputs in the order of its law."""

    name: str
    nodes: list[Node]
    outputs: list[Any]
    weights: list[int]
    total: int


class Edge(NamedTuple):
    """A branch of a stated node: its weight, and the node or the output that it leads to."""

    weight: int
    node: int | None
    output: int | None


class PlainNode(NamedTuple):
    """A stated node: whether its branches are those of a call (`@`) or draw from its law (`~`), and of which part."""

    total: int
    kind: str
    part: int
    edges: list[Edge]

    @property
    def signature(self) -> tuple[Any, ...]:
        """The signature of the draw, where it is one from the law of a call."""
        return (CALL, self.part) if self.kind == "~" else ()


def stated_graph(root: Any, nodes: list[Node]) -> StatedGraph:
    """Return the graph of a run as texts."""
    if type(root) is Output:
        return StatedGraph(0, (GraphPart("", (shorten(root.text),), "", ()),))
    if 2 * sum(len(node.ends) for node in nodes) > LARGEST:  # a branch takes two characters at least
        return StatedGraph(len(nodes), ())
    texts = list(dict.fromkeys(end.text for node in nodes for end in node.ends if type(end) is Output))
    graphs = _in_order(CallGraph("", nodes, texts, [], 0))
    numbers, parts, room = {id(graph): number for number, graph in enumerate(graphs)}, [], LARGEST
    for graph in graphs:
        part = _part_of(graph, numbers)
        room -= sum(map(len, (*part.nodes, *part.outputs, part.law)))
        if room < 0 or type(root) is not Node or "<locals>" in graph.name or " at 0x" in graph.name:
            return StatedGraph(len(nodes), ())
        parts.append(part)
    return StatedGraph(len(nodes), tuple(parts))


def _in_order(whole: CallGraph) -> list[CallGraph]:
    """Return a graph and those of all calls in it, each before those of the calls in itself."""
    done: list[CallGraph] = []
    begun = {id(whole)}
    stack = [(whole, iter(whole.nodes))]
    while stack:
        graph, nodes = stack[-1]
        for node in nodes:
            inner = node.branches.origin
            if inner is not None and id(inner) not in begun:
                begun.add(id(inner))
                stack.append((inner, iter(inner.nodes)))
                break
        else:
            done.append(graph)
            stack.pop()
    return done[::-1]


def _part_of(graph: CallGraph, numbers: Mapping[int, int]) -> GraphPart:
    at = {text: number for number, text in enumerate(graph.outputs)}
    law = " ".join(map(str, (graph.total, *graph.weights))) if graph.weights else ""
    outputs = tuple(shorten(text if isinstance(text, str) else repr(text)) for text in graph.outputs)
    return GraphPart(graph.name, outputs, law, tuple(_node_text(node, at, numbers) for node in graph.nodes))


def _node_text(node: Node, outputs: Mapping[Any, int], numbers: Mapping[int, int]) -> str:
    branches: Branches = node.branches
    law = branches.origin
    said = [str(branches.total) if law is None else f"{'@' if node.is_call else '~'}{numbers[id(law)]}"]
    for weight, end in zip(branches.weights, node.ends, strict=True):
        to = "-"
        if type(end) is Node:
            to = f">{end.number}"
        elif type(end) is Output and end.text in outputs:
            to = f"={outputs[end.text]}"
        said.append(f"{weight}{to}" if law is None else to)
    return " ".join(said)


def nodes_of(graph: StatedGraph, number: int) -> list[PlainNode]:
    """Return the nodes of a part; raise ValueError for what leads nowhere, or weighs too much."""
    part, laws = graph.parts[number], [[int(weight) for weight in part.law.split()] for part in graph.parts]
    return [_node_of(text, number, part, laws) for text in part.nodes]


def _node_of(text: str, number: int, part: GraphPart, laws: list[list[int]]) -> PlainNode:
    if re.fullmatch(_FORM, text) is None:
        raise ValueError(f"{text[:40]!r} is not a node")
    head, found = text.partition(" ")[0], _BRANCH.findall(text)
    kind, inner = (head[0], int(head[1:])) if head[0] in "@~" else ("", 0)
    total, weights = int(head) if not kind else 0, [int(weight or 0) for weight, _, _ in found]
    if kind:
        total, *weights = laws[inner] if number < inner < len(laws) else [0]  # no call explains itself
        weights = weights if kind == "@" else [sum(weights)]
    edges = [
        Edge(weight, int(to) if sign == ">" else None, int(to) if sign == "=" else None)
        for weight, (_, sign, to) in zip(weights, found, strict=True)
    ]
    is_within = all((edge.node or 0) < len(part.nodes) and (edge.output or 0) < len(part.outputs) for edge in edges)
    if not is_within or not 0 < total >= sum(weights):
        raise ValueError(f"{text[:40]!r} leads out of its graph, or weighs too much")
    return PlainNode(total, kind, inner, edges)


def masses(graph: StatedGraph, number: int = 0) -> list[Fraction]:
    """Return lower bounds of the probabilities of the outputs of a part, by its nodes."""
    part, nodes = graph.parts[number], nodes_of(graph, number)
    if not nodes:
        return [Fraction(1)] * len(part.outputs)
    moves = [[(edge.node, edge.weight, node.total) for edge in node.edges if edge.node is not None] for node in nodes]
    numbers = rounded_down(_BITS)
    sums = [0] * len(part.outputs)
    for node, visits in zip(nodes, expected_visits(moves, numbers), strict=True):
        for edge in node.edges:
            if edge.output is not None:
                sums[edge.output] += numbers.times(visits, numbers.make(edge.weight, node.total))
    return [numbers.back(mass) for mass in sums]


def contradiction(graph: StatedGraph, law: Mapping[str, Fraction]) -> str | None:
    """Return why a law is not that of its graph, or a call's not that of its part; None if all agree."""
    for number, part in enumerate(graph.parts):
        if number:
            total, *weights = map(int, part.law.split())
            stated = [Fraction(weight, total) for weight in weights]
        else:
            stated = [law.get(text, Fraction(0)) for text in part.outputs]
            if set(law) - set(part.outputs) or len(set(part.outputs)) < len(part.outputs):
                return "its outputs are not those of its graph"
        found = masses(graph, number)
        if len(found) != len(stated) or any(abs(p - mass) > _APART for p, mass in zip(stated, found, strict=True)):
            return f"the graph gives another law (part {number})"
    return None


def distances(nodes: Sequence[PlainNode]) -> dict[int, int]:
    """Return for each node how many branches it is from an output at least."""
    into: dict[int, list[int]] = {}
    waiting: list[tuple[int, int]] = []
    for number, node in enumerate(nodes):
        for edge in node.edges:
            if edge.node is not None:
                into.setdefault(edge.node, []).append(number)
        if any(edge.output is not None for edge in node.edges):
            waiting.append((number, 1))
    found: dict[int, int] = {}
    for number, distance in waiting:  # it grows on the way: breadth first
        if number not in found:
            found[number] = distance
            waiting.extend((before, distance + 1) for before in into.get(number, ()))
    return found
