"""Rows of the paper's tables: a statement and its place, a computed value and its bound, or a claim and its pairs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from audit import ConsistencyCheck, InequalityCheck, Labeled, PrivacyCheck, Released
from audit.extensions.adapters import Documented
from mechanisms.papers.rows import BOUSQUET

Pair = tuple[Any, Any]


def state(name: str, sentence: str, values: Any = None, sense: Any = "<=", **settings: Any) -> InequalityCheck:
    """Return the check of a statement whose name begins with its place, unless `where` tells it."""
    return BOUSQUET.state(name, settings.pop("where", ""), sentence, values, sense, **settings)


def vanish(
    name: str, where: str, tolerance: float, said: str = "The risk tends to the Bayes risk.", **settings: Any
) -> ConsistencyCheck:
    """Return the check that a risk tends to the Bayes risk."""
    return ConsistencyCheck(**{**BOUSQUET.head(name, where, said), "tolerance": tolerance, "budget": 600, **settings})


def promise(
    name: str, mechanism: Any, epsilon: float, pairs: list[Any], delta: float = 0.0, where: str = "", **settings: Any
) -> PrivacyCheck:
    """Return the check of (epsilon, delta)-privacy, with both in its name."""
    name = f"{name} eps={epsilon:g}" + (f" delta={delta:g}" if delta else "")
    return BOUSQUET.promise(name, where, mechanism, (epsilon, delta), pairs, **settings)


def promise_fits(name: str, fits: Released, law: Any, epsilon: float, pairs: list[Any], delta: float) -> PrivacyCheck:
    """Return the check of fits without a seed: each is rebuilt from its release, which has the stated law."""
    fits = replace(fits, build=partial(call, fits.build))  # a builder that takes a `random_state` is given one
    return promise(name, Documented(fits, law), epsilon, pairs, delta, method="exact", budget=2_000)


def call(build: Callable[[], Any]) -> Any:
    """Return what a builder builds at its defaults."""
    return build()


def records_of(points: Any, marks: Any) -> Labeled:
    """Return labeled records, features as floats."""
    return Labeled(np.array(points, dtype=float), np.array(marks))


def replace_first(data: Any, point: Any, label: Any = None) -> Any:
    """Return the same records with another first one; its label stays unless given."""
    if not isinstance(data, Labeled):
        return np.r_[np.asarray([point], dtype=data.dtype), data[1:]]
    X = data.X.copy()
    X[0] = point
    return Labeled(X, data.y if label is None else np.r_[label, data.y[1:]])


def flip_first(data: Labeled) -> Labeled:
    """Return the same records with the first label flipped."""
    return Labeled(data.X, np.r_[1 - data.y[0], data.y[1:]])


def in_orders(*pairs: Pair) -> list[Pair]:
    """Return pairs as they are, and the first one with its records in the reverse order."""

    def turn(side: Any) -> Any:
        return Labeled(side.X[::-1], side.y[::-1]) if isinstance(side, Labeled) else side[::-1]

    left, right = pairs[0]
    return [*pairs, (turn(left), turn(right))]
