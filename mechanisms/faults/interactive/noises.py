"""Faults of noise that is kept, keyed or shared between answers. All claim (1, 0)-DP for the whole conversation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mechanisms.faults.interactive.checks import fault
from mechanisms.interactive.sessions import CLAIM, Cached, Careful, Session


class SameNoise(Session):
    """One draw of noise serves all queries, in units of their scale."""

    unit: float | None = None

    def noisy(self, row: int, epsilon: Any) -> float:
        if self.unit is None:
            self.unit = float(self.rng.laplace())
        return float(self.data[row] + self.unit / float(epsilon))


class NoiseOfTheText(Session):
    """Noise that is seeded by the text of the query, the same for everybody."""

    def noisy(self, row: int, epsilon: Any) -> float:
        seeded = np.random.default_rng(list(f"{row} {epsilon}".encode()))
        return float(self.data[row] + seeded.laplace(scale=1 / float(epsilon)))


class SharedCache(Cached):
    """A cache that analysts share, by rows alone: somebody with a larger budget has asked before, at epsilon 3."""

    def ask(self, row: int, epsilon: Any) -> float:
        self.pay(epsilon)
        if (row, 3) not in self.known:
            self.known[row, 3] = self.noisy(row, 3)
        return self.known[row, 3]


class RefusesByData(Session):
    """Refuses a query about a row that is 0, since there would be nothing to tell."""

    def ask(self, row: int, epsilon: Any) -> float:
        if not self.data[row]:
            raise LookupError("no such row")
        return super().ask(row, epsilon)


class SaysWhatIsLeft(Session):
    """Charges nothing for a row that is 0, so that the rest of the budget leaks."""

    def pay(self, epsilon: Any) -> None:
        if self.data[0]:
            super().pay(epsilon)


class Echo(Careful):
    """Says whether the first row is 1 to who sends back the last answer, which other numbers never are."""

    last: float | None = None

    def noisy(self, row: int, epsilon: Any) -> float:
        self.last = super().noisy(row, epsilon)
        return self.last

    def is_far(self, number: float) -> bool:
        """Return whether a number is the last answer, and the row is 1."""
        return number == self.last and bool(self.data[0] > 0.5)


class NearEcho(Careful):
    """Tells the truth to who comes within 0.01 of the last answer, for it must be the owner."""

    last = float("inf")

    def noisy(self, row: int, epsilon: Any) -> float:
        self.last = super().noisy(row, epsilon)
        return self.last

    def confirm(self, number: float) -> float:
        """Return the truth to the owner, and 0.5 to others."""
        return float(self.data[0]) if abs(number - self.last) < 0.01 else 0.5


class OldHandle(Careful):
    """Keeps the rows that an old ticket has read: asking for its number again gives the row without noise."""

    def read(self, number: int) -> float:
        """Return the value of a number."""
        if number != self.number:
            raise LookupError("no such ticket")
        return float(self.data[0])


class RefundsTheLast(Careful):
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


CHECKS = [
    fault("same noise", SameNoise, [("ask", 0, 0.25), ("ask", 0, 0.5)]),
    fault("noise of the text", NoiseOfTheText, [("ask", 0, 0.5)]),
    fault("refuses by data", RefusesByData, [("ask", 0, 0.5)]),
    fault("says what is left", SaysWhatIsLeft, [("ask", 0, 0.5), ("left",)]),
    fault("shared cache", SharedCache, [("ask", 0, 1.0)], claim=CLAIM),
    fault("echo", Echo, partial(relaying, ("ask", 0, 0.5), "is_far")),
    fault("near echo", NearEcho, partial(relaying, ("ask", 0, 0.5), "confirm")),
    fault("old handle", OldHandle, partial(relaying, ("ticket",), "read")),
    fault("refunds the last", RefundsTheLast, refunding),
]
