"""Draw pairs of datasets that are neighboring under a relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import ArrayStrategy
from hypothesis.strategies import SearchStrategy
from hypothesis.strategies._internal.lazy import unwrap_strategies

from audit import AddRemove, Group, Labeled, LabelFlip, Local, Substitution
from audit.api import InvalidArgument

_DENSE = 400  # elements of an array, up to which each is drawn by itself


def neighboring_pairs(relation: Any, datasets: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, Any]]:
    """Return a strategy for pairs that are neighboring under `relation`; new records come from other `datasets`."""
    base, most = (relation.base, relation.k) if isinstance(relation, Group) else (relation, 1)
    if (step := _STEPS.get(type(base))) is None:
        instead = "give `pairs` instead of `datasets`"
        raise InvalidArgument.of("relation", "be one whose neighbors can be generated", relation, instead)

    return _draw_pair(relation, _draw_each_element(datasets), step, most)


def _draw_each_element(datasets: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Return a strategy for small arrays without a fill, so that one number of a case is one choice of Hypothesis."""
    arrays: Any = unwrap_strategies(datasets)  # type: ignore[no-untyped-call]
    if not isinstance(arrays, ArrayStrategy) or arrays.array_size > _DENSE:
        return datasets
    parts = arrays.element_strategy, arrays.shape, arrays.dtype, st.nothing(), arrays.unique
    return ArrayStrategy(*parts)  # type: ignore[no-untyped-call]


@st.composite
def _draw_pair(
    draw: Callable[..., Any], relation: Any, datasets: SearchStrategy[Any], step: Callable[..., Any], most: int
) -> tuple[Any, Any]:
    left = right = draw(datasets)
    for _ in range(draw(st.integers(1, most)) if most > 1 else 1):
        right = step(draw, right, draw(datasets))
    assume(relation.why_not(left, right) is None)
    return (left, right) if draw(st.booleans()) else (right, left)


def _replace(draw: Callable[..., Any], data: Any, removed: int, other: Any) -> Any:
    """Draw `data` with a record of `other` in place of `removed` ones, 0 or 1."""
    assume(len(data) >= removed)
    at = draw(st.integers(0, len(data) - removed))
    assume(len(other) > 0)
    return _splice(data, at, removed, other, draw(st.integers(0, len(other) - 1)))


def _splice(data: Any, at: int, removed: int, other: Any, source: int) -> Any:
    if isinstance(data, Labeled):
        return Labeled(_splice(data.X, at, removed, other.X, source), _splice(data.y, at, removed, other.y, source))
    if isinstance(data, np.ndarray):
        joined = [data[:at], np.asarray(other[source])[None], data[at + removed :]]
        return np.concatenate([part for part in joined if part.shape[1:] == np.shape(other[source])])
    return type(data)([*data[:at], other[source], *data[at + removed :]])


def _flip(draw: Callable[..., Any], data: Any, other: Any) -> Any:
    assume(isinstance(data, Labeled))
    return Labeled(data.X, _replace(draw, data.y, 1, other.y))


# A dataset one step away, whose new content comes from another dataset
_STEPS: Mapping[type, Callable[[Callable[..., Any], Any, Any], Any]] = {
    Substitution: lambda draw, data, other: _replace(draw, data, 1, other),
    AddRemove: lambda draw, data, other: _replace(draw, data, 0, other),
    LabelFlip: _flip,
    Local: lambda draw, data, other: other,
}
