"""Size of a service: teachers and cutoff depend on each other and are solved as real numbers; their cost.

Corollary 4.1 and Theorems 4.3 to 4.7 of Bassily, Thakurta & Thakkar (2018) with all logarithms:

    k = 136 log(4 m T / min(delta, beta / 2)) sqrt(T log(2 / delta)) / epsilon,      T = 3 B,
    B = alpha m + sqrt(m log(3 k / beta) / 2)           mistakes of a teacher on m points (Hoeffding),
    alpha = V log(3 k / beta) / n'  or its root          error of a teacher on n' = n / k examples.

Departures: the paper hides logarithms in O and Omega with tildes, alpha above is one way to fill them in (for V = 1
and no noise it is what thresholds do). `chernoff` is ours: B = alpha m + sqrt(2 alpha m L) + 2 L / 3, L = log(3 k /
beta), by Bernstein's form of Chernoff's bound, removes the term sqrt(m) that Hoeffding leaves where alpha is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from audit.errors import InvalidArgument
from audit.validate import open_probability, positive
from mechanisms.stability.calibration import Calibration

ENDLESS = 10**12  # BOTTOMs
_ROUNDS = 300
_CLOSE = 1e-13


@dataclass(frozen=True)
class ServiceSize:
    """A service for queries whose number is a real number, so that slopes can be taken.

    Parameters
    ----------
    records : float > 0
        n.
    queries : float > 0
        m.
    vc : float > 0
        V.
    realizable : bool
        alpha = V L / n', or its root (gamma = 0 in the agnostic bound).
    deviation : {"hoeffding", "chernoff"}
    epsilon, delta, beta : float
    """

    records: float
    queries: float
    vc: float = 1.0
    realizable: bool = True
    deviation: str = "hoeffding"
    epsilon: float = 1.0
    delta: float = 1e-6
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ("records", "queries", "vc", "epsilon"):
            positive(getattr(self, name), name)
        open_probability(self.delta, "delta")
        open_probability(self.beta, "beta")
        if self.deviation not in ("hoeffding", "chernoff"):
            raise InvalidArgument.of("deviation", "be hoeffding or chernoff", self.deviation)

    def teachers(self, cutoff: float) -> float:
        """Return k for a cutoff."""
        least = min(self.delta, self.beta / 2)
        root = math.sqrt(cutoff * math.log(2 / self.delta)) / self.epsilon
        return 136 * math.log(4 * self.queries * cutoff / least) * root

    def noise(self, cutoff: float) -> Calibration:
        """Return lam and w of Algorithm 3 at a real cutoff, without an end of the run."""
        lam = math.sqrt(32 * cutoff * math.log(2 / self.delta)) / self.epsilon
        return Calibration(lam, 2 * lam * math.log(2 * self.queries / self.delta), ENDLESS)

    def error(self, teachers: float) -> float:
        """Return alpha."""
        size = self.vc * math.log(3 * teachers / self.beta) * teachers / self.records
        return size if self.realizable else math.sqrt(size)

    def mistakes(self, teachers: float, error: float) -> float:
        """Return B, the mistakes of each teacher on all queries but for probability 2 beta / 3."""
        likely, log = error * self.queries, math.log(3 * teachers / self.beta)
        if self.deviation == "hoeffding":
            return likely + math.sqrt(self.queries * log / 2)
        return likely + math.sqrt(2 * likely * log) + 2 * log / 3

    def cutoff(self) -> float:
        """Return T, the fixed point."""

        def wanted(cutoff: float) -> float:
            teachers = self.teachers(cutoff)
            return 3 * self.mistakes(teachers, self.error(teachers))

        return fixed_point(wanted)

    def rate(self) -> float:
        """Return T / m, the misclassification rate that is guaranteed; void from 1 on."""
        return self.cutoff() / self.queries

    def stable_cutoff(self) -> float:
        """Return the cutoff that thresholds really need: as many queries as fall short of the threshold.

        Teachers miss theta by a Laplace law of scale 1 / (2 n'), so that a query at x is voted against by a share
        exp(-2 n' |x - theta|) / 2, which exceeds 1/2 - w / k on an interval of length -log(1 - 2 w / k) / n'.
        """

        def wanted(cutoff: float) -> float:
            teachers = self.teachers(cutoff)
            share = self.noise(cutoff).threshold / teachers
            return -math.log1p(-2 * share) * teachers / self.records * self.queries

        return fixed_point(wanted)


@dataclass(frozen=True)
class FixedError(ServiceSize):
    """A service whose teachers get as many examples as the error alpha takes, so that `records` is not used."""

    alpha: float = 0.1

    def error(self, teachers: float) -> float:
        """Return alpha."""
        return self.alpha


def fixed_point(wanted: Callable[[float], float]) -> float:
    """Iterate from 1: k grows with the root of T, and B with k at most, so that the steps shrink."""
    value = 1.0
    for _ in range(_ROUNDS):
        value, last = wanted(value), value
        if abs(value - last) <= _CLOSE * value:
            return value
    raise ArithmeticError(f"no fixed point within {_ROUNDS} rounds, at {value:g}")


def student_size(alpha: float, vc: float, beta: float = 0.05) -> float:
    """Return m = 4 (V + log(1 / (alpha beta))) / alpha^2, the public points of Algorithm 5 (our constant)."""
    return 4 * (positive(vc, "vc") + math.log(1 / (positive(alpha, "alpha") * beta))) / alpha**2


def transfer_records(alpha: float, vc: float = 1.0, realizable: bool = True) -> float:
    """Return n = k n' of Theorems 4.6 and 4.7: teachers of error alpha, for as many queries as the student needs.

    n' = (V log(1 / alpha) + log(3 k / beta)) / alpha, or / alpha^2 in the agnostic case.
    """
    service = FixedError(1.0, student_size(alpha, vc), vc, alpha=alpha)
    teachers = service.teachers(service.cutoff())
    size = vc * math.log(1 / alpha) + math.log(3 * teachers / service.beta)
    return teachers * size / (alpha if realizable else alpha**2)
