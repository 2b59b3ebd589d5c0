"""The stability histogram by its counts: threshold, aggregate sampler, and exact mean error.

Implements Bousquet et al. (2022), Algorithm 1, for cells whose counts are known: the law of a released value depends
on the count alone. delta is given by its logarithm, since the theorems let it fall like 2^(-sqrt n).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from audit.errors import InvalidArgument
from audit.validate import positive, real

FloatArray = np.ndarray


def threshold(epsilon: float, log_delta: float) -> float:
    """Return (2 / epsilon) log(2 / delta) + 1, the least value that is released.

    Parameters
    ----------
    epsilon : float > 0
    log_delta : float < 0
        Natural logarithm of delta.
    """
    if not real(log_delta, "log_delta") < 0:
        raise InvalidArgument.of("log_delta", "be < 0", log_delta)
    return 2 / positive(epsilon, "epsilon") * (math.log(2) - log_delta) + 1


def new_label_probability(epsilon: float, level: float) -> float:
    """Return the probability that a label that occurs once passes the threshold `level`: delta / 4 for the paper's."""
    return math.exp(-(level - 1) * positive(epsilon, "epsilon") / 2) / 2


def noisy_counts(counts: np.ndarray, epsilon: float, log_delta: float, rng: np.random.Generator) -> FloatArray:
    """Draw what is released for each count: 0 for an absent or dropped label; the aggregate sampler."""
    noisy = counts + rng.laplace(scale=2 / epsilon, size=np.shape(counts))
    return np.where((np.asarray(counts) > 0) & (noisy >= threshold(epsilon, log_delta)), noisy, 0.0)


def mean_error(counts: ArrayLike, epsilon: float, log_delta: float) -> FloatArray:
    """Return E|released - count| for each count >= 0, in closed form.

    With b = 2 / epsilon and t = threshold - c: c (1 - e^(-t/b) / 2) + e^(-t/b) (t + b) / 2 for t >= 0, and
    b + e^(-|t|/b) (threshold - b) / 2 for t < 0; 0 for c = 0.
    """
    c, b, level = np.asarray(counts, dtype=float), 2 / epsilon, threshold(epsilon, log_delta)
    t = level - c
    decay = np.exp(-np.abs(t) / b) / 2
    error = np.where(t >= 0, c * (1 - decay) + decay * (t + b), b + decay * (level - b))
    return np.where(c == 0, 0.0, error)
