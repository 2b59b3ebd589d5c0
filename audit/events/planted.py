"""State which violations a PASS must have been seen to catch, and judge what was found of those that were planted.

The table is public: each kind of output has its families, and a PASS needs `FEWEST_FOUND` of `PLANTED` plants in every
one of them. Plants have sizes at which the audit finds nearly all of them, so that a PASS does not depend on luck: at
a true power of 0.97, fewer than 16 of 20 are found in 3 of 10,000 audits. For single numbers and for outputs that are
counted nothing is planted: what the search finds there depends on the numbers of outputs alone. `event_size` says it,
and `python -m benchmarks.violations` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from audit.errors import InvalidArgument
from audit.limits import Count
from audit.scorers.intervals import Excess
from audit.statistics.power import GameTest
from audit.validate import integer

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCAN_MOST = 0.25  # of the budget that trains at once, for the scan: the rest resolves the usual events
SURE_EVIDENCE = 1.8  # expected evidence at which an event beats chance and is chosen in 97 % of audits

PLANTED, FEWEST_FOUND = 20, 16
SURE_POWER = 0.97  # with which a plant of the stated size is found, and with which it is certified
_PROBABILITIES = (0.01, 0.02, 0.03, 0.05, 0.1)  # of events: the first at which the outputs are enough
LARGEST = _PROBABILITIES[-1]
_LARGEST_RATIO, _ROUNDING = 8.0, 0.05  # log-odds beyond the claim that are tried, and to which they are rounded up
_MOST_TRAINING = 10**9
_FEWEST = 20  # outputs beyond a threshold that show how many there are

NUMBER, COUNTED, VECTOR, UNREADABLE = "number", "counted", "vector", "symbols"  # kinds of outputs
INTERVAL, VALUE, SHIFT = "an interval", "a value", "a shift"
NORM, PLACE, EQUAL = "a norm", "the place of the largest", "two equal coordinates"
SIGNS, ORDER = "signs that agree", "the order of two coordinates"


class EventSize(NamedTuple):
    """Hold the size of an event that is found at an unknown place: its probability, and its log-ratio."""

    probability: float
    log_ratio: float


@dataclass(frozen=True)
class Claimed:
    """Hold what decides the size of plants: the claim, the outputs, and the level of the test of interval events."""

    epsilon: float
    delta: float
    training: int  # outputs per dataset
    runs: int  # certifying runs, both datasets together
    level: float

    @property
    def test(self) -> GameTest:
        """Return the test that certifies an event on one side."""
        return GameTest(self.epsilon, self.delta / 2, self.level)

    @property
    def excess(self) -> Excess:
        """Return the measure by which training outputs choose."""
        return Excess(self.epsilon, self.delta, self.training)

    def finds(self, likelier: float, other: float, columns: int = 1) -> bool:
        """Return whether an event with these probabilities is found and certified with the power `SURE_POWER`."""
        counts = np.array(self.training * likelier), np.array(self.training * other)
        evidence = float(self.excess.evidence(*counts, columns))
        return evidence >= SURE_EVIDENCE and self.test.power(self.runs, likelier / 2, other / 2) >= SURE_POWER


@lru_cache(maxsize=1024)
def event_size(claimed: Claimed, columns: int = 1) -> EventSize | None:
    """Return the size of an event that is found at any place of any of the columns; None if there is none."""
    for probability in _PROBABILITIES:
        steps = round(_LARGEST_RATIO / _ROUNDING)
        low, high = 0, steps + 1
        while high - low > 1:
            middle = (low + high) // 2
            ratio = claimed.epsilon + middle * _ROUNDING
            likelier = min(1.0, probability + claimed.delta)
            found = claimed.finds(likelier, probability * math.exp(-ratio), columns)
            low, high = (low, middle) if found else (middle, high)
        if high <= steps:
            return EventSize(probability, claimed.epsilon + high * _ROUNDING)
    return None


@lru_cache(maxsize=1024)
def training_for(claimed: Claimed, columns: int = 1, probability: float = _PROBABILITIES[0]) -> int:
    """Return the training outputs per dataset, within 20 %, with which events of this probability are found."""
    training = max(claimed.training, 1)
    while training < _MOST_TRAINING:
        more = replace(claimed, training=training, runs=max(claimed.runs, round(2 * training / SCAN_MOST)))
        found = event_size(more, columns)
        if found is not None and found.probability <= probability:
            break
        training = int(1.2 * training) + 1
    return training


@dataclass(frozen=True)
class Family:
    """Count what was found of one family of plants."""

    name: str
    size: str  # in words
    planted: Count
    found: Count

    def __post_init__(self) -> None:
        if not integer(self.found, "found", 0) <= integer(self.planted, "planted", 0):
            raise InvalidArgument.of("found", "be at most `planted`", self.found)


def tails(leading: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of two sorted samples beyond some thresholds, those with few outputs beyond them left out."""
    size = len(leading)
    ranks = _ranks(size)
    thresholds = np.unique(np.concatenate([leading[ranks], other[ranks]]))
    beyond = [1 - np.searchsorted(side, thresholds) / size for side in (leading, other)]
    return beyond[0], beyond[1]


@lru_cache(maxsize=8)
def _ranks(size: int) -> np.ndarray:
    shares = np.concatenate([1 - np.geomspace(0.5, min(0.5, _FEWEST / size), 24), np.linspace(0.05, 0.45, 9)])
    return np.asarray((shares * (size - 1)).astype(int))


def least(holds: Callable[[float], bool], most: float = 60.0) -> float:
    """Return the least size, up to a few percent, from which it holds; the largest tried where it never does."""
    sizes = np.geomspace(most / 3000, most, 160)
    low, high = -1, len(sizes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(float(sizes[middle])) else (middle, high)
    return float(sizes[high])
