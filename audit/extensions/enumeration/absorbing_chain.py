"""Expected visits of an absorbing Markov chain: exact, rounded down, or in floating-point numbers.

States are eliminated one by one, component by component. Elimination adds, multiplies, and divides by 1 - p, where p is
the probability of a return; each of these keeps a lower bound when its operands are rounded down. So visits rounded
down are lower bounds (Grassmann, Taksar & Heyman 1985 eliminate in the same order, to avoid cancellation).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Edges = Sequence[tuple[int, int, int]]  # target, and its probability as weight / total


@dataclass(frozen=True)
class Arithmetic:
    """Say how to make a probability, to multiply, and to divide by 1 - p; `one` is the number 1."""

    one: Any
    make: Callable[[int, int], Any]
    times: Callable[[Any, Any], Any]
    over: Callable[[Any, Any], Any]  # a / (1 - p); 0 where p = 1, since nothing leaves such a state
    back: Callable[[Any], Fraction]


EXACT = Arithmetic(
    Fraction(1), Fraction, lambda a, b: a * b, lambda a, p: a / (1 - p) if p != 1 else Fraction(0), lambda a: a
)
FLOATING = Arithmetic(
    1.0, lambda w, t: w / t, lambda a, b: a * b, lambda a, p: a / (1 - p) if p < 1 else 0.0, lambda a: Fraction(a)
)


def rounded_down(bits: int) -> Arithmetic:
    """Return arithmetic on multiples of 2^-bits in which every operation rounds down."""
    one = 1 << bits
    return Arithmetic(
        one,
        lambda w, t: (w << bits) // t,
        lambda a, b: a * b >> bits,
        lambda a, p: (a << bits) // (one - p) if p < one else 0,
        lambda a: Fraction(a, one),
    )


def expected_visits(edges: Sequence[Edges], numbers: Arithmetic) -> list[Any]:
    """Return the expected number of visits of each state, from a start in state 0.

    Parameters
    ----------
    edges : sequence of edges per state
        `(target, weight, total)` for each move; the rest of probability 1 leaves the chain.
    numbers : Arithmetic
        `EXACT`, `FLOATING`, or `rounded_down(bits)`, whose results are lower bounds.

    Returns
    -------
    list
        Numbers of the arithmetic.

    Examples
    --------
    >>> from audit.extensions.enumeration.absorbing_chain import EXACT, expected_visits
    >>> [str(visits) for visits in expected_visits([[(0, 1, 3), (1, 1, 3)], []], EXACT)]
    ['3/2', '1/2']
    """
    zero = numbers.one - numbers.one
    inflow = [zero] * len(edges)
    visits = list(inflow)
    inflow[0] = numbers.one
    for component in reversed(components(edges)):
        inside = _solved(component, edges, inflow, numbers)
        members = set(component)
        for state, number in inside.items():
            visits[state] = number
            for target, weight, total in edges[state]:
                if target not in members:
                    inflow[target] += numbers.times(number, numbers.make(weight, total))
    return visits


def _solved(
    component: Sequence[int], edges: Sequence[Edges], inflow: Sequence[Any], numbers: Arithmetic
) -> dict[int, Any]:
    """Return the visits of the states of one component."""
    if len(component) == 1:
        (state,) = component
        again = numbers.one - numbers.one
        for target, weight, total in edges[state]:
            if target == state:
                again += numbers.make(weight, total)
        return {state: numbers.over(inflow[state], again)}
    members, zero = set(component), numbers.one - numbers.one
    out: dict[int, dict[int, Any]] = {state: {} for state in component}
    into: dict[int, set[int]] = {state: set() for state in component}
    for state in component:
        for target, weight, total in edges[state]:
            if target in members:
                out[state][target] = out[state].get(target, zero) + numbers.make(weight, total)
                into[target].add(state)
    begun = {state: inflow[state] for state in component}
    solved: dict[int, Any] = {}
    for state, number, sources in reversed(_eliminate(out, into, begun, numbers)):
        for source, probability in sources:
            number += numbers.times(solved[source], probability)
        solved[state] = number
    return solved


def _eliminate(
    out: dict[int, dict[int, Any]], into: dict[int, set[int]], begun: dict[int, Any], numbers: Arithmetic
) -> list[tuple[int, Any, list[tuple[int, Any]]]]:
    """Eliminate the states with few neighbors first; return each with its visits given the states after it."""
    zero = numbers.one - numbers.one
    waiting = [(len(into[state]) * len(out[state]), state) for state in out]
    heapq.heapify(waiting)
    done: list[tuple[int, Any, list[tuple[int, Any]]]] = []
    left = set(out)
    while waiting:
        cost, state = heapq.heappop(waiting)
        if state not in left:
            continue
        if cost < (now := len(into[state]) * len(out[state])):
            heapq.heappush(waiting, (now, state))
            continue
        left.discard(state)
        again = out[state].pop(state, zero)
        into[state].discard(state)
        onward = [(target, numbers.over(p, again)) for target, p in out[state].items()]
        sources = [(source, out[source].pop(state)) for source in into[state]]
        for target, probability in onward:
            into[target].discard(state)
            begun[target] += numbers.times(begun[state], probability)
            for source, before in sources:
                out[source][target] = out[source].get(target, zero) + numbers.times(before, probability)
                into[target].add(source)
        done.append((state, numbers.over(begun[state], again), [(s, numbers.over(p, again)) for s, p in sources]))
    return done


def components(edges: Sequence[Edges]) -> list[list[int]]:
    """Return the strongly connected components, each before those that lead to it (Tarjan 1972, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    open_states: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(edges)):
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        open_states.add(root)
        while work:
            state, moves = work[-1]
            for target, _, _ in moves:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    open_states.add(target)
                    work.append((target, iter(edges[target])))
                    break
                if target in open_states:
                    low[state] = min(low[state], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    component = [stack.pop()]
                    while component[-1] != state:
                        component.append(stack.pop())
                    open_states.difference_update(component)
                    found.append(component)
    return found
