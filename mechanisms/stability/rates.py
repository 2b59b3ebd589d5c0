"""The rates of private classification: exponents of whole runs.

Theorem 4.3 of Bassily, Thakurta & Thakkar (2018). The checks count the BOTTOMs of whole runs on thresholds, at the
cutoff that thresholds really need (`ServiceSize.stable_cutoff`): their share falls like n^-2 and grows like m.

That the cutoff T, the number of teachers and their error, which depend on each other, give the exponents of Theorems
4.3, 4.4, 4.6 and 4.7 is a step of the paper's: the fixed point is solved with all logarithms, and the exponents between
a size and twice that size come near the stated ones as 1 / ln(size) does. Whole runs at such sizes, as far as they can
be drawn, are in `mechanisms.stability.pieces`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from audit import InequalityCheck
from audit.errors import InvalidArgument
from mechanisms.stability.long_runs import ThresholdService
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.sizes import ServiceSize, transfer_records
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


@dataclass(frozen=True)
class Formula:
    """A guaranteed rate, or a number of records, along one of its sizes.

    Parameters
    ----------
    value : callable float -> float
    exponent : float
        The stated one.
    sizes : tuple of float
        Where it is compared, the exponent between each and twice it.
    slack : float
        The exponent may miss the stated one by slack / ln(size).
    """

    value: Callable[[float], float]
    exponent: float
    sizes: tuple[float, ...]
    slack: float = 3.0

    def cases(self) -> Cases:
        """Compare by how much the exponent misses with the slack."""
        found = [(size, math.log2(self.value(2 * size) / self.value(size))) for size in self.sizes]
        return [
            (f"{size:g}: {exponent:.3f}", abs(exponent - self.exponent), self.slack / math.log(size))
            for size, exponent in found
        ]


def guaranteed(axis: str, fixed: ServiceSize) -> Callable[[float], float]:
    """Return the guaranteed rate of misclassification along records, queries or vc."""
    changes: dict[str, Callable[[float], ServiceSize]] = {
        "records": lambda size: replace(fixed, records=size),
        "queries": lambda size: replace(fixed, queries=size),
        "vc": lambda size: replace(fixed, vc=size),
    }
    return lambda size: changes[axis](size).rate()


def asked(axis: str, realizable: bool) -> Callable[[float], float]:
    """Return the records of Theorem 4.6, or 4.7, along 1 / alpha or V."""
    if axis == "alpha":
        return lambda size: transfer_records(1 / size, 1.0, realizable)
    return lambda size: transfer_records(1e-3, size, realizable)


_FAR = (1e12, 1e20, 1e30)
_KNOWN = ServiceSize(1e30, 1e30)
_AGNOSTIC = replace(_KNOWN, realizable=False)
_DEEP, _WIDE = (1e4, 1e8, 1e16), (1e3, 1e6, 1e9)
FORMULAS: dict[tuple[str, str], Formula] = {
    ("Theorem 4.3", "n"): Formula(guaranteed("records", replace(_KNOWN, queries=1e40)), -2.0, _FAR, 6.0),
    ("Theorem 4.3", "m"): Formula(guaranteed("queries", replace(_KNOWN, records=1e24)), 1.0, (1e34, 1e40, 1e50), 6.0),
    ("Theorem 4.4", "n"): Formula(guaranteed("records", replace(_AGNOSTIC, queries=1e40)), -2 / 3, _FAR),
    ("Theorem 4.4", "m"): Formula(guaranteed("queries", _AGNOSTIC), 1 / 3, (1e26, 1e30, 1e40)),
    ("Theorem 4.4", "V"): Formula(guaranteed("vc", replace(_AGNOSTIC, queries=1e40)), 2 / 3, (1e3, 1e6, 1e9)),
    ("Theorem 4.6", "1 / alpha"): Formula(asked("alpha", True), 3 / 2, _DEEP),
    ("Theorem 4.6", "V"): Formula(asked("vc", True), 3 / 2, _WIDE),
    ("Theorem 4.7", "1 / alpha"): Formula(asked("alpha", False), 5 / 2, _DEEP),
    ("Theorem 4.7", "V"): Formula(asked("vc", False), 3 / 2, _WIDE),
}


def formula_check(name: str, theorem: str, formula: Formula, **settings: object) -> InequalityCheck:
    """Return a check that the exponent of a formula comes near the stated one."""
    said = "; false" if settings else ""
    return InequalityCheck(
        name=name,
        source=f"{PAPER}, {theorem}",
        statement=f"With all logarithms the exponent comes near {formula.exponent:.4g} like 1 / ln(size){said}.",
        values=formula.cases,
        **settings,  # type: ignore[arg-type]
    )


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
    *(
        formula_check(f"stability/rate of {theorem} in {axis}", theorem, formula)
        for (theorem, axis), formula in FORMULAS.items()
    ),
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
