"""The exponential mechanism over a public list of candidates: McSherry & Talwar (2007), Theorem 6.

Candidate h is released with probability proportional to exp(-epsilon err(h) / (2 sensitivity)), err to be kept small.
For a score that one more record can only raise, and under add/remove, the factor 2 is not needed: a class of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Labeled, LabelFlip, PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import positive
from mechanisms.papers.rows import Paper
from mechanisms.parts.exponential import choice_probabilities, choose
from mechanisms.queries import admit, ask, distinct, require_query, scale

WHERE = "Theorem 6"
EPSILONS = (0.25, 1.0)


def label_mistakes(dataset: Labeled, candidates: tuple[Any, ...]) -> np.ndarray:
    """Count the labels that differ from each constant prediction; sensitivity 1 under substitution."""
    return np.sum(np.asarray(candidates)[:, None] != dataset.y[None, :], axis=1)


def threshold_mistakes(dataset: Labeled, candidates: tuple[Any, ...]) -> np.ndarray:
    """Count the mistakes of the rules 1[x >= t]; sensitivity 1 under substitution and under label flip."""
    predicted = dataset.X[None, :] >= np.asarray(candidates)[:, None]
    return np.sum(predicted != (dataset.y[None, :] == 1), axis=1)


def rank_error(dataset: Any, candidates: tuple[Any, ...]) -> np.ndarray:
    """Distance of each candidate from being a median, in records; sensitivity 1 under substitution."""
    values = np.asarray(dataset)
    below = np.sum(values[None, :] < np.asarray(candidates)[:, None], axis=1)
    above = np.sum(values[None, :] > np.asarray(candidates)[:, None], axis=1)
    return np.maximum(below, above) - len(values) / 2


def absent_votes(dataset: Any, candidates: tuple[Any, ...]) -> np.ndarray:
    """Minus the number of votes of each candidate; one more record lowers one entry by 1 and raises none."""
    return -np.sum(np.asarray(dataset)[None, :] == np.asarray(candidates)[:, None], axis=1)


@dataclass(frozen=True)
class ExponentialMechanism:
    """One candidate, with probability proportional to exp(-epsilon err / (2 sensitivity)); (epsilon, 0)-DP."""

    score: Any  # (dataset, candidates) -> vector of errors to keep small, one a candidate
    candidates: tuple[Any, ...]  # at least two, distinct and hashable, chosen without looking at the data
    sensitivity: float  # > 0: largest change of any entry of the score between neighbors
    epsilon: float  # > 0; approached, never attained, by a finite list of candidates

    def __post_init__(self) -> None:
        admit(self, score=require_query, candidates=distinct, sensitivity=scale, epsilon=positive)

    @property
    def rate(self) -> float:
        """Decrease of the log-probability per unit of error."""
        return self.epsilon / (2 * self.sensitivity)

    def _errors(self, dataset: Any) -> np.ndarray:
        errors = ask(lambda records: np.asarray(self.score(records, self.candidates), dtype=float), dataset)
        if errors.shape != (len(self.candidates),) or not np.all(np.isfinite(errors)):
            raise InvalidArgument("`score` must give one finite error a candidate")  # the errors are private
        return np.asarray(errors)

    def probabilities(self, dataset: Any) -> np.ndarray:
        """Probability of each candidate."""
        return choice_probabilities(self._errors(dataset), self.rate)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.candidates)[choose(self._errors(dataset), self.rate, size, rng)]

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        return Finite(dict(zip(self.candidates, self.probabilities(dataset).tolist(), strict=True)))


@dataclass(frozen=True)
class MonotoneExponentialMechanism(ExponentialMechanism):
    """Decoy: exp(-epsilon err / sensitivity), without the factor 2.

    (epsilon, 0)-DP under add/remove when a record moves every entry of the score the same way: weights change by a
    factor in [e^-epsilon, 1] or in [1, e^epsilon], so the normalizer never adds to the ratio.
    """

    @property
    def rate(self) -> float:
        """Decrease of the log-probability per unit of error."""
        return self.epsilon / self.sensitivity


def complementary_pair(records: int) -> tuple[Labeled, Labeled]:
    """All labels 0 against one label 1: for two constant hypotheses no other pair is worse."""
    features, labels = np.arange(records), np.zeros(records, dtype=int)
    return Labeled(features, labels), Labeled(features, np.r_[1, labels[1:]])


_PAPER = Paper("exponential", "McSherry & Talwar 2007")
_X, _VALUES = np.linspace(0.05, 0.95, 10), np.linspace(0.1, 0.4, 12)
_BELOW, _FLIPPED = (Labeled(_X, np.r_[first, (_X[1:] >= 0.5)].astype(int)) for first in (0, 1))
_GRID, _VOTES = tuple(np.linspace(0.0, 1.0, 9).tolist()), np.array(["a"] * 8 + ["b"] * 2)


def _checks(epsilon: float) -> list[PrivacyCheck]:
    constant, cut, median = (
        ExponentialMechanism(score, candidates, 1.0, epsilon)
        for score, candidates in ((label_mistakes, (0, 1)), (threshold_mistakes, _GRID), (rank_error, _GRID))
    )
    pair, paper = complementary_pair(max(20, round(20 / epsilon))), "Bousquet et al. 2022, Theorem 4.10"
    return [
        _PAPER.promise(f"two constant hypotheses eps={epsilon:g}", WHERE, constant, epsilon, [pair]),
        _PAPER.promise(f"thresholds eps={epsilon:g}", paper, cut, epsilon, [(_BELOW, _FLIPPED)]),
        _PAPER.promise(f"median eps={epsilon:g}", WHERE, median, epsilon, [(_VALUES, np.r_[1.0, _VALUES[1:]])]),
    ]


_THREE = ExponentialMechanism(threshold_mistakes, (0.0, 0.5, 1.0), 1.0, 1.0)
_MONOTONE = MonotoneExponentialMechanism(absent_votes, ("a", "b", "c"), 1.0, 1.0)
_MORE = [(_VOTES, np.append(_VOTES, "c")), (_VOTES, _VOTES[1:])]
CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    _PAPER.promise("thresholds label flip eps=1", WHERE, _THREE, 1.0, [(_BELOW, _FLIPPED)], LabelFlip()),
    _PAPER.promise("decoy/without the factor 2 for votes eps=1", "monotone scores", _MONOTONE, 1.0, _MORE, AddRemove()),
]
