"""Broken objects that answer, one fault each: all claim (1, 0)-DP for the whole conversation.

Faults of accounting (the charge differs from the cost), of noise that is kept, keyed or shared between answers, and of
sparse vector and counters of streams. A fault whose loss no number of conversations shows is convicted by its ledger,
which is exact; the others by a game. `TWINS` asks their correct parents the same.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit import InteractiveCheck, Refusal, Verdict
from mechanisms import interactive as right


def fault(name: str, make: Any, analyst: Any, **settings: Any) -> InteractiveCheck:
    """Return the check of a fault, which expects conviction."""
    given = {"claim": right.CLAIM, "pairs": right.PAIRS, "budget": 20_000, "expected": Verdict.FAIL, **settings}
    return InteractiveCheck(name=f"fault/interactive {name}", make=make, analyst=analyst, **given)


class OffByOne(right.Session):
    """A filter that compares the budget spent before, not after, with `<=`."""

    def admits(self, cost: Fraction) -> bool:
        return self.spent <= self.limit


class Floats(right.Session):
    """Adds floats until the limit is reached: ten times 0.1 make 0.9999999999999999."""

    def pay(self, epsilon: Any) -> None:
        if float(self.spent) >= 1.0:
            raise PermissionError("the budget is spent")
        self.spent = float(self.spent) + epsilon


class RoundedCost(right.Session):
    """Keeps the budget to one decimal: 0.04 counts as nothing."""

    def pay(self, epsilon: Any) -> None:
        super().pay(round(float(epsilon), 1))


class RetryIsFree(right.Session):
    """Charges for an answer that is given, and not for one that raises after its noise was drawn."""

    def ask_below(self, row: int, epsilon: Any, most: float) -> float:
        before = self.spent
        self.pay(epsilon)
        answer, self.spent = self.noisy(row, epsilon), before
        answer = self.checked(answer, most)
        self.pay(epsilon)
        return answer


class ForgetsFailures(right.Odometer):
    """An odometer that adds the cost of a query once it has returned."""

    def ask_below(self, row: int, epsilon: Any, most: float) -> float:
        answer = self.checked(self.noisy(row, epsilon), most)
        self.pay(epsilon)
        return answer


class ParentGoesOn(right.Session):
    """A child is paid for when it is closed; until then its parent goes on with the whole budget."""

    def child(self, epsilon: Any) -> right.Session:
        return type(self)(self.data, self.rng, epsilon)


class ClosedChildGoesOn(right.Closing):
    """Takes back the unused budget of a closed child, and lets it go on: the rule for children one after the other."""

    def close(self, child: right.Session) -> None:
        self.spent -= child.limit - child.spent


class ChildrenInParallel(right.Session):
    """Charges children that are open together for the most expensive of them, as if their rows were apart."""

    def child(self, epsilon: Any) -> right.Session:
        if right.exact(epsilon) > self.spent:
            extra, self.spent = right.exact(epsilon), Fraction(0)
            self.pay(extra)
        return right.Session(self.data, self.rng, epsilon)


class RacingTickets(right.Tickets):
    """Two threads check the budget before either of them charges: a ticket is paid for when it is redeemed."""

    def reserve(self, row: int, epsilon: Any) -> int:
        if not self.admits(right.exact(epsilon)):
            raise PermissionError("the budget is spent")
        self.open.append((row, epsilon))
        return len(self.open) - 1

    def redeem(self, number: int) -> float:
        answer = super().redeem(number)
        self.spent += right.exact(self.open[number][1] or 0)
        return answer


class UnchargedHit(right.Cached):
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


LEDGER = {"cost": right.cost_of}
BOTH = {"cost": right.cost_of, "charged": right.charged}


class SameNoise(right.Session):
    """One draw of noise serves all queries, in units of their scale."""

    unit: float | None = None

    def noisy(self, row: int, epsilon: Any) -> float:
        if self.unit is None:
            self.unit = float(self.rng.laplace())
        return float(self.data[row] + self.unit / float(epsilon))


class NoiseOfTheText(right.Session):
    """Noise that is seeded by the text of the query, the same for everybody."""

    def noisy(self, row: int, epsilon: Any) -> float:
        seeded = np.random.default_rng(list(f"{row} {epsilon}".encode()))
        return float(self.data[row] + seeded.laplace(scale=1 / float(epsilon)))


class SharedCache(right.Cached):
    """A cache that analysts share, by rows alone: somebody with a larger budget has asked before, at epsilon 3."""

    def ask(self, row: int, epsilon: Any) -> float:
        self.pay(epsilon)
        if (row, 3) not in self.known:
            self.known[row, 3] = self.noisy(row, 3)
        return self.known[row, 3]


class RefusesByData(right.Session):
    """Refuses a query about a row that is 0, since there would be nothing to tell."""

    def ask(self, row: int, epsilon: Any) -> float:
        if not self.data[row]:
            raise LookupError("no such row")
        return super().ask(row, epsilon)


class SaysWhatIsLeft(right.Session):
    """Charges nothing for a row that is 0, so that the rest of the budget leaks."""

    def pay(self, epsilon: Any) -> None:
        if self.data[0]:
            super().pay(epsilon)


class Echo(right.Careful):
    """Says whether the first row is 1 to who sends back the last answer, which other numbers never are."""

    last: float | None = None

    def noisy(self, row: int, epsilon: Any) -> float:
        self.last = super().noisy(row, epsilon)
        return self.last

    def is_far(self, number: float) -> bool:
        """Return whether a number is the last answer, and the row is 1."""
        return number == self.last and bool(self.data[0] > 0.5)


class NearEcho(right.Careful):
    """Tells the truth to who comes within 0.01 of the last answer, for it must be the owner."""

    last = float("inf")

    def noisy(self, row: int, epsilon: Any) -> float:
        self.last = super().noisy(row, epsilon)
        return self.last

    def confirm(self, number: float) -> float:
        """Return the truth to the owner, and 0.5 to others."""
        return float(self.data[0]) if abs(number - self.last) < 0.01 else 0.5


class OldHandle(right.Careful):
    """Keeps the rows that an old ticket has read: asking for its number again gives the row without noise."""

    def read(self, number: int) -> float:
        """Return the value of a number."""
        if number != self.number:
            raise LookupError("no such ticket")
        return float(self.data[0])


class RefundsTheLast(right.Careful):
    """Refunds the last query to whoever repeats its answer."""

    last: Any = None

    def noisy(self, row: int, epsilon: Any) -> float:
        self.last = super().noisy(row, epsilon)
        self.paid = epsilon
        return self.last

    def refund(self, number: float) -> bool:
        """Return whether the last answer was given back."""
        is_last = number == self.last
        if is_last:
            self.spent, self.last = self.spent * 0, None
        return is_last


def last(answers: list[Any]) -> Any:
    """Return the last answer that is a number."""
    return next((each for each in reversed(answers) if isinstance(each, (int, float)) and each is not True), 0.0)


def relaying(first: Any, method: str) -> Any:
    """Send an answer back."""
    answer = yield first
    yield method, answer


def refunding() -> Any:
    for _ in range(4):
        answer = yield "ask", 0, 0.9
        yield "refund", answer


class AnswersAfterCutoff(right.SparseVector):
    """Counts its answers "above", and goes on."""

    is_endless = True


class CountsByIndex(right.SparseVector):
    """Counts the rows that were above, by the index that the caller gives: a row that is asked again is free."""

    def above(self, row: int, shift: float) -> bool:
        """Answer, and count the row."""
        found = super().above(row, shift)
        self.rows = {*getattr(self, "rows", ()), *[row] * found}
        self.runs.paid[0] = len(self.rows)
        return found


class QueryNoiseKept(right.SparseVector):
    """Draws the noise of its queries once, as that of its threshold, and redraws neither."""

    is_renewed = is_fresh = False


class NodesOfALevel(right.TreeCounter):
    """One noise for all nodes of a level."""

    def noise(self, level: int) -> float:
        self.levels = getattr(self, "levels", {})
        return float(self.levels.setdefault(level, super().noise(level)))


class Restarts(right.TreeCounter):
    """Begins anew in the middle of the stream, with the noise of the first half."""

    def node(self, level: int, start: int) -> float:
        middle = len(self.stream) // 2
        if start < middle or (level, start) in self.nodes:
            return super().node(level, start)
        first = super().node(level, start - middle) - sum(self.stream[start - middle : start - middle + (1 << level)])
        self.nodes[level, start] = first + sum(self.stream[start : start + (1 << level)])
        return self.nodes[level, start]


class BareTop(right.TreeCounter):
    """The node of the whole stream has no noise."""

    def noise(self, level: int) -> float:
        return 0.0 if 1 << level == len(self.stream) else super().noise(level)


class TellsUpdates(right.TreeCounter):
    """Says how many events there were as the number that it has taken."""

    def size(self) -> int:
        return sum(self.stream[: self.taken])


class NoiseOfAStep(right.TreeCounter):
    """Pays for one node of each event, and not for all levels above it."""

    def noise(self, level: int) -> float:
        return float(self.rng.laplace())


def above_again() -> Any:
    """Ask for a row that is far above until there is no answer."""
    for _ in range(5):
        answer = yield "above", 0, 200.0
        if isinstance(answer, Refusal):
            return


SPARSE = {"cost": right.count_hit, "limit": 2}
STREAMS: dict[str, Any] = {"pairs": [(right.NOTHING, right.event_at(0))]}
BESIDE = [("above", 1, 0.0), ("above", 0, 0.0)]
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
    fault("same noise", SameNoise, [("ask", 0, 0.25), ("ask", 0, 0.5)]),
    fault("noise of the text", NoiseOfTheText, [("ask", 0, 0.5)]),
    fault("refuses by data", RefusesByData, [("ask", 0, 0.5)]),
    fault("says what is left", SaysWhatIsLeft, [("ask", 0, 0.5), ("left",)]),
    fault("shared cache", SharedCache, [("ask", 0, 1.0)]),
    fault("echo", Echo, partial(relaying, ("ask", 0, 0.5), "is_far")),
    fault("near echo", NearEcho, partial(relaying, ("ask", 0, 0.5), "confirm")),
    fault("old handle", OldHandle, partial(relaying, ("ticket",), "read")),
    fault("refunds the last", RefundsTheLast, refunding),
    fault("answers after its cut-off", AnswersAfterCutoff, above_again, **SPARSE),
    fault("counts by index", CountsByIndex, above_again, **SPARSE),
    fault("query noise kept", QueryNoiseKept, BESIDE),
    fault("nodes of a level", NodesOfALevel, right.STEPS, **STREAMS),
    fault("restarts", Restarts, right.STEPS, **STREAMS),
    fault("bare top", BareTop, right.STEPS, **STREAMS),
    fault("tells updates", TellsUpdates, [*right.STEPS[: right.LENGTH // 2], ("size",)], **STREAMS),
    fault("noise of a step", NoiseOfAStep, right.STEPS, **STREAMS),
]
TWINS = [
    replace(check, name=check.name.replace("fault/", "twin/"), make=check.make.__mro__[1], expected=Verdict.PASS)
    for check in CHECKS
]
