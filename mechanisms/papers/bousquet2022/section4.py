"""Section 4.1 as tables: convergence of the density estimator in L1, its conditions, and its constants.

`DensityErrors` draws L1 errors by the release of Algorithm 1 on fresh counts. The error over a cube is the sum over
sub-cubes of |P(sub) - height * volume(sub)|, a lower bound. Cubes that are hardly ever retained are left out; the error
there is exactly their mass.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from audit import ConsistencyCheck
from mechanisms.distributions import DENSITIES, NO_MARGIN, Distribution, Line, Product
from mechanisms.papers.bousquet2022.algorithm1 import draw_counts, mean_error, threshold
from mechanisms.papers.bousquet2022.cells import likely_counts, log_binomial, multinomial, visited_window
from mechanisms.papers.bousquet2022.grids import boxes_between, cut_boxes, edges_within, side_for
from mechanisms.papers.bousquet2022.tables import state, vanish
from mechanisms.papers.rows import BOUSQUET, Cases

FloatArray = np.ndarray
Schedule = Callable[[int], float]

LAWS: dict[str, Distribution] = {name: Line(feature, NO_MARGIN) for name, feature in DENSITIES.items()}
LAWS["normal in the plane"] = Product((Line(DENSITIES["normal"], NO_MARGIN),) * 2)


def inverse_square(n: int) -> float:
    """Return log delta for delta = n^-2."""
    return -2 * math.log(n)


def power_limit(n: int, power: float = 0.5) -> float:
    """Return log delta for delta = min(n 2^(-n^power), 1/2); 1/2 is inside the printed omega(2^(-sqrt n))."""
    return min(math.log(n) - n**power * math.log(2), -math.log(2))


def slow_enough(n: int) -> float:
    """Return log delta for delta = 2^(-n^0.4), inside the repaired condition log(1 / delta) = o(sqrt n)."""
    return -(n**0.4) * math.log(2)


@dataclass(frozen=True)
class DensityErrors:
    """Mean and sampled L1 errors of Algorithm 3 from n records of a law, with cubes of its side or of another one."""

    law: Distribution
    n: int
    epsilon: float
    log_delta: float
    width: float | None = None

    @property
    def side(self) -> float:
        """Side of the cubes."""
        return self.width or side_for(self.n, self.law.dim)

    @cached_property
    def window(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lower corners, upper corners and masses of the cubes in which a quarter of the threshold is expected."""
        least = threshold(self.epsilon, self.log_delta) / 4 / self.n
        low, high = visited_window(self.law, self.side, least)
        mass = self.law.mass(low, high)
        return low[mass >= least], high[mass >= least], mass[mass >= least]

    @cached_property
    def outside(self) -> float:
        """Mass of the cubes left out."""
        return max(0.0, 1 - math.fsum(self.window[2]))

    def release(self, rng: np.random.Generator) -> FloatArray:
        """Draw the released counts of the cubes of the window from fresh records."""
        return draw_counts(multinomial(self.n, self.window[2], rng), self.epsilon, self.log_delta, rng)

    def sample(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw L1 errors, shape (replicates, 2): raw and normalized, with the uniform density where nothing is left."""

        def once() -> tuple[float, float]:
            shares = self.release(rng) / self.n
            total = float(shares.sum())
            return self.distance(shares), self.distance(shares / total) if total else self._from_uniform()

        return np.array([once() for _ in range(replicates)]).reshape(replicates, 2)

    @cached_property
    def _parts(self) -> list[FloatArray]:
        """Masses of the sub-cubes, one array of shape (cubes,) for each place inside a cube."""
        low, high, mass = self.window
        return [self.law.mass(*box) for box in cut_boxes(low, high, 16 if mass.size < 100_000 else 4, self.law.dim)]

    def distance(self, shares: FloatArray) -> float:
        """Return the distance of the law from the density with the given mass in each cube."""
        inside = sum(np.abs(part - shares / len(self._parts)).sum() for part in self._parts)
        return float(inside) + self.outside

    def _from_uniform(self) -> float:
        """Return the distance of the law from the uniform density on [0, 1]^dim, on a grid of 2^12 cells or so."""
        mass = self.law.mass(*boxes_between(np.linspace(0, 1, round(4096 ** (1 / self.law.dim)) + 1), self.law.dim))
        return float(np.abs(mass - 1 / mass.size).sum() + 1 - mass.sum())


@lru_cache(maxsize=8)
def errors_of(law: str, n: int, epsilon: float, log_delta: float, width: float | None = None) -> DensityErrors:
    """Return the errors for a law of `LAWS`, with their window and sub-cubes kept."""
    return DensityErrors(LAWS[law], n, epsilon, log_delta, width)


def l1_losses(
    law: str,
    n: int,
    replicates: int,
    rng: np.random.Generator,
    schedule: Schedule = inverse_square,
    which: int = 0,
    is_wide: bool = False,
) -> FloatArray:
    """Draw L1 errors, those above 2 counted as 2: of the raw estimate (`which` = 0), or of the normalized one (1)."""
    # `schedule` gives log delta for n. `is_wide`: cubes of side (log(1 / delta) / n)^(1/2), not n^(-1/2), on the line.
    log_delta = schedule(n)
    errors = errors_of(law, n, 1.0, log_delta, math.sqrt(-log_delta / n) if is_wide else None)
    return np.minimum(errors.sample(replicates, rng)[:, which], 2.0)


def histogram_losses(law: str, n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Draw L1 errors of the histogram without privacy."""
    errors = errors_of(law, n, 1.0, inverse_square(n))
    mass = errors.window[2]
    return np.minimum([errors.distance(multinomial(n, mass, rng) / n) for _ in range(replicates)], 2.0)


def mean_privacy_error(law: str, n: int, epsilon: float, log_delta: float, reach: float) -> float:
    """Return the exact integral of E|f_S - f_hat| over the cubes that meet [-reach, reach] (dim = 1)."""
    edges = edges_within(reach, side_for(n, 1))
    mass, multiplicity = np.unique(LAWS[law].mass(edges[:-1], edges[1:]), return_counts=True)

    def one(p: float) -> float:
        counts = likely_counts(n, p)
        return float(np.exp(log_binomial(n, counts, p)) @ mean_error(counts, epsilon, log_delta))

    return float(np.dot([one(p) if p > 0 else 0.0 for p in mass.tolist()], multiplicity) / n)


def cost_cases(constant: float, law: str, side: float, settings: tuple[tuple[float, int], ...]) -> Cases:
    """Compare the exact cost of privacy with K T log(1/delta) / (epsilon sqrt n), on a box of side T with the mass."""
    for epsilon, n in settings:
        cost = mean_privacy_error(law, n, epsilon, inverse_square(n), side if law == "uniform" else side / 2)
        bound = constant * side * -inverse_square(n) / (epsilon * math.sqrt(n))
        yield f"{law} n={n:g} eps={epsilon:g}", cost, bound


@BOUSQUET.states("equation 5 with K=2.25")
def all_cost_cases() -> Cases:
    """The integral of E|f_S - f_hat| over a cube of side T is at most K T log(1/delta) / (eps sqrt n)."""
    grid = tuple((epsilon, n) for epsilon in (0.1, 0.25, 1.0) for n in (500, 10**3, 10**4, 10**5, 10**6))
    far = tuple((1.0, n) for n in (10**7, 10**9))
    return [*cost_cases(2.25, "uniform", 1.0, (*grid, *far)), *cost_cases(2.25, "normal", 6.0, grid)]


@BOUSQUET.states("equation 7 with K=1.18")
def tail_cases() -> Cases:
    """The integral of E|f_S - f_hat| beyond T is at most 1.18 tau / eps."""
    n = 10**4
    for law, epsilon in itertools.product(("normal", "cauchy", "exponential"), (0.25, 1.0)):
        whole, near = (mean_privacy_error(law, n, epsilon, inverse_square(n), reach) for reach in (60.0, 3.0))
        yield f"{law} eps={epsilon:g}", whole - near, 1.18 * float(1 - LAWS[law].mass(-3.0, 3.0)) / epsilon


@BOUSQUET.states("remark 4.1 factor 2")
def normalizing_cases() -> Cases:
    """|f - g| <= 2 |f - f_hat|."""
    rng = np.random.default_rng(20)
    return [
        (f"{name} n={n:g}", float(normalized), 2 * float(raw))
        for name, n in itertools.product(LAWS, (10**3, 10**4, 10**5))
        for raw, normalized in errors_of(name, n, 1.0, inverse_square(n)).sample(5, rng)
    ]


@BOUSQUET.states("remark 4.1 factor 2 is attained", sense="==")
def normalizing_attained() -> Cases:
    """|f - g| = 2 |f - f_hat|."""
    return [(f"w={w:g}", w + (1 - w) * (1 / (1 - w) - 1), 2 * w) for w in (0.01, 0.5)]


@BOUSQUET.states("remark 4.5 cubes that meet T0 lie in T")
def containment_cases() -> Cases:
    """No cube reaches beyond T + 1."""
    for side, reach in itertools.product((1.0, 0.7, 0.13), (0.5, 1.0, 2.34)):
        yield f"side={side:g} T={reach:g}", float(np.abs(edges_within(reach, side)).max()), reach + 1


def lost_mass(law: str, epsilon: float) -> float:
    """Return the mass where f < 2 log(2) / epsilon: the estimator's loss for ever when delta = n 2^(-sqrt n)."""
    x = np.linspace(0, 1, 200_001)
    kept = DENSITIES[law].density((x[:-1] + x[1:]) / 2) < 2 * math.log(2) / epsilon
    return float(np.sum(LAWS[law].mass(x[:-1], x[1:])[kept]))


def converge(name: str, losses: Any, tolerance: float, largest: int = 10**6, budget: int = 700) -> ConsistencyCheck:
    """Return the check that an L1 error tends to 0."""
    drawn = {"losses": losses, "sizes": (10**4, largest), "budget": budget, "support": (0.0, 2.0)}
    return vanish(name, "", tolerance, "The L1 error tends to 0.", **drawn)


# limits at n = 10^6; delta = n^-2, epsilon = 1
RAW = {
    "uniform": 0.15, "normal": 0.25, "cauchy": 0.45, "exponential": 0.22, "square root": 0.16,
    "pareto": 0.65, "normal in the plane": 0.55,
}  # fmt: skip
_COST = "The integral of E|f_S - f_hat| over a cube of side T is at most K T log(1/delta) / (eps sqrt n)."
_LOST = "For delta = n 2^(-sqrt n) the L1 error tends to the mass where f < 2 log(2) / epsilon."
_FALSE, _WIDE = "theorem 1.7 read for Algorithm 3, delta=n 2^(-sqrt n) is false", "delta=n 2^(-sqrt n)"
_SLOW, _LIMIT = "theorem 1.7 for Algorithm 3, delta=2^(-n^0.4)", partial(l1_losses, schedule=power_limit)

CHECKS: list[Any] = [
    *BOUSQUET.rows(__name__),
    state("equation 5 with K=1 is false", _COST, partial(cost_cases, 1.0, "uniform", 1.0, ((1.0, 500),))),
    *(converge(f"theorem 4.3 {law}", partial(l1_losses, law), tolerance) for law, tolerance in RAW.items()),
    *(
        converge(f"remark 4.1 normalized {law}", partial(l1_losses, law, which=1), tolerance)
        for law, tolerance in (("uniform", 0.15), ("normal", 0.25))
    ),
    *(
        converge(f"theorem 4.4 without privacy {law}", partial(histogram_losses, law), tolerance)
        for law, tolerance in (("uniform", 0.15), ("normal", 0.2), ("cauchy", 0.35))
    ),
    converge(_FALSE, partial(_LIMIT, "uniform"), 0.5, 10**9),
    converge(_SLOW, partial(l1_losses, "uniform", schedule=slow_enough), 0.15, 10**7),
    *(
        converge(f"theorem 1.7 with wider cubes {law}, {_WIDE}", partial(_LIMIT, law, is_wide=True), 0.1, 10**8)
        for law in ("uniform", "normal")
    ),
    state(
        "theorem 1.7 read for Algorithm 3: mass lost",
        _LOST,
        sense="==",
        losses=partial(_LIMIT, "square root", 10**8),
        bound=lost_mass("square root", 1.0),
        support=(0.0, 2.0),
        tolerance=0.1,
        budget=700,
    ),
]
