"""Metric spaces: packings with a certificate, Voronoi cells, and the axioms of a distance."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import InvalidArgument
from mechanisms.consistency.any_space import Integers, Lattice, PublicPoints
from mechanisms.consistency.metric_theorems import (
    SPACES,
    CellRisk,
    circle_cells,
    cube_cells,
    sphere_cells,
    square_cells,
)
from mechanisms.consistency.metric_votes import WORDS
from mechanisms.consistency.spaces import (
    BinarySequences,
    Circle,
    Cube,
    EuclideanSquare,
    Packing,
    Sphere,
    certified,
    spiral,
)

RADII = (0.95, 0.71, 0.6, 0.5, 0.36, 0.35, 1 / 3, 0.21)
SPACE = pytest.mark.parametrize("space", SPACES, ids=repr)


def random_points(space, size=1500):
    rng = np.random.default_rng(11)
    if isinstance(space, Sphere):
        return (draws := rng.normal(size=(size, 3))) / np.linalg.norm(draws, axis=1, keepdims=True)
    if isinstance(space, BinarySequences):
        return rng.integers(0, 2, (size, space.depth))
    return rng.random((size, space.packing(0.9).centers.shape[1]))


@SPACE
@pytest.mark.parametrize("radius", RADII)
def test_certificates_tell_the_truth(space, radius):
    packing, points = space.packing(radius), random_points(space)
    assert packing.is_maximal
    distances = space.distance(points[:, None, :], packing.centers[None])
    assert distances.min(axis=1).max() <= packing.cover + 1e-12
    cells = space.cell_of(space.points(points), packing)
    np.testing.assert_allclose(distances[np.arange(len(points)), cells], distances.min(axis=1), atol=1e-12)
    if len(packing) > 1:
        between = space.distance(packing.centers[:, None, :], packing.centers[None])
        assert between[~np.eye(len(packing), dtype=bool)].min() == pytest.approx(packing.separation, abs=1e-9)


@SPACE
def test_distances_are_metrics(space):
    a, b, c = np.split(random_points(space, 600), 3)
    assert np.all(space.distance(a, a) == 0)
    np.testing.assert_allclose(space.distance(a, b), space.distance(b, a))
    assert np.all(space.distance(a, c) <= space.distance(a, b) + space.distance(b, c) + 1e-12)


def test_the_plain_grid_is_not_maximal_in_the_euclidean_norm():
    """Step 0.51 leaves the corner (1, 1) at distance 0.69 from (0.51, 0.51); the certificate would say so."""
    axis = np.array([0.0, 0.51])
    centers = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    assert not Packing(centers, 0.51, 0.51, float(np.hypot(0.49, 0.49))).is_maximal


def test_a_packing_without_certificate_is_refused():
    class Wrong(Cube):
        def packing(self, radius):
            return Packing(np.array([[0.5]]), radius, np.inf, 0.5)

    with pytest.raises(InvalidArgument, match="certified maximal packing"):
        certified(Wrong(1), 0.4)


@pytest.mark.parametrize(
    ("space", "points"),
    [
        (Circle(), [[1.0]]),
        (Circle(), [[-0.1]]),
        (Cube(2), [[0.5, 1.2]]),
        (EuclideanSquare(), [[0.5]]),
        (Sphere(), [[1.0, 1.0, 0.0]]),
        (BinarySequences(3), [[0, 1, 2]]),
        (Cube(1), [[np.nan]]),
    ],
)
def test_points_outside_the_space_are_refused(space, points):
    with pytest.raises(InvalidArgument, match="X"):
        space.points(points)


def test_spiral_points_are_even():
    """Each of eight octants holds an eighth of the points, within 1 %."""
    points = spiral(10_000)
    counts = np.bincount((points > 0) @ [1, 2, 4], minlength=8)
    assert np.all(np.abs(counts - 1250) < 13)


@pytest.mark.parametrize(
    ("cells", "n", "value"),
    [
        (circle_cells, 10**6, 6.5e-4),
        (cube_cells, 10**5, 0.019),
        (square_cells, 10**7, 0.023),
        (sphere_cells, 10**3, 0.018),
    ],
)
def test_risks_match_the_reference(cells, n, value):
    """Computed by simulation before this package existed; the sphere's centers differ, hence 10 %."""
    assert CellRisk(cells)(n) == pytest.approx(value, rel=0.1)
    assert cells(n).mass.sum() == pytest.approx(1, abs=1e-9)


def test_cells_that_are_no_squares_are_refused():
    with pytest.raises(ValueError, match="not squares"):
        square_cells(1000)


LISTED = [
    pytest.param(PublicPoints(np.random.default_rng(5).random((60, 2))), id="euclidean"),
    pytest.param(PublicPoints(np.random.default_rng(6).random((60, 3)), "cityblock"), id="cityblock"),
    pytest.param(WORDS, id="words"),
]


@pytest.mark.parametrize("space", LISTED)
@pytest.mark.parametrize("radius", [0.7, 0.4, 0.25])
def test_a_packing_of_listed_points_is_maximal_and_cells_are_nearest(space, radius):
    packing, places = space.packing(radius), space.points(space.places)
    assert packing.is_maximal
    chosen = [at for at, place in enumerate(places.tolist()) if place in packing.centers.tolist()]
    distances = np.stack([space.distance(places, np.repeat(places[[at]], len(places), axis=0)) for at in chosen], 1)
    assert distances.min(axis=1).max() == packing.cover < radius
    keys = space.keys_of(places, radius)
    assert keys == [(int(np.argmin(row)),) for row in distances]


def test_the_dimension_of_listed_points_is_by_rule_unless_given():
    """On 65 equally spaced points a ball of radius r has at most 5 points at mutual distance r / 2; r = 1 has 3."""
    line = PublicPoints(np.arange(65.0)[:, None])
    assert line.doubling_dim == pytest.approx(np.log2(5))
    assert PublicPoints([[0.0]]).doubling_dim == 1.0
    assert WORDS.doubling_dim == 2.0


def test_integers_and_lattices_have_cells_around_their_centers():
    integers = Integers()
    assert integers.keys_of(integers.points([-2, 0, 7]), 0.4) == [(-2,), (0,), (7,)]
    assert integers.keys_of(integers.points([-2, -1, 0, 1, 2, 3]), 1.5) == [(-1,), (-1,), (0,), (0,), (1,), (1,)]
    assert integers.keys_of(integers.points([-1, 1, 2, 4]), 2.5) == [(0,), (0,), (1,), (1,)]
    lattice = Lattice(2)
    assert lattice.keys_of(lattice.points([[0.2, -0.3], [0.3, 1.0]]), 0.5) == [(0, -1), (1, 2)]
