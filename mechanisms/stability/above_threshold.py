"""Sparse vector as published elsewhere: paid above the threshold. Two right variants that look different.

Algorithms 1 and 2 of Lyu, Su & Li (2017), figure 1; the second is that of Dwork & Roth (2014), Theorem 3.25. The other
four of that figure are broken: `mechanisms.faults.stability.lyu_variants`. All of them compare answers of sensitivity 1
with 0; sparse vector of Bassily, Thakurta & Thakkar (2018) is the mirror image of the second.

Departure: answers are stated for the two sides of a pair (`mechanisms.stability.epochs.Levels`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution
from audit.validate import integer, nonnegative, positive
from mechanisms.queries import require_query, vector_answer
from mechanisms.stability.epochs import SIDES, Levels

ABOVE, BELOW, NO_ANSWER = 1, 0, -1


@dataclass(frozen=True)
class AboveThreshold:
    """Flags ABOVE and BELOW of a list of answers, compared with 0.

    Parameters
    ----------
    queries : callable
        dataset -> answers, shape (m,), each of sensitivity 1.
    threshold_scale : float > 0
        Scale of the Laplace noise of the threshold.
    query_scale : float >= 0
        Scale of the noise of each answer; 0 for none.
    cutoff : int >= 1 or None
        Number of ABOVEs after which nothing is answered; None for no limit.
    refresh : bool
        Draw new threshold noise after each ABOVE.
    """

    queries: Callable[[Any], Any]
    threshold_scale: float
    query_scale: float
    cutoff: int | None
    refresh: bool = False

    def __post_init__(self) -> None:
        require_query(self.queries, "queries")
        positive(self.threshold_scale, "threshold_scale")
        nonnegative(self.query_scale, "query_scale")
        if self.cutoff is not None:
            integer(self.cutoff, "cutoff", at_least=1)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = vector_answer(self.queries, dataset)
        output = np.full((size, answers.size), float(NO_ANSWER))
        threshold: Any = rng.laplace(scale=self.threshold_scale, size=size)
        seen = np.zeros(size, dtype=int)
        for j, answer in enumerate(answers):
            noisy = answer + rng.laplace(scale=self.query_scale, size=size)
            running = seen < (self.cutoff or answers.size)
            above = noisy >= threshold
            output[running, j] = self.shown(above, noisy)[running]
            seen += running & above
            if self.refresh:
                threshold = np.where(above, rng.laplace(scale=self.threshold_scale, size=size), threshold)
        return output

    def shown(self, above: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        """Return what is released of a query."""
        return np.where(above, ABOVE, BELOW)


def prefix_queries(prefix: int, last: int) -> Levels:
    """Return `prefix` answers that rise by one from left to right, then `last` ones that fall by one, around 0."""
    left = np.r_[np.full(prefix, -0.5), np.full(last, 0.5)]
    return Levels(tuple(left.tolist()), tuple((-left).tolist()))


def lyu_check(name: str, mechanism: AboveThreshold, epsilon: float, **settings: Any) -> PrivacyCheck:
    """Return a check of a variant at a pure epsilon."""
    claim = PrivacyClaim(epsilon, 0.0, Substitution(), "Lyu, Su & Li 2017, figure 1")
    return PrivacyCheck(name=name, mechanism=mechanism, claim=claim, pairs=[SIDES], **settings)


def _decoys(epsilon: float, cutoff: int) -> list[PrivacyCheck]:
    queries = prefix_queries(10, cutoff)
    once = AboveThreshold(queries, 2 / epsilon, 4 * cutoff / epsilon, cutoff)
    renewed = AboveThreshold(queries, 2 * cutoff / epsilon, 4 * cutoff / epsilon, cutoff, refresh=True)
    where = f"eps={epsilon:g} c={cutoff}"
    settings: dict[str, Any] = {"budget": 60_000, "tolerance": 1.2}
    return [
        lyu_check(f"decoy/stability sparse vector, threshold drawn once {where}", once, epsilon, **settings),
        lyu_check(f"decoy/stability sparse vector, threshold renewed {where}", renewed, epsilon, **settings),
    ]


CHECKS: list[PrivacyCheck] = [*_decoys(1.0, 1), *_decoys(1.0, 2)]
