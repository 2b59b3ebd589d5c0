"""Calibration of the noise: the printed constants, and constants that are exactly as large as the proof needs.

`printed` is Algorithm 1 and 3 of Bassily, Thakurta & Thakkar (2018), `printed_soft` their section 5, where T and m are
doubled. `pure`, `optimal` and `least` are ours: they spend the same proof to the end.

Reading: the boxes of the algorithms are missing from the text at hand; 32 under the root, delta / 2, w = 2 lam
log(2 m / delta) are fixed by what is left of the proofs (Lemma 3.8, Corollary 3.9, section 5).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

from scipy.optimize import brentq

from audit.errors import InvalidArgument
from audit.validate import integer, open_probability, positive, real
from mechanisms.stability.bounds import composed_epsilon, proved_epsilon


@dataclass(frozen=True)
class Calibration:
    """Scales, threshold and length of a run.

    Parameters
    ----------
    lam : float > 0
        Scale of the threshold noise; the query noise has scale 2 lam.
    threshold : float, finite
        w.
    epochs : int >= 1
        BOTTOMs after which no query is answered.
    """

    lam: float
    threshold: float
    epochs: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", positive(self.lam, "lam"))
        threshold = real(self.threshold, "threshold")
        if not math.isfinite(threshold):
            raise InvalidArgument.of("threshold", "be finite", self.threshold)
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "epochs", integer(self.epochs, "epochs", at_least=1))

    def epsilon(self, delta: float, max_queries: float = math.inf) -> float:
        """Return a proved epsilon at `delta`, for an admissible distance."""
        return proved_epsilon(delta, self.lam, self.threshold, self.epochs, max_queries)


def printed(epsilon: float, delta: float, cutoff: int, max_queries: int) -> Calibration:
    """Return lam = sqrt(32 T log(2 / delta)) / epsilon, w = 2 lam log(2 m / delta), T + 1 BOTTOMs (Algorithm 3).

    Parameters
    ----------
    epsilon : float > 0
        A warning beyond log(1 / delta): the second term of advanced composition is then no longer small.
    delta : float in (0, 1)
    cutoff : int >= 1
        T.
    max_queries : int >= 1
        m.
    """
    epsilon, delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
    if epsilon > math.log(1 / delta):
        warnings.warn(f"the proof needs epsilon <= log(1/delta) = {math.log(1 / delta):.3g}", stacklevel=2)
    cutoff, queries = integer(cutoff, "cutoff", at_least=1), integer(max_queries, "max_queries", at_least=1)
    lam = math.sqrt(32 * cutoff * math.log(2 / delta)) / epsilon
    return Calibration(lam, 2 * lam * math.log(2 * queries / delta), cutoff + 1)


def printed_soft(epsilon: float, delta: float, cutoff: int, max_queries: int) -> Calibration:
    """Return the constants of section 5: T and m doubled, up to 2 T + 2 BOTTOMs among the sub-queries."""
    doubled = printed(epsilon, delta, 2 * cutoff, 2 * max_queries)
    return Calibration(doubled.lam, doubled.threshold, 2 * cutoff + 2)


def pure(epsilon: float, delta: float, cutoff: int) -> Calibration:
    """Return lam = 2 (T + 1) / epsilon and (T + 1) P(release) <= delta: epochs add up, all of delta pays for values."""
    lam, epochs = 2 * (cutoff + 1) / positive(epsilon, "epsilon"), integer(cutoff, "cutoff", at_least=1) + 1
    return Calibration(lam, 2 * lam * math.log(2 * epochs / (3 * open_probability(delta, "delta"))), epochs)


def optimal(epsilon: float, delta: float, cutoff: int) -> Calibration:
    """Return the least lam for which optimal composition of T + 1 epochs proves (epsilon, 2 delta / 3).

    The other third pays for unstable queries: w = 2 lam log(2 (T + 1) / delta).
    """
    epsilon, delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
    epochs = integer(cutoff, "cutoff", at_least=1) + 1
    lam = 2 / _largest_step(epsilon, delta, epochs)
    return Calibration(lam, 2 * lam * math.log(2 * epochs / delta), epochs)


@lru_cache(maxsize=64)  # a learner is fitted again and again at one setting, which was checked before
def _largest_step(epsilon: float, delta: float, epochs: int) -> float:
    """Return the largest epsilon of an epoch, from below."""

    def excess(step: float) -> float:
        return composed_epsilon(2 * delta / 3, step, epochs) - epsilon

    largest = epsilon + 1.0
    while excess(largest) <= 0:
        largest *= 2
    return float(brentq(excess, epsilon / epochs, largest, xtol=1e-14, rtol=1e-13)) * (1 - 1e-10)


def least(epsilon: float, delta: float, cutoff: int) -> Calibration:
    """Return the one of `pure` and `optimal` with the smaller threshold: `pure` for few BOTTOMs, else `optimal`."""
    return min(pure(epsilon, delta, cutoff), optimal(epsilon, delta, cutoff), key=lambda found: found.threshold)
