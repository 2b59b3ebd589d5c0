"""Grid and binary array: cells whatever the rounding does, exact privacy, and the numbers that faults state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import AuditError
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import BinaryArray, far_pair, noise_scale, one_cell


def test_cells_by_hand():
    """Cells j = 0..4 are the open intervals (j h - h, j h + h); a grid point lies in one, any other point in two."""
    held = Grid(1, 0.25).hits([0.0, 0.1, 0.25, 0.3, 1.0])
    assert [np.flatnonzero(row).tolist() for row in held] == [[0], [0, 1], [1], [1, 2], [4]]
    compared = [j for j in range(11) if abs(0.4 - j * 0.1) < 0.1]
    assert compared == [3, 4, 5]
    assert np.flatnonzero(Grid(1, 0.1).hits([0.4])[0]).tolist() == [4]


def test_cells_of_the_plane_are_products_and_counts_are_sums():
    plane, line = Grid(2, 0.3), Grid(1, 0.3)
    points = np.random.default_rng(3).random((50, 2))
    rows, columns = line.hits(points[:, 0]), line.hits(points[:, 1])
    np.testing.assert_array_equal(plane.hits(points), (rows[:, :, None] & columns[:, None, :]).reshape(50, -1))
    np.testing.assert_array_equal(plane.count(points), plane.hits(points).sum(axis=0))
    assert plane.count(points[:0]).tolist() == [0] * plane.cells


@given(
    bandwidth=st.floats(0.01, 1.5),
    index=st.integers(-3, 120),
    offset=st.sampled_from([0.0, 0.5, -0.5, 1e-16, -1e-16, 1e-9]),
    dim=st.integers(1, 2),
)
@settings(max_examples=300, deadline=None)
def test_a_point_lies_in_one_to_two_cells_an_axis(bandwidth, index, offset, dim):
    x = index * bandwidth + offset * bandwidth
    held = Grid(dim, bandwidth, -5.0, 200.0 if dim == 1 else 5.0).count(np.full((1, dim), x)).sum()
    if dim == 1 or abs(x) < 4:
        assert 1 <= held <= 2**dim


def test_nearest_grid_point_rounds_half_up_in_any_window():
    grid = Grid(2, 0.25)
    points = np.array([[0.0, 0.0], [0.124, 1.0], [0.125, 0.374], [0.376, 0.62]])
    assert [tuple(grid.indices[i]) for i in grid.nearest(points)] == [(0, 0), (0, 4), (1, 1), (2, 2)]
    wide = Grid(1, 0.5, -1.0, 2.0)
    assert (wide.first, wide.last, wide.shape) == (-2, 4, (7,))
    assert np.flatnonzero(wide.hits([-0.75])[0]).tolist() == [0, 1]
    assert wide.nearest([-1.0, 2.0]).tolist() == [0, 6]


# measured with an independent implementation, epsilon = 1; digits as printed
EPSILONS = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]
PROFILES = {
    1: [0.1842, 0.1547, 0.1107, 0.0384, 0.0175, 0.00656, 6.28e-4, 0],
    2: [0.1355, 0.1009, 0.0511, 0.0122, 1.36e-3, 4.50e-4, 3.96e-5, 0],
    3: [0.0977, 0.0598, 0.0219, 2.05e-3, 4.84e-5, 2.11e-6, 1.58e-7, 0],
}
AT_DELTA = {1: [0.851, 0.984, 0.9998], 2: [0.543, 0.804, 0.9975], 3: [0.352, 0.573, 0.849]}  # 1e-2, 1e-3, 1e-5


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_privacy_profile_of_the_worst_pair(dim):
    left, right = map(BinaryArray(dim, 1.0, 0.4).law, far_pair(dim))
    loss = left.loss_against(right)
    assert loss.epsilon(0) == pytest.approx(1.0, rel=1e-12)
    for epsilon, stated in zip(EPSILONS, PROFILES[dim], strict=True):
        assert loss.delta_lower_bound(epsilon) <= loss.delta(epsilon)
        assert loss.delta(epsilon) == pytest.approx(stated, rel=4e-3, abs=1e-9)
    assert [loss.epsilon(delta) for delta in (1e-2, 1e-3, 1e-5)] == pytest.approx(AT_DELTA[dim], abs=6e-4)


def test_one_cell_is_a_column_and_records_outside_the_window_hit_no_cell_or_the_last():
    array = BinaryArray(2, 1.0, 0.4)
    one, whole = (draw(far_pair(2)[0], 9, np.random.default_rng(1)) for draw in (lambda *a: one_cell(array, *a), array))
    np.testing.assert_array_equal(one, whole[:, 0])
    assert BinaryArray(1, 1.0, 0.4).bits((7.0, 1)).tolist() == [0, 0, 0, 0]
    assert BinaryArray(1, 1.0, 0.4).bits((1.3, 1)).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda: Grid(0, 0.1), "`dim` must"),
        (lambda: Grid(1, np.inf), "`bandwidth` must"),
        (lambda: Grid(1, 0.1, 1.0, 0.5), "`high` must"),
        (lambda: Grid(1, 0.25).nearest(np.array([[0.5, 0.5]])), r"have shape \(n, 1\)"),
        (lambda: Grid(1, 0.25).nearest([np.nan]), "be finite"),
        (lambda: Grid(1, 0.25).nearest([-0.1, 0.5]), r"lie in \[0, 1\]\^1, got -0.1"),
        (lambda: BinaryArray(1, 0.0, 0.4), "`epsilon` must"),
        (lambda: BinaryArray(1, 1.0, 0.4, 3), "`half` must"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits(0.5), "`record` must be a pair"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits((0.5, 2)), "`y` must hold labels 0 and 1 only$"),
        (lambda: BinaryArray(1, 1.0, 0.4, 1).bits((0.5, 0.5)), "`y` must hold labels 0 and 1 only"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits(((0.5, 0.5), 1)), r"`x` must have shape \(n, 1\)"),
        (lambda: BinaryArray(1, 1.0, 0.4).bits((np.nan, 1)), "`x` must be finite"),
        (lambda: noise_scale(1, 2.0**-51.1), r"`epsilon` must be at least 2\^-51, in 1 dimensions"),
    ],
)
def test_bad_input_is_refused(call, rule):
    with pytest.raises(AuditError, match=rule):
        call()


def test_at_the_edge_of_the_admitted_epsilon_no_bit_is_read():
    """Noise of scale 2^53: no output tells more than its sign, and 40 of 80 are positive but for seven deviations."""
    array = BinaryArray(1, 2.0**-51, 0.4)
    assert array.scale == 2.0**53
    drawn = array(far_pair(1)[0], 20, np.random.default_rng(0))
    assert np.abs(drawn).min() > 2.0**40
    assert 8 < np.sum(drawn > 0) < 72
