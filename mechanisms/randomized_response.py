"""Randomized response for one record and for the labels of a dataset: Warner (1965), Kairouz, Bonawitz & Ramage (2016).

The true answer comes with probability e^epsilon / (e^epsilon + K - 1), each other one with 1 / (e^epsilon + K - 1).
"""

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, LabelFlip, Local, PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite, Product
from audit.validate import positive
from mechanisms.papers.rows import Paper
from mechanisms.parts.records import require_labeled
from mechanisms.queries import admit, distinct

SOURCE = "Kairouz, Bonawitz & Ramage 2016"
EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class RandomizedResponse:
    """The record's own label or another one, chosen at random; (epsilon, 0)-DP for any two records."""

    labels: tuple[Hashable, ...]  # at least two, distinct and hashable: the admissible records and the possible outputs
    epsilon: float  # > 0; attained by every pair of different records

    def __post_init__(self) -> None:
        admit(self, labels=distinct, epsilon=positive)

    @property
    def other(self) -> float:
        """Probability of each label but the true one."""
        return math.exp(-self.epsilon) * self.keep

    @property
    def keep(self) -> float:
        """Probability of the true label."""
        return 1 / (1 + (len(self.labels) - 1) * math.exp(-self.epsilon))

    def _position(self, record: Any) -> int:
        value = record.item() if isinstance(record, np.generic) else record
        if not isinstance(value, Hashable) or value not in self.labels:  # it is private: the error does not show it
            raise InvalidArgument(f"`dataset` must be one record among {self.labels!r}")
        return self.labels.index(value)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        kept = rng.random(size) < self.keep
        jump = rng.integers(1, len(self.labels), size=size)
        return np.asarray(self.labels)[(self._position(dataset) + np.where(kept, 0, jump)) % len(self.labels)]

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        own = self.labels[self._position(dataset)]
        return Finite({label: self.keep if label == own else self.other for label in self.labels})


@dataclass(frozen=True)
class KeepOrResample(RandomizedResponse):
    """Decoy: keeps the record with probability (e^epsilon - 1) / (e^epsilon + K - 1), else draws from ALL labels.

    The probability of keeping looks too small, and the redraw may return the record itself: together they give
    exactly the law of randomized response.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        kept = rng.random(size) < self.keep - self.other
        anything = rng.integers(0, len(self.labels), size=size)
        return np.asarray(self.labels)[np.where(kept, self._position(dataset), anything)]


@dataclass(frozen=True)
class NoisyLabels(RandomizedResponse):
    """Randomized response on every label of a labeled dataset; the features are public.

    (epsilon, 0)-DP under label flip, since the labels are randomized independently. Output: shape (size, n).
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        labels = require_labeled(dataset).y
        drawn = [super(NoisyLabels, self).__call__(label, size, rng) for label in labels]
        return np.stack(drawn, axis=1) if drawn else np.empty((size, 0), dtype=np.int64)

    def law(self, dataset: Labeled) -> Product:  # type: ignore[override]
        """Law of the vector of released labels: independent coordinates."""
        return Product(tuple(super(NoisyLabels, self).law(label) for label in require_labeled(dataset).y))


_PAPER, _FOUR = Paper("randomized response", SOURCE), (0, 1, 2, 3)
_LABELS = tuple(Labeled(np.arange(4), np.array([0, 1, label, 0])) for label in (1, 0))


def _checks(epsilon: float) -> list[PrivacyCheck]:
    two, four = RandomizedResponse(("no", "yes"), epsilon), RandomizedResponse(_FOUR, epsilon)
    every, resampled = list(itertools.combinations(_FOUR, 2)), KeepOrResample(_FOUR, epsilon)
    return [
        _PAPER.promise(f"binary eps={epsilon:g}", "Warner 1965", two, epsilon, [("no", "yes")], Local()),
        _PAPER.promise(f"four labels eps={epsilon:g}", SOURCE, four, epsilon, every, Local()),
        _PAPER.promise(
            f"decoy/keep or resample eps={epsilon:g}", SOURCE, resampled, epsilon, [(0, 1), (2, 3)], Local()
        ),
    ]


def _on_labels(epsilon: float) -> PrivacyCheck:
    name, where = f"noisy labels eps={epsilon:g}", "Warner 1965, on each label"
    return _PAPER.promise(name, where, NoisyLabels((0, 1), epsilon), epsilon, [_LABELS], LabelFlip())


CHECKS = [*(check for epsilon in EPSILONS for check in _checks(epsilon)), *map(_on_labels, (0.5, 2.0))]
