"""Rows of the paper's tables: a statement and its place, what is computed and the bound, or a claim and its pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import InequalityCheck, Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict

PAPER = "Bousquet et al. 2022"
Cases = list[tuple[str, float, float]]
Pair = tuple[Any, Any]


def place_of(name: str) -> str:
    """Return the first two words of a name, the place of its statement: "Theorem 2.4"."""
    kind, number = name.replace(",", " ").split()[:2]
    return f"{PAPER}, {kind.capitalize()} {number}"


def state(name: str, sentence: str, values: Any = None, sense: Any = "<=", **settings: Any) -> InequalityCheck:
    """Return the check of a statement by cases (label, quantity, bound)."""
    prefix = settings.pop("prefix", "bousquet2022/")
    settings = {"source": settings.pop("source", None) or place_of(name), **settings}
    settings = {"tolerance": 1e-9 if sense == "==" else None, **settings}
    return InequalityCheck(name=f"{prefix}{name}", statement=sentence, values=values, sense=sense, **settings)


def refute(name: str, sentence: str, values: Any, **settings: Any) -> InequalityCheck:
    """Return the check of what is false as stated: it is expected to FAIL."""
    name = name if "prefix" in settings else f"{name} is false"
    return state(name, sentence, values, expected=Verdict.FAIL, **settings)


def promise(
    name: str, mechanism: Any, epsilon: float, pairs: list[Any], delta: float = 0.0, **settings: Any
) -> PrivacyCheck:
    """Return the check of (epsilon, delta)-privacy under substitution, unless `relation` says another one."""
    prefix, source = settings.pop("prefix", "bousquet2022/"), settings.pop("source", place_of(name))
    claim = PrivacyClaim(epsilon, delta, settings.pop("relation", Substitution()), source)
    where = f"{prefix}{name} eps={epsilon:g}" + (f" delta={delta:g}" if delta else "")
    return PrivacyCheck(name=where, mechanism=mechanism, claim=claim, pairs=pairs, **settings)


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
