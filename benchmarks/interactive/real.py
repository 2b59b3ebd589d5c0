"""Audit objects of libraries that answer: compositions, odometers and filters of OpenDP, an accountant, counters.

`python -m benchmarks.interactive.real [ENVIRONMENT]` prints a line for each object. OpenDP and diffprivlib are those of
this environment; ENVIRONMENT is a folder with the packages of dpcrpy, whose counters are left out without it.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from audit import Distance, PrivacyClaim, Refusal, check_interactive

ONE_NUMBER = PrivacyClaim(1.0, 0.0, Distance("l1", 1.0))
NUMBERS = [(0.0, 1.0)]
BUDGET, OF_COUNTERS = 5_000, 100_000  # conversations per dataset


class OfOpenDP:
    """Asks a queryable of OpenDP for Laplace noise on a number; children are compositions of their own."""

    def __init__(self, data: float, queryable: Any) -> None:
        import opendp.prelude as dp

        self.dp, self.queryable = dp, queryable
        self.space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def ask(self, epsilon: float) -> float:
        """Return a noisy answer."""
        return float(self.queryable(self.dp.m.make_laplace(*self.space, scale=1 / epsilon)))

    def child(self, *epsilons: float) -> OfOpenDP:
        """Return a composition within the parent."""
        made = self.dp.c.make_adaptive_composition(*self.space, self.dp.max_divergence(), 1.0, list(epsilons))
        return OfOpenDP(0.0, self.queryable(made))

    def loss(self) -> float:
        """Return what the odometer says."""
        return float(self.queryable.privacy_loss(1.0))


def opened(kind: str, data: float) -> OfOpenDP:
    """Return an object of OpenDP on a number."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), dp.max_divergence()
    odometer = dp.c.make_fully_adaptive_composition(*space)
    made = {
        "adaptive": lambda: dp.c.make_adaptive_composition(*space, 1.0, [0.5, 0.25, 0.25]),
        "odometer": lambda: odometer,
        "filter": lambda: dp.c.make_privacy_filter(odometer, 1.0, 1.0),
    }[kind]()
    return OfOpenDP(data, made(data))


def halving() -> Any:
    """Ask as much as the last answer lets hope for, until nothing is answered."""
    epsilon = 0.5
    for _ in range(6):
        answer = yield "ask", epsilon
        if isinstance(answer, Refusal):
            return
        epsilon = 0.25 if answer > 0.5 else 0.125


def concurrent() -> Any:
    """Open a child, ask its parent, then the child."""
    child = yield "child", 0.25, 0.25
    yield "ask", 0.25
    for _ in range(3):
        if not isinstance(child, Refusal):
            yield child, "ask", 0.25
    yield "ask", 0.25
    yield "ask", 0.25


def said_and_asked() -> Any:
    """Ask an odometer until it says 1."""
    for _ in range(12):
        spent = yield ("loss",)
        if isinstance(spent, Refusal) or spent > 0.9:
            return
        yield "ask", 0.1


class Accounted:
    """Means of one bounded number by diffprivlib, under a budget."""

    def __init__(self, data: float, rng: np.random.Generator) -> None:
        import diffprivlib as dpl

        self.data, self.accountant, self.tools = data, dpl.BudgetAccountant(1.0, 0.0), dpl.tools
        self.seed = np.random.RandomState(rng.integers(2**32))

    def ask(self, epsilon: float) -> float:
        """Return a noisy mean."""
        values = np.array([self.data])
        given = {"bounds": (0.0, 1.0), "accountant": self.accountant, "random_state": self.seed}
        return float(self.tools.mean(values, epsilon=epsilon, **given))

    def total(self) -> float:
        """Return what the accountant says."""
        return float(self.accountant.total()[0])


class Counter:
    """A counter of dpcrpy that takes the next element of its stream at each step."""

    def __init__(self, name: str, length: int, stream: Any, rng: np.random.Generator) -> None:
        import dpcrpy
        from dpcrpy.framework.noiMech import LapNoiMech

        np.random.seed(rng.integers(2**32))  # noqa: NPY002 (the library draws from there)
        size = {"T": length} if name == "SimpleMech" else {"kOrder": 2}
        self.counter = getattr(dpcrpy, name)(noiMech=LapNoiMech(1.0), **size)
        self.counter.init()
        self.stream, self.taken = stream, 0

    def step(self) -> float:
        """Return the next release."""
        self.taken += 1
        return float(self.counter.dpRelease(self.stream[self.taken - 1])[0])


COUNTERS = {"SimpleMech": 3, "TwoLevel": 4, "BinMech": 4, "Honaker": 4, "FDA": 3, "BCRG": 3, "ABCRG": 3}


def of_query(move: Any, answer: Any) -> float:
    """Return what an answer costs."""
    name, argument = (move[-2], move[-1]) if len(move) > 1 else (move[0], 0)
    return float(argument) if name == "ask" and isinstance(answer, float) else 0.0


def cases(with_counters: bool) -> Any:
    """Yield a name and the arguments of a check for each object."""
    for kind, analyst in (("adaptive", halving), ("adaptive", concurrent), ("filter", halving), ("filter", concurrent)):
        yield f"OpenDP {kind}, {analyst.__name__}", partial(opened, kind), ONE_NUMBER, NUMBERS, analyst, of_query
    yield "OpenDP odometer", partial(opened, "odometer"), ONE_NUMBER, NUMBERS, said_and_asked, of_query
    tenths = [("ask", 0.1)] * 12
    for name, asked in (("tenths", tenths), ("halving", halving)):
        yield f"diffprivlib accountant, {name}", Accounted, ONE_NUMBER, NUMBERS, asked, of_query
    for name, length in COUNTERS.items() if with_counters else ():
        zeros = (0.0,) * length
        pairs = [(zeros, tuple(float(at == one) for at in range(length))) for one in range(length)]
        steps = [("step",)] * length
        yield f"dpcrpy {name}", partial(Counter, name, length), ONE_NUMBER, pairs, steps, None


def main(environment: str = "", only: str = "") -> None:
    """Print a line for each object whose name holds a text."""
    os.environ |= {"RUST_BACKTRACE": "0", "RUST_LIB_BACKTRACE": "0"}  # a refusal costs 100 ms with them
    if environment:
        sys.path.append(environment)
    for name, make, claim, pairs, analyst, cost in cases(bool(environment)):
        if only not in name:
            continue
        started = time.process_time()
        result = check_interactive(
            make, claim, pairs, analyst=analyst, cost=cost, budget=BUDGET if cost else OF_COUNTERS, workers=0
        )
        seconds = time.process_time() - started
        print(f"{name}: {result.verdict} epsilon >= {result.epsilon_lower_bound:.2f}, {seconds:.1f} CPU s")
        print(f"    {result.reason[:160]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
