"""Distances of datasets and of outputs by name: between multisets, sequences, vectors, and partitions of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit.api import InvalidArgument, call
from audit.extensions.stability.lengths import NOWHERE, ZERO, Length, difference, exact, norm, record_key, rows_of

_SEQUENCES = (list, tuple, np.ndarray)


@dataclass(frozen=True)
class Metric:
    """A distance: its name in records, and how far apart two values are, infinite where it is not defined."""

    name: str
    between: Callable[[Any, Any], Length]


@dataclass(frozen=True)
class PerPartition:
    """The norm of the distances of partitions: of two mappings from keys to datasets.

    A key that one side lacks stands for an empty dataset there.

    Parameters
    ----------
    inner : str or Metric
        Distance of two partitions.
    order : {1, 2}
        Order of the norm: 1 adds distances, 2 adds squares.

    Raises
    ------
    InvalidArgument
        For another order, or an inner distance that is not known.

    References
    ----------
    Hay, Gaboardi and Vadhan (2020), A programming framework for OpenDP. Tumult Core calls the orders 1 and 2
    `SumOf` and `RootSumOfSquared`.

    Examples
    --------
    >>> from audit import PerPartition
    >>> metric = PerPartition("symmetric", order=2)
    >>> metric.between({"a": [1, 2], "b": [3]}, {"a": [1]}).raised  # 1 + 1
    Fraction(2, 1)
    """

    inner: Any
    order: int = 1

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise InvalidArgument.of("order", "be 1 or 2", self.order)
        object.__setattr__(self, "inner", metric_of(self.inner))

    @property
    def name(self) -> str:
        """Name of the norm and of the distance in it."""
        return f"l{self.order} of {self.inner.name} per partition"

    def between(self, left: Any, right: Any) -> Length:
        """Return the norm of the distances of partitions."""
        if not (isinstance(left, Mapping) and isinstance(right, Mapping)):
            return NOWHERE
        lengths = [self.inner.between(left.get(key, ()), right.get(key, ())) for key in {**left, **right}]
        if {length.power for length in lengths} <= {1}:
            return norm([length.raised for length in lengths], self.order)
        return Length(sum((length.raised for length in lengths), Fraction(0)), 2) if self.order == 2 else NOWHERE


AnyMetric = Metric | PerPartition


def metric_of(metric: Any, name: str = "distance") -> AnyMetric:
    """Return the metric of a name; a metric as it is; a function `(left, right)` as a metric of the user's own."""
    if isinstance(metric, str) and metric in METRICS:
        return METRICS[metric]
    if isinstance(metric, (Metric, PerPartition)):
        return metric
    if callable(metric):
        called = getattr(metric, "__name__", type(metric).__name__)
        return Metric(called, partial(_measure, metric, called))
    raise InvalidArgument.of(
        name, f"be {', '.join(METRICS)}, an audit.PerPartition, or a function (left, right)", metric
    )


def _measure(function: Callable[[Any, Any], Any], name: str, left: Any, right: Any) -> Length:
    """Return the distance by a user's function, whose numbers are taken as they are."""
    distance = call(function, left, right, what=f"the distance {name}")
    length = NOWHERE if distance == math.inf else Length(exact(distance))
    if length.raised < 0:
        raise InvalidArgument.of("a distance", "be at least 0", distance)
    return length


def _keys(records: Any) -> list[Any]:
    if set(map(type, records)) == {float}:  # long columns: NaN and the sign of zero told apart by the bits
        return [("float", bits) for bits in np.array(records).view(np.int64).tolist()]
    return [record_key(record) for record in records]


def _symmetric(left: Any, right: Any) -> Length:
    """Records that only one of two multisets holds."""
    one, other = Counter(_keys(left)), Counter(_keys(right))
    return Length(Fraction((one - other).total() + (other - one).total()))


def _change_one(left: Any, right: Any) -> Length:
    """Records of a multiset that are replaced to make the other, of the same size."""
    return Length(Fraction(_symmetric(left, right).raised, 2))  # type: ignore[arg-type]  # a count


def _insert_delete(left: Any, right: Any) -> Length:
    """Insertions and deletions that make one sequence of the other: both lengths less twice the common part."""
    one, other = _trim(_keys(left), _keys(right))
    row = [0] * (len(other) + 1)  # longest common subsequence of the part read of `one` and each prefix of `other`
    for key in one:
        previous = 0
        for place, candidate in enumerate(other, 1):
            above = row[place]
            row[place] = previous + 1 if key == candidate else max(above, row[place - 1])
            previous = above
    return Length(Fraction(len(one) + len(other) - 2 * row[-1]))


def _trim(one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return two sequences without their common beginning and end, which a shortest edit keeps."""
    start, end, shorter = 0, 0, min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _hamming(left: Any, right: Any) -> Length:
    """Positions at which two sequences of the same length differ."""
    return Length(Fraction(sum(map(lambda one, other: one != other, _keys(left), _keys(right)))))


def _discrete(left: Any, right: Any) -> Length:
    """0 for equal values, else 1."""
    return ZERO if record_key(left) == record_key(right) else Length(Fraction(1))


def _vector(value: Any) -> Mapping[Any, Any] | list[Any]:
    """Return numbers by key where they have keys, such as the index of a pandas Series, else in their order."""
    if hasattr(value, "index") and hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, Mapping):
        return value
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return list(value) if isinstance(value, Sequence) else [value]


def _norm(order: float) -> Callable[[Any, Any], Length]:
    def between(left: Any, right: Any) -> Length:
        one, other = _vector(left), _vector(right)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            sizes = [difference(one.get(key, 0), other.get(key, 0)) for key in {**one, **other}]
        elif isinstance(one, Mapping) or isinstance(other, Mapping) or len(one) != len(other):
            return NOWHERE
        else:
            sizes = [difference(*both) for both in zip(one, other, strict=True)]
        return norm(sizes, order)

    return between


def _of_datasets(between: Callable[[Any, Any], Length], has_size: bool = False) -> Callable[[Any, Any], Length]:
    """Return a distance that is infinite but for sequences of records, of one size if asked; text is one record."""

    def check_sizes(left: Any, right: Any) -> Length:
        one, other = rows_of(left), rows_of(right)
        are_sequences = isinstance(one, _SEQUENCES) and isinstance(other, _SEQUENCES)
        if not are_sequences or (has_size and len(one) != len(other)):
            return NOWHERE
        return between(one, other)

    return check_sizes


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("symmetric", _of_datasets(_symmetric)),
        Metric("insert_delete", _of_datasets(_insert_delete)),
        Metric("change_one", _of_datasets(_change_one, has_size=True)),
        Metric("hamming", _of_datasets(_hamming, has_size=True)),
        Metric("discrete", _discrete),
        Metric("absolute", lambda left, right: Length(difference(left, right))),
        Metric("l0", _norm(0)),
        Metric("l1", _norm(1)),
        Metric("l2", _norm(2)),
        Metric("linf", _norm(math.inf)),
    )
}
