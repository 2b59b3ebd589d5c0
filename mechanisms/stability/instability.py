"""Distance to instability: release f(D) itself when D is far from every dataset where f takes another value.

Implements A_stab, Algorithm 2 of Bassily, Thakurta & Thakkar (2018), Theorems 3.2 and 3.5, after Smith & Thakurta
(2013): d = dist_f(D) + Lap(1 / epsilon); f(D) when d > log(1 / delta) / epsilon, else BOTTOM.

What the distance must do: (i) move by at most 1 between neighbors, (ii) be 0 on BOTH of two neighbors with different
values. The canonical one is the number of changes that it takes to reach another value, MINUS 1, floored at 0; without
the minus one (ii) fails and delta is e^epsilon delta / 2 (`mechanisms.faults.stability.single_query`).

Reading: the printed box is missing; threshold and scale are those of Theorem 3.2. Departure: none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from audit import InequalityCheck, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, nonnegative, open_probability, positive
from mechanisms.quadrature import laplace_cdf
from mechanisms.queries import require_query

SOURCE = "Bassily, Thakurta & Thakkar 2018, Theorem 3.2"
UNSTABLE = "Bassily, Thakurta & Thakkar 2018, Lemma 3.4"
UTILITY = "Bassily, Thakurta & Thakkar 2018, Theorem 3.5"
BOTTOM = -1

Question = Callable[[Any], tuple[int, float]]
Cases = list[tuple[str, float, float]]


@dataclass(frozen=True)
class DistanceToInstability:
    """f(D), or BOTTOM; exactly (epsilon, delta / 2)-DP with the printed threshold.

    Parameters
    ----------
    question : callable
        dataset -> (value, distance): the value an integer >= 0, the distance as in the head of this file.
    epsilon : float > 0
        1 / epsilon is the scale of the noise.
    delta : float in (0, 1)
        Gives the threshold log(1 / delta) / epsilon.
    """

    question: Question
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_query(self.question, "question")
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", open_probability(self.delta, "delta"))

    @property
    def threshold(self) -> float:
        """Gamma, which the noisy distance must exceed."""
        return math.log(1 / self.delta) / self.epsilon

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1 / self.epsilon

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        value, distance = answer(self.question, dataset)
        return np.where(distance + rng.laplace(scale=self.scale, size=size) > self.threshold, value, BOTTOM)

    def release_probability(self, distance: float) -> float:
        """Return the probability that the value is released at a distance."""
        return float(laplace_cdf(np.array((distance - self.threshold) / self.scale)))

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        value, distance = answer(self.question, dataset)
        released = self.release_probability(distance)
        return Finite({value: released, BOTTOM: 1 - released})


@dataclass(frozen=True)
class Majority:
    """The more frequent of two labels, 0 on a tie, with its distance to instability; records are labels 0 and 1.

    Parameters
    ----------
    less : int, optional
        Subtracted from the number of changes that it takes to reach the other value: 1 is right under substitution.
    """

    less: int = 1

    def __call__(self, dataset: Any) -> tuple[int, float]:
        ones = int(np.count_nonzero(np.asarray(dataset)))
        zeros = len(dataset) - ones
        value = int(ones > zeros)
        changes = (ones - zeros + 1) // 2 if value else (zeros - ones) // 2 + 1
        return value, float(max(0, changes - self.less))


def answer(question: Question, dataset: Any) -> tuple[int, float]:
    """Return value and distance, or raise when they are not an integer >= 0 and a number >= 0."""
    value, distance = question(dataset)
    if distance == math.inf:
        return integer(value, "value", at_least=0), math.inf
    return integer(value, "value", at_least=0), nonnegative(float(distance), "distance")


def labels(ones: int, records: int = 41) -> np.ndarray:
    """Return a dataset with that many ones."""
    if not 0 <= ones <= records:
        raise InvalidArgument.of("ones", f"lie between 0 and {records}", ones)
    return (np.arange(records) < ones).astype(int)


DELTAS = (1e-2, 1e-6)


def stable_cases() -> Cases:
    """Compare the largest loss at one value with epsilon: neighboring distances 0 to 40 (Lemma 3.3)."""
    cases = []
    for epsilon in (0.1, 1.0, 4.0):
        for delta in DELTAS:
            mechanism = DistanceToInstability(Majority(), epsilon, delta)
            far = math.ceil(mechanism.threshold)
            bits = [mechanism.release_probability(d) for d in range(far + 5)]
            laws = [Finite({1: p, 0: 1 - p}) for p in bits]
            losses = [_loss(left, right) for left, right in pairwise(laws)]
            cases.append((f"eps={epsilon:g} delta={delta:g}", max(losses), epsilon))
    return cases


def unstable_cases() -> Cases:
    """Compare the probability that an unstable value is released with delta / 2 (Lemma 3.4: at most delta)."""
    mechanisms = [DistanceToInstability(Majority(), e, delta) for e in (0.1, 1.0, 4.0) for delta in DELTAS]
    return [(f"eps={m.epsilon:g} delta={m.delta:g}", m.release_probability(0.0), m.delta / 2) for m in mechanisms]


def utility_cases() -> Cases:
    """Compare the failure probability at distance (log(1/delta) + log(1/beta)) / epsilon with beta / 2."""
    cases = []
    for beta in (0.05, 1e-3):
        for delta in DELTAS:
            mechanism = DistanceToInstability(Majority(), 1.0, delta)
            far = mechanism.threshold + math.log(1 / beta) * mechanism.scale
            cases.append((f"beta={beta:g} delta={delta:g}", 1 - mechanism.release_probability(far), beta / 2))
    return cases


def _loss(left: Finite, right: Finite) -> float:
    return left.loss_against(right).epsilon(0.0)


def _privacy(name: str, epsilon: float, delta: float, claimed: tuple[float, float], **settings: Any) -> PrivacyCheck:
    pairs = [(labels(21), labels(20)), (labels(26), labels(27)), (labels(34), labels(35))]
    return PrivacyCheck(
        name=f"stability/distance to instability {name}",
        mechanism=DistanceToInstability(Majority(), epsilon, delta),
        claim=PrivacyClaim(*claimed, Substitution(), SOURCE),
        pairs=pairs,
        **{"budget": 20_000, **settings},
    )


def _exactly(name: str, source: str, statement: str, values: Any) -> InequalityCheck:
    name = f"stability/distance to instability, {name}"
    return InequalityCheck(name=name, source=source, statement=statement, values=values, sense="==", tolerance=1e-7)


CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *(
        _privacy(f"eps={epsilon:g} delta={delta:g}", epsilon, delta, (epsilon, delta))
        for epsilon in (0.5, 1.0)
        for delta in DELTAS
    ),
    _privacy("eps=1: half of delta is enough", 1.0, 1e-2, (1.0, 0.5e-2)),
    _privacy(
        "eps=1: 1 % less than half of delta is not", 1.0, 1e-2, (1.0, 0.495e-2), expected=Verdict.FAIL, method="exact"
    ),
    _exactly(
        "stable values cost eps",
        "Bassily, Thakurta & Thakkar 2018, Lemma 3.3",
        "Between neighbours with one value the largest privacy loss is exactly eps.",
        stable_cases,
    ),
    _exactly(
        "unstable values are released with delta/2",
        UNSTABLE,
        "At an unstable value the release has probability exactly delta / 2, half of what is claimed.",
        unstable_cases,
    ),
    _exactly(
        "failure beta/2",
        UTILITY,
        "At distance (log(1/delta) + log(1/beta)) / eps the value is withheld with probability exactly beta / 2.",
        utility_cases,
    ),
]
