"""Appendix A and B as tables: packings and cells, visits, consistency on metric spaces, and failures as printed."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from audit import ConsistencyCheck
from mechanisms.distributions import CAUCHY, ZipfByThirds, cauchy_parity, quadrants, shifted_sine_product, smooth
from mechanisms.papers.bousquet2022 import cells as counted
from mechanisms.papers.bousquet2022 import spaces
from mechanisms.papers.bousquet2022.algorithm1 import draw_counts, threshold
from mechanisms.papers.bousquet2022.algorithm5 import elect, elect_label
from mechanisms.papers.bousquet2022.grids import product_grid, side_for
from mechanisms.papers.bousquet2022.section3 import CubeProblem
from mechanisms.papers.bousquet2022.section4 import inverse_square, power_limit
from mechanisms.papers.bousquet2022.tables import state, vanish
from mechanisms.papers.rows import BOUSQUET, Cases

SPACES: dict[str, spaces.BoundedSpace] = {
    "circle": spaces.Circle(),
    "line": spaces.Cube(1),
    "square of l-infinity": spaces.Cube(2),
    "square of l2": spaces.SQUARE,
}
RADII = (0.9, 0.6, 0.5, 0.36, 0.34, 0.21)
FLAT_SIZES, LINE_SIZES = (10**4, 10**6, 10**8), (10**4, 10**6)
CellsFor = Callable[[int], counted.Cells]


# Packings and cells


def packing_cases(quantity: str) -> Cases:
    """Compare the covering radius with r, or r with the separation, of the packings of all spaces."""
    for (name, space), radius in itertools.product(SPACES.items(), RADII):
        packing = space.packing(radius)
        pair = (packing.cover, radius) if quantity == "cover" else (radius, packing.separation)
        yield f"{name} r={radius:g}", float(pair[0]), float(pair[1])


def covering_cases() -> Cases:
    """Compare sizes of packings, distances above 2 r, with those of covers of radius r; on [0, 1] both are optimal."""
    for (name, space), radius in itertools.product(SPACES.items(), (0.45, 0.3, 0.17)):
        apart = space.packing(2 * radius * (1 + 1e-6))
        yield f"{name} r={radius:g}", float(len(apart)), float(len(space.packing(radius)))
    for radius in (0.5, 0.3, 0.25, 0.1, 0.07):
        ends = np.arange(0, 1 + 1e-9, 2 * radius * (1 + 1e-6)), np.arange(radius, 1 + radius - 1e-9, 2 * radius)
        yield f"[0, 1] r={radius:g}", float(ends[0].size), float(ends[1].size)


@BOUSQUET.states("theorem A.4(2) as printed, distances from 2r on, is false")
def covering_as_printed() -> Cases:
    """No packing with distances from 2 r on is larger than a cover."""
    packing, cover, radius = np.array([0.0, 1.0]), np.array([0.5]), 0.5
    assert np.diff(packing).min() >= 2 * radius
    assert np.abs(np.linspace(0, 1, 1001)[:, None] - cover).min(axis=1).max() <= radius
    return [("X=[0,1] r=0.5", float(packing.size), float(cover.size))]


def random_points(space: spaces.BoundedSpace, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return points of a space: uniform ones, or some of those listed."""
    if isinstance(space, (spaces.Circle, spaces.Cube)):
        return rng.random((size, space.packing(0.9).centers.shape[1]))
    return space.points(space.places)[rng.choice(len(space.places), min(size, len(space.places)), replace=False)]  # type: ignore[attr-defined]


@BOUSQUET.states("lemma A.8 diameter at most 2r")
def diameter_cases() -> Cases:
    """Cells have diameter 2 r at most."""
    rng = np.random.default_rng(4)
    for name, space in SPACES.items():
        points = random_points(space, 1_500, rng)
        for radius in (0.6, 0.3):
            cells = space.cell_of(points, space.packing(radius))
            inside = (points[cells == cell][:150] for cell in np.unique(cells))
            yield f"{name} r={radius:g}", max(float(space.distances(p, p).max()) for p in inside), 2 * radius


@BOUSQUET.states("lemma A.8 as its last line has it, diameter at most r, is false")
def diameter_as_printed() -> Cases:
    """Cells have diameter r."""
    radius, spacing = 1.0, 1.98
    assert spacing >= radius > spacing / 2  # apart, and every point is nearer than r to a center
    return [("line with spacing 1.98 r, r=1", spacing, radius)]


# Visits on the line


def cauchy_visits(k: int, n: int) -> float:
    """Return P(N(X) <= k) for Cauchy X and cells of width n^(-1/4)."""
    # Cells are taken together in blocks over which |x| grows by 1/100; each block counts with the mass that it has, and
    # its cells with the mass of the middle one.
    edges = np.r_[0.0, np.geomspace(1e-3, 1e9, 2800)]
    middle, half = (edges[:-1] + edges[1:]) / 2, spaces.radius_for(n, 1.0) / 2
    few = counted.probability_at_most(k, n, CAUCHY.mass(middle - half, middle + half))
    return float(2 * np.sum(CAUCHY.mass(edges[:-1], edges[1:]) * few) + 2 * CAUCHY.mass(edges[-1], np.inf))


@BOUSQUET.states("lemma A.9 visits on the cauchy line")
def visit_cases() -> Cases:
    """P(N <= k) <= 4^d (2 k + 4) n^(-1/4) + P(not T)."""
    for n, k in itertools.product((10**3, 10**5, 10**7, 10**9), (0, 5)):
        outside = 2 * float(CAUCHY.mass(math.sqrt(n), np.inf))
        yield f"n={n:g} k={k}", cauchy_visits(k, n), 4 * (2 * k + 4) * n**-0.25 + outside


def visit_chain(step: int) -> Cases:
    """Compare two lines of the proof of Lemma A.9 on the Cauchy line, cell by cell: theta = sqrt n, cells of width r.

    0: P(N <= k) where the cells meet T, and P(not T), against (8); 1: (8) against Chebyshev's bound of it, before (9);
    2: that against (2 k + 4) / n times (4 theta / r), and P(not T).
    """
    for n, k in itertools.product((10**3, 10**5, 10**6), (0, 5)):
        theta, radius = math.sqrt(n), spaces.radius_for(n, 1.0)
        reach = math.ceil(theta / radius)
        starts = np.arange(-reach, reach) * radius
        mass, count = CAUCHY.mass(starts, starts + radius), 4 * theta / radius
        outside, heavy = 2 * float(CAUCHY.mass(theta, np.inf)), mass > 2 * k / n
        light = 2 * k / n * count + outside
        deviate = stats.binom.cdf(np.floor(n * mass / 2), n, mass)
        lines = (
            float(mass @ stats.binom.cdf(k, n, mass)) + outside,
            float((mass * deviate)[heavy].sum()) + light,
            float((4 * (1 - mass) / n)[heavy].sum()) + light,
            (2 * k + 4) / n * count + outside,
        )
        yield f"n={n:g} k={k}", lines[step], lines[step + 1]


@BOUSQUET.states("lemma A.9 intermediate count (4 theta / r)^d is false")
def packing_count() -> Cases:
    """(4 theta / r)^d bounds the packing of T_big."""
    # Take the line, theta = r: -2r, -r, 0, r, 2r are an r-packing of [-2 theta, 2 theta], against (4 theta / r)^1.
    radius = theta = 0.5
    packing = np.arange(-2, 3) * radius
    assert np.abs(packing).max() <= 2 * theta
    assert np.diff(packing).min() >= radius
    return [("theta=r", float(packing.size), 4 * theta / radius)]


@BOUSQUET.states("remark A.7 a discrete space of 100 n points", sense=">=")
def discrete_cases() -> Cases:
    """No learner errs less than 0.49."""
    # A learner sees at most n of them; elsewhere the labels, fair coins each, are unknown: (1/2) (1 - 1/M)^n, M points.
    return [(f"n={n:g}", 0.5 * (1 - 1 / (100 * n)) ** n, 0.49) for n in (1, 10, 10**3, 10**6)]


# Voronoi votes on bounded spaces


def circle_cells(n: int) -> counted.Cells:
    """Return the cells of the circle for eta = 1/2 + 0.4 sin; the first cell is two arcs."""
    size = len(spaces.certified_packing(spaces.Circle(), spaces.radius_for(n, 1.0)))
    inner = (np.arange(size) + 0.5) / size
    return counted.Cells.over_boxes(smooth(), np.r_[0.0, inner], np.r_[inner, 1.0]).merge(np.arange(size + 1) % size)


def cube_cells(n: int) -> counted.Cells:
    """Return the cells of the square in the l-infinity norm for eta = 0.9 or 0.1 by quadrants off the grid."""
    axis = np.unique(spaces.certified_packing(spaces.Cube(2), spaces.radius_for(n, 2.0)).centers[:, -1])
    ends = np.r_[0.0, (axis[:-1] + axis[1:]) / 2, 1.0]
    return counted.Cells.over_boxes(quadrants(), product_grid(*[ends[:-1]] * 2), product_grid(*[ends[1:]] * 2))


def point_cells(space: Any, weights: Any, margins: Any, n: int) -> counted.Cells:
    """Return the cells of a space of listed points, with their weights and margins 2 eta - 1."""
    packing = spaces.certified_packing(space, spaces.radius_for(n, space.dim))
    return counted.Cells.over_points(space.cell_of(space.points(space.places), packing), weights, margins)


def square_cells(n: int) -> counted.Cells:
    """Return the cells of the Euclidean square, eta by a product of sines, on its 1,681 points."""
    return point_cells(spaces.SQUARE, np.full(1681, 1 / 1681), shifted_sine_product().margin(spaces.SQUARE.places), n)


def cell_risk(cells: CellsFor, n: int) -> float:
    """Return the exact mean excess risk of the votes on the cells for n records, epsilon = 1."""
    return counted.mean_excess(cells(n), n, 1.0)


def circle_noise(n: int) -> float:
    """Return E|private estimate - estimate| on the circle, epsilon = 1."""
    return counted.mean_inverse_visits(n, circle_cells(n).mass)


@BOUSQUET.states("equation 10 on circle and square")
def noise_cases() -> Cases:
    """E|noise| + P(N = 0) <= P(N < M) + 1/M, eps = 1."""
    for cells_of, n in itertools.product((circle_cells, square_cells), (10**3, 10**5)):
        mass = cells_of(n).mass
        bound = min(counted.visits_at_most(m - 1, n, mass) + 1 / m for m in (1, 2, 5, 10, 30, 100, 300, 1000, 3000))
        noise = counted.mean_inverse_visits(n, mass) + counted.visits_at_most(0, n, mass)
        yield f"{cells_of.__name__} n={n:g}", noise, bound


def partition_risk(power: float, n: int) -> float:
    """Return the excess risk, on `smooth`, of the majority of cubes of side n^-power, without noise to speak of."""
    return CubeProblem("smooth", n, side=n**-power).excess(1e4)


# Votes from histograms on unbounded spaces


@lru_cache(maxsize=8)
def line_cells(
    build: Callable[[], Any], side_of: Callable[[int], float], n: int, least: float
) -> tuple[counted.Cells, float]:
    """Return centered cells of mass at least `least`, and the cost of predicting 0 elsewhere."""
    law, side = build(), side_of(n)
    cells = counted.Cells.over_boxes(law, *counted.visited_window(law, side, least, side / 2))
    kept = cells.select(cells.mass >= least)
    return kept, float(law.cost_of_zero(-np.inf, np.inf)) - float(kept.cost_of_zero.sum())


def listed_cells(
    space: spaces.MetricSpace, places: tuple[Any, ...], weights: Any, margins: Any, n: int, least: float
) -> tuple[counted.Cells, float]:
    """Return the cells of weighted points; all of them are kept."""
    keys = space.keys_of(space.points(places), spaces.radius_for(n, space.dim))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return counted.Cells.over_points(np.array([numbers[key] for key in keys]), weights, margins), 0.0


@dataclass(frozen=True, eq=False)
class StableRisk:
    """Simulated risk of Algorithm 5 or of Remark 1.8, epsilon = 1, by the release on fresh counts."""

    cells: Callable[
        [int, float], tuple[counted.Cells, float]
    ]  # (n, least mass) -> (cells, cost of predicting 0 elsewhere)
    schedule: Callable[[int], float]  # n -> log delta
    bayes_risk: float = 0.15
    is_paired: bool = False  # Remark 1.8
    epsilon: float = 1.0

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        log_delta = self.schedule(n)
        # a cell is hardly ever retained below a quarter of the threshold; for a large delta even singletons pass
        least = (threshold(self.epsilon, log_delta) / 4 if log_delta < -6 else 1e-3) / n
        cells, beyond = self.cells(n, least)
        vote = elect_label if self.is_paired else elect

        def once() -> float:
            total, ones = cells.counts(n, rng)
            released = [draw_counts(c, self.epsilon, log_delta, rng) for c in (total - self.is_paired * ones, ones)]
            return cells.excess(vote(*released).astype(np.int8))

        return self.bayes_risk + beyond + np.array([once() for _ in range(replicates)])


CAUCHY_CELLS = partial(line_cells, cauchy_parity, partial(spaces.radius_for, dim=1.0))
INTEGER_CELLS = partial(line_cells, ZipfByThirds, lambda n: 1.0)  # each integer is a center
PAIRED_CELLS = partial(line_cells, cauchy_parity, partial(side_for, dim=1))  # of Remark 1.8
STABLE: dict[str, StableRisk] = {
    "theorem A.15 cauchy delta=n^-2": StableRisk(CAUCHY_CELLS, inverse_square),
    "theorem A.15 integers delta=n^-2": StableRisk(INTEGER_CELLS, inverse_square, ZipfByThirds().bayes_risk),
    "theorem A.15 cauchy delta=n 2^(-n^(1/4))": StableRisk(CAUCHY_CELLS, partial(power_limit, power=0.25)),
    "footnote 3 cauchy delta=n 2^(-sqrt n)": StableRisk(CAUCHY_CELLS, power_limit),
    "theorem A.15 for delta=n 2^(-n^(3/4)) is false": StableRisk(CAUCHY_CELLS, partial(power_limit, power=0.75)),
    "remark 1.8 cauchy delta=n^-2": StableRisk(PAIRED_CELLS, inverse_square, is_paired=True),
}
TOLERANCES = (0.1, 0.1, 0.1, 0.18, 0.2, 0.2)


def word_risk() -> StableRisk:
    """Return the risk on uniform words, the label 1 with probability 0.9 for months and 0.1 for other words."""
    places = tuple(spaces.WORDS.places)
    margins = [0.8 if place in spaces.MONTHS else -0.8 for place in places]
    cells = partial(listed_cells, spaces.WORDS, places, np.full(len(places), 1 / len(places)), np.array(margins))
    return StableRisk(cells, inverse_square, 0.1)


def dyadic_risk() -> StableRisk:
    """Return the risk on 2-adic numbers: |x| = 2^g with probability 2^-g, halved for g = 0; the digit of 16 decides."""
    places, weights = list[Fraction](), list[float]()
    for g in range(5):
        digits = [m for m in range(2 ** (g + 5)) if m % 2 or g == 0]
        places += [Fraction(m, 2**g) for m in digits]
        weights += [2.0 ** -max(g, 1) / (1 if g < 4 else 0.5) / len(digits)] * len(digits)
    margins = np.array([0.8 if int(place // 16) % 2 else -0.8 for place in places])
    shares = np.array(weights) / sum(weights)
    return StableRisk(partial(listed_cells, spaces.TWO_ADIC, tuple(places), shares, margins), inverse_square, 0.1)


@BOUSQUET.states("theorem A.13 cells of the 2-adic numbers are voronoi cells", sense="==")
def nearest_cases() -> Cases:
    """The first center within r is the nearest: its distance is the least one."""
    space, places = spaces.TWO_ADIC, [Fraction(m, 2**g) for g in range(5) for m in range(0, 2 ** (g + 5), 5)]
    for n in LINE_SIZES:
        radius = spaces.radius_for(n, space.dim)
        keys = [key for (key,) in space.keys_of(space.points(places), radius)]
        centers = list(itertools.islice(spaces.centers_of(space, radius), max(keys) + 1))
        gaps = np.array([[space.distance(place, center) for center in centers] for place in places])
        yield f"n={n:g}", float(gaps[np.arange(len(keys)), keys].max()), float(gaps.min(axis=1).max())
        yield f"n={n:g}, the second within r", float((np.sort(gaps, axis=1)[:, 1] <= radius).sum()), 0.0


def noise_term(is_repaired: bool, n: int) -> float:
    """Return the noise term of equation (12) on the Cauchy line, delta = n 2^(-n^(1/4)), epsilon = 1, at the best M.

    As printed it is (2 / epsilon) log(1/delta) (P(N < M) + 1/M); repaired, P(N < M) + 2.25 log(1/delta) / (epsilon M),
    since the error is also at most 1 where the cell is rarely visited.
    """
    log_level = -power_limit(n, 0.25)

    def term(log_visits: float) -> float:
        visits = round(math.exp(log_visits))
        few = cauchy_visits(visits - 1, n)
        return few + 2.25 * log_level / visits if is_repaired else 2 * log_level * (few + 1 / visits)

    most = math.log(n * spaces.radius_for(n, 1.0))
    return float(minimize_scalar(term, bounds=(0.0, most), method="bounded", options={"xatol": 1e-4}).fun)


def listed_check(name: str, risk: StableRisk, where: str, **settings: Any) -> ConsistencyCheck:
    """Return the check that the risk on listed points comes near 0.1."""
    return vanish(name, where, 0.1, losses=risk, bayes_risk=0.1, sizes=(10**3, 10**6), **settings)


FLAT: dict[str, tuple[CellsFor, float]] = {
    "circle": (circle_cells, 1e-3),
    "square of l-infinity": (cube_cells, 0.05),
    "square of l2": (square_cells, 0.03),
}
_CHAIN = ("equation 8 bounds the visits", "equation 9 follows from 8 by Chebyshev", "equation 9 is at most lemma A.9")
_TERM: dict[str, Any] = {"sizes": (10**7, 10**9, 10**11, 10**13), "tolerance": 0.25, "where": "equation (12)"}
_CONSISTENT = "Majorities of cells that shrink, with more and more records each, are consistent."
_ERROR, _EXCESS = "E|private estimate - estimate| tends to 0.", "The excess risk tends to 0."
_ON_LINE: dict[str, Any] = {"sizes": LINE_SIZES, "support": (0.0, 1.0)}
_PARTITIONS: dict[str, Any] = {"sizes": (10**3, 10**5, 10**7), "said": _CONSISTENT}

CHECKS: list[Any] = [
    *BOUSQUET.rows(__name__),
    state("theorem A.4(1) a maximal packing is a cover", "The radius is below r.", partial(packing_cases, "cover")),
    state("theorem A.4 centers are r apart", "The separation is r at least.", partial(packing_cases, "separation")),
    state("theorem A.4(2) with distances above 2r", "No packing is larger than a cover.", covering_cases),
    state("footnote 2 packings are no larger than covers", "The same.", covering_cases),
    *(state(f"{name} on the cauchy line", f"{name}.", partial(visit_chain, at)) for at, name in enumerate(_CHAIN)),
    vanish("equation 11 noise vanishes on the circle", "", 1e-3, _ERROR, evaluator=circle_noise, sizes=FLAT_SIZES),
    *(
        vanish(f"theorem A.11 cubes of side n^-{p:g}", "", 0.01, evaluator=partial(partition_risk, p), **_PARTITIONS)
        for p in (0.3, 0.7)
    ),
    *(
        vanish(f"theorem A.12 risk on the {name}", "", most, _EXCESS, evaluator=risk, sizes=FLAT_SIZES)
        for name, (cells, most) in FLAT.items()
        for risk in [partial(cell_risk, cells)]
    ),
    *(
        vanish(name, "Theorems A.13 and A.15", tolerance, losses=risk, bayes_risk=risk.bayes_risk, **_ON_LINE)
        for (name, risk), tolerance in zip(STABLE.items(), TOLERANCES, strict=True)
    ),
    listed_check("theorem A.15 words delta=n^-2", word_risk(), "Theorem A.15"),
    listed_check("theorem A.13 2-adic numbers delta=n^-2", dyadic_risk(), "Theorem A.13"),
    vanish("equation 12 as printed vanishes is false", evaluator=partial(noise_term, False), **_TERM),
    vanish("equation 12 repaired", evaluator=partial(noise_term, True), **_TERM),
]
