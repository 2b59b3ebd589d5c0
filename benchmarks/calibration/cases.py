"""Every method on every kind of claim that it takes: one cell of the table each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from audit import Verdict, check_precision, check_privacy
from benchmarks.calibration import counts, families
from benchmarks.calibration.families import FAMILIES, Family, without_law

SIGNIFICANCE = 0.05
FACTORS = (1.1, 1.25, 1.5, 2.0)
METHODS = ("fixed", "sequential", "precision", "exact", "confusion", "canary", "delta bound")
KINDS = ("pure", "approximate", "gaussian", "renyi", "zcdp", "delta at epsilon", "local", "group")
_SEEDS = 10**6  # seeds of one factor


@dataclass(frozen=True)
class Case:
    """A method, a claim, and an audit around the claim's edge.

    `audit` takes a factor and a seed, and returns whether it raises an alarm: at factor 1 a false one.
    """

    method: str
    kind: str
    mechanism: str
    outputs: str
    audit: Callable[[float, int], bool]

    @property
    def key(self) -> str:
        """The name of the case, which `--select` matches."""
        return f"{self.method} | {self.kind} | {self.mechanism} | {self.outputs}"


def _seed(factor: float, seed: int) -> int:
    return round(1000 * factor) * _SEEDS + seed


def _audited(family: Family, options: dict[str, Any], stated: bool, factor: float, seed: int) -> bool:
    mechanism = family.build(factor)
    mechanism = mechanism if stated else without_law(mechanism)
    result = check_privacy(
        mechanism,
        family.claim,
        family.pairs,
        significance=SIGNIFICANCE,
        confirmation=None,
        seed=_seed(factor, seed),
        **options,
    )
    return result.verdict is Verdict.FAIL


def _fit(family: Family, budget: int, factor: float, seed: int) -> bool:
    """At the edge, whether the sampler is said to disagree with its law; beyond it, whether the law is convicted."""
    result = check_privacy(
        family.build(factor),
        family.claim,
        family.pairs,
        budget=budget,
        significance=SIGNIFICANCE,
        confirmation=None,
        seed=_seed(factor, seed),
        method="exact",
    )
    return result.verdict is (Verdict.INCONCLUSIVE if factor == 1 else Verdict.FAIL)


def _bits(family: Family, budget: int, factor: float, seed: int) -> bool:
    result = check_precision(
        without_law(family.build(factor)),
        family.claim,
        family.pairs,
        budget=budget,
        significance=SIGNIFICANCE,
        confirmation=None,
        seed=_seed(factor, seed),
    )
    return result.verdict is Verdict.FAIL


def _fixed(budget: int, of: tuple[Family, ...], stated: bool = False) -> list[Case]:
    options = dict(method="fixed", budget=budget)
    suffix = ", law stated" if stated else ""
    size = f"{budget} a side"
    return [Case("fixed", f.kind, f.name + suffix, size, partial(_audited, f, options, stated)) for f in of]


def _sequential(budget: int, of: tuple[Family, ...]) -> list[Case]:
    options = dict(method="sequential", budget=budget, tolerance=100.0)
    size, played = f"{budget} a side", [replace(f, pairs=f.pairs[:1]) for f in of]
    return [Case("sequential", f.kind, f.name, size, partial(_audited, f, options, False)) for f in played]


def _counted() -> list[Case]:
    level = SIGNIFICANCE
    matrix = f"{counts.MATRIX} a side"
    canaries, runs = f"{counts.CANARIES} canaries", f"{counts.RUNS} a side"
    return [
        Case("confusion", "pure", "randomised response", matrix, partial(counts.confusion, 0.0, level)),
        Case("confusion", "approximate", "response, shown with 0.1", matrix, partial(counts.confusion, 0.1, level)),
        Case("canary", "pure", "randomised response", canaries, partial(counts.canaries, 0.0, level)),
        Case("canary", "approximate", "response, shown with 0.01", canaries, partial(counts.canaries, 0.01, level)),
        Case(
            "delta bound",
            "delta at epsilon",
            "response, shown with 0.1",
            runs,
            partial(counts.delta_at_epsilon, 0.1, False, level),
        ),
        Case(
            "delta bound",
            "delta at epsilon",
            "shown with 0.1 on one side",
            runs,
            partial(counts.delta_at_epsilon, 0.1, True, level),
        ),
    ]


_PRECISION = (families.ON_A_GRID, families.SHOWN_AS_FLOAT)
_PLAYED = (
    families.LAPLACE,
    families.RESPONSE,
    families.SHOWN,
    families.GAUSSIAN,
    families.RENYI_RESPONSE,
    families.CONCENTRATED,
    families.LOCAL_RESPONSE,
    families.GROUP,
)
_STATED = (families.LAPLACE, families.GAUSSIAN)
_LAWS = (
    families.LAPLACE,
    families.GEOMETRIC,
    families.SHOWN,
    families.GAUSSIAN,
    families.RENYI_NORMAL,
    families.CONCENTRATED,
    families.LOCAL_RESPONSE,
    families.GROUP,
)

CASES: tuple[Case, ...] = (
    *_fixed(500, FAMILIES),
    *_fixed(500, _STATED, stated=True),
    *_sequential(100, _PLAYED),
    *(Case("precision", f.kind, f"{f.name}, as floats", "500 a side", partial(_bits, f, 500)) for f in _PRECISION),
    *(Case("exact", f.kind, f.name, "500 a side", partial(_fit, f, 500)) for f in _LAWS),
    *_counted(),
)
