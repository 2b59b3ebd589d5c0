"""Utility theorems of the cube density estimator as checks: convergence in L1, its conditions, and its constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy import special

from audit import ConsistencyCheck, InequalityCheck, Verdict
from mechanisms.consistency.density_error import DensityErrors, Independent
from mechanisms.consistency.grids import SpaceGrid
from mechanisms.consistency.stable_counts import mean_error
from mechanisms.distributions import (
    Cauchy,
    Exponential,
    LogTail,
    NarrowMixture,
    Normal,
    Pareto,
    SquareRoot,
    Uniform,
)

PAPER = "Bousquet et al. 2022"
Value = tuple[str, float, float]
Schedule = Callable[[int], float]

LAWS: dict[str, Independent] = {
    "uniform": Independent(Uniform()),
    "normal": Independent(Normal()),
    "cauchy": Independent(Cauchy()),
    "exponential": Independent(Exponential()),
    "narrow mixture": Independent(NarrowMixture()),
    "square root": Independent(SquareRoot()),
    "pareto": Independent(Pareto()),
    "log tail": Independent(LogTail()),
    "normal in the plane": Independent(Normal(), 2),
    "normal in space": Independent(Normal(), 3),
}


def inverse_square(n: int) -> float:
    """Return log delta for delta = n^-2."""
    return -2 * math.log(n)


def printed_limit(n: int) -> float:
    """Return log delta for delta = n 2^(-sqrt n), inside the printed condition delta = omega(2^(-sqrt n))."""
    return math.log(n) - math.sqrt(n) * math.log(2)


def slow_enough(n: int) -> float:
    """Return log delta for delta = 2^(-n^0.4), inside the repaired condition log(1 / delta) = o(sqrt n)."""
    return -(n**0.4) * math.log(2)


@dataclass(frozen=True)
class L1Losses:
    """Simulated L1 errors of the private estimate, by its aggregate sampler.

    Parameters
    ----------
    law : str
        Key of `LAWS`.
    schedule : callable
        n -> log delta.
    which : int
        0 for the raw estimate (errors above 2 count as 2), 1 for the normalized one.
    epsilon : float
    wide : bool
        Cubes of side (log(1 / delta) / n)^(1/2) in place of n^(-1/2), on the line.
    """

    law: str
    schedule: Schedule = inverse_square
    which: int = 0
    epsilon: float = 1.0
    wide: bool = False

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        log_delta = self.schedule(n)
        errors = _errors(self.law, n, self.epsilon, log_delta, math.sqrt(-log_delta / n) if self.wide else None)
        return np.minimum(errors.sample(replicates, rng)[:, self.which], 2.0)


@lru_cache(maxsize=4)
def _errors(law: str, n: int, epsilon: float, log_delta: float, width: float | None = None) -> DensityErrors:
    return DensityErrors(LAWS[law], n, epsilon, log_delta, width)


def histogram_losses(law: str, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw L1 errors of the histogram without privacy."""
    return np.minimum(_errors(law, n, 1.0, inverse_square(n)).histogram_errors(replicates, rng), 2.0)


def limit_losses(law: str, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw L1 errors under the printed condition."""
    return L1Losses(law, printed_limit)(n, replicates, rng)


def mean_privacy_error(law: str, n: int, epsilon: float, log_delta: float, reach: float) -> float:
    """Return the exact integral of E|f_S - f_hat| over the cubes that meet [-reach, reach] (dim = 1)."""
    low, high = SpaceGrid(1, DensityErrors(LAWS[law], n, epsilon, log_delta).side).window(reach)
    mass, multiplicity = np.unique(LAWS[law].mass(low, high), return_counts=True)
    each = [_mean_over_counts(n, p, epsilon, log_delta) for p in mass.tolist()]
    return float(np.dot(each, multiplicity) / n)


def _mean_over_counts(n: int, p: float, epsilon: float, log_delta: float) -> float:
    """Average the error of a count over Bin(n, p), within twelve deviations."""
    if p <= 0:
        return 0.0
    spread = 12 * math.sqrt(n * p * (1 - p)) + 12
    counts = np.arange(max(1, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread)) + 1)
    choose = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
    weights = np.exp(choose + special.xlogy(counts, p) + special.xlog1py(n - counts, -p))
    return float(np.sum(weights * mean_error(counts, epsilon, log_delta)))


def cost_values(constant: float, law: str, side: float, cases: tuple[tuple[float, int], ...]) -> list[Value]:
    """Exact cost of privacy against K T log(1/delta) / (epsilon sqrt n), on a box of side T with nearly all mass."""
    found = []
    for epsilon, n in cases:
        log_delta = inverse_square(n)
        cost = mean_privacy_error(law, n, epsilon, log_delta, side if law == "uniform" else side / 2)
        bound = constant * side * -log_delta / (epsilon * math.sqrt(n))
        found.append((f"{law} n={n:g} eps={epsilon:g}", cost, bound))
    return found


def all_cost_values() -> list[Value]:
    """The same with K = 2.25, the constant of Theorem 2.4."""
    grid = tuple((epsilon, n) for epsilon in (0.1, 0.25, 1.0) for n in (500, 10**3, 10**4, 10**5, 10**6))
    far = tuple((1.0, n) for n in (10**7, 10**9))
    return [*cost_values(2.25, "uniform", 1.0, (*grid, *far)), *cost_values(2.25, "normal", 6.0, grid)]


def tail_values() -> list[Value]:
    """Exact cost of privacy beyond [-3, 3], all of it for 10^3 records of each law, against 1.18 tau / epsilon."""
    found = []
    for law in ("normal", "cauchy", "exponential"):
        tail = float(1 - LAWS[law].mass(-3.0, 3.0))
        for epsilon in (0.25, 1.0):
            n, log_delta = 10**4, inverse_square(10**4)
            whole = mean_privacy_error(law, n, epsilon, log_delta, 60.0)
            near = mean_privacy_error(law, n, epsilon, log_delta, 3.0)
            found.append((f"{law} eps={epsilon:g}", whole - near, 1.18 * tail / epsilon))
    return found


def normalizing_values() -> list[Value]:
    """Distance of f from the normalized estimate against twice the distance from the raw one, run by run."""
    rng = np.random.default_rng(20)
    found = []
    for name in LAWS:
        for n in (10**3, 10**4, 10**5):
            for raw, normalized, _ in _errors(name, n, 1.0, inverse_square(n)).sample(5, rng):
                found.append((f"{name} n={n:g}", float(normalized), 2 * float(raw)))
    return found


def normalizing_tight() -> list[Value]:
    """Remove mass w of the uniform density and normalize: the raw distance is w, the normalized one 2 w."""
    return [(f"w={w:g}", w + (1 - w) * (1 / (1 - w) - 1), 2 * w) for w in (0.01, 0.5)]


def containment_values() -> list[Value]:
    """Farthest point of the cubes that meet [-T, T], against T + 1, for sides up to 1."""
    found = []
    for side in (1.0, 0.7, 0.13):
        for reach in (0.5, 1.0, 2.34):
            low, high = SpaceGrid(1, side).window(reach)
            found.append((f"side={side:g} T={reach:g}", float(max(-low.min(), high.max())), reach + 1))
    return found


def lost_mass(law: str, epsilon: float) -> float:
    """Return the mass where f < 2 log(2) / epsilon: what the estimator loses for ever when delta = n 2^(-sqrt n)."""
    level = 2 * math.log(2) / epsilon
    x = np.linspace(0, 1, 200_001)
    kept = LAWS[law].factor.density((x[:-1] + x[1:]) / 2) < level
    return float(np.sum(LAWS[law].mass(x[:-1], x[1:])[kept]))


def _converges(
    name: str, statement: str, losses: object, tolerance: float, largest: int, **rest: object
) -> ConsistencyCheck:
    settings: dict[str, object] = {"sizes": (10**4, largest), "budget": 700, "support": (0.0, 2.0), **rest}
    return ConsistencyCheck(
        name=f"consistency/cube density/{name}",
        source=f"{PAPER}, {name.split(' ')[0].capitalize()} {name.split(' ')[1]}",
        statement=statement,
        losses=losses,  # type: ignore[arg-type]
        tolerance=tolerance,
        **settings,  # type: ignore[arg-type]
    )


RAW = {  # what may be left at the size given; delta = n^-2, epsilon = 1
    "uniform": (0.15, 10**6),
    "normal": (0.25, 10**6),
    "cauchy": (0.45, 10**6),
    "exponential": (0.22, 10**6),
    "narrow mixture": (0.22, 10**6),
    "square root": (0.16, 10**6),
    "pareto": (0.65, 10**6),
    "log tail": (0.6, 10**6),
    "normal in the plane": (0.55, 10**6),
}


def _limits() -> list[ConsistencyCheck]:
    to_zero = "the L1 error tends to 0"
    return [
        *(
            _converges(f"theorem 4.3 {law}", to_zero, L1Losses(law), tolerance, n)
            for law, (tolerance, n) in RAW.items()
        ),
        *(
            _converges(f"remark 4.1 normalised {law}", to_zero, L1Losses(law, which=1), tolerance, 10**6)
            for law, tolerance in (("uniform", 0.15), ("normal", 0.25))
        ),
        *(
            _converges(f"theorem 4.4 without privacy {law}", to_zero, partial(histogram_losses, law), tolerance, 10**6)
            for law, tolerance in (("uniform", 0.15), ("normal", 0.2), ("cauchy", 0.35))
        ),
        _converges(
            "theorem 1.7 read for Algorithm 3, delta=n 2^(-sqrt n) is false",
            "the L1 error of Algorithm 3 tends to 0 for every delta(n) = omega(2^(-sqrt n))",
            L1Losses("uniform", printed_limit),
            0.5,
            10**9,
            expected=Verdict.FAIL,
        ),
        _converges(
            "theorem 1.7 for Algorithm 3, delta=2^(-n^0.4)",
            "the L1 error of Algorithm 3 tends to 0 for every delta(n) with log(1/delta) = o(sqrt n)",
            L1Losses("uniform", slow_enough),
            0.15,
            10**7,
        ),
        *(
            _converges(
                f"theorem 1.7 with wider cubes {law}, delta=n 2^(-sqrt n)",
                "with cubes of side (log(1/delta) / n)^(1/2) the L1 error tends to 0",
                L1Losses(law, printed_limit, wide=True),
                tolerance,
                10**8,
            )
            for law, tolerance in (("uniform", 0.1), ("normal", 0.1))
        ),
    ]


def _inequalities() -> list[InequalityCheck]:
    stated = [
        ("equation 5 with K=2.25", "E|f_S - f_hat| on T <= 2.25 T log(1/delta) / (eps sqrt n)", all_cost_values, "<="),
        ("equation 7 with K=1.18", "integral beyond T of E|f_S - f_hat| <= 1.18 tau / eps", tail_values, "<="),
        ("remark 4.1 factor 2", "|f - g| <= 2 |f - f_hat|", normalizing_values, "<="),
        ("remark 4.1 factor 2 is attained", "|f - g| = 2 |f - f_hat|", normalizing_tight, "=="),
        ("remark 4.5 cubes that meet T0 lie in T", "no cube reaches beyond T + 1", containment_values, "<="),
    ]
    return [
        *(
            InequalityCheck(
                name=f"consistency/cube density/{name}",
                source=f"{PAPER}, {name}",
                statement=statement,
                values=values,
                sense=sense,  # type: ignore[arg-type]
                tolerance=1e-9,
            )
            for name, statement, values, sense in stated
        ),
        InequalityCheck(
            name="consistency/cube density/equation 5 with K=1 is false",
            source=f"{PAPER}, equation (5), with the constant 1",
            statement="the integral of E|f_S - f_hat| over a cube of side T is <= T log(1/delta) / (eps sqrt n)",
            values=partial(cost_values, 1.0, "uniform", 1.0, ((1.0, 500),)),
            expected=Verdict.FAIL,
        ),
        InequalityCheck(
            name="consistency/cube density/theorem 1.7 read for Algorithm 3: mass lost",
            source=f"{PAPER}, Theorem 1.7, with the limit computed exactly",
            statement="for delta = n 2^(-sqrt n) the L1 error tends to the mass where f < 2 log(2) / epsilon",
            losses=partial(limit_losses, "square root", 10**8),
            bound=lost_mass("square root", 1.0),
            support=(0.0, 2.0),
            sense="==",
            tolerance=0.1,
            budget=700,
        ),
    ]


CHECKS: list[ConsistencyCheck | InequalityCheck] = [*_inequalities(), *_limits()]

LONG_CHECKS: list[ConsistencyCheck] = [
    _converges(f"theorem 4.3 {law} far out", "the L1 error tends to 0", L1Losses(law), tolerance, 10**9, budget=300)
    for law, tolerance in (("uniform", 0.25), ("normal", 0.25), ("exponential", 0.25), ("square root", 0.25))
]
