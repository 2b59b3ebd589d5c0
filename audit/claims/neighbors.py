"""Strategies for neighboring pairs: a Hypothesis strategy for datasets and a relation give pairs to search.

The record that changes comes from another dataset of the same strategy. Whatever records the strategy knows (extremes,
duplicates, NaN, nothing at all) turn up on either side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.base.errors import InvalidArgument
from audit.claims.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Draw = Callable[..., Any]


def neighboring_pairs(relation: Any, datasets: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, Any]]:
    """Return a strategy for pairs that are neighboring under `relation`.

    Parameters
    ----------
    relation : relation
        Substitution, AddRemove, LabelFlip, Local, or Group of the first three.
    datasets : SearchStrategy
        Gives arrays, lists, tuples or `Labeled`; single records under Local.

    Returns
    -------
    SearchStrategy
        Of pairs (left, right).

    Raises
    ------
    InvalidArgument
        For any other relation.
    """
    from hypothesis import assume
    from hypothesis import strategies as st

    most = relation.k if isinstance(relation, Group) else 1
    step = _STEPS.get(type(relation.base if isinstance(relation, Group) else relation))
    if step is None:
        raise InvalidArgument.of("relation", "be one whose neighbors can be generated", relation)

    @st.composite
    def pair(draw: Draw) -> tuple[Any, Any]:
        left = right = draw(datasets)
        for _ in range(draw(st.integers(1, most)) if most > 1 else 1):
            right = step(draw, right, draw(datasets))
        assume(relation.why_not(left, right) is None)
        return (left, right) if draw(st.booleans()) else (right, left)

    return pair()


def _substituted(draw: Draw, data: Any, other: Any) -> Any:
    at, source = _index(draw, data), _index(draw, other)
    if isinstance(data, Labeled):
        return Labeled(_replaced(data.X, at, other.X[source]), _replaced(data.y, at, other.y[source]))
    return _replaced(data, at, other[source])


def _inserted(draw: Draw, data: Any, other: Any) -> Any:
    at, source = _index(draw, data, ends=1), _index(draw, other)
    if isinstance(data, Labeled):
        return Labeled(_with(data.X, at, other.X[source]), _with(data.y, at, other.y[source]))
    return _with(data, at, other[source])


def _relabeled(draw: Draw, data: Any, other: Any) -> Any:
    from hypothesis import assume

    assume(isinstance(data, Labeled))
    at, source = _index(draw, data), _index(draw, other)
    return Labeled(data.X, _replaced(data.y, at, other.y[source]))


_STEPS: dict[type, Callable[[Draw, Any, Any], Any]] = {
    Substitution: _substituted,
    AddRemove: _inserted,
    LabelFlip: _relabeled,
    Local: lambda draw, data, other: other,
}


def _index(draw: Draw, data: Any, ends: int = 0) -> int:
    """Draw the position of a record, or of a gap between records if `ends` is 1."""
    from hypothesis import assume
    from hypothesis import strategies as st

    assume(len(data) + ends > 0)
    return int(draw(st.integers(0, len(data) - 1 + ends)))


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
