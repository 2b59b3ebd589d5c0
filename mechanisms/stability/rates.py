"""The rates of private classification: exponents of whole runs.

Theorem 4.3 of Bassily, Thakurta & Thakkar (2018). The checks count the BOTTOMs of whole runs on thresholds, at the
cutoff that thresholds really need (`ServiceSize.stable_cutoff`): their share falls like n^-2 and grows like m. The
formulas of `mechanisms.stability.sizes` have no checks: they would be compared with themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from audit import InequalityCheck
from audit.base.errors import InvalidArgument
from mechanisms.stability.long_runs import ThresholdService
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.sizes import ServiceSize
from mechanisms.stability.thresholds import ThresholdTask

Cases = list[tuple[str, float, float]]
_RUNS = 8  # the least share then stands for 220 BOTTOMs or more: an exponent is off by 0.07 at most
_CLOSE = 0.15  # of an exponent, relative: logarithms add 0.07 at these sizes, and the runs 0.07


def stable_service(size: ServiceSize) -> ThresholdService:
    """Return the service on thresholds at the cutoff that they really need, with an odd number of teachers."""
    cutoff = size.stable_cutoff()
    teachers = int(size.teachers(cutoff)) // 2 * 2 + 1
    return ThresholdService(ThresholdTask(), int(size.records), teachers, size.noise(cutoff), int(size.queries))


@dataclass(frozen=True)
class MeasuredRate:
    """Share of BOTTOMs among the queries of whole runs on thresholds; the same runs whenever it is asked.

    Parameters
    ----------
    axis : {"records", "queries"}
        What a call gives the size of.
    fixed : float
        The other one.
    """

    axis: str
    fixed: float

    def __post_init__(self) -> None:
        if self.axis not in ("records", "queries"):
            raise InvalidArgument.of("axis", "be records or queries", self.axis)

    def __call__(self, size: int) -> float:
        records, queries = (size, self.fixed) if self.axis == "records" else (self.fixed, size)
        service = stable_service(ServiceSize(records, queries))
        counts = [service.run(np.random.default_rng([size, run])) for run in range(_RUNS)]
        return sum(each.bottoms for each in counts) / (_RUNS * service.queries)


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
        service = stable_service(self.size)
        return np.array([min(1.0, service.run(rng).bottoms / self.most) for _ in range(replicates)])


def exponent_cases(rate: MeasuredRate, first: int, exponent: float) -> Cases:
    """Compare the exponent of the share of BOTTOMs, from a size to four times that size, with the claimed one."""
    return [(f"{rate.axis} from {first:g} on", math.log(rate(4 * first) / rate(first), 4), exponent)]


def _exponent_check(name: str, rate: MeasuredRate, first: int, exponent: float) -> InequalityCheck:
    return InequalityCheck(
        name=f"stability/rate self-consistent, {name}",
        source=f"{PAPER}, Theorem 4.3",
        statement=f"The share of BOTTOMs in whole runs goes like the power {exponent:g} of {name}.",
        values=partial(exponent_cases, rate, first, exponent),
        sense="==",
        tolerance=_CLOSE,
    )


_SMALL = ServiceSize(10**8, 10**5)

CHECKS: list[InequalityCheck] = [
    _exponent_check("n", MeasuredRate("records", 1e6), 10**8, -2.0),
    _exponent_check("m", MeasuredRate("queries", 1e8), 2 * 10**5, 1.0),
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
