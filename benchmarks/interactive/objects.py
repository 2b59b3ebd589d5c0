"""Objects of released libraries that answer, each with what its documentation promises and an analyst that asks it.

Most are asked for coins: whether a count with two-sided geometric noise is at least 1, or randomized response. A coin
says yes with probability 1 / (1 + e^-epsilon) where the record is 1, and with the rest of it where it is 0. Its law is
finite, so that the transcript of an analyst who adapts has an exact law, and what is tested is the object: which
queries it answers, with what noise, and what it says that it has charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from audit import Distance, PrivacyClaim, Refusal
from audit.laws import Finite, Law

OWN = "mechanisms"  # the library of this project
ONE_NUMBER, NUMBERS = PrivacyClaim(1.0, 0.0, Distance("l1", 1.0)), [(0.0, 1.0)]


@dataclass(frozen=True, kw_only=True)
class Audited:
    """An object, the words of its documentation that are held against it, and the conversation."""

    library: str  # a folder of `wild/`, with the requirements of its environment, or `OWN`
    name: str
    documented: str  # quoted parts occur in the text of the release
    make: Any
    analyst: Any
    claim: PrivacyClaim = ONE_NUMBER
    pairs: Any = None
    law: Any = None
    cost: Any = None
    charged: Any = None
    budget: int = 2_000  # conversations per dataset
    tolerance: float | None = None


def halving() -> Any:
    """Ask as much as the last answer lets hope for, until nothing is answered."""
    epsilon = 0.5
    for _ in range(6):
        answer = yield "ask", epsilon
        if isinstance(answer, Refusal):
            return
        epsilon = 0.25 if answer > 0.5 else 0.125


def concurrent() -> Any:
    """Open a child, ask its parent in between, and ask both once too often."""
    child = yield "child", 0.25, 0.25
    yield "ask", 0.25
    for _ in range(3):
        yield child, "ask", 0.25
    yield "ask", 0.25
    yield "ask", 0.25


TENTHS = [("ask", 0.1)] * 12


def coin(record: float, epsilon: float) -> Law:
    """Return the law of randomized response."""
    yes = 1 / (1 + math.exp(-epsilon if record else epsilon))
    return Finite({True: yes, False: 1 - yes})


def said(text: Any) -> Law:
    """Return the law of an answer that tells nothing."""
    return Finite({text: 1.0})


def within(limit: float, refusal: Refusal, data: Any, moves: Any, answers: Any) -> Law:
    """Return the law of an answer of a budget that adds what was asked and answered."""
    spent = [
        Fraction(str(move[1])) for move, answer in zip(moves, answers, strict=False) if not isinstance(answer, Refusal)
    ]
    epsilon = moves[-1][1]
    return said(refusal) if sum(spent) + Fraction(str(epsilon)) > limit else coin(data, epsilon)


def at_most(number: int, refusal: Refusal, data: Any, moves: Any, answers: Any) -> Law:
    """Return the law of an answer where a number of queries are answered."""
    return said(refusal) if len(moves) > number else coin(data, moves[-1][1])


def listed(told: dict[int, Any], row: Callable[[Any, Any], float], data: Any, moves: Any, answers: Any) -> Law:
    """Return the law of an answer: some turns answer the same always, the others are coins about a row."""
    turn = len(answers)
    return said(told[turn]) if turn in told else coin(row(data, moves[-1]), moves[-1][-1])


def whole(data: Any, move: Any) -> float:
    """Return the data as the row that is asked about."""
    return float(data)


def of_query(move: Any, answer: Any) -> Any:
    """Return what an answer to `ask` costs."""
    name = move[0] if isinstance(move[0], str) else move[1]
    return move[-1] if name == "ask" and not isinstance(answer, Refusal) else 0


def refusing(error: BaseException) -> PermissionError:
    """Return a refusal that says the type of an exception, for laws that state it."""
    return PermissionError(type(error).__name__)
