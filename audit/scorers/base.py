"""Define scorers, which read the training outputs of a pair, and their common parts: tables, logistic regression.

A new scorer takes one file in this folder and its line in `SCORERS` (or `SLOW_SCORERS`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import special

from audit.outputs.encode import Outputs, Repeats

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
SCORE_DECIMALS = 9  # scores and sums that agree to this many decimals are one value: plateaus survive rounding


# how symbols begin that have a structure
STRUCTURED = ("list:", "tuple:", "str:", "numpy.str_:", "set:", "frozenset:", "dict:", "bytes:", "numpy.ndarray:")


@dataclass(frozen=True)
class Training:
    """Training outputs of one pair, and the mechanism with its optional methods."""

    left: Outputs  # drawn on the left and on the right dataset; never used again after training
    right: Outputs
    mechanism: Any = None  # the mechanism itself
    pair: tuple[Any, Any] = (None, None)  # the two datasets

    @property
    def sides(self) -> tuple[Outputs, Outputs]:
        return self.left, self.right

    @property
    def has_vectors(self) -> bool:
        """Return whether both sides are vectors of one length."""
        shapes = {side.numbers.shape[1:] for side in self.sides}
        return len(shapes) == 1 and not any(side.is_scalar for side in self.sides)

    @property
    def has_structure(self) -> bool:
        """Return whether both sides have texts or containers that were not encoded as vectors of one length."""
        tables = [side.symbols.table if side.symbols is not None and side.is_scalar else () for side in self.sides]
        return all(any(text.startswith(STRUCTURED) for text in table) for table in tables)

    @property
    def numeric(self) -> list[np.ndarray]:
        """Return the numbers of either side without symbols."""
        return [side.numbers if side.symbols is None else side.numbers[~side.symbolic] for side in self.sides]

    def every(self, step: int, start: int = 0) -> Training:
        return self.with_sides(self.left[start::step], self.right[start::step])

    def with_sides(self, left: Outputs, right: Outputs) -> Training:
        return Training(left, right, self.mechanism, self.pair)


@dataclass(frozen=True)
class Layout:
    """The two inputs over the coordinates of an output."""

    # What each coordinate would be without noise, if answers come in order; shape (d,), or None
    left: np.ndarray | None
    right: np.ndarray | None
    groups: np.ndarray  # coordinates with the same group change alike and lie in the same block; shape (d,)
    blocks: np.ndarray  # which copy of the input a coordinate belongs to; shape (d,)

    @classmethod
    def of(cls, pair: tuple[Any, Any], width: int) -> Layout:
        alone = np.zeros(width, dtype=int)
        left, right = (_as_vector(data) for data in pair)
        if left is None or right is None or len(left) != len(right) or not len(left) or width % len(left):
            return cls(None, None, alone, alone)
        size = len(left)
        blocks = alone if size == 1 else np.arange(width) // size
        left, right = (np.tile(vector, width // size) for vector in (left, right))
        groups = np.unique(np.column_stack([blocks, left, right]), axis=0, return_inverse=True)[1]
        return cls(left, right, groups.reshape(-1), blocks)


def positions(labels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the positions of each label, in the order of the labels."""
    return tuple(np.flatnonzero(labels == label) for label in np.unique(labels))


def _as_vector(data: Any) -> np.ndarray | None:
    try:
        vector = np.asarray(data, dtype=float).ravel()
    except (TypeError, ValueError):
        return None
    return vector if np.isfinite(vector).all() else None


class Score(ABC):
    """A fitted real function of one output that grows with the likelihood ratio of left over right."""

    name: str  # shown in reports
    values: Repeats | None = None  # that it counts, where it counts whole outputs
    calibrated: bool = False  # whether it is the log-likelihood ratio itself, as stated rather than as learned

    @abstractmethod
    def __call__(self, outputs: Outputs) -> np.ndarray:
        """Return the scores, shape (size,); NaN abstains."""

    def name_values(self, training: Training) -> Self:
        """Return the score with the texts of the values that it counts; asked of the score that won alone."""
        return self

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        """Return the events {score >= upper} and {score <= lower} in words."""
        return f"{self.meaning()} >= {upper:.6g}", f"{self.meaning()} <= {lower:.6g}"

    def meaning(self) -> str:
        """Return the meaning of the number, for `describe`."""
        return self.name


class Scorer(ABC):
    """Propose scores for outputs of one kind."""

    # Whether the score is fitted, and so looks better on the outputs it was fitted on than on fresh ones
    learned: bool = True
    # Whether only a fit on all outputs, not on half of them, can say how many values the score counts
    needs_all: bool = False
    # Whether it reads vectors only: it is not asked about single numbers, nor about vectors of two lengths
    of_vectors: bool = False
    # Whether it reads outputs with a structure only
    of_structures: bool = False
    widest: float = math.inf  # coordinates of a vector that it reads: with more, it would take long

    def reads(self, training: Training) -> bool:
        """Return whether the training outputs are of the kind that it can read."""
        if self.of_structures and not training.has_structure:
            return False
        if self.of_vectors and not (training.has_vectors and training.left.numbers.shape[1] <= self.widest):
            return False
        return self.reads_values(training)

    def reads_values(self, training: Training) -> bool:
        """Return whether it can read these values, which are of the right kind."""
        return True

    @abstractmethod
    def propose(self, training: Training) -> Sequence[Score]:
        """Fit on training outputs that it `reads`; return no score when they hold nothing for it."""


@dataclass(frozen=True)
class RatioTable:
    """Estimated log-likelihood ratio of each integer key."""

    keys: np.ndarray  # keys seen in training; shape (k,), sorted, k >= 1
    ratios: np.ndarray  # their log-ratios; shape (k,)
    rare: float = 0.0  # the log-ratio of any other key

    @classmethod
    def fit(cls, left: np.ndarray, right: np.ndarray) -> RatioTable:
        keys, of_left, of_right = count_keys(np.sort(left), np.sort(right))
        return cls(keys, log_ratio(of_left, of_right, len(left), len(right)))

    def __call__(self, keys: np.ndarray) -> np.ndarray:
        where = np.searchsorted(self.keys[:-1], keys)
        return np.where(self.keys[where] == keys, self.ratios[where], self.rare)


def count_keys(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct keys of two sorted arrays, and how often each occurs in either."""
    keys = distinct(merge_in_order(left, right))
    counts = [np.searchsorted(side, keys, side="right") - np.searchsorted(side, keys) for side in (left, right)]
    return keys, counts[0], counts[1]


def log_ratio(left: np.ndarray, right: np.ndarray, left_total: int, right_total: int) -> np.ndarray:
    """Estimate log-likelihood ratios of cells from their counts, with half a count added on each side."""
    return np.log((left + 0.5) / (left_total + 0.5)) - np.log((right + 0.5) / (right_total + 0.5))


def shrunk_log_ratio(
    left: np.ndarray, right: np.ndarray, left_total: int, right_total: int, toward: np.ndarray | float = 0.0
) -> np.ndarray:
    """Estimate log-likelihood ratios of many cells, shrunk `toward` expected ones: rare cells look extreme by chance.

    Empirical Bayes (DerSimonian and Laird 1986); a cell that stands out is shrunk by no more than its own deviance
    suggests (James and Stein 1961), so that many uninformative cells cannot hide a rare, decisive one.
    """
    ratios = log_ratio(left, right, left_total, right_total) - toward
    errors = 1 / (left + 0.5) + 1 / (right + 0.5)
    weights = 1 / errors
    spread = float(np.sum(weights * ratios**2)) - weights.size
    variance = max(1.0, spread) / float(weights.sum())
    share = special.expit(toward + math.log(left_total / right_total))
    deviance = 2 * special.rel_entr(left, (left + right) * share)  # of the expected frequencies; has mean 1 under them
    deviance += 2 * special.rel_entr(right, (left + right) * (1 - share))
    alone = 1 - 2 * math.log(ratios.size + 1) / np.maximum(deviance, 1e-12)
    return np.asarray(toward + ratios * np.maximum(variance / (variance + errors), alone))


def numeric_columns(training: Training) -> list[np.ndarray] | None:
    """Return the numbers of either side without symbols, shape (size, d); None when one side has none."""
    sides = [columns(side) if side.symbols is None else columns(side)[~side.symbolic] for side in training.sides]
    return sides if min(map(len, sides)) else None


@dataclass(frozen=True)
class LikelihoodRatio(Score):
    """log p(output | left) - log p(output | right), by the mechanism's own statement."""

    log_likelihood: Callable[[Any, Any], Any]
    pair: tuple[Any, Any]
    name = "likelihood"
    calibrated = True

    def meaning(self) -> str:
        return "log-likelihood ratio"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        scores = np.full(len(outputs), np.nan)
        rows = ~outputs.symbolic if outputs.symbols is not None and outputs.numbers.size else None
        raw = outputs.raw
        if rows is not None and rows.any() and not rows.all():
            raw = [row for row, keep in zip(raw, rows, strict=True) if keep]
        with np.errstate(invalid="ignore", divide="ignore"):
            left, right = (np.asarray(self.log_likelihood(data, raw), dtype=float) for data in self.pair)
            ratio = np.round(left - right, SCORE_DECIMALS)
        if ratio.shape == scores.shape:
            return ratio
        if rows is not None and ratio.shape == (int(rows.sum()),):
            scores[rows] = ratio
        return scores


class Likelihood(Scorer):
    """Use `log_likelihood(dataset, outputs)`, or that of the stated law; nothing is learned."""

    learned = False

    def propose(self, training: Training) -> Sequence[LikelihoodRatio]:
        log_likelihood = stated_log_likelihood(training.mechanism)
        if log_likelihood is None:
            return []
        score = LikelihoodRatio(log_likelihood, training.pair)
        try:
            usable = any(bool((~np.isnan(score(outputs))).any()) for outputs in training.sides)
        except Exception:  # the log-likelihood is the mechanism's code and may fail; the other scorers carry on
            return []
        return [score] if usable else []


def stated_log_likelihood(mechanism: Any) -> Callable[[Any, Any], Any] | None:
    """Return the mechanism's `log_likelihood`, or that of its stated law, or None."""
    stated: Callable[[Any, Any], Any] | None = getattr(mechanism, "log_likelihood", None)
    if callable(stated) or not callable(getattr(mechanism, "law", None)):
        return stated if callable(stated) else None
    return LawLikelihood(mechanism)


class LawLikelihood:
    """Log-likelihood of a mechanism that states its law. A law is computed once per dataset of a pair, not per call."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._laws: tuple[tuple[Any, Any], ...] = ()  # the latest two datasets, told apart by identity, and their laws

    def __call__(self, dataset: Any, outputs: Any) -> Any:
        law = next((law for known, law in self._laws if known is dataset), None)
        if law is None:
            law = self._mechanism.law(dataset)
            self._laws = (*self._laws[-1:], (dataset, law))
        return law.log_likelihood(np.asarray(outputs))


def merge_in_order(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Merge two sorted arrays."""
    return np.sort(np.concatenate([first, second]), kind="stable")  # fast where the parts are sorted


def distinct(ordered: np.ndarray) -> np.ndarray:
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def sorted_finite(values: np.ndarray) -> np.ndarray:
    """Return the finite numbers in order, which single numbers have already: all others come at the ends."""
    ordered = values if bool(np.all(values[1:] >= values[:-1])) else np.sort(values)
    if np.isfinite(ordered[:1]).all() and np.isfinite(ordered[-1:]).all():
        return ordered
    return ordered[np.searchsorted(ordered, -np.inf, "right") : np.searchsorted(ordered, np.inf)]


def columns(outputs: Outputs) -> np.ndarray:
    """Return the numbers of a batch as shape (size, d)."""
    return outputs.numbers.reshape(len(outputs), -1)


# Newton's method squares the error, so after a step of 1e-4 about 1e-8 is left: tuned by `benchmarks.overhead`
NEWTON_STEPS, LAST_STEP, LONGEST_STEP = 12, 1e-4, 2.0  # iterations; step in one weight that ends them; longest one


def fit_logistic(
    x: np.ndarray, successes: np.ndarray, trials: np.ndarray | float = 1.0, ridge: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and their standard errors, each of shape (features,), by Newton's method.

    `successes` of the `trials` of each row of `x` succeeded; `ridge` / 2 times the squared weights are the penalty.
    scikit-learn's ``LogisticRegression(solver="newton-cholesky")`` finds the same weights. It gives no standard
    errors, and is slower to import than this is to run.
    """
    weights, curvature = np.zeros(x.shape[1]), np.eye(x.shape[1])
    columns = np.ascontiguousarray(x.T)
    for _ in range(NEWTON_STEPS):
        chance = logistic(weights @ columns)
        curvature = (columns * (trials * chance * (1 - chance))) @ columns.T + ridge * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, columns @ (successes - trials * chance) - ridge * weights)
        weights = weights + step * min(1.0, LONGEST_STEP / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < LAST_STEP:
            break
    return weights, np.sqrt(np.diag(np.linalg.inv(curvature)))


def logistic(odds: np.ndarray) -> np.ndarray:
    """Return the probability of each log-odds, faster than SciPy's `expit`, whose last digits do not matter here."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-odds)))
