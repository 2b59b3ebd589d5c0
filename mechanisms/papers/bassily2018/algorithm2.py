"""Algorithm 2, distance to instability: release f(D) itself when D is far from every dataset with another value.

Section 3.1 of Bassily, Thakurta & Thakkar (2018), Theorems 3.2 and 3.5, after Smith & Thakurta (2013); reconstructed:

    d = dist_f(D) + Lap(1 / epsilon)
    if d > log(1 / delta) / epsilon: answer f(D), else BOTTOM

The distance must (i) move by at most 1 between neighbors and (ii) be 0 on BOTH of two neighbors with different values:
the number of changes that it takes to reach another value, MINUS 1, floored at 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from audit import InequalityCheck, PrivacyCheck, Verdict
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, nonnegative, open_probability, positive
from mechanisms.papers.bassily2018.algorithm1 import pair_check
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.records import as_records
from mechanisms.quadrature import laplace_cdf
from mechanisms.queries import admit, ask, require_query, scale

BOTTOM = -1
Question = Callable[[Any], tuple[int, float]]


@dataclass(frozen=True)
class DistanceToInstability:
    """f(D), or BOTTOM; exactly (epsilon, delta / 2)-DP."""

    question: Question  # dataset -> (value >= 0, distance as in the head of this file)
    epsilon: float  # > 0
    delta: float  # in (0, 1)
    sensitivity: float = 1.0  # by how much a record moves the distance
    scale: float = 1.0  # >= 0: of the noise, in units of sensitivity / epsilon

    def __post_init__(self) -> None:
        admit(self, question=require_query, epsilon=positive, delta=open_probability, sensitivity=scale)

    @property
    def threshold(self) -> float:
        """Gamma, which the noisy distance must exceed."""
        return self.sensitivity * math.log(1 / self.delta) / self.epsilon

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        value, distance = answer(self.question, dataset)
        return np.where(self.noisy(distance, size, rng) > self.threshold, value, BOTTOM)

    def noisy(self, distance: float, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw noisy distances."""
        return distance + rng.laplace(scale=self.scale * self.sensitivity / self.epsilon, size=size)

    def release_probability(self, distance: float) -> float:
        """Return the probability that the value is released at a distance."""
        if self.scale == 0:
            return float(distance > self.threshold)
        level = (distance - self.threshold) * self.epsilon / (self.scale * self.sensitivity)
        return float(laplace_cdf(np.array(level)))

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        value, distance = answer(self.question, dataset)
        released = self.release_probability(distance)
        return Finite({k: p for k, p in ((value, released), (BOTTOM, 1 - released)) if p > 0})


@dataclass(frozen=True)
class Majority:
    """The more frequent of two labels, 0 on a tie, with its distance to instability; records are labels 0 and 1."""

    less: int = 1  # than the changes that it takes to reach the other value: 1 is right under substitution
    times: float = 1.0  # of the distance, and so of a record's effect on it

    def __call__(self, dataset: Any) -> tuple[int, float]:
        ones = int(np.count_nonzero(as_records(dataset, "dataset")))
        zeros = len(dataset) - ones
        value = int(ones > zeros)
        changes = (ones - zeros + 1) // 2 if value else (zeros - ones) // 2 + 1
        return value, self.times * max(0, changes - self.less)


def answer(question: Question, dataset: Any) -> tuple[int, float]:
    """Return value and distance, or raise when they are not an integer >= 0 and a number >= 0."""
    value, distance = ask(question, dataset)
    try:
        distance = distance if distance == math.inf else nonnegative(float(distance), "distance")
        return integer(value, "value", at_least=0), distance
    except (InvalidArgument, TypeError, ValueError):  # they are private: the error does not show them
        raise InvalidArgument("`question` must answer with an integer >= 0 and a distance >= 0") from None


def labels(ones: int, records: int = 41) -> np.ndarray:
    """Return a dataset with that many ones."""
    return (np.arange(records) < ones).astype(int)


DELTAS = (1e-2, 1e-6)


def _mechanisms(epsilons: tuple[float, ...]) -> list[tuple[str, DistanceToInstability]]:
    pairs = product(epsilons, DELTAS)
    return [(f"eps={e:g} delta={d:g}", DistanceToInstability(Majority(), e, d)) for e, d in pairs]


@BASSILY.states("distance to instability, stable values cost eps", "Lemma 3.3", "==", tolerance=1e-7)
def stable_cases() -> Cases:
    """Between neighbors with one value the largest privacy loss is exactly eps."""
    for name, mechanism in _mechanisms((0.1, 1.0, 4.0)):
        bits = map(mechanism.release_probability, range(math.ceil(mechanism.threshold) + 5))
        laws = [Finite({1: p, 0: 1 - p}) for p in bits]
        yield name, max(a.loss_against(b).epsilon(0.0) for a, b in pairwise(laws)), mechanism.epsilon


@BASSILY.states("distance to instability, unstable values are released with delta/2", "Lemma 3.4", "==", tolerance=1e-7)
def unstable_cases() -> Cases:
    """At an unstable value the release has probability exactly delta / 2, half of what is claimed."""
    return [(name, found.release_probability(0.0), found.delta / 2) for name, found in _mechanisms((0.1, 1.0, 4.0))]


@BASSILY.states("distance to instability, failure beta/2", "Theorem 3.5", "==", tolerance=1e-7)
def utility_cases() -> Cases:
    """At distance (log(1/delta) + log(1/beta)) / eps the value is withheld with probability exactly beta / 2."""
    return [
        (f"{name} beta={beta:g}", 1 - found.release_probability(found.threshold + math.log(1 / beta)), beta / 2)
        for beta in (0.05, 1e-3)
        for name, found in _mechanisms((1.0,))
    ]


def _privacy(name: str, epsilon: float, delta: float, claimed: float, times: float = 1.0, **more: Any) -> PrivacyCheck:
    pairs = [(labels(21), labels(20)), (labels(26), labels(27)), (labels(34), labels(35))]
    mechanism = DistanceToInstability(Majority(times=times), epsilon, delta, times)
    name = f"distance to instability {name}"
    return pair_check(name, mechanism, (epsilon, claimed), "Theorem 3.2", pairs=pairs, **more)


CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *BASSILY.rows(__name__),
    *(_privacy(f"eps={e:g} delta={d:g}", e, d, d) for e, d in product((0.5, 1.0), DELTAS)),
    *(_privacy(f"eps=1 delta=0.01 sensitivity={times:g}", 1.0, 1e-2, 1e-2, times) for times in (0.5, 2.0)),
    _privacy("eps=1: half of delta is enough", 1.0, 1e-2, 0.5e-2),
    _privacy("eps=1: 1 % less than half of delta is not", 1.0, 1e-2, 0.495e-2, expected=Verdict.FAIL),
]
