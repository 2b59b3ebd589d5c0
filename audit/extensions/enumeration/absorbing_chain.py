"""Expected visits of an absorbing Markov chain: exact, or rounded down.

States are eliminated one by one, those with few neighbors first. Elimination adds, multiplies, and divides by 1 - p,
where p is the probability of a return; each of these keeps a lower bound when its operands are rounded down. So visits
rounded down are lower bounds (Grassmann, Taksar & Heyman 1985 eliminate in the same order, to avoid cancellation).
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
        `EXACT`, or `rounded_down(bits)`, whose results are lower bounds.

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
    out: list[dict[int, Any]] = [{} for _ in edges]
    into: list[set[int]] = [set() for _ in edges]
    for state, moves in enumerate(edges):
        for target, weight, total in moves:
            out[state][target] = out[state].get(target, zero) + numbers.make(weight, total)
            into[target].add(state)
    visits = [numbers.one, *[zero] * (len(edges) - 1)]
    for state, number, sources in reversed(_eliminate(out, into, list(visits), numbers)):
        visits[state] = sum((numbers.times(visits[source], p) for source, p in sources), number)
    return visits


def _eliminate(
    out: list[dict[int, Any]], into: list[set[int]], begun: list[Any], numbers: Arithmetic
) -> list[tuple[int, Any, list[tuple[int, Any]]]]:
    """Eliminate the states with few neighbors first; return each with its visits given the states after it."""
    waiting = [(len(into[state]) * len(out[state]), state) for state in range(len(out))]
    heapq.heapify(waiting)
    done: list[tuple[int, Any, list[tuple[int, Any]]]] = []
    left = set(range(len(out)))
    while waiting:
        cost, state = heapq.heappop(waiting)
        if state not in left or cost != len(into[state]) * len(out[state]):
            continue
        left.discard(state)
        again = out[state].pop(state, numbers.one - numbers.one)
        into[state].discard(state)
        onward = [(target, numbers.over(p, again)) for target, p in out[state].items()]
        sources = [(source, out[source].pop(state)) for source in into[state]]
        for target, probability in onward:
            into[target].discard(state)
            begun[target] += numbers.times(begun[state], probability)
            for source, before in sources:
                added = numbers.times(before, probability)
                out[source][target] = out[source][target] + added if target in out[source] else added
                into[target].add(source)
        for neighbor in {*out[state], *into[state]}:
            heapq.heappush(waiting, (len(into[neighbor]) * len(out[neighbor]), neighbor))
        done.append((state, numbers.over(begun[state], again), [(s, numbers.over(p, again)) for s, p in sources]))
    return done
