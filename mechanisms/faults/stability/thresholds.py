"""Thresholds that are too low: unstable values get out too often.

All of them at the printed noise for (1, 1e-6), T = 10, m = 1000, on eleven queries whose winner one teacher decides.
The true privacy below is delta at every epsilon: the probability that some value gets out, after which the two sides
cannot be confused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit import PrivacyCheck
from mechanisms.faults.stability.noise import REFERENCE, fault_check
from mechanisms.stability.aggregate import VoteTable
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.online import Transcripts
from mechanisms.stability.vote_pairs import unstable_pair

DELTA, QUERIES, TEN = 1e-6, 1000, 1 / math.log(10)


class WrongThreshold(Transcripts):
    """Transcripts of a table of votes at a threshold that is not the printed one."""

    @classmethod
    def at(cls, threshold: float, lam: float = REFERENCE.lam) -> Transcripts:
        """Build the fault."""
        return cls(VoteTable(), Calibration(lam, threshold, REFERENCE.epochs))


class ThresholdZero(WrongThreshold):
    """w = 0.

    True privacy: no finite epsilon, delta = 1 - 2^-11 = 0.9995.
    """


class ThresholdWithoutQueries(WrongThreshold):
    """w = 2 lam log(2 / delta): the factor m is forgotten.

    True privacy: no finite epsilon, delta = 1 - (1 - delta / 3)^11 = 3.67 times the claimed one. Only a law shows it.
    """


class ThresholdWithoutDelta(WrongThreshold):
    """w = 2 lam log(2 m): the factor 1 / delta is forgotten.

    True privacy: no finite epsilon, delta = 3.7e-3.
    """


class HalfTheThreshold(WrongThreshold):
    """w = lam log(2 m / delta): calibrated as if the query noise had scale lam.

    True privacy: no finite epsilon, delta = 1.64e-4, 164 times the claimed one.
    """


class DecimalLogarithm(WrongThreshold):
    """log10 for log, in lam and in w: lam = 44.9.

    True privacy: no finite epsilon, delta = 6.7e-4, 670 times the claimed one; the other queries are at most
    (0.488, 1e-6)-DP.
    """


@dataclass(frozen=True)
class ValueInsteadOfBottom(Transcripts):
    """Releases the winner on BOTTOM as well.

    True privacy: none (delta = 1 for every epsilon) on any unstable query.
    """

    law = None  # type: ignore[assignment]

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, _ = self.answers(dataset)
        return np.broadcast_to(values, (size, values.size)).copy()


def _check(name: str, mechanism: Transcripts, **settings: Any) -> PrivacyCheck:
    return fault_check(name, mechanism, (1.0, DELTA), [unstable_pair(11)], **settings)


_LOG = math.log(2 * QUERIES / DELTA)
_SEEN = {"budget": 50_000, "method": "fixed"}
_BY_LAW = {"budget": 5_000, "method": "exact"}
_SHORTER = math.sqrt(TEN)  # the ratio of the noise scales, log10 under the root

CHECKS: list[PrivacyCheck] = [
    _check("threshold zero", ThresholdZero.at(0.0), **{**_SEEN, "budget": 5_000}),
    _check("threshold without m", ThresholdWithoutQueries.at(2 * REFERENCE.lam * math.log(2 / DELTA)), **_BY_LAW),
    _check("threshold without delta", ThresholdWithoutDelta.at(2 * REFERENCE.lam * math.log(2 * QUERIES)), **_SEEN),
    _check("half the threshold", HalfTheThreshold.at(REFERENCE.lam * _LOG), **_BY_LAW),
    _check(
        "decimal logarithm",
        DecimalLogarithm.at(2 * REFERENCE.lam * _SHORTER * _LOG * TEN, REFERENCE.lam * _SHORTER),
        **_BY_LAW,
    ),
    _check("value instead of bottom", ValueInsteadOfBottom(VoteTable(), replace(REFERENCE)), budget=2_000),
]
