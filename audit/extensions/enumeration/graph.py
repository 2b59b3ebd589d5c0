"""The graph of the forks as a Markov chain: its moves, and the numbers that it is solved in."""

from __future__ import annotations

from audit.extensions.enumeration.absorbing_chain import EXACT, Arithmetic, components, rounded_down
from audit.extensions.enumeration.following import Lost, Node

_BITS = 256  # probabilities that cannot be exact are rounded down to multiples of 2^-256
_EXACT_STATES, _EXACT_COMPONENT = 4000, 60  # beyond, fractions grow too long


def edges_of(nodes: list[Node]) -> list[list[tuple[int, int, int]]]:
    """Return the moves between forks."""
    return [
        [
            (end.number, weight, node.branches.total)
            for end, weight in zip(node.ends, node.branches.weights, strict=True)
            if type(end) is Node
        ]
        for node in nodes
    ]


def arithmetic_for(nodes: list[Node]) -> Arithmetic:
    """Return exact arithmetic for a small graph that was followed to all of its ends; else one that rounds down."""
    is_closed = all(
        None not in node.ends
        and not any(type(end) is Lost for end in node.ends)
        and sum(node.branches.weights) == node.branches.total
        for node in nodes
    )
    if is_closed and len(nodes) <= _EXACT_STATES:
        largest = max(map(len, components(edges_of(nodes))))
        if largest <= _EXACT_COMPONENT:
            return EXACT
    return rounded_down(_BITS)
