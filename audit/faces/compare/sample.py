"""A sample of one implementation on one dataset: its errors, and how fast it came.

The mean absolute error is an estimate with its standard error, unless errors are bounded: then the interval is one by
betting (`audit.checks.utility.means`). The median has an interval of order statistics, exact for every law: fewer
than k of n errors lie at or below the median with probability at most P(Binomial(n, 1/2) < k). Each interval covers
with probability 0.95 by itself.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from audit.checks.utility.means import summarise
from audit.subjects import Outputs, Stream, Subject, blocks, concatenate

MISSED = 0.05  # probability that an interval misses
_PILOT = 0.1  # share of the errors that chooses the bets
_CLOCKED = 0.2  # seconds of drawing that a speed is measured over, at least


@dataclass(frozen=True)
class Sample:
    """Outputs of one implementation.

    Parameters
    ----------
    outputs : Outputs
        Independent, on one dataset.
    per_second : float
        Outputs a second, in one process; an estimate that holds for this machine at that moment.
    """

    outputs: Outputs
    per_second: float


@dataclass(frozen=True)
class Errors:
    """Absolute errors of the outputs; of a vector the mean over its entries.

    Parameters
    ----------
    count : int
    mean : float
        An estimate.
    standard_error : float
        Of the mean; an estimate.
    mean_interval : (low, high) or None
        Valid in finite samples; None where errors are unbounded.
    median_interval : (low, high)
        Valid in finite samples, for every law.
    """

    count: int
    mean: float
    standard_error: float
    mean_interval: tuple[float, float] | None
    median_interval: tuple[float, float]


def draw_sample(mechanism: Any, dataset: Any, size: int, stream: Stream) -> Sample:
    """Draw `size` outputs; what starts on the first call (a program, a library's object) does not count as time.

    Raises
    ------
    SubjectFailed, BadLength
        When the mechanism gives no outputs.
    """
    subject = Subject(mechanism)
    for block in blocks(dataset, 1, stream.child(0)):
        subject.draw(block)
    begun = time.perf_counter()
    drawn = [subject.draw(block)[0] for block in blocks(dataset, size, stream.child(1))]
    seconds, rounds = time.perf_counter() - begun, 1
    while seconds < _CLOCKED:
        begun = time.perf_counter()
        for block in blocks(dataset, size, stream.child(1 + rounds)):
            subject.draw(block)
        seconds, rounds = seconds + time.perf_counter() - begun, rounds + 1
    outputs = concatenate(drawn)
    return Sample(Outputs(outputs.numbers, outputs.numbers, outputs.symbols), size * rounds / seconds)


def errors_of(outputs: Outputs, truth: Any, largest: float = math.inf) -> Errors | None:
    """Give the errors of outputs; None when they are not numbers in the form of the truth.

    Parameters
    ----------
    outputs : Outputs
    truth : float, or array of shape (d,)
    largest : float > 0
        Bound on an error; inf for none.
    """
    answer = np.asarray(truth, dtype=float)
    if outputs.symbolic.any() or outputs.numbers.shape[1:] != answer.shape:
        return None
    away = np.abs(outputs.numbers - answer)
    errors = away if away.ndim == 1 else away.mean(axis=1)
    return Errors(
        count=len(errors),
        mean=float(errors.mean()),
        standard_error=float(errors.std() / math.sqrt(len(errors))),
        mean_interval=_mean_interval(errors, largest),
        median_interval=_median_interval(errors),
    )


def _mean_interval(errors: np.ndarray, largest: float) -> tuple[float, float] | None:
    if not (math.isfinite(largest) and errors.max() <= largest):
        return None
    cut = int(_PILOT * len(errors))
    known = summarise(errors[:cut], errors[cut:], (0.0, largest), MISSED / 2)
    return known.lower_bound(MISSED / 2), known.upper_bound(MISSED / 2)


def _median_interval(errors: np.ndarray) -> tuple[float, float]:
    """The k-th smallest and the k-th largest error, k the least with P(Binomial(n, 1/2) <= k) >= 0.025."""
    rank = max(1, int(stats.binom.ppf(MISSED / 2, len(errors), 0.5)))
    ordered = np.sort(errors)
    return float(ordered[rank - 1]), float(ordered[-rank])
