"""Universal consistency, Theorem 2.2: h -> 0 and n eps^2 h^(2d) -> inf make the excess vanish for EVERY distribution.

Checked on distributions with jumps, atoms, Cantor sets and unbounded support, at h = (n eps^2)^(-1/(4d)), up to
n = 1e12 users in each half, by the evaluator. No monotonicity is claimed, and none holds: with six ternary digits to
resolve, `cantor-parity` gets worse up to n = 1e8 and is learned at 1e11.

The condition of the classifier without privacy, n h^d -> inf, is not enough: at h = n^-0.7, d = 1, the private rule
stays a coin flip.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from audit import ConsistencyCheck, Verdict
from mechanisms.distributions import ZOO, Distribution
from mechanisms.distributions.zoo import cauchy_parity
from mechanisms.local.binary_array import noise_scale
from mechanisms.local.cells import draw_excess, tabulate
from mechanisms.local.classifier import consistent_bandwidth
from mechanisms.local.grid import Grid

THEOREM = "Berrett & Butucea 2019, Theorem 2.2"
SIZES = tuple(10**k for k in range(3, 13))
WIDER_SIZES = tuple(10**k for k in range(4, 21, 4))
REACH = 400.0  # window for unbounded features; the mass beyond is charged a coin flip

Build = Callable[[], Distribution]


@dataclass(frozen=True)
class RiskOn:
    """Evaluator of the private classifier on a distribution of the zoo: n, users in each half -> expected risk.

    Parameters
    ----------
    name : str
        A key of `ZOO`, or "cauchy-parity".
    exponent : float, optional
        h = n^-exponent; None takes (n eps^2)^(-1/(4d)).
    epsilon : float > 0
    """

    name: str
    exponent: float | None = None
    epsilon: float = 1.0

    def __call__(self, n: int) -> float:
        distribution = distribution_named(self.name)
        return distribution.bayes_risk + self.excess(n)

    def excess(self, n: float) -> float:
        """Return the expected excess risk."""
        distribution = distribution_named(self.name)
        h = self.bandwidth(n)
        if self.name == "cauchy-parity":
            grid = Grid(1, h, -REACH, REACH)
            inside = tabulate(distribution, grid).expected_excess(n, self.epsilon)
            low, high = (grid.first - 0.5) * h, (grid.last + 0.5) * h
            beyond = distribution.absolute_mass(-np.inf, low) + distribution.absolute_mass(high, np.inf)
            return inside + float(beyond) / 2
        return tabulate(distribution, Grid(distribution.dim, h)).expected_excess(n, self.epsilon)

    def bandwidth(self, n: float) -> float:
        """Return the spacing of the grid."""
        if self.exponent is not None:
            return float(n**-self.exponent)
        return consistent_bandwidth(n, self.epsilon, distribution_named(self.name).dim)


@dataclass(frozen=True)
class DrawsOn:
    """Losses of the private classifier on a distribution of the zoo, by the aggregate sampler: risks."""

    name: str

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> Any:
        distribution = distribution_named(self.name)
        grid = Grid(distribution.dim, consistent_bandwidth(n, 1.0, distribution.dim))
        return distribution.bayes_risk + draw_excess(distribution, n, 1.0, grid, replicates, rng)


@cache
def distribution_named(name: str) -> Distribution:
    """Build, once, a distribution of the zoo, or "cauchy-parity"."""
    return cauchy_parity() if name == "cauchy-parity" else ZOO[name]()


@dataclass(frozen=True)
class SignLabelsRepaired:
    """Decoy: labels in {-1, 1} and T = W, whose mean is the integral of 2 eta - 1; half 1 is not needed.

    True privacy: that of the arrays. Consistent.
    """

    name: str

    def __call__(self, n: int) -> float:
        return weighted_risk(self.name, n, label_weight=1.0, bit_weight=0.0, signed_labels=True)


def weighted_risk(name: str, n: int, *, label_weight: float, bit_weight: float, signed_labels: bool) -> float:
    """Return the expected risk at h = n^(-1/4), eps = 1, for T = label_weight W + bit_weight U; by the normal law.

    `signed_labels` has half 2 release (2 y - 1) B in place of y B.
    """
    distribution = distribution_named(name)
    table = tabulate(distribution, Grid(1, consistent_bandwidth(n, 1.0, 1)))
    ones = (table.mass + table.signed) / 2
    mean, square = (table.signed, table.mass) if signed_labels else (ones, ones)
    noise = 2 * noise_scale(1, 1.0) ** 2
    variance = label_weight**2 * (noise + square - mean**2) + bit_weight**2 * (noise + table.mass * (1 - table.mass))
    one = special.ndtr((label_weight * mean + bit_weight * table.mass) / np.sqrt(variance / n))
    return distribution.bayes_risk + table.excess(one)


TOLERANCES = {
    "smooth": 2e-5,
    "step": 3e-4,
    "atoms": 2e-5,
    "cantor-rank": 1e-9,
    "cantor-parity": 1e-9,
    "mixture": 0.05,
    "pure-noise": 1e-9,
    "fat-cantor": 0.05,
    "sin(1/x)": 0.02,
    "flat-margin": 2e-4,
    "sqrt-density": 5e-4,
    "cauchy-parity": 0.05,
}
"""What may be left of the excess at n = 1e12."""

HIGHER = {"sine-product": 2e-5, "checkerboard": 0.01, "cantor-uniform": 0.002, "octants": 0.03}
"""The same at n = 1e20, for features in the plane and in space, where h = n^(-1/8) and n^(-1/12) shrink slowly."""


def _check(name: str, tolerance: float, sizes: tuple[int, ...]) -> ConsistencyCheck:
    return ConsistencyCheck(
        name=f"local/consistency {name}",
        source=THEOREM,
        statement="The risk tends to the Bayes risk at h = (n eps^2)^(-1/(4d)).",
        evaluator=RiskOn(name),
        bayes_risk=distribution_named(name).bayes_risk,
        tolerance=tolerance,
        sizes=sizes,
    )


def _smooth_check(name: str, exponent: float, statement: str, expected: Verdict) -> ConsistencyCheck:
    return ConsistencyCheck(
        name=f"local/consistency {name}",
        source="Berrett & Butucea 2019, remark after Theorem 2.2",
        statement=statement,
        evaluator=RiskOn("smooth", exponent),
        bayes_risk=distribution_named("smooth").bayes_risk,
        tolerance=0.01,
        sizes=(10**3, 10**4, 10**5, 10**6, 10**7),
        expected=expected,
    )


CHECKS: list[ConsistencyCheck] = [
    *(_check(name, tolerance, SIZES) for name, tolerance in TOLERANCES.items()),
    *(_check(name, tolerance, WIDER_SIZES) for name, tolerance in HIGHER.items()),
    ConsistencyCheck(
        name="local/consistency smooth, simulated",
        source=THEOREM,
        statement="The risk tends to the Bayes risk at h = (n eps^2)^(-1/4), by the aggregate sampler.",
        losses=DrawsOn("smooth"),
        support=(distribution_named("smooth").bayes_risk - 1e-9, 1 - distribution_named("smooth").bayes_risk + 1e-9),
        bayes_risk=distribution_named("smooth").bayes_risk,
        tolerance=0.02,
        sizes=(10**3, 10**5, 10**7),
        budget=3_000,
    ),
    ConsistencyCheck(
        name="decoy/local consistency of sign labels, T = W",
        source=THEOREM + ", labels in {-1, 1}",
        statement="With labels +-1 and T = W the risk tends to the Bayes risk.",
        evaluator=SignLabelsRepaired("smooth"),
        bayes_risk=distribution_named("smooth").bayes_risk,
        tolerance=0.01,
        sizes=(10**3, 10**5, 10**7, 10**9),
    ),
    _smooth_check("h=n^-1/4", 0.25, "n h^2 -> inf: the risk tends to the Bayes risk.", Verdict.PASS),
    _smooth_check("h=n^-0.7, n h -> inf only", 0.7, "n h^d -> inf suffices, as without privacy; false.", Verdict.FAIL),
    _smooth_check("h=n^-1/2, n h^2 = 1", 0.5, "n eps^2 h^(2d) bounded away from 0 suffices; false.", Verdict.FAIL),
]


def coin_flip_excess(distribution: Distribution) -> float:
    """Return E|2 eta - 1| / 2, the excess of guessing."""
    return float(np.sum(distribution.absolute_mass(-math.inf, math.inf))) / 2
