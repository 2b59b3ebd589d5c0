"""Bracket epsilon where a record is in one of several steps with Gaussian noise, and nobody knows in which one.

The steps are released with the record, P, or without it, Q. Under Q, P / Q is 1 - w + w M, M the mean of T
independent lognormal numbers exp(z / sigma - 1 / (2 sigma^2)), z normal, and w the probability that the record is in
any step. Under P one of the z has the mean 1 / sigma, with probability w. For every threshold c,

    delta(c) = E_Q (1 - w + w M - c)+  of P against Q,    E_Q (1 - c (1 - w + w M))+  of Q against P.

Each number is rounded down to a lattice of step h, so M by less than h. Any event of the rounded sum bounds epsilon
from below. From above, (M - c)+ <= M - c + h 1[M < c] on the event A that the rounded mean is above c - h, which
M > c implies: so delta(c) is at most P(A) - c Q(A) + h Q(A, the rounded mean is below c), too large by terms of second
order in h alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import signal, special

from audit.api import GaussianLoss, InvalidArgument, integer, positive

_CELLS = 1 << 16  # of the lattice
_TRANSFORMED = 1e-11  # error of a probability that Fourier transforms are allowed
_ROUNDS = 3  # of a lattice that is narrowed to the losses that matter
_ROOM = 1.3  # of the ratio, beyond the last value


@dataclass(frozen=True)
class BallsInBins:
    """Gaussian sums over steps of which a record is in one, drawn by itself; in further epochs in the same one.

    Parameters
    ----------
    noise_multiplier : float > 0
        Where the noise is correlated, of the noise that is whitened, in units of a column's norm; columns of different
        steps must be orthogonal.
    bins : int >= 1
        Steps of an epoch.
    epochs : int >= 1, default 1
    rate : float in (0, 1 / bins], optional
        Probability of each step, 1 / bins unless given; with the rest the record is in none. So are the first steps of
        a sampling that waits for `bins` steps after each participation, from a warm start.
    """

    noise_multiplier: float
    bins: int
    epochs: int = 1
    rate: float | None = None

    def __post_init__(self) -> None:
        positive(self.noise_multiplier, "noise_multiplier")
        integer(self.bins, "bins", at_least=1)
        integer(self.epochs, "epochs", at_least=1)
        if self.rate is not None and not 0 < self.rate * self.bins <= 1 + 1e-12:
            raise InvalidArgument.of("rate", f"be above 0 and at most 1 / {self.bins}", self.rate)

    @property
    def share(self) -> float:
        """The probability that the record is in any step."""
        return 1.0 if self.rate is None else min(1.0, self.rate * self.bins)

    @property
    def mu(self) -> float:
        """The mu of its Gaussian noise where the step is known."""
        return math.sqrt(self.epochs) / self.noise_multiplier


def bins_bracket(event: BallsInBins, delta: float) -> tuple[float, float]:
    """Return bounds of epsilon from below and from above, when a record is added or removed.

    References
    ----------
    Chua et al. (2024), Balls-and-bins sampling for DP-SGD, theorem 3.1: the pair. Choquette-Choo et al. (2024),
    Near exact privacy amplification for matrix mechanisms: the same step in each epoch.
    """
    known = GaussianLoss(event.mu).epsilon(delta)  # not to know the step is a mixture of pairs that are this hard
    sides = []
    for is_added, first in ((False, math.exp(min(1.05 * known, 300.0))), (True, 1.0)):
        top, lower, upper = first, 0.0, known
        for _ in range(_ROUNDS):
            found = _bounds(event, delta, top, is_added)
            lower, upper = max(lower, found[0]), min(upper, found[1])
            ratio = math.exp(-lower if is_added else upper) * _ROOM  # of P and Q, up to which the lattice should reach
            top = min(top, max(1e-9, 1 + (ratio - 1) / event.share))
        sides.append((lower, upper))
    return max(lower for lower, _ in sides), max(upper for _, upper in sides)


def _bounds(event: BallsInBins, delta: float, top: float, is_added: bool) -> tuple[float, float]:
    """Return bounds of epsilon in one direction, by a lattice for means up to `top`."""
    share, step = event.share, event.share * top / _CELLS
    ratio, width = 1 - share + step * np.arange(1, _CELLS + 1), step * event.bins
    q, p = _laws(event, top)
    p = share * p + (1 - share) * q
    earlier_p, earlier_q = (np.r_[np.zeros(event.bins), law][:_CELLS] for law in (p, q))
    between = width * (q - earlier_q)
    if is_added:
        lower = best_event(q - _TRANSFORMED, p + _TRANSFORMED, delta)
        most = q - (p - between) / ratio + _TRANSFORMED * (1 + 1 / ratio)
    else:
        lower = best_event(1 - p - _TRANSFORMED, 1 - q + _TRANSFORMED, delta)
        most = 1 - earlier_p - ratio * (1 - earlier_q) + between + _TRANSFORMED * (1 + ratio)
    kept = np.abs(np.log(ratio[(most <= delta) & ((ratio <= 1) == is_added)]))
    return lower, float(kept.min(initial=math.inf))


def _laws(event: BallsInBins, top: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities that the rounded sum is in the first cells, without the record and with it."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.arange(_CELLS + 1) * (top * event.bins / _CELLS)) / event.mu
    one, moved = (np.diff(special.ndtr(logs + shift)) for shift in (event.mu / 2, -event.mu / 2))
    others, power, left = np.eye(1, _CELLS)[0], one, event.bins - 1
    while left:
        if left % 2:
            others = _sum(others, power)
        left //= 2
        power = _sum(power, power) if left else power
    return np.cumsum(_sum(others, one)), np.cumsum(_sum(others, moved))


def _sum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.maximum(signal.fftconvolve(first, second)[:_CELLS], 0.0)


def best_event(first: np.ndarray, second: np.ndarray, delta: float) -> float:
    """Return the largest epsilon with P(E) > e^epsilon Q(E) + delta over some events."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.log((first - delta) * (1 - 1e-9) / second)
    found = found[(first > delta) & (second > 1e-14) & np.isfinite(found)]
    return float(max(0.0, found.max(initial=0.0)))
