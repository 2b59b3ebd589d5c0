"""Votes that leak: teachers that share the data, noise for one query of many, counts without noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Verdict
from mechanisms.labels.pate import NoisyVote, PATERelease, crowds


@dataclass(frozen=True)
class TeachersShareTheData(PATERelease):
    """Every teacher learns from all records: one label moves all votes where it is the nearest.

    True privacy at 25 teachers and six queries: epsilon = 14.206 at delta = 1e-5.
    """

    def parts(self, n: int) -> list[NDArray[Any]]:
        """Return all records for each teacher."""
        return [np.arange(n)] * self.n_teachers


@dataclass(frozen=True)
class NoiseForOneQuery(NoisyVote):
    """The deviation that one query needs, at each of q queries.

    True privacy at 5 teachers and 40 queries: epsilon = 5.921 at delta = 1e-5, where enough noise gives 0.755.
    """

    @property
    def deviation(self) -> float:
        """Deviation of the noise on each count."""
        return super().deviation / self.queries**0.5


@dataclass(frozen=True)
class CountsInTheModel(PATERelease):
    """The winners, and the counts of the first query as they are.

    True privacy: none.
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        shown = np.tile(self.counts(dataset)[0], (size, 1))
        return np.hstack([super().__call__(dataset, size, rng), shown])


EPSILON, DELTA = 1.0, 1e-5


def _fault(name: str, mechanism: PATERelease, queries: int) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/labels {name}",
        mechanism=Unstated(mechanism),
        claim=PrivacyClaim(EPSILON, DELTA, LabelFlip(), "claimed after Papernot et al. 2018, section 4"),
        pairs=crowds(2, mechanism.n_teachers, queries),
        expected=Verdict.FAIL,
        budget=20_000,
    )


@dataclass(frozen=True)
class Unstated:
    """A release without its law: the outputs must convict it.

    True privacy: that of the release.
    """

    release: PATERelease

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return self.release(dataset, size, rng)


CHECKS = [
    _fault("teachers share the data", TeachersShareTheData(NoisyVote(2, EPSILON, DELTA, 6), 25), 6),
    _fault("noise for one query of 40", PATERelease(NoiseForOneQuery(2, EPSILON, DELTA, 40), 5), 40),
    _fault("counts in the model", CountsInTheModel(NoisyVote(2, EPSILON, DELTA, 6), 5), 6),
]
