"""Theorems about packings, Voronoi cells, and the votes on them, as checks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from audit import ConsistencyCheck, InequalityCheck, Verdict
from mechanisms.consistency.spaces import (
    BinarySequences,
    BoundedSpace,
    Circle,
    Cube,
    EuclideanSquare,
    Sphere,
    certified,
    spiral,
)
from mechanisms.consistency.stable_theorems import cauchy_visits
from mechanisms.consistency.voronoi import radius_for
from mechanisms.consistency.votes import Cells, mean_excess
from mechanisms.distributions import Cauchy
from mechanisms.distributions.zoo import quadrants, shifted_sine_product, smooth

PAPER = "Bousquet et al. 2022"
SPACES: tuple[BoundedSpace, ...] = (Circle(), Cube(1), Cube(2), EuclideanSquare(), Sphere(), BinarySequences(10))
RADII = (0.9, 0.6, 0.5, 0.36, 0.34, 0.21)
SIZES = (10**4, 10**6, 10**8)
Value = tuple[str, float, float]
Values = Callable[[], list[Value]]


# Voronoi votes on bounded spaces


def circle_cells(n: int) -> Cells:
    """Cells of the circle for eta = 1/2 + 0.4 sin; the first cell is two arcs."""
    packing = certified(Circle(), radius_for(n, 1.0))
    arcs = Cells.of(smooth(), *Circle().arcs(packing))
    index = np.arange(len(arcs)) % len(packing)
    columns = (arcs.mass, arcs.positive, arcs.cost_of_one, arcs.cost_of_zero)
    return Cells(*(np.bincount(index, weights=column) for column in columns))


def cube_cells(n: int) -> Cells:
    """Cells of the square in the l-infinity norm for eta = 0.9 or 0.1 by quadrants off the grid."""
    space = Cube(2)
    return Cells.of(quadrants(), *space.boxes(certified(space, radius_for(n, space.doubling_dim))))


def square_cells(n: int) -> Cells:
    """Cells of the square in the Euclidean norm for a product of sines off the grid; squares, for n >= 10^4."""
    packing = certified(EuclideanSquare(), radius_for(n, EuclideanSquare().doubling_dim))
    axis = np.unique(packing.centers[:, 0])
    if len(packing) != axis.size**2:
        raise ValueError(f"the cells for n = {n} are not squares")
    ends = np.r_[0.0, (axis[:-1] + axis[1:]) / 2, 1.0]
    low, high = (np.stack(np.meshgrid(v, v, indexing="ij"), -1).reshape(-1, 2) for v in (ends[:-1], ends[1:]))
    return Cells.of(shifted_sine_product(), low, high)


def sphere_cells(n: int) -> Cells:
    """Cells of the sphere for eta = 1/2 + 0.4 z, on 200,000 equally weighted points of a spiral."""
    points = spiral(200_000)
    packing = certified(Sphere(), radius_for(n, Sphere().doubling_dim))
    weights = np.full(len(points), 1 / len(points))
    return Cells.of_points(Sphere().cell_of(points, packing), weights, 0.8 * points[:, 2], len(packing))


def sequence_cells(n: int) -> Cells:
    """Cells of binary sequences with bits of probability 0.7, eta = 0.9 or 0.1 by the parity of the first six."""
    depth = max(6, round(math.log2(len(certified(BinarySequences(32), radius_for(n, 1.0))))))
    bits = np.array(list(itertools.product((0, 1), repeat=depth)))
    weights = np.prod(np.where(bits == 1, 0.7, 0.3), axis=1)
    margins = np.where(bits[:, :6].sum(axis=1) % 2 == 0, 0.8, -0.8)
    packing = certified(BinarySequences(depth), radius_for(n, 1.0))
    return Cells.of_points(BinarySequences(depth).cell_of(bits, packing), weights, margins, len(packing))


@dataclass(frozen=True)
class CellRisk:
    """Exact mean excess risk of the votes on the cells for n records."""

    cells: Callable[[int], Cells]
    epsilon: float = 1.0

    def __call__(self, n: int) -> float:
        return mean_excess(self.cells(n), n, self.epsilon)


# Packings and cells


def packing_values(what: str) -> list[Value]:
    """Covering radius against r, or r against the separation, of the packings of all spaces."""
    found = []
    for space, radius in itertools.product(SPACES, RADII):
        packing = space.packing(radius)
        pair = (packing.cover, packing.radius) if what == "cover" else (packing.radius, packing.separation)
        found.append((f"{space} r={radius:g}", float(pair[0]), float(pair[1])))
    return found


def covering_values() -> list[Value]:
    """Size of packings with distances above 2 r against sizes of covers of radius r; on [0, 1] both are optimal."""
    found = []
    for space, radius in itertools.product(SPACES, (0.45, 0.3, 0.17)):
        apart = space.packing(2 * radius * (1 + 1e-6))
        found.append((f"{space} r={radius:g}", float(len(apart)), float(len(space.packing(radius)))))
    for radius in (0.5, 0.3, 0.25, 0.1, 0.07):
        apart_on_line = np.arange(0, 1 + 1e-9, 2 * radius * (1 + 1e-6))
        cover = np.arange(radius, 1 + radius - 1e-9, 2 * radius)
        found.append((f"[0, 1] r={radius:g}", float(apart_on_line.size), float(cover.size)))
    return found


def covering_as_printed() -> list[Value]:
    """X = [0, 1], r = 1/2: {0, 1} is a 2r-packing with distances >= 2r, and {1/2} an r-cover."""
    packing, cover, radius = np.array([0.0, 1.0]), np.array([0.5]), 0.5
    assert np.diff(packing).min() >= 2 * radius
    assert np.abs(np.linspace(0, 1, 1001)[:, None] - cover).min(axis=1).max() <= radius
    return [("X=[0,1] r=0.5", float(packing.size), float(cover.size))]


def diameter_values() -> list[Value]:
    """Largest distance inside a Voronoi cell, over 4000 points, against 2 r."""
    rng, found = np.random.default_rng(4), []
    for space in SPACES:
        points = _random_points(space, 4000, rng)
        for radius in (0.6, 0.3):
            packing = space.packing(radius)
            cells = space.cell_of(points, packing)
            widest = max(_diameter(space, points[cells == cell][:150]) for cell in np.unique(cells))
            found.append((f"{space} r={radius:g}", widest, 2 * radius))
    return found


def ultrametric_values() -> list[Value]:
    """Diameter of a cylinder of binary sequences against r: below r, in an ultrametric space."""
    return [
        (f"r={r:g}", float(len(packing)) ** -1, r)
        for r in (0.9, 0.5, 0.3, 0.1)
        for packing in [BinarySequences(16).packing(r)]
    ]


def diameter_as_printed() -> list[Value]:
    """Centers at distance 1.98 r on a line are a maximal r-packing; their cells have diameter 1.98 r, not r."""
    radius, spacing = 1.0, 1.98
    assert spacing >= radius > spacing / 2  # apart, and every point is nearer than r to a center
    return [("line with spacing 1.98 r, r=1", spacing, radius)]


def _random_points(space: BoundedSpace, size: int, rng: np.random.Generator) -> np.ndarray:
    if isinstance(space, Sphere):
        draws = rng.normal(size=(size, 3))
        return draws / np.linalg.norm(draws, axis=1, keepdims=True)
    if isinstance(space, BinarySequences):
        return rng.integers(0, 2, (size, space.depth))
    return rng.random((size, np.shape(space.packing(0.9).centers)[1]))


def _diameter(space: BoundedSpace, points: np.ndarray) -> float:
    return float(np.max(space.distance(points[:, None, :], points[None, :, :])))


# Visits on the line


def visit_values() -> list[Value]:
    """P(N <= k) against 4 (2 k + 4) n^(-1/4) + P(|X| > theta), theta = sqrt n."""
    found = []
    for n, k in itertools.product((10**3, 10**5, 10**7, 10**9), (0, 5)):
        theta = math.sqrt(n)
        outside = 2 * float(Cauchy().mass(theta, np.inf))
        found.append((f"n={n:g} k={k}", cauchy_visits(k, n), 4 * (2 * k + 4) * n**-0.25 + outside))
    return found


def visit_chain(step: int) -> list[Value]:
    """One step of the proof of Lemma A.9 on the Cauchy line, cell by cell: theta = sqrt n, cells of width r.

    0: P(N <= k) where the cells meet T, and P(not T), against (8); 1: (8) against Chebyshev's bound of it, before (9);
    2: that against (2 k + 4) / n times (4 theta / r), and P(not T).
    """
    found = []
    for n, k in itertools.product((10**3, 10**5, 10**6), (0, 5)):
        theta, radius = math.sqrt(n), radius_for(n, 1.0)
        reach = math.ceil(theta / radius)
        starts = np.arange(-reach, reach) * radius
        mass, count = Cauchy().mass(starts, starts + radius), 4 * theta / radius
        outside, heavy = 2 * float(Cauchy().mass(theta, np.inf)), mass > 2 * k / n
        light = 2 * k / n * count + outside
        deviate = stats.binom.cdf(np.floor(n * mass / 2), n, mass)
        steps = (
            float(mass @ stats.binom.cdf(k, n, mass)) + outside,
            float((mass * deviate)[heavy].sum()) + light,
            float((4 * (1 - mass) / n)[heavy].sum()) + light,
            (2 * k + 4) / n * count + outside,
        )
        found.append((f"n={n:g} k={k}", steps[step], steps[step + 1]))
    return found


def packing_count() -> list[Value]:
    """The line, theta = r: -2r, -r, 0, r, 2r are an r-packing of [-2 theta, 2 theta], against (4 theta / r)^1."""
    radius = theta = 0.5
    packing = np.arange(-2, 3) * radius
    assert np.abs(packing).max() <= 2 * theta
    assert np.diff(packing).min() >= radius
    return [("theta=r", float(packing.size), 4 * theta / radius)]


def _spaces() -> list[ConsistencyCheck]:
    stated: dict[str, tuple[Callable[[int], Cells], float]] = {
        "circle": (circle_cells, 1e-3),
        "square of l-infinity": (cube_cells, 0.05),
        "square of l2": (square_cells, 0.03),
        "sphere": (sphere_cells, 0.003),
        "binary sequences": (sequence_cells, 1e-6),
    }
    return [
        ConsistencyCheck(
            name=f"consistency/voronoi/theorem A.12 risk on the {name}",
            source=f"{PAPER}, Theorems A.11 and A.12",
            statement="the excess risk tends to 0",
            evaluator=CellRisk(cells),
            sizes=SIZES,
            tolerance=tolerance,
        )
        for name, (cells, tolerance) in stated.items()
    ]


_STATED: list[tuple[str, Values]] = [
    ("theorem A.4(1) a maximal packing is a cover", partial(packing_values, "cover")),
    ("theorem A.4 centres are r apart", partial(packing_values, "separation")),
    ("theorem A.4(2) with distances above 2r", covering_values),
    ("lemma A.8 diameter at most 2r", diameter_values),
    ("lemma A.8 cylinders of binary sequences are below r", ultrametric_values),
    ("lemma A.9 visits on the cauchy line", visit_values),
    ("equation 8 bounds the visits on the cauchy line", partial(visit_chain, 0)),
    ("equation 9 follows from 8 by Chebyshev on the cauchy line", partial(visit_chain, 1)),
    ("equation 9 is at most the bound of lemma A.9", partial(visit_chain, 2)),
    ("footnote 2 packings are no larger than covers", covering_values),
]
_FALSE: list[tuple[str, Values]] = [
    ("theorem A.4(2) as printed, distances from 2r on,", covering_as_printed),
    ("lemma A.8 as its last line has it, diameter at most r,", diameter_as_printed),
    ("lemma A.9 intermediate count (4 theta / r)^d", packing_count),
]


def _inequalities() -> list[InequalityCheck]:
    return [
        *(
            InequalityCheck(
                name=f"consistency/voronoi/{name}",
                source=f"{PAPER}, {' '.join(name.split()[:2])}",
                statement=name,
                values=values,
            )
            for name, values in _STATED
        ),
        *(
            InequalityCheck(
                name=f"consistency/voronoi/{name} is false",
                source=f"{PAPER}, {' '.join(name.split()[:2])}",
                statement=name,
                values=values,
                expected=Verdict.FAIL,
            )
            for name, values in _FALSE
        ),
    ]


CHECKS: list[ConsistencyCheck | InequalityCheck] = [*_inequalities(), *_spaces()]
