"""Theorems 2.3 and 2.4 as checks: exact constants of Laplace noise and of the stability histogram, and its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from audit import InequalityCheck, Verdict
from audit.laws import Laplace, Product
from mechanisms.consistency.stable_counts import mean_error, new_label_probability, threshold
from mechanisms.stability_histogram import StabilityHistogram, move_first, records

PAPER = "Bousquet et al. 2022"
EPSILONS = (0.01, 0.1, 0.25, 0.5, 1.0)
DELTAS = (0.1, 0.01, 1e-4, 1e-6, 1e-9)
Value = tuple[str, float, float]
Values = Callable[[], list[Value]]
Sense = Literal["<=", "=="]


def laplace_losses() -> list[Value]:
    """Largest loss for answers that move by sensitivity / k in each of k coordinates: epsilon for every k."""
    return [
        (f"{k} coordinates eps={epsilon:g}", _moved(k, epsilon).epsilon(0.0), epsilon)
        for epsilon in (0.25, 1.0, 2.0)
        for k in (1, 2, 4)
    ]


def laplace_profiles() -> list[Value]:
    """delta(epsilon') at epsilon = 1 against the closed forms of one and of two equal coordinates."""
    found = []
    for level in (0.0, 0.25, 0.5, 0.75):
        rest = 1 - level
        found += [
            (f"one coordinate eps'={level:g}", _moved(1, 1.0).delta(level), -math.expm1(-rest / 2)),
            (f"two coordinates eps'={level:g}", _moved(2, 1.0).delta(level), two_moves(rest)),
        ]
    return [*found, ("four coordinates eps'=0", _moved(4, 1.0).delta(0.0), 0.1842)]


def two_moves(rest: float) -> float:
    """delta(epsilon') of two coordinates that share a loss of epsilon' + rest equally."""
    return max(0.0, 1 - math.exp(-rest / 2) * (1 + rest / 4))


def _moved(k: int, epsilon: float):  # type: ignore[no-untyped-def]
    scale = 1 / epsilon
    left, right = (Product(tuple(Laplace(x, scale) for _ in range(k))) for x in (0.0, 1 / k))
    return left.loss_against(right)


def delta_values() -> list[Value]:
    """Mass of a new label at the paper's threshold against delta / 4, for many parameters."""
    return [
        (f"eps={e:g} delta={d:g}", new_label_probability(e, threshold(e, math.log(d))), d / 4)
        for e in EPSILONS
        for d in DELTAS
    ]


def histogram_profile() -> list[Value]:
    """delta(epsilon') of (1, 0.01) on a move between large counts, against the closed form and delta / 4."""
    mechanism = StabilityHistogram(1.0, 0.01)
    large = records(60, 60)
    moved, single = (mechanism.privacy_loss(data, move_first(data, 1)) for data in (large, records(1, 0)))
    found = [(f"large counts eps'={x:g}", moved.delta(x), two_moves(1 - x)) for x in (0.0, 0.5, 0.9)]
    return [*found, *((f"singleton eps'={x:g}", single.delta(x), 0.0025) for x in (0.0, 1.0, 5.0))]


def absent_values() -> list[Value]:
    """Largest value released for a label that does not occur, in 100,000 releases."""
    drawn = StabilityHistogram(1.0, 0.9)(records(50, 0), 100_000, np.random.default_rng(1))
    return [("count 0", float(np.abs(drawn[:, 1]).max()), 0.0)]


def error_values(constant: float, epsilons: tuple[float, ...], deltas: tuple[float, ...]) -> list[Value]:
    """Worst E|released - count| over counts up to three thresholds, against K min(log(1/delta), count) / epsilon."""
    return [
        _worst_error(epsilon, delta, lambda c, d=delta: constant * np.minimum(math.log(1 / d), c))
        for epsilon in epsilons
        for delta in deltas
    ]


def count_values(constant: float, deltas: tuple[float, ...] = DELTAS) -> list[Value]:
    """Worst E|released - count| against K count / epsilon."""
    return [_worst_error(epsilon, delta, lambda c: constant * c) for epsilon in EPSILONS for delta in deltas]


def _worst_error(epsilon: float, delta: float, shape) -> Value:  # type: ignore[no-untyped-def]
    counts = np.arange(1, math.ceil(3 * threshold(epsilon, math.log(delta))) + 1)
    error, bound = mean_error(counts, epsilon, math.log(delta)), shape(counts) / epsilon
    worst = int(np.argmax(error / bound))
    return f"eps={epsilon:g} delta={delta:g} count={counts[worst]}", float(error[worst]), float(bound[worst])


_STATED: list[tuple[str, str, Values, Sense, float | None]] = [
    ("theorem 2.3 largest loss", "the losses of all coordinates add up to epsilon", laplace_losses, "==", 1e-6),
    ("theorem 2.3 profile", "delta(eps') of one, two and four coordinates", laplace_profiles, "==", 1e-3),
    ("theorem 2.4 a new label passes with delta/4", "mass of a new label = delta/4", delta_values, "==", 1e-9),
    ("theorem 2.4 profile", "delta(eps') in closed form", histogram_profile, "==", 1e-3),
    ("theorem 2.4 absent labels", "count 0 gives 0, surely", absent_values, "==", 0.0),
    (
        "theorem 2.4 error with K=2.25",
        "E|released - count| <= 2.25 min(log(1/delta), count) / epsilon for epsilon <= 1, delta <= 0.1",
        partial(error_values, 2.25, EPSILONS, DELTAS),
        "<=",
        None,
    ),
    (
        "equation 6 with K=1.18",
        "E|released - count| <= 1.18 count / epsilon for epsilon <= 1, delta <= 0.1",
        partial(count_values, 1.18),
        "<=",
        None,
    ),
]
_FALSE: list[tuple[str, str, Values]] = [
    (
        "theorem 2.4 one constant for every delta",
        "E|released - count| <= 2.25 min(log(1/delta), count) / epsilon for every delta",
        partial(error_values, 2.25, (1.0,), (0.5, 0.9)),
    ),
    (
        "theorem 2.4 one constant for every epsilon",
        "E|released - count| <= 2.25 min(log(1/delta), count) / epsilon for every epsilon",
        partial(error_values, 2.25, (5.0,), (0.1,)),
    ),
    ("equation 6 with K=1", "E|released - count| <= count / epsilon", partial(count_values, 1.0, (0.01, 0.5))),
]

CHECKS: list[InequalityCheck] = [
    *(
        InequalityCheck(
            name=f"consistency/stability histogram/{name}",
            source=f"{PAPER}, {name.split(' with')[0]}",
            statement=statement,
            values=values,
            sense=sense,
            tolerance=tolerance,
        )
        for name, statement, values, sense, tolerance in _STATED
    ),
    *(
        InequalityCheck(
            name=f"consistency/stability histogram/{name} is false",
            source=f"{PAPER}, {name.split(' one')[0]}",
            statement=statement,
            values=values,
            expected=Verdict.FAIL,
        )
        for name, statement, values in _FALSE
    ),
]
