"""Guess the two exact answers: simple statistics of the datasets, and whole numbers near the outputs.

The auditor knows the datasets and usually the query; guessing spares the user from stating it. A wrong answer gives
events without power, which the training outputs show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.scorers import Training
from audit.subjects import Outputs


@dataclass(frozen=True)
class AnswerPair:
    """Hold what the query may answer on either dataset."""

    left: np.ndarray  # guessed exact answers; shape () or (d,)
    right: np.ndarray
    origin: str  # where the guess comes from; shown in the event

    @property
    def gap(self) -> float:
        """Largest change of a coordinate."""
        return float(np.max(np.abs(self.left - self.right)))


STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "the data": lambda data: data,
    "sum": lambda data: data.sum(axis=0),
    "mean": lambda data: data.mean(axis=0),
    "number of records": lambda data: len(data) if data.ndim else 1,
    "count above zero": lambda data: np.count_nonzero(data > 0),
    "count not zero": lambda data: np.count_nonzero(data),
    "maximum": lambda data: data.max(axis=0),
    "minimum": lambda data: data.min(axis=0),
    "median": lambda data: np.median(data, axis=0),
}


def guess_answers(training: Training, query: Any = None) -> list[AnswerPair]:
    """Return distinct guesses that differ between the two sides and have the shape of an output.

    `query(dataset)`, or the mechanism's attribute of that name, is tried first.
    """
    shape = training.left.numbers.shape[1:]
    if shape != training.right.numbers.shape[1:]:
        return []
    found: dict[bytes, AnswerPair] = {}
    for guess in (*_queried(training, query), *_statistics(training.pair), *_constants(), *_whole(training, shape)):
        fits = guess.left.shape == guess.right.shape and guess.left.shape in ((), shape)
        both = np.concatenate([guess.left.ravel(), guess.right.ravel()])
        if fits and np.isfinite(both).all() and guess.gap > 0:
            found.setdefault(both.tobytes(), guess)
    return list(found.values())


def columns(outputs: Outputs) -> np.ndarray:
    """Return the numbers of a batch as shape (size, d)."""
    return outputs.numbers.reshape(len(outputs), -1)


def numeric_columns(training: Training) -> list[np.ndarray] | None:
    """Return the numbers of either side without symbols, shape (size, d); None when one side has none."""
    sides = [columns(side)[~side.symbolic] for side in training.sides]
    return sides if min(map(len, sides)) else None


def survives_round_trip(values: np.ndarray, constant: np.ndarray | float) -> np.ndarray:
    """Return whether (x - c) + c == x: whether some double n gives x = fl(c + n).

    If any n does, the double nearest to x - c does as well, up to ties: it lies nearest to the reals that round to x.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((values - constant) + constant == values)


def reach_rates(sides: list[np.ndarray], answers: AnswerPair) -> tuple[float, float]:
    """Return the share of coordinates that their own answer reaches (the lesser side), and that the other does not."""
    own, other = (answers.left, answers.right), (answers.right, answers.left)
    shares = [[float(survives_round_trip(x, c).mean()) for x, c in zip(sides, cs, strict=True)] for cs in (own, other)]
    return min(shares[0]), 2.0 - sum(shares[1])


def shown(answer: np.ndarray) -> str:
    """Return an answer in words: a number, or the first entries of a vector."""
    if answer.ndim == 0:
        return f"{float(answer):.17g}"
    return "(" + ", ".join(f"{c:.6g}" for c in answer[:4]) + (", ...)" if len(answer) > 4 else ")")


def _queried(training: Training, query: Any) -> Iterator[AnswerPair]:
    for name, function in (("query", query), ("the mechanism's query", getattr(training.mechanism, "query", None))):
        if callable(function):
            yield from _answered(name, function, *training.pair)


def _answered(name: str, function: Callable[..., Any], left: Any, right: Any) -> Iterator[AnswerPair]:
    """Yield the guess that a function of the dataset makes; none when it raises or answers without numbers."""
    try:
        values = [np.asarray(function(side), dtype=float) for side in (left, right)]
    except Exception:  # a guess may fail on any dataset
        return
    yield AnswerPair(values[0], values[1], name)


def _statistics(pair: tuple[Any, Any]) -> Iterator[AnswerPair]:
    for left, right in zip(*map(_views, pair), strict=False):
        for name, statistic in STATISTICS.items():
            yield from _answered(name, statistic, left, right)
        counts = _label_counts(left, right)
        if counts is not None:
            yield AnswerPair(*counts, "counts of each value")


def _views(dataset: Any) -> list[np.ndarray]:
    """Return the numeric arrays in a dataset: itself, or the parts of a labeled one."""
    parts = [dataset.y, dataset.X] if hasattr(dataset, "X") and hasattr(dataset, "y") else [dataset]
    arrays = []
    for part in parts:
        try:
            array = np.asarray(part, dtype=float)
        except (ValueError, TypeError):
            continue
        if array.ndim == 0 or 0 < array.size <= tuning.MOST_RECORDS:
            arrays.append(array)
    return arrays


def _label_counts(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    if left.ndim != 1 or right.ndim != 1:
        return None
    labels = np.unique(np.concatenate([left, right]))
    if len(labels) > tuning.MOST_LABELS:
        return None
    first, second = ((labels[:, None] == side[None, :]).sum(axis=1).astype(float) for side in (left, right))
    return first, second


def _constants() -> Iterator[AnswerPair]:
    zero, one = np.array(0.0), np.array(1.0)
    yield AnswerPair(zero, one, "0 and 1")
    yield AnswerPair(one, zero, "1 and 0")


def _whole(training: Training, shape: tuple[int, ...]) -> Iterator[AnswerPair]:
    """Yield whole numbers near the medians; for a vector, the nearest ones."""
    sides = [columns(training.left), columns(training.right)]
    if any(np.isnan(side).all(axis=0).any() or not len(side) for side in sides):
        return
    centers = [np.rint(np.nanmedian(side, axis=0)).reshape(shape) + 0.0 for side in sides]
    steps = range(-tuning.MOST_STEPS, tuning.MOST_STEPS + 1) if shape == () else (0,)
    for a, b in product(steps, steps):
        yield AnswerPair(np.asarray(centers[0] + a), np.asarray(centers[1] + b), "whole numbers near the medians")
