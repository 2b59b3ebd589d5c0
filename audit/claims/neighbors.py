"""Strategies for neighboring pairs: a Hypothesis strategy for datasets and a relation give pairs to search.

The record that changes is taken from another dataset of the same strategy, so that whatever records the strategy
knows (extremes, duplicates, NaN, nothing at all) turn up on either side.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from audit.base.errors import InvalidArgument
from audit.claims.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution

Pairs = st.SearchStrategy[tuple[Any, Any]]


@singledispatch
def neighboring_pairs(relation: Any, datasets: st.SearchStrategy[Any]) -> Pairs:
    """A strategy for pairs that are neighboring under `relation`.

    Parameters
    ----------
    relation : relation
        Substitution, AddRemove, LabelFlip, Local, or Group of the first three.
    datasets : SearchStrategy
        Gives arrays, lists, tuples or `Labeled`; single records under Local.

    Raises
    ------
    InvalidArgument
        For a relation that is none of these.
    """
    raise InvalidArgument.of("relation", "be one whose neighbors can be generated", relation)


@neighboring_pairs.register
def _(relation: Substitution, datasets: st.SearchStrategy[Any]) -> Pairs:
    return _pairs(relation, datasets, lambda draw, left: _substituted(draw, left, draw(datasets)))


@neighboring_pairs.register
def _(relation: AddRemove, datasets: st.SearchStrategy[Any]) -> Pairs:
    return _pairs(relation, datasets, lambda draw, left: _inserted(draw, left, draw(datasets)))


@neighboring_pairs.register
def _(relation: LabelFlip, datasets: st.SearchStrategy[Any]) -> Pairs:
    return _pairs(relation, datasets, lambda draw, left: _relabelled(draw, left, draw(datasets)))


@neighboring_pairs.register
def _(relation: Local, datasets: st.SearchStrategy[Any]) -> Pairs:
    return _pairs(relation, datasets, lambda draw, left: draw(datasets))


@neighboring_pairs.register
def _(relation: Group, datasets: st.SearchStrategy[Any]) -> Pairs:
    steps = {Substitution: _substituted, AddRemove: _inserted, LabelFlip: _relabelled}
    step = steps[type(relation.base)]

    def walk(draw: Callable[..., Any], left: Any) -> Any:
        for _ in range(draw(st.integers(1, relation.k))):
            left = step(draw, left, draw(datasets))
        return left

    return _pairs(relation, datasets, walk)


def _pairs(relation: Any, datasets: st.SearchStrategy[Any], change: Callable[..., Any]) -> Pairs:
    @st.composite
    def pair(draw: Callable[..., Any]) -> tuple[Any, Any]:
        left = draw(datasets)
        right = change(draw, left)
        assume(relation.why_not(left, right) is None)
        return (left, right) if draw(st.booleans()) else (right, left)

    return pair()


def _substituted(draw: Callable[..., Any], data: Any, other: Any) -> Any:
    assume(len(data) > 0 and len(other) > 0)
    at, source = draw(_index(data)), draw(_index(other))
    if isinstance(data, Labeled):
        return Labeled(_replaced(data.X, at, other.X[source]), _replaced(data.y, at, other.y[source]))
    return _replaced(data, at, other[source])


def _inserted(draw: Callable[..., Any], data: Any, other: Any) -> Any:
    assume(len(other) > 0)
    at, source = draw(st.integers(0, len(data))), draw(_index(other))
    if isinstance(data, Labeled):
        return Labeled(_with(data.X, at, other.X[source]), _with(data.y, at, other.y[source]))
    return _with(data, at, other[source])


def _relabelled(draw: Callable[..., Any], data: Any, other: Any) -> Any:
    assume(isinstance(data, Labeled) and len(data) > 0 and len(other) > 0)
    at, source = draw(_index(data)), draw(_index(other))
    return Labeled(data.X, _replaced(data.y, at, other.y[source]))


def _index(data: Any) -> st.SearchStrategy[int]:
    return st.integers(0, len(data) - 1)


def _replaced(data: Any, at: int, record: Any) -> Any:
    if isinstance(data, np.ndarray):
        changed = data.astype(np.result_type(data.dtype, np.asarray(record).dtype))
        changed[at] = record
        return changed
    return type(data)([*data[:at], record, *data[at + 1 :]])


def _with(data: Any, at: int, record: Any) -> Any:
    if isinstance(data, np.ndarray):
        joined = [data[:at], np.asarray(record)[None], data[at:]]
        return np.concatenate([part for part in joined if part.shape[1:] == np.shape(record)])
    return type(data)([*data[:at], record, *data[at:]])
