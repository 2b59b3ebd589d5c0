"""Sessions: an accountant by basic composition, a filter, an odometer, a cache and children, in exact arithmetic.

Implements pay-as-you-go composition of pure privacy: whatever the analyst asks, and however the queries of parent and
children alternate, the answers of one session cost at most its limit (Rogers, Roth, Ullman and Vadhan 2016, section 3;
Vadhan and Wang 2021, theorem 1.8: pure privacy composes concurrently by its sum).

Departures: a dataset is a vector of bits, of which one is substituted, and a query reads one of them, so that its
sensitivity is 1. Budgets are fractions: a cost given as a float counts as the decimal number that is written.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from audit import InteractiveCheck, PrivacyClaim, Refusal, Substitution
from audit.laws import Finite, Laplace, Law

SOURCE = "Rogers, Roth, Ullman & Vadhan 2016, section 3"
SPENT = "PermissionError: the budget is spent"
CLAIM = PrivacyClaim(1.0, 0.0, Substitution(), SOURCE)
PAIRS = [([0.0, 0.0], [1.0, 0.0])]


@lru_cache(maxsize=64, typed=True)  # an analyst asks at few budgets
def exact(number: Any) -> Fraction:
    """Return a number as the fraction that it is written as."""
    return Fraction(str(number))


class Session:
    """Answers with Laplace noise while the costs stay within the limit; hands out parts of its budget to children."""

    def __init__(self, data: Any, rng: np.random.Generator, limit: Any = 1) -> None:
        self.data, self.rng, self.limit, self.spent = data, rng, exact(limit), Fraction(0)

    def ask(self, row: int, epsilon: Any) -> float:
        """Return a noisy row; refuse where the budget does not admit it."""
        self.pay(epsilon)
        return self.noisy(row, epsilon)

    def ask_below(self, row: int, epsilon: Any, most: float) -> float:
        """Return a noisy row; raise where it is more than `most`. It is paid for either way."""
        self.pay(epsilon)
        return self.checked(self.noisy(row, epsilon), most)

    def checked(self, answer: float, most: float) -> float:
        if answer > most:
            raise OverflowError("too large")
        return answer

    def pay(self, epsilon: Any) -> None:
        """Charge for a query before anything is drawn; a negative cost would give budget back."""
        if (cost := exact(epsilon)) < 0:
            raise ValueError("epsilon is negative")
        if not self.admits(cost):
            raise PermissionError("the budget is spent")
        self.spent += cost

    def admits(self, cost: Fraction) -> bool:
        return self.spent + cost <= self.limit

    def noisy(self, row: int, epsilon: Any) -> float:
        return float(self.data[row] + self.rng.laplace(scale=1 / float(epsilon)))

    def left(self) -> float:
        """Return the rest of the budget."""
        return float(self.limit - self.spent)

    def child(self, epsilon: Any) -> Session:
        """Return a session of its own with a part of the budget, which is paid at once."""
        self.pay(epsilon)
        return type(self)(self.data, self.rng, epsilon)


class Odometer(Session):
    """Answers without a limit, and states its cost so far."""

    def admits(self, cost: Fraction) -> bool:
        return True

    def total(self) -> float:
        """Return the privacy loss so far."""
        return float(self.spent)


class Closing(Session):
    """Takes back the unused budget of a child when it is closed; a closed child answers no more."""

    def close(self, child: Session) -> None:
        """Close a child."""
        self.spent -= child.limit - child.spent
        child.limit = child.spent


class Cached(Session):
    """Answers a repeated query by the same answer, for free; another epsilon is another query."""

    def __init__(self, data: Any, rng: np.random.Generator, limit: Any = 1) -> None:
        super().__init__(data, rng, limit)
        self.known: dict[Any, float] = {}

    def ask(self, row: int, epsilon: Any) -> float:
        if (row, epsilon) not in self.known:
            self.known[row, epsilon] = super().ask(row, epsilon)
        return self.known[row, epsilon]


class Tickets(Session):
    """Answers in two steps, as two threads may: a ticket reserves and pays, redeeming it answers once."""

    def __init__(self, data: Any, rng: np.random.Generator, limit: Any = 1) -> None:
        super().__init__(data, rng, limit)
        self.open: list[tuple[int, Any]] = []

    def reserve(self, row: int, epsilon: Any) -> int:
        """Return the number of a ticket for a query."""
        self.pay(epsilon)
        self.open.append((row, epsilon))
        return len(self.open) - 1

    def redeem(self, number: int) -> float:
        """Return the answer of a ticket, once."""
        row, epsilon = self.open[number]
        self.open[number] = (row, None)
        if epsilon is None:
            raise PermissionError("the ticket is used")
        return self.noisy(row, epsilon)


class Careful(Session):
    """A session with more methods, none of which tells anything about the data."""

    number: int | None = None

    def is_far(self, number: float) -> bool:
        """Return False."""
        return False

    def confirm(self, number: float) -> float:
        """Return 0.5."""
        return 0.5

    def ticket(self) -> int:
        """Return a number of six digits."""
        self.number = int(self.rng.integers(10**6))
        return self.number

    def read(self, number: int) -> float:
        """Return nothing but 0.5 to who has the number."""
        if number != self.number:
            raise LookupError("no such ticket")
        return 0.5

    def refund(self, number: float) -> bool:
        """Return False: nothing is given back."""
        return False


def cost(move: Any, answer: Any) -> Any:
    """Return the cost of an answer: the epsilon that was asked for; a refusal that used no noise costs nothing."""
    name = move[0] if isinstance(move[0], str) else move[1]
    arguments = move[1:] if isinstance(move[0], str) else move[2:]
    if name not in ("ask", "ask_below") or (isinstance(answer, Refusal) and not answer.startswith("OverflowError")):
        return 0
    return arguments[1]


def charged(session: Any) -> Fraction:
    """Return the charge that a session states."""
    return Fraction(session.spent)


def law(data: Any, moves: Any) -> Law:
    """Return the law of the answer to the last of some queries `ask`."""
    spent = Fraction(0)
    for _, _, epsilon in moves:
        admitted = spent + exact(epsilon) <= 1
        spent += exact(epsilon) if admitted else 0
    _, row, epsilon = moves[-1]
    return Laplace(float(data[row]), 1 / float(epsilon)) if admitted else Finite({SPENT: 1.0})


CHECKS = [
    InteractiveCheck(
        name=f"interactive/session, {len(asked)} queries at {asked[0][2]:g}",
        make=Session,
        claim=CLAIM,
        pairs=PAIRS,
        analyst=asked,
        law=law,
        cost=cost,
        charged=charged,
    )
    for asked in ([("ask", 0, 0.1)] * 12, [("ask", 0, 0.3), ("ask", 1, 0.3), ("ask", 0, 0.7)])
]
