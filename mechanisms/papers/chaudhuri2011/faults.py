"""Broken variants: each replaces the cover or the weights of an algorithm, and states its real privacy.

All release a threshold of a grid. Those under `FAULTS` are black boxes: `Concealed` hides the law.
"""

import math
from collections.abc import Callable, Sized
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audit import AddRemove, Labeled, LabelFlip
from audit.laws import Finite
from mechanisms.noisy_max import LaplaceNoisyMax
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.accuracy import BETA, CONCENTRATED
from mechanisms.papers.chaudhuri2011.privacy import first_threshold_pair, middles, moved_pair, worst_pair
from mechanisms.papers.chaudhuri2011.sample_sizes import agnostic_size, realizable_size
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, FloatArray, Pair, ThresholdProblem, guarantee
from mechanisms.papers.chaudhuri2011.words import necessary_cases
from mechanisms.papers.rows import CHAUDHURI, Concealed
from mechanisms.parts.exponential import choice_probabilities

Penalty = Callable[[float, FloatArray, Labeled], FloatArray]


def five(dataset: Labeled) -> FloatArray:
    """Return the public grid of five thresholds."""
    return THRESHOLDS.packing_cover(0.1)


def halve(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha k / 2, the right one."""
    return np.asarray(epsilon * wrong / 2)


@dataclass(frozen=True)
class Changed:
    """A threshold of a grid with probability proportional to exp(-penalty), either of which may be replaced."""

    epsilon: float = 1.0
    penalty: Penalty = halve
    cover: Callable[[Labeled], FloatArray] = five

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
        law = self.law(dataset).pmf
        return rng.choice(np.array(list(law), dtype=float), size=size, p=list(law.values()))

    def law(self, dataset: Labeled) -> Finite:
        """Return the law of one output."""
        cover = self.cover(dataset)
        chances = choice_probabilities(self.penalty(self.epsilon, THRESHOLDS.mistakes(cover, dataset), dataset), 1.0)
        return Finite(dict(zip(cover.tolist(), chances.tolist(), strict=True)))


def balance(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha m (err+ + err-) / 4: one example of a rare label weighs like half of all."""
    parts = [Labeled(dataset.X[dataset.y == label], dataset.y[dataset.y == label]) for label in (-1, 1)]
    rates = [THRESHOLDS.mistakes(five(dataset), part) / len(part) for part in parts if len(part)]
    return np.asarray(epsilon * len(dataset) * np.sum(rates, axis=0) / 4)


def shortcut(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha k / 2, or infinity for a mistake where there is a threshold without."""
    return np.where((wrong > 0) & (wrong.min() == 0), np.inf, epsilon * wrong / 2)


def fewest(epsilon: float, wrong: FloatArray, dataset: Sized) -> FloatArray:
    """Return alpha min(k) k / (2 m): private, and uniform on clean data."""
    return np.asarray(epsilon * wrong.min(axis=-1, keepdims=True) * wrong / (2 * len(dataset)))


def count_right(dataset: Labeled) -> FloatArray:
    """Return minus the mistakes of each threshold, for report noisy max."""
    return -THRESHOLDS.mistakes(five(dataset), dataset)


def see_kappa(dataset: Labeled) -> FloatArray:
    """Return a cover for the largest density seen in ten cells: 20 thresholds for spread points, 30 for one moved."""
    density = 10 * np.bincount(np.minimum((10 * dataset.X).astype(int), 9)).max() / len(dataset)
    return THRESHOLDS.packing_cover(0.1 / (4 * density))


def span_data(dataset: Labeled) -> FloatArray:
    """Return a grid over the range of the private points."""
    return np.linspace(dataset.X.min(), dataset.X.max(), 10)


def count_distinct(dataset: Labeled) -> FloatArray:
    """Return the cover of A1 for the number of distinct examples, which substitution does not keep: 78 or 80."""
    return A1(1.0, 0.9).cover(np.unique(np.stack([dataset.X, dataset.y]), axis=1)[0])


def lean_on_labels(dataset: Labeled) -> FloatArray:
    """Return the cover of A3, with thresholds that lean away from a positive point to their left."""
    cover = THRESHOLDS.sample_packing_cover(dataset.X, 0.3 / 4)
    below = np.maximum(np.searchsorted(np.sort(dataset.X), cover) - 1, 0)
    lean = np.where(dataset.y[np.argsort(dataset.X)][below] == 1, 0.001, 0.0)
    return np.clip(cover + lean, 0, 1)


def count_examples(dataset: Labeled) -> FloatArray:
    """Return the cover of A1, made for the number of examples: 19,086 thresholds for 50,000, 19,092 for one more."""
    return A1(0.5, 0.1).cover(dataset.X)


def _grown(X: Any, y: Any, point: float) -> Pair:
    """Return a list and an example at a point, labeled +1 on the left and -1 on the right."""
    first, second = (Labeled(np.r_[X, point], np.r_[y, label]) for label in (1, -1))
    return first, second


def _at(X: Any) -> Labeled:
    return Labeled(np.asarray(X), np.where(np.asarray(X) >= 0.5, 1, -1))


def _moved(label: int, left: float, right: float) -> Pair:
    return Labeled(np.array([left]), np.array([label])), Labeled(np.array([right]), np.array([label]))


_RANGE, _TWICE, _LONG = 0.1 + 0.8 * middles(20), np.r_[middles(400), middles(400)[0]], middles(50_000)
_INNER, _DISTINCT = np.where(middles(20) >= 0.5, 1, -1), np.r_[_TWICE[:-1], 0.0]
_FLIPPED = Labeled(middles(20), _INNER), Labeled(middles(20), np.r_[_INNER[:9], 1, _INNER[10:]])
_FIRST, _NEVER = first_threshold_pair(5, 1), math.inf
_LONG_PAIR = _at(_LONG), _at(np.r_[_LONG, 1.0])
_WITHOUT_HALF = Changed(penalty=lambda epsilon, wrong, dataset: epsilon * wrong)
_SQUARED = Changed(penalty=lambda epsilon, wrong, dataset: epsilon * wrong**2 / (2 * len(dataset)))
_ARGMIN = Changed(penalty=lambda epsilon, wrong, dataset: np.where(np.arange(5) == np.argmin(wrong), 0.0, np.inf))
_ROWS: tuple[tuple[str, float, Any, Pair, Any], ...] = (  # name, true epsilon, changed part, pair, relation
    ("no half", 1.569, _WITHOUT_HALF, _FIRST, None),
    ("no half alpha=0.5", 0.865, replace(_WITHOUT_HALF, epsilon=0.5), first_threshold_pair(5, 2), None),
    ("squared error", 1.617, _SQUARED, _grown(np.r_[np.zeros(8), 0.2], np.r_[np.ones(8, int), -1], 0.2), None),
    ("balanced error", 2.492, Changed(penalty=balance), _grown(np.zeros(9), np.full(9, -1), 0.8), None),
    ("shortcut without error", _NEVER, Changed(penalty=shortcut), _moved(1, 0.0, 0.2), None),
    ("Laplace noisy min", 2.0, LaplaceNoisyMax(count_right, 1.0, monotone=True), worst_pair(0.1, 3), None),
    ("argmin", _NEVER, _ARGMIN, _moved(-1, 0.0, 0.2), None),
    ("cover from the data, disjoint", _NEVER, A3(1.0, 0.3), moved_pair(19, 0.01), None),
    ("cover from the data, one threshold", _NEVER, A3(1.0, 0.3), moved_pair(9, 0.46), None),
    ("kappa from the data", _NEVER, Changed(cover=see_kappa), moved_pair(19, 0.01), None),
    ("range from the data", _NEVER, Changed(cover=span_data), (_at(_RANGE), _at(np.r_[_RANGE[:-1], 0.95])), None),
    ("distinct examples counted", _NEVER, Changed(cover=count_distinct), (_at(_TWICE), _at(_DISTINCT)), None),
    ("labels break ties", _NEVER, Changed(cover=lean_on_labels), _FLIPPED, LabelFlip()),
    ("advertised for add/remove", _NEVER, Changed(0.5, cover=count_examples), _LONG_PAIR, AddRemove()),
)
FAULTS = [
    CHAUDHURI.fault(name, truth, "Theorem 7", Concealed(each), each.epsilon, [pair], relation, budget=50_000)
    for name, truth, each, pair, relation in _ROWS
]
_AGNOSTIC, _REALIZABLE = agnostic_size(0.05, 0.2, BETA, math.log(75.5)), realizable_size(0.5, 0.1, BETA)


def forget_size(wrong: FloatArray, m: int) -> FloatArray:
    """Return alpha err / 2 at alpha = 0.05: (alpha / m)-private, and the failure probability is 0.99."""
    return np.asarray(0.05 * wrong / (2 * m))


_FORGOTTEN: dict[str, Any] = {"smoothness": 75.5, "exponent": forget_size}
# private, and the failure probability is 0.75
_FEWEST: dict[str, Any] = {"exponent": lambda wrong, m: fewest(0.5, wrong, range(m))}

CHECKS: list[Any] = [
    *(fault.check for fault in FAULTS),
    *(
        guarantee(f"fault/{name} m={m}", "", "", partial(problem.draw_within, epsilon, accuracy, m, **more))
        for name, problem, epsilon, accuracy, m, more in (
            ("error without its scale", CONCENTRATED, 0.05, 0.2, _AGNOSTIC, _FORGOTTEN),
            ("scale of the fewest mistakes", ThresholdProblem(0.525), 0.5, 0.1, _REALIZABLE, _FEWEST),
            ("kappa ignored", CONCENTRATED, 0.05, 0.2, _AGNOSTIC, {}),
        )
    ),
    CHAUDHURI.quote("fault/every learner, n / (2 alpha accuracy)", partial(necessary_cases, 1 / 2), ">="),
]
