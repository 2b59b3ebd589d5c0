"""The broken sparse vectors of Lyu, Su & Li (2017), figure 1: paid above the threshold, claimed to be (1, 0)-DP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit import PrivacyCheck, Verdict
from mechanisms.stability.above_threshold import BELOW, AboveThreshold, lyu_check, prefix_queries
from mechanisms.stability.epochs import Levels

BUDGET = 200_000


@dataclass(frozen=True)
class ReleasesTheTestedAnswer(AboveThreshold):
    """Algorithm 3: the noisy answer that passed the test is released itself.

    True privacy: no finite epsilon; with m queries and cutoff 1 the loss reaches (m - 1) / 2 at epsilon = 1, and delta
    at 1 is 0.0208 for m = 11 (0.0242 as m grows).
    """

    def shown(self, above: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        """Release the noisy answer above, a code far from all answers below."""
        return np.where(above, noisy, BELOW - 1e3)


@dataclass(frozen=True)
class NoiseForOneQuery(AboveThreshold):
    """Algorithm 4: threshold noise of scale 4 / epsilon, query noise of scale 4 / (3 epsilon), whatever the cutoff.

    True privacy: ((1 + 6 c) / 4 * epsilon, 0): 1.75, 3.25, 7.75 for c = 1, 2, 5.
    """


@dataclass(frozen=True)
class ExactAnswersNoCutoff(AboveThreshold):
    """Algorithm 5: only the threshold is noisy, every query is answered.

    True privacy: no finite epsilon; on answers (0, 1) against (1, 0) the flags BELOW, ABOVE have probability
    (1 - e^(-epsilon / 2)) / 2 = 0.197 on the left only.
    """


@dataclass(frozen=True)
class NoCutoff(AboveThreshold):
    """Algorithm 6: noise for one query, every query is answered.

    True privacy: no finite epsilon for arbitrarily many queries; 4.49 for ten of them, five that move each way, and
    9.28 for twenty, more than a quarter of their number in general.
    """


_TEN_ZEROS = Levels((*[0.0] * 10, 1.0), (*[1.0] * 10, 0.0))
_FIVE_EACH = Levels((0.0,) * 10, (*[1.0] * 5, *[-1.0] * 5))


def _fault(name: str, mechanism: AboveThreshold) -> PrivacyCheck:
    name = f"fault/stability {name} eps=1"
    return lyu_check(name, mechanism, 1.0, expected=Verdict.FAIL, budget=BUDGET)


CHECKS: list[PrivacyCheck] = [
    _fault("releases the tested answer", ReleasesTheTestedAnswer(_TEN_ZEROS, 2.0, 2.0, 1)),
    _fault("noise for one query c=2", NoiseForOneQuery(prefix_queries(10, 2), 4.0, 4 / 3, 2)),
    _fault("exact answers, no cutoff", ExactAnswersNoCutoff(Levels((0.0, 1.0), (1.0, 0.0)), 2.0, 0.0, None)),
    _fault("noise for one query, no cutoff", NoCutoff(_FIVE_EACH, 2.0, 2.0, None)),
]
