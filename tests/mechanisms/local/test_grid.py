"""Cells of the binary array: who is in which, whatever the rounding does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import AuditError
from mechanisms.local.grid import Grid


def test_cells_by_hand():
    grid = Grid(1, 0.25)
    held = grid.hits([0.0, 0.1, 0.25, 0.3, 1.0])
    # cells j = 0..4 are the open intervals (j h - h, j h + h); a grid point lies in one, any other point in two
    assert held.astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1],
    ]


def test_cells_of_the_plane_are_products():
    plane, line = Grid(2, 0.3), Grid(1, 0.3)
    points = np.random.default_rng(3).random((50, 2))
    rows, columns = line.hits(points[:, 0]), line.hits(points[:, 1])
    expected = (rows[:, :, None] & columns[:, None, :]).reshape(50, -1)
    np.testing.assert_array_equal(plane.hits(points), expected)


@given(
    bandwidth=st.floats(0.01, 1.5),
    index=st.integers(-3, 120),
    offset=st.sampled_from([0.0, 0.5, -0.5, 1e-16, -1e-16, 1e-9]),
    dim=st.integers(1, 2),
)
@settings(max_examples=300, deadline=None)
def test_a_point_lies_in_one_to_two_cells_an_axis(bandwidth, index, offset, dim):
    x = index * bandwidth + offset * bandwidth
    held = Grid(dim, bandwidth, -5.0, 200.0 if dim == 1 else 5.0).hits(np.full((1, dim), x)).sum()
    if dim == 1 or abs(x) < 4:
        assert 1 <= held <= 2**dim


def test_the_comparison_in_doubles_would_find_three():
    h, x = 0.1, 0.4
    compared = [j for j in range(11) if abs(x - j * h) < h]
    assert compared == [3, 4, 5]
    assert np.flatnonzero(Grid(1, h).hits([x])[0]).tolist() == [4]


def test_nearest_grid_point_rounds_half_up():
    grid = Grid(2, 0.25)
    points = np.array([[0.0, 0.0], [0.124, 1.0], [0.125, 0.374], [0.376, 0.62]])
    expected = [(0, 0), (0, 4), (1, 1), (2, 2)]
    assert [tuple(grid.indices[i]) for i in grid.nearest(points)] == expected


def test_a_window_off_the_origin():
    grid = Grid(1, 0.5, -1.0, 2.0)
    assert (grid.first, grid.last, grid.shape) == (-2, 4, (7,))
    assert np.flatnonzero(grid.hits([-0.75])[0]).tolist() == [0, 1]
    assert grid.nearest([-1.0, 2.0]).tolist() == [0, 6]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 0.1), "dim"), ((1, 0.0), "bandwidth"), ((1, np.inf), "bandwidth"), ((1, 0.1, 1.0, 0.5), "high")],
)
def test_bad_grids_are_refused(arguments, name):
    with pytest.raises(AuditError, match=f"`{name}` must"):
        Grid(*arguments)


@pytest.mark.parametrize(
    ("points", "rule"),
    [
        (np.array([[0.5, 0.5]]), r"have shape \(n, 1\)"),
        ([np.nan], "be finite"),
        ([1.2], r"lie in \[0, 1\]\^1"),
        ([-0.1, 0.5], r"lie in \[0, 1\]\^1.* got -0.1"),
    ],
)
def test_bad_queries_are_refused(points, rule):
    with pytest.raises(AuditError, match=rule):
        Grid(1, 0.25).nearest(points)
