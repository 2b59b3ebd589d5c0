"""Broken sparse vectors, paid below the threshold.

The faults are those of Lyu, Su & Li (2017), figure 1, mirrored (here TOP is free and BOTTOM is paid). All of them
claim one epoch, (2 / lam, 0)-DP with lam = 1, and say what they really give on the pair of their check. Answers are
column sums of rows in [0, 1]^m; the threshold is 2. In outputs that carry values, a BOTTOM is -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.queries import column_sums
from mechanisms.sparse_vector import BOTTOM, NO_ANSWER, THRESHOLD, TOP, rows_at

BUDGET = 200_000
SOURCE = "claimed after Dwork & Roth 2014, Theorem 3.23, mirrored"


@dataclass(frozen=True)
class QueryNoiseTooSmall:
    """Query noise of scale lam instead of 2 lam.

    True privacy: (3 / lam, 0) in the worst case, 3 for the claimed 2. On the pair below (ten queries that fall
    by one, then one that rises by one) "all TOP, then BOTTOM" has probability 0.0730 against 0.0046: log-ratio 2.77.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        noisy = sums + rng.laplace(scale=self.lam, size=(size, sums.size))
        return first_epoch(noisy > one_threshold(self.lam, size, rng))


@dataclass(frozen=True)
class NoQueryNoise:
    """Only the threshold is noisy.

    True privacy: no finite epsilon; on answers (w + 1, w) against (w, w + 1) the transcript TOP, BOTTOM has
    probability (1 - e^(-1 / lam)) / 2 = 0.316 on the left only, for lam = 1.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return first_epoch(column_sums(dataset) > one_threshold(self.lam, size, rng))


@dataclass(frozen=True)
class OneQueryNoise:
    """One draw of the query noise serves all queries of the epoch.

    True privacy: no finite epsilon; on answers (w + 1, w) against (w, w + 1) the transcript TOP, BOTTOM has
    probability P(0 <= threshold noise - query noise < 1) = 0.157 on the left only, for lam = 1.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noisy = column_sums(dataset) + rng.laplace(scale=2 * self.lam, size=(size, 1))
        return first_epoch(noisy > one_threshold(self.lam, size, rng))


@dataclass(frozen=True)
class ValueOnTop:
    """Releases the noisy answer, not the word TOP, for each query above the threshold.

    True privacy: (m / (2 lam), 0) on m answers far above the threshold that all move by 1, a Laplace release of
    scale 2 lam each: 20 for m = 40 at the claimed 2 (up to the 1e-8 that any BOTTOM appears).
    """

    lam: float
    threshold: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        noisy = sums + rng.laplace(scale=2 * self.lam, size=(size, sums.size))
        codes = first_epoch(noisy > self.threshold + rng.laplace(scale=self.lam, size=(size, 1)))
        return np.where(codes == TOP, noisy, codes - 1.0)


@dataclass(frozen=True)
class CutoffOff:
    """Goes on after each BOTTOM with a new threshold, while one epoch is claimed.

    True privacy: grows with the number of queries. On ten answers that lie in turn at w + 1/2 and w - 1/2, and move
    to the other side, the law of all transcripts gives (3.946, 0) for the claimed 2, attained by TOP and BOTTOM in
    turn.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        output = np.empty((size, sums.size), dtype=np.int8)
        threshold = one_threshold(self.lam, size, rng)[:, 0]
        for i, answer in enumerate(sums):
            above = answer + rng.laplace(scale=2 * self.lam, size=size) > threshold
            output[:, i] = np.where(above, TOP, BOTTOM)
            threshold = np.where(above, threshold, one_threshold(self.lam, size, rng)[:, 0])
        return output


@dataclass(frozen=True)
class NoQueryNoiseNoCutoff:
    """One noisy threshold, exact answers, every query answered: the fifth variant of Lyu, Su & Li.

    True privacy: no finite epsilon; on answers (w, w + 1) against (w + 1, w) the transcript BOTTOM, TOP has
    probability (1 - e^(-1 / lam)) / 2 = 0.316 on the left only, for lam = 1.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return (column_sums(dataset) > one_threshold(self.lam, size, rng)).astype(np.int8)


@dataclass(frozen=True)
class BottomIsFree:
    """One noisy threshold, query noise of scale lam, no cutoff: the sixth variant of Lyu, Su & Li.

    True privacy: grows with the number of queries. On m answers that move from w + 1/2 to w - 1/2 and m that move
    the other way, "the first m BOTTOM, the others TOP" gives (4.58, 0) for m = 3 and (7.80, 0) for m = 5, by
    quadrature with lam = 1; the claim is 2.
    """

    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        noisy = sums + rng.laplace(scale=self.lam, size=(size, sums.size))
        return (noisy > one_threshold(self.lam, size, rng)).astype(np.int8)


def one_threshold(lam: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """One noisy threshold an output, shape (size, 1)."""
    return THRESHOLD + rng.laplace(scale=lam, size=(size, 1))


def first_epoch(above: np.ndarray) -> np.ndarray:
    """Codes up to and including the first BOTTOM, no answer afterwards."""
    paid = np.cumsum(~above, axis=1) - ~above  # BOTTOMs before this query
    return np.where(paid > 0, NO_ANSWER, np.where(above, TOP, BOTTOM)).astype(np.int8)


def _mirrored(first: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Answers at THRESHOLD + level + 1/2 where `first` is 1 and - 1/2 where it is 0, against the reverse."""
    levels = np.full(first.size, level)
    return rows_at(levels, first), rows_at(levels, 1 - first)


def _check(name: str, mechanism: Any, pair: tuple[Any, Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/sparse vector {name} lam=1",
        mechanism=mechanism,
        claim=PrivacyClaim(2.0, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


_PREFIX = np.r_[np.ones(10), 0.0]
_RAISED = np.r_[np.full(10, 0.5), 0.0]
_LATE = (rows_at(_RAISED, _PREFIX), rows_at(_RAISED, 1 - _PREFIX))
_SWAP = _mirrored(np.array([1.0, 0.0]), 0.5)

CHECKS: list[PrivacyCheck] = [
    _check("query noise too small", QueryNoiseTooSmall(1.0), _LATE),
    _check("no query noise", NoQueryNoise(1.0), _SWAP),
    _check("one query noise", OneQueryNoise(1.0), _SWAP),
    _check("value on top", ValueOnTop(1.0, -60.0), (np.zeros((1, 40)), np.ones((1, 40)))),
    _check("cutoff off", CutoffOff(1.0), _mirrored(np.tile([1.0, 0.0], 5), 0.0)),
    _check("no query noise and no cutoff", NoQueryNoiseNoCutoff(1.0), _SWAP[::-1]),
    _check("bottom is free", BottomIsFree(1.0), _mirrored(np.r_[np.ones(3), np.zeros(3)], 0.0)),
]
