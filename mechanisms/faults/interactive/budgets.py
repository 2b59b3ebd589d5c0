"""Faults of accounting: the charge differs from the cost. All claim (1, 0)-DP for the whole conversation."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from mechanisms.faults.interactive.checks import fault
from mechanisms.interactive.sessions import Cached, Closing, Odometer, Session, Tickets, charged, cost, exact


class OffByOne(Session):
    """A filter that compares the budget spent before, not after, with `<=`."""

    def admits(self, cost: Fraction) -> bool:
        return self.spent <= self.limit


class Floats(Session):
    """Adds floats until the limit is reached: ten times 0.1 make 0.9999999999999999."""

    def pay(self, epsilon: Any) -> None:
        if float(self.spent) >= 1.0:
            raise PermissionError("the budget is spent")
        self.spent = float(self.spent) + epsilon


class RoundedCost(Session):
    """Keeps the budget to one decimal: 0.04 counts as nothing."""

    def pay(self, epsilon: Any) -> None:
        super().pay(round(float(epsilon), 1))


class RetryIsFree(Session):
    """Charges for an answer that is given, and not for one that raises after its noise was drawn."""

    def ask_below(self, row: int, epsilon: Any, most: float) -> float:
        before = self.spent
        self.pay(epsilon)
        answer, self.spent = self.noisy(row, epsilon), before
        answer = self.checked(answer, most)
        self.pay(epsilon)
        return answer


class ForgetsFailures(Odometer):
    """An odometer that adds the cost of a query once it has returned."""

    def ask_below(self, row: int, epsilon: Any, most: float) -> float:
        answer = self.checked(self.noisy(row, epsilon), most)
        self.pay(epsilon)
        return answer


class ParentGoesOn(Session):
    """A child is paid for when it is closed; until then its parent goes on with the whole budget."""

    def child(self, epsilon: Any) -> Session:
        return type(self)(self.data, self.rng, epsilon)


class ClosedChildGoesOn(Closing):
    """Takes back the unused budget of a closed child, and lets it go on: the rule for children one after the other."""

    def close(self, child: Session) -> None:
        self.spent -= child.limit - child.spent


class ChildrenInParallel(Session):
    """Charges children that are open together for the most expensive of them, as if their rows were apart."""

    def child(self, epsilon: Any) -> Session:
        if exact(epsilon) > self.spent:
            extra, self.spent = exact(epsilon), Fraction(0)
            self.pay(extra)
        return Session(self.data, self.rng, epsilon)


class RacingTickets(Tickets):
    """Two threads check the budget before either of them charges: a ticket is paid for when it is redeemed."""

    def reserve(self, row: int, epsilon: Any) -> int:
        if not self.admits(exact(epsilon)):
            raise PermissionError("the budget is spent")
        self.open.append((row, epsilon))
        return len(self.open) - 1

    def redeem(self, number: int) -> float:
        answer = super().redeem(number)
        self.spent += exact(self.open[number][1] or 0)
        return answer


class UnchargedHit(Cached):
    """Finds a repeated query in its cache, does not charge for it, and draws its noise anew."""

    def ask(self, row: int, epsilon: Any) -> float:
        if (row, epsilon) in self.known:
            return self.noisy(row, epsilon)
        return super().ask(row, epsilon)


def retrying() -> Any:
    """Ask until an answer is small enough, at most eight times."""
    for _ in range(8):
        answer = yield "ask_below", 0, 0.9, 0.5
        if not isinstance(answer, str) or answer.startswith("PermissionError"):
            return


def asking_children(*epsilons: float) -> Any:
    """Open children, and ask the parent before them."""
    children = []
    for epsilon in epsilons:
        child = yield "child", epsilon
        if not isinstance(child, str):
            children.append((child, epsilon))
    yield "ask", 0, 1.0
    for child, epsilon in children:
        yield child, "ask", 0, epsilon


def closing_a_child() -> Any:
    """Close a child, ask it, and ask its parent."""
    child = yield "child", 1.0
    yield "close", child
    yield child, "ask", 0, 1.0
    yield "ask", 0, 1.0


def two_tickets() -> Any:
    """Reserve two tickets, then redeem them."""
    tickets = []
    for _ in range(2):
        ticket = yield "reserve", 0, 0.9
        tickets.append(ticket)
    for ticket in tickets:
        if isinstance(ticket, int):
            yield "redeem", ticket


def ticket_cost(move: Any, answer: Any) -> Any:
    """Return the cost of a redeemed ticket."""
    return 0.9 if move[0] == "redeem" and isinstance(answer, float) else 0


LEDGER = {"cost": cost}
BOTH = {"cost": cost, "charged": charged}
CHECKS = [
    fault("off by one", OffByOne, [("ask", 0, 0.5)] * 4, **LEDGER),
    fault("floats", Floats, [("ask", 0, 0.1)] * 12, **LEDGER),
    fault("rounded cost", RoundedCost, [("ask", 0, 0.04)] * 50, **LEDGER),
    fault("retry is free", RetryIsFree, retrying),
    fault("forgets failures", ForgetsFailures, [("ask_below", 0, 0.5, -50.0), ("ask", 0, 0.5)], **BOTH),
    fault("parent goes on", ParentGoesOn, partial(asking_children, 1.0), **LEDGER),
    fault("closed child goes on", ClosedChildGoesOn, closing_a_child, **LEDGER),
    fault("children in parallel", ChildrenInParallel, partial(asking_children, 0.9, 0.9, 0.9), **LEDGER),
    fault("racing tickets", RacingTickets, two_tickets, cost=ticket_cost),
    fault("uncharged hit", UnchargedHit, [("ask", 0, 0.9)] * 6),
]
