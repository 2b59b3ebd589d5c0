"""The literal gap as the distance, where the noise leaves it no room: one changed vote moves it by 2.

With the printed constants and moderate epsilon the same mistake keeps the claim (`mechanisms.stability.decoys`); with
the noise that is really needed, and on a single epoch, it doubles epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck
from mechanisms.faults.stability.noise import fault_check
from mechanisms.stability.aggregate import VoteTable
from mechanisms.stability.calibration import Calibration, optimal
from mechanisms.stability.epochs import EPOCH, PREFIXES, StoppingTimes, prefix_attack
from mechanisms.stability.online import Transcripts
from mechanisms.stability.vote_pairs import attack_pair

DELTA = 1e-6
WORST = {1: 1, 2: 4, 5: 5}  # shape of the prefixes that `best_attack` finds, in seconds, for runs of T epochs


@dataclass(frozen=True)
class GapAsDistance(Transcripts):
    """Votes whose distance is the gap, at the noise of the calibrated release.

    True privacy: twice the claimed epsilon in the limit of many queries; at least 1.96 for the claimed 1 at T = 1.
    """


@dataclass(frozen=True)
class GapStoppingTimes(StoppingTimes):
    """The same mistake, as the stopping times of a run.

    True privacy: (4 / lam, 0) an epoch; at the calibrated noise for (1, 1e-6) at least 1.96, 1.72, 1.10 at T = 1, 2, 5.
    """

    @classmethod
    def of(cls, attack: StoppingTimes) -> StoppingTimes:
        """Take an attack with moves of 2."""
        return cls(attack.queries, attack.threshold, attack.lam, attack.epochs)


def _votes(calibration: Calibration, shape: int, passes: int) -> tuple[np.ndarray, np.ndarray]:
    prefix, level, last = PREFIXES[shape]
    levels = np.tile(np.r_[np.full(prefix, level), last], passes)
    falls = np.tile(np.r_[np.ones(prefix), 0.0], passes)
    return attack_pair(calibration.threshold, calibration.lam, levels, falls, gaps=True)


def _gap(calibration: Calibration) -> Transcripts:
    return GapAsDistance(VoteTable(distance="gap"), calibration)


def _checks() -> list[PrivacyCheck]:
    ours, one = optimal(1.0, DELTA, 1), Calibration(1.0, 20.5, 1)
    by_law: dict[str, Any] = {"method": "exact", "budget": 5_000}
    return [
        fault_check("gap, calibrated T=1", _gap(ours), (1.0, DELTA), [_votes(ours, 4, 2)], **by_law),
        *(
            fault_check(
                f"gap, calibrated T={cutoff}, stopping times",
                GapStoppingTimes.of(prefix_attack(optimal(1.0, DELTA, cutoff), lipschitz=2.0, shape=shape)),
                (1.0, DELTA),
                **by_law,
            )
            for cutoff, shape in WORST.items()
        ),
        fault_check("gap, one epoch lam=1", _gap(one), (2.0, 0.0), [_votes(one, 5, 1)], EPOCH, method="fixed"),
    ]


CHECKS: list[PrivacyCheck] = _checks()
