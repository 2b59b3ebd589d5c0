"""Objects that answer: sessions with a budget, sparse vector as it is used, and counters of streams.

Sessions, in exact arithmetic: whatever the analyst asks, and however the queries of parent and children alternate, the
answers of one session cost at most its limit (Rogers, Roth, Ullman and Vadhan 2016, section 3; Vadhan and Wang 2021,
theorem 1.8). Departures: a dataset is a vector of bits, a query reads one of them, and a cost given as a float counts
as the decimal that is written.

Sparse vector: AboveThreshold of Dwork & Roth 2014, algorithm 1, anew after each answer "above". Theorem 3.23 gives
(epsilon, 0) for one run with threshold noise 2 / epsilon and query noise 4 / epsilon; c runs at epsilon / c compose.

Counters: the binary tree of Chan, Shi and Song 2011 (section 3.3) for a stream of known length T. The sum of each
dyadic interval gets Laplace noise once, a prefix is the sum of the noisy nodes that cover it, and an event touches
log2(T) + 1 nodes at most. The dataset is the stream; the analyst decides how far it is read.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np

from audit import Group, InteractiveCheck, PrivacyClaim, Refusal, Substitution, Verdict
from audit.laws import Finite, Laplace, Law
from mechanisms.parts.sparse_vector import BOTTOM, ENDLESS, NO_ANSWER, Noise, Runs

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


def cost_of(move: Any, answer: Any) -> Any:
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


class SparseVector:
    """Says whether a row is above the noisy threshold 0, until it has said so `cutoff` times."""

    is_renewed, is_fresh, is_endless = True, True, False  # of `Noise`

    def __init__(self, data: Any, rng: np.random.Generator, epsilon: float = 1.0, cutoff: int = 2) -> None:
        epochs = ENDLESS if self.is_endless else cutoff
        noise = Noise(2 * cutoff / epsilon, 0.0, epochs, is_renewed=self.is_renewed, is_fresh=self.is_fresh)
        self.data, self.runs = data, Runs(noise, 1, rng)

    def above(self, row: int, shift: float) -> bool:
        """Return whether a row plus a shift is above the threshold: paid above is paid below on negated answers."""
        code = self.runs.ask_one(-(self.data[row] + shift))
        if code == NO_ANSWER:
            raise PermissionError("the cut-off is reached")
        return code == BOTTOM


def count_hit(move: Any, answer: Any) -> Any:
    """Return the cost of an answer, of a budget of 2: each answer "above" ends a run."""
    return 0 if isinstance(answer, Refusal) else int(answer is True)


def until_above() -> Any:
    """Ask the first row until it is above, then the second one until that is."""
    for row in (0, 1):
        for _ in range(4):
            answer = yield "above", row, -1.0
            if answer is True or isinstance(answer, Refusal):
                break


LENGTH = 8


class TreeCounter:
    """Counts events of a stream of bits; private for one event."""

    def __init__(self, stream: Any, rng: np.random.Generator, epsilon: float = 1.0) -> None:
        self.stream, self.rng, self.taken = list(stream), rng, 0
        self.scale = (int(math.log2(len(self.stream))) + 1) / epsilon
        self.nodes: dict[tuple[int, int], float] = {}

    def step(self) -> float:
        """Take the next event, and return the noisy number of events so far."""
        if self.taken == len(self.stream):
            raise EOFError("the stream has ended")
        self.taken += 1
        return self.prefix(self.taken)

    def size(self) -> int:
        """Return the number of events that were taken, which is public."""
        return self.taken

    def prefix(self, length: int) -> float:
        """Return the sum of the noisy nodes that cover a prefix."""
        return sum([self.node(level, start) for level, start in nodes_of(length)])

    def node(self, level: int, start: int) -> float:
        """Return the noisy sum of a dyadic interval; its noise is drawn once."""
        if (level, start) not in self.nodes:
            self.nodes[level, start] = sum(self.stream[start : start + (1 << level)]) + self.noise(level)
        return self.nodes[level, start]

    def noise(self, level: int) -> float:
        return float(self.rng.laplace(scale=self.scale))


@cache
def nodes_of(length: int) -> tuple[tuple[int, int], ...]:
    """Return level and start of the dyadic intervals that cover a prefix, the longest first."""
    levels = [level for level in range(length.bit_length() - 1, -1, -1) if length >> level & 1]
    return tuple((level, length >> level + 1 << level + 1) for level in levels)


STEPS = [("step",)] * LENGTH
NOTHING = [0] * LENGTH


def event_at(*times: int) -> list[int]:
    """Return a stream with events at some times."""
    return [int(time in times) for time in range(LENGTH)]


def _counter(name: str, claim: PrivacyClaim, changed: list[tuple[int, ...]], **settings: Any) -> InteractiveCheck:
    pairs = [(NOTHING, event_at(*times)) for times in changed]
    name = f"interactive/tree counter, {name}"
    return InteractiveCheck(name=name, make=TreeCounter, claim=claim, pairs=pairs, analyst=STEPS, **settings)


_ONE = PrivacyClaim(1.0, 0.0, Substitution(), "Chan, Shi & Song 2011, theorem 3.5")
_SIX = PrivacyClaim(1.0, 0.0, Group(6), "false: the tree is private for one event")
CHECKS = [
    _counter("one event", _ONE, [(0,), (LENGTH - 1,)], budget="auto", tolerance=0.5),
    _counter("six events of one user", _SIX, [(0, 1, 2, 3, 4, 5)], budget=10_000, expected=Verdict.FAIL),
    *(
        InteractiveCheck(
            name=f"interactive/session, {len(asked)} queries at {asked[0][2]:g}",
            make=Session,
            claim=CLAIM,
            pairs=PAIRS,
            analyst=asked,
            law=law,
            cost=cost_of,
            charged=charged,
        )
        for asked in ([("ask", 0, 0.1)] * 12, [("ask", 0, 0.3), ("ask", 1, 0.3), ("ask", 0, 0.7)])
    ),
    InteractiveCheck(
        name="interactive/sparse vector, two runs",
        make=SparseVector,
        claim=PrivacyClaim(1.0, 0.0, Substitution(), "Dwork & Roth 2014, theorem 3.23"),
        pairs=PAIRS,
        analyst=until_above,
        cost=count_hit,
        limit=2,
        budget="auto",
        tolerance=0.5,
    ),
]
