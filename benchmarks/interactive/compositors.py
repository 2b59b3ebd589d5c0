"""Compositors: OpenDP's compositions, odometer, filter and projection; Tumult Core's queryables and accountant.

Libraries are imported where they are used, since no environment has both.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from audit import Refusal
from audit.laws import Laplace, Law
from benchmarks.interactive.objects import (
    TENTHS,
    Audited,
    at_most,
    coin,
    concurrent,
    halving,
    listed,
    of_query,
    refusing,
    said,
    whole,
    within,
)  # fmt: skip

os.environ |= {"RUST_BACKTRACE": "0", "RUST_LIB_BACKTRACE": "0"}  # a refusal of OpenDP costs 100 ms with them


class OfOpenDP:
    """Asks a queryable of OpenDP about one bit by randomized response; children are compositions of their own."""

    def __init__(self, data: float, kind: str) -> None:
        self.queryable = opened(kind)(bool(data)) if kind else None

    def ask(self, epsilon: float) -> bool:
        """Return a coin."""
        try:
            return bool(self.queryable(response(epsilon)))
        except Exception as error:
            raise refusing(error) from None

    def child(self, *epsilons: float) -> OfOpenDP:
        """Return a composition within the parent."""
        found = OfOpenDP(0.0, "")
        found.queryable = self.queryable(composition(epsilons))
        return found

    def loss(self) -> float:
        """Return what the odometer says."""
        return float(self.queryable.privacy_loss(1))


class Numbers(OfOpenDP):
    """Asks a queryable of OpenDP about a number with Laplace noise."""

    def __init__(self, data: float, kind: str) -> None:
        self.queryable = opened(kind, float)(data)

    def ask(self, epsilon: float) -> float:  # type: ignore[override]
        try:
            return float(self.queryable(noisy(epsilon)))
        except Exception as error:
            raise refusing(error) from None

    @staticmethod
    def law(data: float, moves: Any) -> Law:
        """Return the law of the answers to 1/2, 1/4 and 1/4, and of a refusal."""
        return Laplace(data, 1 / moves[-1][1]) if len(moves) <= 3 else said(_REFUSED)


@cache
def space(of: type = bool) -> Any:
    """Return OpenDP's domain of bits or numbers with its metric."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    if of is bool:
        return dp.atom_domain(T=bool), dp.discrete_distance()
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


@cache
def response(epsilon: float) -> Any:
    """Return randomized response; the library rounds its epsilon up, hence the little less."""
    import opendp.prelude as dp

    space()
    return dp.m.make_randomized_response_bool(prob=1 / (1 + math.exp(-epsilon * (1 - 1e-12))))


@cache
def noisy(epsilon: float) -> Any:
    """Return Laplace noise on a number."""
    import opendp.prelude as dp

    return dp.m.make_laplace(*space(float), scale=1 / epsilon)


@cache
def composition(epsilons: tuple[float, ...]) -> Any:
    """Return an adaptive composition with the losses of its queries."""
    import opendp.prelude as dp

    return dp.c.make_adaptive_composition(*space(), dp.max_divergence(), 1, list(epsilons))


@cache
def opened(kind: str, of: type = bool) -> Any:
    """Return what opens a queryable on data."""
    import opendp.prelude as dp

    if kind == "adaptive":
        return composition((0.5, 0.25, 0.25))
    odometer = dp.c.make_fully_adaptive_composition(*space(of), dp.max_divergence())
    return odometer if kind == "odometer" else dp.c.make_privacy_filter(odometer, of(1) if of is float else 1, 1.0)


@cache
def projection() -> Any:
    """Return OpenDP's queryable of a projection of a table of counts, at epsilon = 1 for one count that moves by 1."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_alp_queryable(counts, metric, scale=1.0, total_limit=4, value_limit=4, size_factor=10)


class Projection:
    """Asks the projection of a table with one count that differs, as often as one likes."""

    def __init__(self, data: float) -> None:
        self.queryable = projection()({"a": 1 + int(data), "b": 2})

    def ask(self, key: str) -> float:
        """Return the released count of a key."""
        return float(self.queryable(key))


def keys() -> Any:
    """Ask for the key that differs, one that does not or none of the table by the answer, and the first again."""
    answer = yield "ask", "a"
    yield "ask", "b" if answer else "absent"
    yield "ask", "a"


_OF_FILTER = (
    '"reject any query that would increase the total privacy loss above the privacy guarantee of the mechanism"'
)
_REFUSED = Refusal("PermissionError: OpenDPException")
_TOGETHER = {0: "<OfOpenDP>", 4: _REFUSED, 6: _REFUSED}
_OPENDP = {"library": "opendp", "cost": of_query}
OPENDP = [
    Audited(
        **_OPENDP,
        name="adaptive composition, one query after the other",
        documented='"mechanisms can be specified based on answers to previous queries"',
        make=partial(OfOpenDP, kind="adaptive"),
        analyst=halving,
        law=partial(at_most, 3, _REFUSED),
    ),
    Audited(
        **_OPENDP,
        name="adaptive composition, a child in between",
        documented='"this compositor allows you to spawn multiple interactive mechanisms and interleave your queries"',
        make=partial(OfOpenDP, kind="adaptive"),
        analyst=concurrent,
        law=partial(listed, _TOGETHER, whole),
    ),
    Audited(
        **_OPENDP,
        name="odometer, and what it says",
        documented='"Construct an odometer that can spawn a compositor queryable."',
        make=partial(OfOpenDP, kind="odometer"),
        analyst=TENTHS[:10],
        law=lambda data, moves: coin(data, 0.1),
        charged=OfOpenDP.loss,
    ),
    Audited(
        **_OPENDP,
        name="privacy filter, one query after the other",
        documented=_OF_FILTER,
        make=partial(OfOpenDP, kind="filter"),
        analyst=halving,
        law=partial(within, 1, _REFUSED),
    ),
    Audited(
        **_OPENDP,
        name="privacy filter, a child in between",
        documented=_OF_FILTER,
        make=partial(OfOpenDP, kind="filter"),
        analyst=concurrent,
        law=partial(listed, _TOGETHER, whole),
    ),
    Audited(
        **_OPENDP,
        name="privacy filter, numbers with Laplace noise",
        documented=_OF_FILTER,
        make=partial(Numbers, kind="filter"),
        analyst=[("ask", 0.5)] + [("ask", 0.25)] * 3,
        law=Numbers.law,
    ),
    Audited(
        library="opendp",
        name="make_alp_queryable",
        documented='"Measurement to release a queryable containing a DP projection of bounded sparse data."',
        make=Projection,
        analyst=keys,
        budget=20_000,
        tolerance=0.5,
    ),
]


def retired() -> Any:
    """Open a child and then another one, which retires the first; ask the first again, and each too often."""
    first = yield "child", 0.5
    yield first, "ask", 0.25
    second = yield "child", 0.25
    yield first, "ask", 0.25
    yield second, "ask", 0.25
    yield second, "ask", 0.25
    yield "child", 0.5


def element(data: Any, move: Any) -> float:
    """Return the element that a move names."""
    return float(data[move[1]])


SPLIT = [
    ("split", 0.5), ("ask", 0, 0.25), ("ask", 1, 0.25), ("split", 0.5), ("retire", 0), ("ask", 1, 0.25),
    ("ask", 1, 0.5), ("ask", 0, 0.25), ("retire", 1), ("split", 0.5), ("ask", 0, 0.5), ("ask", 0, 0.25),
]  # fmt: skip


@cache
def tumult() -> Any:
    """Return Tumult Core's interactive measurements, its integers, its metric and its measure."""
    from tmlt.core.domains.numpy_domains import NumpyIntegerDomain
    from tmlt.core.measurements import interactive_measurements
    from tmlt.core.measures import PureDP
    from tmlt.core.metrics import AbsoluteDifference

    return interactive_measurements, NumpyIntegerDomain(), AbsoluteDifference(), PureDP()


@cache
def exactly(epsilon: float) -> Any:
    """Return a fraction as Tumult Core takes it."""
    from tmlt.core.utils.exact_number import ExactNumber

    return ExactNumber(str(Fraction(str(epsilon))))


@cache
def geometric(epsilon: float) -> Any:
    """Return Tumult Core's geometric noise."""
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

    return AddGeometricNoise(alpha=1 / exactly(epsilon))


class OfTumult:
    """Asks what `create_adaptive_composition` opens whether a noisy count is at least 1."""

    def __init__(self, data: float) -> None:
        core, *space, measure = tumult()
        opened = core.create_adaptive_composition(*space, 1, 1, measure)
        self.core, self.queryable = core, opened(np.int64(data))

    def ask(self, epsilon: float) -> bool:
        """Return a coin."""
        try:
            return bool(self.answer(self.core.MeasurementQuery(geometric(epsilon))) > 0)
        except Exception as error:
            raise refusing(error) from None

    def answer(self, query: Any) -> Any:
        return self.queryable(query)


class Nested(OfTumult):
    """Asks a `SequentialQueryable`, and children within it that share its budget."""

    def __init__(self, data: float, opened: Any = None) -> None:
        core, *space, measure = tumult()
        self.core, self.composition = core, partial(core.SequentialComposition, *space, measure, 1)
        self.queryable = self.composition(1)(np.int64(data)) if opened is None else opened

    def child(self, epsilon: float) -> Nested:
        """Return a composition within the parent, which retires the one before."""
        try:
            return Nested(0.0, self.queryable(self.core.MeasurementQuery(self.composition(exactly(epsilon)))))
        except Exception as error:
            raise refusing(error) from None

    def answer(self, query: Any) -> Any:
        return self.queryable(self.core.MeasurementQuery(self.core.MakeInteractive(query.measurement)))(None)


class Split:
    """Asks a `PrivacyAccountant` of two counts, which are split into accountants of their own."""

    def __init__(self, data: Any) -> None:
        from tmlt.core.domains.collections import ListDomain
        from tmlt.core.metrics import SumOf
        from tmlt.core.transformations.identity import Identity

        core, integers, metric, measure = tumult()
        space = ListDomain(integers, length=2), SumOf(metric)
        self.apart, self.parts = Identity(space[1], space[0]), list[Any]()
        opened = core.SequentialComposition(*space, measure, 1, 1)
        self.accountant = core.PrivacyAccountant.launch(opened, [np.int64(each) for each in data])

    def split(self, epsilon: float) -> None:
        """Open an accountant of each count."""
        try:
            self.parts = self.accountant.split(self.apart, exactly(epsilon))
        except Exception as error:
            raise refusing(error) from None

    def ask(self, part: int, epsilon: float) -> bool:
        """Return a coin about one of the counts."""
        try:
            return bool(self.parts[part].measure(geometric(epsilon)) > 0)
        except Exception as error:
            raise refusing(error) from None

    def retire(self, part: int) -> None:
        """Retire an accountant, which activates the next one."""
        self.parts[part].retire()

    def charged(self) -> Fraction:
        """Return what the accountant says."""
        return 1 - Fraction(str(self.accountant.privacy_budget))


def of_split(move: Any, answer: Any) -> Any:
    """Return what a split costs: its parts share what is paid for it."""
    return move[-1] if move[0] == "split" and not isinstance(answer, Refusal) else 0


_INSUFFICIENT = Refusal("PermissionError: InsufficientBudgetError")
_INACTIVE = Refusal("PermissionError: InactiveAccountantError")
_NESTED = {0: "<Nested>", 2: "<Nested>", 3: Refusal("PermissionError: ValueError"), 5: _INSUFFICIENT, 6: _INSUFFICIENT}
_APART: dict[int, Any] = {
    turn: None if SPLIT[turn][0] in ("split", "retire") else _INSUFFICIENT for turn in (0, 4, 6, 8, 9, 11)
} | {2: _INACTIVE, 3: _INACTIVE, 7: _INACTIVE}
TUMULT = [
    Audited(
        library="tmlt_core",
        name="create_adaptive_composition, one query after the other",
        documented='"as long as the cumulative privacy budget spent does not exceed ``privacy_budget``"',
        make=OfTumult,
        analyst=halving,
        law=partial(within, 1, _INSUFFICIENT),
        cost=of_query,
    ),
    Audited(
        library="tmlt_core",
        name="SequentialQueryable and RetirableQueryable, children that are retired",
        documented='"interactive measurements cannot be freely interleaved"',
        make=Nested,
        analyst=retired,
        law=partial(listed, _NESTED, whole),
        cost=of_query,
    ),
    Audited(
        library="tmlt_core",
        name="PrivacyAccountant and ParallelQueryable, two parts",
        documented='"A PrivacyAccountant can only perform actions if it is ACTIVE."',
        make=Split,
        analyst=SPLIT,
        pairs=[((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (0.0, 1.0))],
        law=lambda data, moves: listed(_APART, element, data, moves, moves[1:]),
        cost=of_split,
        charged=Split.charged,
        budget=1_000,
    ),
]
