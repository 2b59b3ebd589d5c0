# ruff: noqa: E501  (a session is a line)
"""Seventeen sessions with one mistake each, and their twins without it.

`python -m benchmarks.sessions [TEXT]` audits those whose name holds TEXT: of each fault the auditor searches the
conversation in a table of its methods (`audit.Moves`), at the defaults; of each twin a conversation that convicts the
fault is asked, at the defaults too. All claim epsilon = 1 for the whole conversation.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from fractions import Fraction
from typing import Any

from audit import InteractiveCheck, Moves, PrivacyClaim, run

PAIRS = [([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])]
HALF = 0.5
Table = dict[str, list[list[Any]]]


class Session:
    """Answers rows with Laplace noise, at most epsilon = 1 in all: the twin of most faults."""

    def __init__(self, data: Any, rng: Any) -> None:
        self.data, self.rng, self.spent = data, rng, Fraction(0)

    def cost(self, epsilon: Any) -> Fraction:
        if isinstance(epsilon, (bool, str)) or not 0 < epsilon < float("inf"):
            raise ValueError("epsilon must be a positive number")
        return Fraction(str(epsilon))

    def pay(self, epsilon: Any, name: Any = None) -> None:
        cost = self.cost(epsilon)
        if self.spent + cost > 1:
            raise PermissionError("the budget is spent")
        self.spent += cost

    def noisy(self, value: float, epsilon: Any) -> float:
        return float(value + self.rng.laplace(scale=1 / float(epsilon)))

    def ask(self, row: int, epsilon: Any) -> float:
        self.pay(epsilon)
        return self.noisy(self.data[row], epsilon)


class AdmitsNan(Session):
    """Compares with a number that is none."""

    def cost(self, epsilon: Any) -> Any:
        if epsilon <= 0:
            raise ValueError("epsilon must be positive")
        return float(epsilon)

    def pay(self, epsilon: Any, name: Any = None) -> None:
        if self.spent + self.cost(epsilon) > 1:
            raise PermissionError("the budget is spent")
        self.spent = self.spent + self.cost(epsilon)


class PaysBack(Session):
    """A negative epsilon gives budget back."""

    def cost(self, epsilon: Any) -> Fraction:
        return Fraction(str(epsilon))

    def noisy(self, value: float, epsilon: Any) -> float:
        return super().noisy(value, abs(epsilon))


class Bounded(Session):
    """Raises where an answer is too large; it is paid for."""

    def ask(self, row: int, epsilon: Any, most: float) -> float:
        self.pay(epsilon)
        return self.bounded(row, epsilon, most)

    def bounded(self, row: int, epsilon: Any, most: float) -> float:
        if (answer := self.noisy(self.data[row], epsilon)) > most:
            raise OverflowError("too large")
        return answer


class FailsFree(Bounded):
    """A query that fails is not charged."""

    def ask(self, row: int, epsilon: Any, most: float) -> float:
        spent = self.spent
        self.pay(epsilon)
        try:
            return self.bounded(row, epsilon, most)
        except OverflowError:
            self.spent = spent
            raise


class RefusesByData(Session):
    """Refuses an epsilon that is too small for the value."""

    def ask(self, row: int, epsilon: Any) -> float:
        if self.data[row] > 10 * self.cost(epsilon):
            raise ValueError("epsilon is too small for this row")
        return super().ask(row, epsilon)


class Parent(Session):
    """Hands out a part of its budget."""

    def child(self, epsilon: Any) -> Session:
        self.pay(epsilon)
        child = type(self)(self.data, self.rng)
        child.spent = 1 - self.cost(epsilon)
        return child


class Copies(Session):
    """Hands out copies with a budget of their own."""

    def child(self, epsilon: Any) -> Session:
        return type(self)(self.data, self.rng)


class Tickets(Session):
    """Reserves queries, which are redeemed later."""

    def __init__(self, data: Any, rng: Any) -> None:
        super().__init__(data, rng)
        self.tickets: list[int] = []

    def reserve(self, row: int) -> int:
        self.pay(HALF)
        self.tickets.append(row)
        return len(self.tickets)

    def redeem(self) -> float:
        return self.noisy(self.data[self.tickets.pop()], HALF)


class ChecksFirst(Tickets):
    """Checks the budget when a query is reserved, and charges it when it is redeemed."""

    def reserve(self, row: int) -> int:
        if self.spent + Fraction(HALF) > 1:
            raise PermissionError("the budget is spent")
        self.tickets.append(row)
        return len(self.tickets)

    def redeem(self) -> float:
        self.spent += Fraction(HALF)
        return super().redeem()


class Odometer(Session):
    """States what is left."""

    def left(self) -> float:
        return float(1 - self.spent)


class DataOdometer(Odometer):
    """Charges a row by what it holds."""

    def ask(self, row: int, epsilon: Any) -> float:
        answer = super().ask(row, epsilon)
        self.spent -= self.cost(epsilon) * (self.data[row] == 0) / 10
        return answer


class Groups(Session):
    """Sums of groups that share records: each query is charged."""

    groups = ((0, 1), (0, 2))

    def ask(self, group: int, epsilon: Any) -> float:
        self.pay(epsilon, group)
        return self.noisy(sum(self.data[row] for row in self.groups[group]), epsilon)


class ByName(Session):
    """Charges each name alone."""

    def pay(self, epsilon: Any, name: Any = None) -> None:
        paid = self.__dict__.setdefault("paid", Counter())
        if paid[name] + self.cost(epsilon) > 1:
            raise PermissionError("the budget is spent")
        paid[name] += self.cost(epsilon)


class Apart(ByName, Groups):
    """Charges each group alone, as if groups shared no record."""


class Ends(Session):
    """Begins days, saves, restores and undoes to no effect on the budget, and closes for good: the twin of these."""

    saved = Fraction(0)

    def tick(self) -> None:
        """Begin a day."""

    def save(self) -> None:
        self.saved = self.spent

    def restore(self) -> None:
        """Restore all but the budget."""

    def undo(self) -> None:
        """Undo the last query, whose answer was seen: it stays paid."""

    def close(self) -> None:
        self.spent = Fraction(1)


class Refreshed(Ends):
    """Begins each day with a new budget."""

    def tick(self) -> None:
        self.spent = Fraction(0)


class Cached(Session):
    """Gives the same answer to the same question, once paid."""

    def __init__(self, data: Any, rng: Any) -> None:
        super().__init__(data, rng)
        self.known: dict[Any, float] = {}

    def ask(self, row: int, epsilon: Any) -> float:
        if (row, epsilon) not in self.known:
            self.known[row, epsilon] = super().ask(row, epsilon)
        return self.known[row, epsilon]


class CachedQuestion(Cached):
    """Knows that a row was asked, and answers anew for nothing, at any epsilon."""

    def ask(self, row: int, epsilon: Any) -> float:
        if row not in self.known:
            self.known[row] = Session.ask(self, row, epsilon)
        return self.noisy(self.data[row], self.cost(epsilon))


class Restored(Ends):
    """Restores the budget too."""

    def restore(self) -> None:
        self.spent = self.saved


class Resets(Ends):
    """Closes, and may be asked again."""

    def close(self) -> None:
        self.spent = Fraction(0)


class RollsBack(Ends):
    """Undoes the last query with its charge."""

    def undo(self) -> None:
        self.spent = max(Fraction(0), self.spent - Fraction(HALF))


class LastFree(Session):
    """Looks at the budget before the query, not at what the query costs."""

    def pay(self, epsilon: Any, name: Any = None) -> None:
        if self.spent >= 1:
            raise PermissionError("the budget is spent")
        self.spent += self.cost(epsilon)


class Retries(Session):
    """Takes the same question for a retry, and draws again."""

    last: Any = None

    def ask(self, row: int, epsilon: Any) -> float:
        if self.last == (row, epsilon):
            return self.noisy(self.data[row], epsilon)
        self.last = row, epsilon
        return super().ask(row, epsilon)


class Rounds(Session):
    """Charges costs rounded to one digit."""

    def pay(self, epsilon: Any, name: Any = None) -> None:
        cost = round(self.cost(epsilon), 1)
        if self.spent + cost > 1:
            raise PermissionError("the budget is spent")
        self.spent += cost


class Parts(Session):
    """Sums of ranges of rows, which may overlap: each query is charged."""

    def total(self, first: int, last: int, epsilon: Any) -> float:
        self.pay(epsilon, (first, last))
        return self.noisy(sum(self.data[first:last]), epsilon)


class Overlaps(ByName, Parts):
    """Charges ranges by their name: different ones are taken for disjoint."""


ASK: Table = {"ask": [[0, 1], [HALF, 1.0]]}
TWICE = [("ask", 0, 1.0)] * 4
CASES: dict[str, tuple[Any, Any, Table, list[tuple[Any, ...]]]] = {
    "NaN": (AdmitsNan, Session, ASK, [("ask", 0, float("nan")), *TWICE[:3]]),
    "negative epsilon": (PaysBack, Session, ASK, [("ask", 0, -1.0), *TWICE[:3]]),
    "failed queries are free": (FailsFree, Bounded, {"ask": [[0, 1], [HALF, 1.0], [0.0, 1.0]]}, [("ask", 0, 1.0, 0.0)] * 6),
    "refuses by the data": (RefusesByData, Session, {"ask": [[0, 1], [0.05, 1.0]]}, [("ask", 0, 0.05)] * 2),
    "copies": (Copies, Parent, {**ASK, "child": [[HALF, 1.0]], ".ask": [[0, 1], [HALF, 1.0]]}, [*TWICE[:1], ("child", HALF)]),
    "check, then act": (ChecksFirst, Tickets, {"reserve": [[0, 1]], "redeem": []}, [("reserve", 0)] * 4 + [("redeem",)] * 4),
    "odometer": (DataOdometer, Odometer, {**ASK, "left": []}, [("ask", 0, HALF), ("left",)]),
    "groups share records": (Apart, Groups, {"ask": [[0, 1], [HALF, 1.0]]}, [("ask", 0, 1.0), ("ask", 1, 1.0)]),
    "clock": (Refreshed, Ends, {**ASK, "tick": []}, [("ask", 0, 1.0), ("tick",)] * 3),
    "cache of questions": (CachedQuestion, Cached, ASK, TWICE),
    "restored budget": (Restored, Ends, {**ASK, "save": [], "restore": []}, [("ask", 0, 1.0), ("restore",)] * 3),
    "reset": (Resets, Ends, {**ASK, "close": []}, [("ask", 0, 1.0), ("close",)] * 3),
    "undo": (RollsBack, Ends, {**ASK, "undo": []}, [("ask", 0, HALF), ("undo",)] * 4),
    "last query": (LastFree, Session, {"ask": [[0, 1], [0.1, HALF, 0.9]]}, [("ask", 0, 0.9)] * 2),
    "retries": (Retries, Session, ASK, TWICE),
    "rounded costs": (Rounds, Session, {"ask": [[0, 1], [0.04, HALF]]}, [("ask", 0, 0.04)] * 100),
    "overlapping parts": (Overlaps, Parts, {"total": [[0, 1], [1, 2, 3], [HALF, 1.0]]}, [("total", 0, 1, 1.0), ("total", 0, 2, 1.0)]),
}  # fmt: skip


def verdict(make: Any, analyst: Any) -> tuple[Any, float]:
    """Return the result at the defaults, and its CPU seconds."""
    began = time.process_time()
    check = InteractiveCheck(name="session", make=make, claim=PrivacyClaim(1.0), pairs=PAIRS, analyst=analyst)
    return run([check], workers=0).results[0], time.process_time() - began


def main(only: str = "") -> None:
    """Print the verdicts."""
    together: Counter[str] = Counter()
    for name, (fault, twin, table, talk) in CASES.items():
        if only not in name:
            continue
        for kind, make, analyst in (("fault", fault, Moves(table)), ("twin", twin, talk)):
            result, seconds = verdict(make, analyst)
            together[f"{kind} {result.verdict}"] += 1
            plan = result.evidence.searched.setting["plan"] if kind == "fault" else ""
            print(
                f"{name:24} {kind} {result.verdict:12} {seconds:5.1f} CPU s  {plan or result.reason[:90]}", flush=True
            )
    print(dict(together))


if __name__ == "__main__":
    main(*sys.argv[1:])
