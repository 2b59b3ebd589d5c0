"""Small queries shared by several mechanisms, and the form in which a mechanism takes an answer.

A query is a function of the dataset alone. The classes below are frozen dataclasses so that a mechanism built on
them can be sent to a worker process. Sensitivities are stated per query, with the relation that they belong to.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer, positive, real
from mechanisms.parts.records import as_records

MOST = 2**20  # things held in memory at once: classes, teachers, draws, cells
LEAST = 2.0**-500  # of a scale


def as_numbers(dataset: Any) -> np.ndarray:
    """Return records as an array of floats, or raise without showing them."""
    try:
        return np.asarray(dataset, dtype=float)[:]
    except (TypeError, ValueError, IndexError):
        raise InvalidArgument("`dataset` must hold numbers") from None


def count_positive(dataset: Any) -> int:
    """Return the number of records above zero. Sensitivity 1 under substitution and under add/remove."""
    return int(np.count_nonzero(as_numbers(dataset) > 0))


def count_positive_labels(dataset: Any) -> int:
    """Return the number of positive labels of a labeled dataset. Sensitivity 1 under label flip."""
    return count_positive(dataset.y)


def column_sums(dataset: Any) -> np.ndarray:
    """Return one sum per column of records that are rows in [0, 1]^m.

    Every sum has sensitivity 1 under substitution and under add/remove; all of them may move at once, and under
    substitution in different directions. Under add/remove they all move the same way.
    """
    rows = as_numbers(dataset)
    if rows.ndim != 2:
        raise InvalidArgument.of("dataset", "have shape (n, m), one record a row", rows.shape)
    if rows.size and not (rows.min() >= 0 and rows.max() <= 1):
        raise InvalidArgument("`dataset` must have entries in [0, 1]")
    return rows.sum(axis=0)


@dataclass(frozen=True)
class Histogram:
    """Number of records equal to each label.

    Under substitution one record moves between two bins: l1 sensitivity 2, l2 sensitivity sqrt(2). Under
    add/remove both are 1. Records outside `labels` are refused, so that no record disappears unseen.
    """

    labels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        admit(self, labels=distinct)

    def __call__(self, dataset: Any) -> np.ndarray:
        records = as_records(dataset, "dataset").tolist()
        counts = Counter(record for record in records if isinstance(record, Hashable))
        if counts.total() < len(records) or counts.keys() - set(self.labels):  # private: the error does not show them
            raise InvalidArgument(f"`dataset` must hold records among {self.labels!r}")
        return np.array([counts[label] for label in self.labels], dtype=np.int64)


@dataclass(frozen=True)
class BoundedSum:
    """Sum of the records after clamping each to [lower, upper]; sensitivity upper - lower under substitution."""

    lower: float
    upper: float

    def __post_init__(self) -> None:
        lower, upper = real(self.lower, "lower"), real(self.upper, "upper")
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise InvalidArgument.of("upper", f"be finite and above lower = {lower}", upper)

    def __call__(self, dataset: Any) -> float:
        return math.fsum(np.clip(as_numbers(dataset), self.lower, self.upper).ravel())


@dataclass(frozen=True)
class BoundedMean(BoundedSum):
    """Mean of the records after clamping each to [lower, upper]; the number of records is public."""

    def __call__(self, dataset: Any) -> float:
        return super().__call__(dataset) / integer(len(dataset), "len(dataset)", at_least=1)

    def sensitivity(self, records: int) -> float:
        """Upper bound of the change of the computed mean under substitution, rounding errors included.

        Each computed mean is off by less than 2^-52 of the largest bound (one rounding of the sum, one of the
        quotient); twice that, and the rounding of this very expression, stay below the 2^-49 added here.
        """
        exact = (self.upper - self.lower) / integer(records, "records", at_least=1)
        return exact + 2.0**-49 * max(abs(self.lower), abs(self.upper))


def distinct(values: Any, name: str) -> tuple[Any, ...]:
    """Return `values` as a tuple of at least two distinct hashable values."""
    listed = tuple(values) if isinstance(values, Iterable) else ()
    if len(listed) < 2 or len(set(listed)) != len(listed):
        raise InvalidArgument.of(name, "hold at least two distinct values", values)
    return listed


def require_query(query: Any, name: str = "query") -> Any:
    """Return a query, or raise `InvalidArgument` unless it is callable."""
    if not callable(query):
        raise InvalidArgument.of(name, "be a function of the dataset", query)
    return query


def count(value: Any, name: str, at_least: int = 1, at_most: int = 2**53) -> int:
    """Return a count, or raise `InvalidArgument` where doubles do not tell it from the next one."""
    if (found := integer(value, name, at_least)) > at_most:
        raise InvalidArgument.of(name, f"be at most {at_most}", value)
    return found


natural, held = partial(count, at_least=0), partial(count, at_most=MOST)


def scale(value: Any, name: str) -> float:
    """Return a positive number whose quotient by another such number, or product, is finite and above 0."""
    if not LEAST <= (found := positive(value, name)) <= 1 / LEAST:
        raise InvalidArgument.of(name, "lie between 2^-500 and 2^500", value)
    return found


def admit(instance: Any, **rules: Callable[[Any, str], Any]) -> None:
    """Set fields of a frozen dataclass to what their rules, (value, name) -> value, return; a rule may raise."""
    for name, rule in rules.items():
        object.__setattr__(instance, name, rule(getattr(instance, name), name))


def ask(query: Any, *arguments: Any) -> Any:
    """Return the answer of a query about records; an exception of its own may show them and is not passed on."""
    try:
        return query(*arguments)
    except InvalidArgument:
        raise
    except Exception as error:
        said = f"`dataset` must be one that the query can answer about, but the query raised {type(error).__name__}"
        raise InvalidArgument(f"{said}; call the query on it yourself to see more") from None


def numeric_answer(query: Any, dataset: Any) -> np.ndarray:
    """Return the answer as a finite float array of shape () or (d,)."""
    answer = ask(lambda records: np.asarray(query(records), dtype=float), dataset)
    if answer.ndim > 1 or answer.size == 0 or not np.all(np.isfinite(answer)):
        raise InvalidArgument("`query` must answer with a finite number or a vector of them")  # the answer is private
    return np.asarray(answer)


def integer_answer(query: Any, dataset: Any) -> np.ndarray:
    """Return the answer as an integer array of shape () or (d,)."""
    answer = np.asarray(ask(query, dataset))
    if answer.dtype.kind not in "biu" or answer.ndim > 1 or answer.size == 0:
        raise InvalidArgument("`query` must answer with an integer or a vector of them")
    return answer.astype(np.int64)


def vector_answer(query: Any, dataset: Any) -> np.ndarray:
    """Return the answer as a finite float array of shape (m,)."""
    answer = numeric_answer(query, dataset)
    if answer.ndim != 1:
        raise InvalidArgument("`queries` must answer with a vector, one entry a query")
    return answer
