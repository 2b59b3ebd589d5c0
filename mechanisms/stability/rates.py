"""The rates and capacities of private classification, as exponents of the sizes with all their logarithms.

Theorems 4.3, 4.4, 4.6 and 4.7 of Bassily, Thakurta & Thakkar (2018), from `mechanisms.stability.sizes`. Logarithms
fade so slowly that exponents have to be read with a margin of up to 0.2, and the constants are so large that the
guaranteed rate T / m falls below 1 only at astronomical sizes: those of the checks here. What thresholds really need
(`self-consistent`) shows the exponents from n = 1e8 on, within 0.15.

Sizes in the checks are n, m, 1 / alpha or V; a negative exponent claims growth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from audit import InequalityCheck
from audit.base.errors import InvalidArgument
from audit.checks.utility import RateCheck
from mechanisms.stability.long_runs import ThresholdService
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.sizes import ServiceSize, transfer_records
from mechanisms.stability.thresholds import ThresholdTask

WIDE, NEAR, CLOSE = 0.2, 0.15, 0.05


@dataclass(frozen=True)
class RateAlong:
    """Guaranteed rate T / m along one size.

    Parameters
    ----------
    axis : {"records", "queries", "vc"}
    records, queries : float
        What stays fixed.
    power : float, optional
        Along records: m = n^power in place of `queries`; 0 for none.
    realizable, deviation
        As for `ServiceSize`.
    """

    axis: str
    records: float = 1.0
    queries: float = 1.0
    power: float = 0.0
    realizable: bool = True
    deviation: str = "hoeffding"

    def __post_init__(self) -> None:
        if self.axis not in ("records", "queries", "vc"):
            raise InvalidArgument.of("axis", "be records, queries or vc", self.axis)

    def service(self, size: int) -> ServiceSize:
        """Return the service at a size."""
        sizes = {"records": self.records, "queries": self.queries, "vc": 1.0, self.axis: float(size)}
        if self.power:
            sizes["queries"] = sizes["records"] ** self.power
        return ServiceSize(**sizes, realizable=self.realizable, deviation=self.deviation)

    def __call__(self, size: int) -> float:
        return self.service(size).rate()


@dataclass(frozen=True)
class SelfConsistentRate(RateAlong):
    """Rate T / m at the cutoff that thresholds really need."""

    def __call__(self, size: int) -> float:
        return self.service(size).stable_cutoff() / self.service(size).queries


@dataclass(frozen=True)
class Bottoms:
    """Losses: BOTTOMs of whole runs on thresholds at the self-consistent cutoff, as a part of `most`.

    Parameters
    ----------
    size : ServiceSize
    most : float > 0
        Larger counts are recorded as `most`.
    """

    size: ServiceSize
    most: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        cutoff = self.size.stable_cutoff()
        teachers = int(self.size.teachers(cutoff)) // 2 * 2 + 1
        service = ThresholdService(
            ThresholdTask(), int(self.size.records), teachers, self.size.noise(cutoff), int(self.size.queries)
        )
        return np.array([min(1.0, service.run(rng).bottoms / self.most) for _ in range(replicates)])


@dataclass(frozen=True)
class RecordsNeeded:
    """n of Theorems 4.6 and 4.7 along 1 / alpha, or along V at a fixed alpha."""

    realizable: bool
    alpha: float | None = None

    def __call__(self, size: int) -> float:
        if self.alpha is None:
            return transfer_records(1 / size, 1.0, self.realizable)
        return transfer_records(self.alpha, float(size), self.realizable)


def grid(first: int, step: int = 4) -> list[int]:
    """Return five sizes, each `step` times the one before."""
    return [first * step**j for j in range(5)]


def exponent_check(
    name: str, theorem: str, evaluator: Callable[[int], float], exponent: float, sizes: list[int], margin: float
) -> RateCheck:
    """Return the check that an evaluator decays with an exponent along sizes."""
    return RateCheck(
        name=f"stability/rate {name}",
        source=f"{PAPER}, Theorem {theorem}",
        statement=f"It goes like the power {-exponent:.4g}, up to logarithms.",
        evaluator=evaluator,
        sizes=sizes,
        exponent=exponent,
        margin=margin,
    )


_AGNOSTIC = partial(RateAlong, realizable=False)
_CHERNOFF = RateAlong("records", power=1.0, deviation="chernoff")
_SMALL = ServiceSize(10**8, 10**5)

EXPONENTS: dict[str, tuple[str, Callable[[int], float], float, list[int], float]] = {
    "realizable, n": ("4.3", RateAlong("records", queries=1e24), 2, grid(10**20), WIDE),
    "realizable, m": ("4.3", RateAlong("queries", records=1e20), -1, grid(10**23), WIDE),
    "realizable, V": ("4.3", RateAlong("vc", records=1e24, queries=1e27), -2, grid(1), WIDE),
    "realizable, n = m^(3/4)": ("4.3", RateAlong("records", power=4 / 3), 2 / 3, grid(10**22), CLOSE),
    "self-consistent, n": ("4.3", SelfConsistentRate("records", queries=1e6), 2, grid(10**8, 2), NEAR),
    "self-consistent, m": ("4.3", SelfConsistentRate("queries", records=1e9), -1, grid(10**6, 2), NEAR),
    "agnostic, n": ("4.4", _AGNOSTIC("records", queries=1e20), 2 / 3, grid(10**20), CLOSE),
    "agnostic, m": ("4.4", _AGNOSTIC("queries", records=1e20), -1 / 3, grid(10**20), CLOSE),
    "agnostic, V": ("4.4", _AGNOSTIC("vc", records=1e30, queries=1e30), -2 / 3, grid(1), CLOSE),
    "agnostic, n = m^(5/4)": ("4.4", _AGNOSTIC("records", power=0.8), 0.4, grid(10**12), CLOSE),
    "n = m, by Chernoff": ("4.3, with Chernoff in place of Hoeffding", _CHERNOFF, 1.0, grid(10**20), CLOSE),
    "records for a student, 1/alpha": ("4.6", RecordsNeeded(True), -1.5, grid(10**8), WIDE),
    "records for a student, V": ("4.6", RecordsNeeded(True, 1e-3), -1.5, grid(10**4), CLOSE),
    "records for an agnostic student, 1/alpha": ("4.7", RecordsNeeded(False), -2.5, grid(10**8), WIDE),
    "records for an agnostic student, V": ("4.7", RecordsNeeded(False, 1e-3), -1.5, grid(10**4), CLOSE),
}

CHECKS: list[RateCheck | InequalityCheck] = [
    *(exponent_check(name, *claim) for name, claim in EXPONENTS.items()),
    InequalityCheck(
        name="stability/rate self-consistent, simulated",
        source=f"{PAPER}, Theorem 4.3",
        statement="Whole runs of 40,000 teachers have as many BOTTOMs as the self-consistent cutoff says.",
        losses=Bottoms(_SMALL, 20.0),
        bound=_SMALL.stable_cutoff() / 20,
        sense="==",
        tolerance=0.2 * _SMALL.stable_cutoff() / 20,
        budget=300,
    ),
]
