"""Make neighboring datasets of features and labels that expose leaks of careless learners, each pair by its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from audit import AddRemove, Group, Labeled, LabelFlip, Substitution

Pair = tuple[Any, Any]
RECORD, LABEL, ORDER = "no record is kept", "no label is kept", "no order is kept"
RARE, COLUMN = "no rare class is kept", "no constant column is kept"
PUBLIC = {"classes": RARE, "constant columns": COLUMN}  # public by the caller's word, and the property left out
_FAR = 10.0  # how many spans beyond the data the extreme record lies
_CLASSES = 20  # labels that are numbers are classes if there are at most this many
RELATIONS: dict[str, Any] = {
    "substitution": Substitution(),
    "add/remove": AddRemove(),
    "label flip": LabelFlip(),
    "local": Substitution(),  # of the record of one user; the others keep theirs
}


def dataset_of(X: Any, y: Any) -> Any:
    """Return the data of `fit` as one dataset, in copies."""
    return np.array(X) if y is None else Labeled(np.array(X), np.array(y))


def named_pairs(data: Any, relation: Any) -> dict[str, Pair]:
    """Return a pair for each thing that a release must not keep, where the relation lets it vary."""
    base = relation.base if isinstance(relation, Group) else relation
    found = {}
    for name, (dataset, record) in _changes(data, base):
        pair = dataset, _without_first(dataset) if isinstance(base, AddRemove) else _with_first(dataset, record)
        if relation.why_not(*pair) is None:
            found[name] = pair
    return found


def _changes(data: Any, relation: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield datasets, and the record that takes the place of the first one."""
    X, y = _columns(data)
    first = None if y is None else y[0]
    classes = _classes(y)
    other = first if y is None else _other(y, classes)
    if not isinstance(relation, LabelFlip):
        low, high = (bound.astype(X.dtype) for bound in _extremes(X))
        yield RECORD, (_make_dataset(np.concatenate([low[None], X[1:]]), y), (high, other))
        constant = X.copy()
        constant[:, 0] = X[0, 0]
        yield COLUMN, (_make_dataset(constant, y), (_move(constant[0], high), first))
    if y is not None:
        yield LABEL, (data, (X[0], other))
    if len(classes) > 1:
        counts = [np.sum(y == each) for each in classes]
        rare, usual = classes[int(np.argmin(counts))], classes[int(np.argmax(counts[::-1])) * -1 - 1]
        rare = rare if rare != usual else next(each for each in classes if each != usual)
        without = np.where(y == rare, usual, y)
        without[0] = rare
        yield RARE, (_make_dataset(X, without), (X[0], usual))
    if len(X) > 2:
        yield ORDER, _in_order(X, y, classes, relation)


def _in_order(X: np.ndarray, y: Any, classes: Any, relation: Any) -> tuple[Any, Any]:
    """Return A, B, ..., A, and B to take the place of the first A: the set of values stays, and the first changes."""
    span = np.ptp(X, axis=0) + 1.0 * (np.ptp(X, axis=0) == 0)
    apart = np.abs((X - X[0]) / span).sum(axis=1)
    apart = apart if y is None else apart + (y != y[0])
    if isinstance(relation, LabelFlip) and len(classes) > 1:
        labels = y.copy()
        labels[1], labels[-1] = _other(y, classes), y[0]
        return _make_dataset(X, labels), (X[0], labels[1])
    far = max(1, int(np.argmax(apart)))
    rows = np.array([0, far, *(row for row in range(1, len(X) - 1) if row != far), 0])[: len(X)]
    rows[-1] = 0
    labels = None if y is None else y[rows]
    return _make_dataset(X[rows], labels), (X[far], None if y is None else y[far])


def paths(data: Any, relation: Any) -> Iterator[tuple[Any, int]]:
    """Yield ways from the data to datasets far away: a function from the number of steps, and how many there are.

    Each step changes one record as the relation allows. Labels become one class, all but one of them; features shrink
    around their middle; under add/remove half of the records go.
    """
    X, y = _columns(data)
    base, size = (relation.base if isinstance(relation, Group) else relation), len(X)
    if isinstance(base, AddRemove):
        yield (lambda steps: _make_dataset(X[steps:], None if y is None else y[steps:])), size // 2
        return
    if y is not None:
        classes = _classes(y)
        ends = [np.full(size, each) for each in (classes[:1], classes[-1:])] if len(classes) else [y * 0.1]
        for labels in ends:
            labels = labels.astype(y.dtype)
            if len(classes) and (kept := np.flatnonzero(y != labels[0])).size:
                labels[kept[0]] = y[kept[0]]
            yield (lambda steps, end=labels: _make_dataset(X, np.concatenate([end[:steps], y[steps:]]))), size
    if not isinstance(base, LabelFlip):
        low, high = X.min(axis=0), X.max(axis=0)
        near = ((low + high) / 2 + 0.1 * (X - (low + high) / 2)).astype(X.dtype)
        yield (lambda steps: _make_dataset(np.concatenate([near[:steps], X[steps:]]), y)), size


def _columns(data: Any) -> tuple[np.ndarray, Any]:
    X, y = (data.X, data.y) if isinstance(data, Labeled) else (data, None)
    X = X if X.dtype.kind == "f" else X.astype(np.float64)
    return (X if X.ndim == 2 else X[:, None]), y


def _make_dataset(X: np.ndarray, y: Any) -> Any:
    return X if y is None else Labeled(X, y)


def _with_first(data: Any, record: Any) -> Any:
    X, y = _columns(data)
    features = np.concatenate([np.asarray(record[0])[None], X[1:]])
    return _make_dataset(features, None if y is None else np.concatenate([np.asarray(record[1], y.dtype)[None], y[1:]]))


def _without_first(data: Any) -> Any:
    X, y = _columns(data)
    return _make_dataset(X[1:], None if y is None else y[1:])


def _classes(y: Any) -> np.ndarray:
    found = np.empty(0) if y is None else np.unique(y)
    is_real = y is not None and y.dtype.kind == "f" and len(found) > min(_CLASSES, len(y) // 2)
    return found[:0] if is_real else found


def _other(y: np.ndarray, classes: np.ndarray) -> Any:
    if not len(classes):
        return y.max() + _FAR * (np.ptp(y) + 1)
    return next((each for each in classes if each != y[0]), y[0])


def _extremes(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = X.min(axis=0), X.max(axis=0)
    beyond = _FAR * (high - low + 1)
    return low - beyond, high + beyond


def _move(record: np.ndarray, high: np.ndarray) -> np.ndarray:
    found = record.copy()
    found[0] = high[0]
    return found
