"""Accountants, counters and a service: diffprivlib, SmartNoise, dpcrpy, and labels by votes of this project.

Libraries are imported where they are used, since no environment has them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from audit import Distance, PrivacyClaim, Refusal, Substitution
from audit.laws import Finite, Law
from benchmarks.interactive.objects import (
    OWN,
    TENTHS,
    Audited,
    at_most,
    coin,
    halving,
    of_query,
    refusing,
    within,
)  # fmt: skip


class OfDiffprivlib:
    """Asks diffprivlib whether a record is not zero, under a budget: its count is clamped to 0 and 1, a coin."""

    def __init__(self, data: float, rng: np.random.Generator, **budget: float) -> None:
        import diffprivlib as dpl

        self.data, self.accountant, self.tools = np.array([data]), dpl.BudgetAccountant(**budget), dpl.tools
        self.seed = np.random.RandomState(rng.integers(2**32))

    def ask(self, epsilon: float) -> bool:
        """Return a coin."""
        given = {"epsilon": epsilon, "accountant": self.accountant, "random_state": self.seed}
        try:
            return bool(self.tools.count_nonzero(self.data, **given))
        except Exception as error:
            raise refusing(error) from None

    def total(self) -> float:
        """Return what the accountant says."""
        return float(self.accountant.total()[0])


def admitted(limit: float, epsilon: float, slack: float) -> int:
    """Return how many queries a limit on epsilon admits by the cheapest of three theorems, whose delta is the slack.

    The sum, and Kairouz, Oh and Viswanath 2017, theorem 3.5, with either logarithm.
    """
    number = 0
    while True:
        k = number + 1
        mean, spread = k * epsilon * math.tanh(epsilon / 2), 2 * k * epsilon**2
        logs = math.log(1 / slack), math.log(math.e + math.sqrt(k) * epsilon / slack)
        if min(k * epsilon, *(mean + math.sqrt(spread * each) for each in logs)) > limit:
            return number
        number = k


_OVERSPENT = Refusal("PermissionError: BudgetError")
_EXCEEDED = '"raising an error when the budget ceiling (if specified) is exceeded"'
_DIFFPRIVLIB = {"library": "diffprivlib", "cost": of_query, "charged": OfDiffprivlib.total}
DIFFPRIVLIB = [
    Audited(
        **_DIFFPRIVLIB,
        name="BudgetAccountant, twelve tenths of its budget",
        documented=_EXCEEDED,
        make=partial(OfDiffprivlib, epsilon=1.0, delta=0.0),
        analyst=TENTHS,
        law=lambda data, moves: at_most(10, _OVERSPENT, data, moves, ()),
    ),
    Audited(
        **_DIFFPRIVLIB,
        name="BudgetAccountant, one query after the other",
        documented=_EXCEEDED,
        make=partial(OfDiffprivlib, epsilon=1.0, delta=0.0),
        analyst=halving,
        law=partial(within, 1, _OVERSPENT),
    ),
    Audited(
        library="diffprivlib",
        name="BudgetAccountant with slack, until it refuses",
        documented='"Greater slack may reduce the overall epsilon spend."',
        make=partial(OfDiffprivlib, epsilon=1.5, delta=0.01, slack=0.01),
        analyst=[("ask", 0.1)] * (admitted(1.5, 0.1, 0.01) + 2),
        claim=PrivacyClaim(1.5, 0.01, Distance("l1", 1.0)),
        law=lambda data, moves: at_most(admitted(1.5, 0.1, 0.01), _OVERSPENT, data, moves, ()),
    ),
]


def two_counts() -> Any:
    """Ask what to count by the answer before."""
    column = "*"
    for _ in range(4):
        answer = yield "count", column
        column = "v" if answer else "*"


@cache
def table(rows: int) -> Any:
    """Return a table of some people, and its metadata."""
    import pandas as pd

    frame = pd.DataFrame({"u": range(rows), "v": [1.0] * rows})
    people = {"type": "int", "private_id": True}
    metadata = {"max_ids": 1, "censor_dims": False, "clamp_counts": False, "u": people, "v": {"type": "float"}}
    return frame, {"": {"T": {"T": metadata}}}


class Reader:
    """Asks a `PrivateReader` whether there are three rows, at epsilon = 1/4: Laplace noise, cut to an integer."""

    def __init__(self, data: float) -> None:
        import snsql

        frame, metadata = table(2 + int(data))
        self.reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=0.25, delta=1e-6), metadata=metadata)

    def count(self, column: str) -> bool:
        """Return whether a noisy count is at least 3."""
        return bool(self.reader.execute(f"SELECT COUNT({column}) AS n FROM T.T")[1][0] >= 3)

    def spent(self) -> float:
        """Return what the odometer says."""
        return float(self.reader.odometer.spent[0])

    @staticmethod
    def law(data: float, moves: Any, answers: Any) -> Law:
        """Return the law of an answer."""
        yes = 0.5 if data else 0.5 * math.exp(-0.25)
        return Finite({True: yes, False: 1 - yes})


class Metered:
    """Asks coins at 0.1, each of which an `OdometerHeterogeneous` is told."""

    def __init__(self, data: float, rng: np.random.Generator) -> None:
        from snsql import Privacy
        from snsql.sql.odometer import OdometerHeterogeneous

        self.data, self.rng = data, rng
        self.paid, self.odometer = Privacy(epsilon=0.1, delta=0.0), OdometerHeterogeneous(Privacy(delta=0.01))

    def ask(self, epsilon: float) -> bool:
        """Return a coin."""
        self.odometer.spend(self.paid)
        return bool(self.rng.random() < 1 / (1 + math.exp(-epsilon if self.data else epsilon)))

    @classmethod
    def claim(cls, answers: int) -> PrivacyClaim:
        """Return what the odometer says after some answers."""
        metered = cls(0.0, np.random.default_rng(0))
        for _ in range(answers):
            metered.ask(0.1)
        return PrivacyClaim(*map(float, metered.odometer.spent), Distance("l1", 1.0))


def smartnoise() -> list[Audited]:
    """Return the objects of SmartNoise; the claim of one is what the library says."""
    return [
        Audited(
            library="smartnoise_sql",
            name="PrivateReader and its odometer, four counts",
            documented='"applies to all queries executed against that connection"; "advances privacy odometer"',
            make=Reader,
            analyst=two_counts,
            law=Reader.law,
            cost=lambda move, answer: 0.25,
            charged=Reader.spent,
            budget=400,
        ),
        Audited(
            library="smartnoise_sql",
            name="OdometerHeterogeneous, a hundred coins at 0.1",
            documented='"Implements k-folds heterogeneous composition from Kairouz, et al Theorem 3.5"',
            make=Metered,
            analyst=[("ask", 0.1)] * 100,
            claim=Metered.claim(100),
            law=lambda data, moves: coin(data, 0.1),
        ),
    ]


def challenge(length: int) -> Callable[[], Any]:
    """Return an analyst that chooses each element of a stream by the release before, and where its streams part."""

    def analyst() -> Any:
        answer, parted = 0.0, False
        for time in range(length):
            if not parted and (answer > 0.5 or time == length - 1):
                parted = True
                answer = yield "part", 0.0, 1.0
            else:
                answer = yield "step", float(answer < 0)

    return analyst


class Counter:
    """A counter of dpcrpy that takes the next element of a stream from the analyst, and once one of two by the data."""

    def __init__(self, name: str, length: int, data: float, rng: np.random.Generator) -> None:
        import dpcrpy
        from dpcrpy.framework.noiMech import LapNoiMech

        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (the library draws from there)
        size = {"T": length} if name == "SimpleMech" else {"kOrder": 2}
        self.counter, self.data = getattr(dpcrpy, name)(noiMech=LapNoiMech(1.0), **size), data
        self.counter.init()

    def step(self, element: float) -> float:
        """Return the release after an element."""
        return float(self.counter.dpRelease(element)[0])

    def part(self, left: float, right: float) -> float:
        """Return the release after the element in which the streams differ."""
        return self.step(right if self.data else left)


COUNTERS = {"SimpleMech": 3, "TwoLevel": 4, "BinMech": 4, "Honaker": 4, "FDA": 3, "BCRG": 3, "ABCRG": 3}
DPCRPY = [
    Audited(
        library="dpcrpy",
        name=f"{name}, a stream that the analyst chooses",
        documented='"Satisfying (ε = {self.epsilon},δ = {self.delta}) - DP"',
        make=partial(Counter, name, length),
        analyst=challenge(length),
        budget=60_000,
        tolerance=1.0,
    )
    for name, length in COUNTERS.items()
]


def until_over() -> Any:
    """Ask until the service says that it has ended, at most five times."""
    for point in range(5):
        if (yield "ask", point) == -2:
            return


TEACHERS = 51


class Labels:
    """Asks the service of votes for one label at a time: epsilon 2, delta 0.01, until the second doubt.

    A teacher has one record, and votes for its label everywhere.
    """

    def __init__(self, data: Any, rng: np.random.Generator) -> None:
        from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
        from mechanisms.papers.bassily2018.teachers import Constant

        self.service = SubsampleAggregate(
            lambda X, y: Constant(int(y[0])),
            TEACHERS, 2.0, 0.01, assignment="position", calibrated=True, random_state=int(rng.integers(2**32)),
        ).fit(np.arange(TEACHERS), np.array(data))  # fmt: skip

    def ask(self, point: int) -> int:
        """Return a label, -1 for a doubt, -2 after the second one."""
        return int(self.service.predict(np.array([point]))[0])


def of_votes(data: Any, moves: Any, answers: Any) -> Law:
    """Return the law of the next label: the noise of the threshold, given the answers since it was drawn."""
    from mechanisms.papers.bassily2018.algorithm3 import BOTTOM, NO_ANSWER
    from mechanisms.papers.bassily2018.noise import least
    from mechanisms.parts.sparse_vector import Masses
    from mechanisms.parts.vote import VoteTable

    noise = least(2.0, 0.01, 1)
    if list(answers).count(BOTTOM) >= noise.epochs:
        return Finite({NO_ANSWER: 1.0})
    values, distances = VoteTable()(np.repeat(np.array(data)[:, None], len(moves), axis=1))
    masses = Masses(noise, distances)
    running = masses.fresh
    for turn, answer in enumerate(answers):
        running = masses.bottom(running, turn) if answer == BOTTOM else masses.top(running, turn)
    sure = float(masses.top(running, len(answers)).sum() / running.sum())
    return Finite({int(values[-1]): sure, BOTTOM: 1 - sure})


def labels(ones: int) -> tuple[int, ...]:
    """Return labels, the first of them 1."""
    return (1,) * ones + (0,) * (TEACHERS - ones)


SERVICES = [
    Audited(
        library=OWN,
        name="SubsampleAggregate, labels until the second doubt",
        documented='"all answers together (epsilon, delta)-DP"',
        make=Labels,
        analyst=until_over,
        claim=PrivacyClaim(2.0, 0.01, Substitution()),
        pairs=[(labels(51), labels(50)), (labels(50), labels(49))],
        law=of_votes,
    )
]
