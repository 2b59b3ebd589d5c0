"""Sample sizes of the theorems with every constant that their proofs give.

From Chaudhuri & Hsu (2011): Theorems 8, 9 and 27, Lemmas 16, 17 and 23, with d the doubling dimension, V the
VC dimension, logarithms natural. Departures from the text: it leaves a universal constant C and hides ln 16 in it;
Theorem 9 with 3/40 in place of 3/20 (see `a2`).
"""

import math
from collections.abc import Callable

from scipy.optimize import brentq

from audit.validate import nonnegative, open_probability, positive


def agnostic_size(
    epsilon: float, accuracy: float, beta: float, log_smoothness: float = 0.0, doubling_dim: float = 1.0
) -> int:
    """Return m of Theorem 8: max{(32 / a^2)(D + ln(4/beta)), (8 / (alpha a))(D + ln(2/beta))}, D = d ln(16 kappa / a).

    `log_smoothness` is ln kappa.
    """
    return math.ceil(max(agnostic_parts(epsilon, accuracy, beta, log_smoothness, doubling_dim)))


def agnostic_parts(
    epsilon: float, accuracy: float, beta: float, log_smoothness: float = 0.0, doubling_dim: float = 1.0
) -> tuple[float, float]:
    """Return the two sizes that `agnostic_size` takes the larger of: for the deviation, and for the privacy."""
    cover, beta = _log_cover(accuracy, log_smoothness, doubling_dim), open_probability(beta, "beta")
    deviation = 32 / accuracy**2 * (cover + math.log(4 / beta))
    return deviation, 8 / (positive(epsilon, "epsilon") * accuracy) * (cover + math.log(2 / beta))


def realizable_size(
    epsilon: float, accuracy: float, beta: float, log_smoothness: float = 0.0, doubling_dim: float = 1.0
) -> int:
    """Return m of Theorem 9: max{(400/a)(D + ln(4/beta)), (40 / (3 alpha a))(D + ln(2/beta)), (3/a) ln(4/beta)}."""
    cover, beta = _log_cover(accuracy, log_smoothness, doubling_dim), open_probability(beta, "beta")
    deviation = 400 / accuracy * (cover + math.log(4 / beta))
    privacy = 40 / (3 * positive(epsilon, "epsilon") * accuracy) * (cover + math.log(2 / beta))
    return math.ceil(max(deviation, privacy, 3 / accuracy * math.log(4 / beta)))


def label_private_error(
    m: float,
    epsilon: float,
    accuracy: float,
    beta: float,
    noise: float = 0.0,
    vc_dim: int = 1,
    log_cover: float | None = None,
) -> float:
    """Return the bound on the error of A3 that the proof of Theorem 27 solves for; for thresholds unless told."""
    # With e = (8 V ln(2 e m / V) + 4 ln(16/beta)) / m, t = 2 ln(2 |G| / beta) / (alpha m), a = sqrt(e) and B = noise +
    # a sqrt(noise) + a^2 + accuracy / 4 + t it is ((a + sqrt(a^2 + 4 B)) / 2)^2, where ln |G| is `log_cover`: for
    # thresholds at most the largest (accuracy / 8)-packing of m + 1 classes.
    root = math.sqrt(uniform_deviation(m, beta / 4, vc_dim))
    largest = math.ceil(4 / open_probability(accuracy, "accuracy") * (1 - 1e-12))  # (a/4)-packing of [0, 1]
    size = math.log(largest) if log_cover is None else log_cover
    tail = 2 * (size + math.log(2 / beta)) / (epsilon * m)
    rest = noise + root * math.sqrt(nonnegative(noise, "noise")) + root**2 + accuracy / 4 + tail
    return ((root + math.sqrt(root**2 + 4 * rest)) / 2) ** 2


def label_private_size(
    epsilon: float, accuracy: float, beta: float, noise: float = 0.0, vc_dim: int = 1, log_cover: float | None = None
) -> int:
    """Return the least m at which the bound of Theorem 27 is at most noise + accuracy."""

    def excess(m: float) -> float:
        return label_private_error(m, epsilon, accuracy, beta, noise, vc_dim, log_cover) - noise - accuracy

    return _least(excess, 4.0 * vc_dim)


def uniform_deviation(m: float, beta: float, vc_dim: int = 1) -> float:
    """Return epsilon_m = (8 V ln(2 e m / V) + 4 ln(4 / beta)) / m of Lemma 17."""
    return (8 * vc_dim * math.log(2 * math.e * m / vc_dim) + 4 * math.log(4 / beta)) / m


def metric_size(radius: float) -> int:
    """Return m of Lemma 23 for V = 1: the least m with (8 ln(2 e m) + 4 ln 16) / m <= r / 3."""
    return _least(lambda m: uniform_deviation(m, 0.25) - radius / 3)


def _least(excess: Callable[[float], float], start: float = 4.0) -> int:
    """Return the least integer beyond which a function, falling from `start` on, is at most 0."""
    return math.ceil(brentq(excess, start, 1e12) - 1e-9)


def _log_cover(accuracy: float, log_smoothness: float, doubling_dim: float) -> float:
    log_kappa = nonnegative(log_smoothness, "log_smoothness")
    return positive(doubling_dim, "doubling_dim") * (math.log(16 / open_probability(accuracy, "accuracy")) + log_kappa)
