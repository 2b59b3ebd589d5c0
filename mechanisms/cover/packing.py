"""The packing audit on learners: designs of families of datasets, and what private learners do on them.

From Chaudhuri & Hsu (2011), Lemma 22 and the proof of Theorem 5: K datasets within b steps and K disjoint sets of
outputs; an alpha-private learner hits its own set with a mean probability of at most e^(alpha b) / (e^(alpha b) + K -
1). The text uses it for lower bounds on sample sizes; here it audits (`audit.check_packing`, `audit.PackingCheck`).

Departures from the text: the probability is averaged over targets, so that one binomial bound serves for any K.
It is weak on the exponential mechanism, which group privacy does not limit: with opposite blocks of labels A1 shows at
most alpha / 2 (`block_epsilon`). It convicts supports that depend on the data and learners that do not randomize.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import InequalityCheck, Labeled, PackingCheck, PrivacyClaim, Substitution
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.learners import ReferenceCoverLearner

SOURCE = "Chaudhuri & Hsu 2011, Lemma 22"
Cases = list[tuple[str, float, float]]


@dataclass(frozen=True)
class MovingExample:
    """One positive example at z_i = i / (K + 1) between 50 negatives at 0 and 49 positives at 1: b = 1.

    The target is where a halving learner must go, z_i / 2, within a quarter of the distance between neighbors.

    Parameters
    ----------
    size : int >= 2
        K.
    """

    size: int

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return the dataset of a target."""
        X = np.r_[np.zeros(50), np.ones(49), self._place(index)]
        return Labeled(X, np.r_[np.full(50, -1), np.ones(50, int)])

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold lies in the target's interval."""
        return abs(threshold - self._place(index) / 2) < 0.999 / (4 * (self.size + 1))

    def _place(self, index: int) -> float:
        return (index + 1) / (self.size + 1)


@dataclass(frozen=True)
class BesideAPoint:
    """Forty points in the middle of forty cells, and one example that moves between two of them: b = 1.

    The target is the threshold that a cover made of the points puts halfway between the moving example and the point to
    its left, and nobody else puts there.

    Parameters
    ----------
    size : int >= 2
        K, places of the moving example.
    rank : int, 1 <= rank <= 39
        Number of points to its left: an index that the cover in the sample metric uses.
    """

    size: int
    rank: int

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return the dataset of a target, labeled by the true threshold at the moving example."""
        X = np.r_[(np.arange(40) + 0.5) / 40, self._place(index)]
        return Labeled(X, np.where(self._place(index) <= X, 1, -1))

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold is the midpoint that gives the moving example away."""
        return abs(threshold - ((self.rank - 0.5) / 40 + self._place(index)) / 2) < 0.249 / (40 * (self.size + 1))

    def _place(self, index: int) -> float:
        return (self.rank - 0.5 + (index + 1) / (self.size + 1)) / 40


@dataclass(frozen=True)
class FromTheFamily:
    """m examples of a distribution of the hard family; the target is its window: b = m.

    Accuracy certifies a lack of privacy: whoever errs by less than 1/4 lies in the window.
    """

    family: ConcentratedThresholdFamily
    records: int

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Draw m examples of a distribution."""
        return self.family.draw(index, self.records, rng)

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold lies in the window."""
        return self.family.hits(index, threshold)


@dataclass(frozen=True)
class EvenTargets:
    """m evenly spread points labeled by one of K equally spaced thresholds; targets are thresholds within `accuracy`.

    The packing form of Theorem 12, which holds for every set of points: balls of radius a around thresholds more than
    2 a apart are disjoint, and all m labels may differ.
    """

    size: int
    records: int
    accuracy: float

    def place(self, index: int) -> float:
        """The true threshold."""
        return index / (self.size - 1)

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return m labeled points."""
        x = (np.arange(self.records) + 0.5) / self.records
        return Labeled(x, np.where(x >= self.place(index), 1, -1))

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold is accurate."""
        return abs(threshold - self.place(index)) <= self.accuracy


@dataclass(frozen=True)
class OppositeBlocks:
    """m copies of a point, all labeled +1 or all -1; the targets are the thresholds on either side: K = 2, b = m."""

    records: int
    point: float = 0.5

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return the block of a label."""
        return Labeled(np.full(self.records, self.point), np.full(self.records, 1 - 2 * index))

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold gives the point the label of the block."""
        return (threshold <= self.point) == (index == 0)


@dataclass(frozen=True)
class RandomizedLabel:
    """K-ary randomized response as a learner of a single record: hits with exactly e^eps / (e^eps + K - 1)."""

    size: int
    epsilon: float

    @property
    def hit_rate(self) -> float:
        """Probability of the true value."""
        return 1 / (1 + (self.size - 1) * math.exp(-self.epsilon))

    def __call__(self, record: int, size: int, rng: np.random.Generator) -> np.ndarray:
        other = (record + rng.integers(1, self.size, size)) % self.size
        return np.where(rng.random(size) < self.hit_rate, record, other)


def packing_value(hit_rate: float, family_size: int, distance: int) -> float:
    """Return what exact hit rates say about epsilon: ln((K - 1) p / (1 - p)) / b."""
    return (math.log(family_size - 1) + math.log(hit_rate) - math.log1p(-hit_rate)) / distance


def block_epsilon(epsilon: float, records: int) -> float:
    """Return the packing value of A1 on opposite blocks: alpha / 2, since P = 1 / (1 + e^(-alpha m / 2))."""
    return packing_value(1 / (1 + math.exp(-epsilon * records / 2)), 2, records)


def equality_cases() -> Cases:
    """Compare the packing value of randomized response with its epsilon."""
    cases = [(10, 1.0), (100, 2.0), (10**6, 0.1)]
    return [(f"K={k} eps={e:g}", packing_value(RandomizedLabel(k, e).hit_rate, k, 1), e) for k, e in cases]


def block_cases() -> Cases:
    """Compare the packing value of A1 on opposite blocks with alpha / 2."""
    return [(f"alpha={a:g} m={m}", block_epsilon(a, m), a / 2) for a in (0.1, 1.0) for m in (1, 5, 20)]


def _check(name: str, learner: Any, epsilon: float, design: Any, size: int, distance: int) -> PackingCheck:
    return PackingCheck(
        name=f"cover/packing audit of {name}",
        source=SOURCE,
        statement=f"A learner with alpha = {epsilon:g} hits its target no more often than group privacy allows.",
        learner=learner,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        dataset_for=design.dataset,
        hits=design.hits,
        family_size=size,
        distance=distance,
        budget=4_000,
    )


CHECKS: list[PackingCheck | InequalityCheck] = [
    InequalityCheck(
        name="cover/packing identity for randomised response",
        source=SOURCE,
        statement="On K-ary randomised response the packing value is epsilon itself.",
        values=equality_cases,
        sense="==",
        tolerance=1e-9,
    ),
    InequalityCheck(
        name="cover/packing value of A1 on opposite blocks",
        source=SOURCE,
        statement="Opposite blocks of labels show alpha / 2 of A1, however many examples there are.",
        values=block_cases,
        sense="==",
        tolerance=1e-9,
    ),
    _check("A1, moving example", ReferenceCoverLearner(1.0, 0.1), 1.0, MovingExample(1000), 1000, 1),
    _check("A1, beside a point", ReferenceCoverLearner(1.0, 0.3), 1.0, BesideAPoint(10**6, 17), 10**6, 1),
    _check("A1, opposite blocks", ReferenceCoverLearner(1.0, 0.1), 1.0, OppositeBlocks(4), 2, 4),
]
