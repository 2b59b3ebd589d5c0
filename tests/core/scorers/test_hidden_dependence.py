"""Of many coordinates, the pair that depends without correlation is read first: sizes and parities show it.

Each table has 40 columns of normal noise; two of them depend on each other on the left, and are alike but independent
on the right. All seeds are fixed.
"""

import numpy as np
import pytest

from audit.scorers.vectors import _hidden_dependence, pairs_that_differ

ROWS, WIDTH, PAIR = 4_000, 40, (13, 38)


def circle(rng, other):
    angle, second = rng.random((2, ROWS)) * 2 * np.pi
    return np.cos(angle), np.sin(second if other else angle)


def common_scale(rng, other):
    one, second, first, third = rng.normal(size=(4, ROWS))
    return one * np.exp(first), second * np.exp(third if other else first)


def parity(rng, other):
    one, second = rng.integers(0, 10, (2, ROWS))
    return one, 2 * rng.integers(0, 5, ROWS) + (second if other else one) % 2


def table(draw, other, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(ROWS, WIDTH))
    rows[:, PAIR[0]], rows[:, PAIR[1]] = draw(rng, other)
    return rows


@pytest.mark.parametrize("draw", [circle, common_scale, parity])
def test_a_pair_that_depends_without_correlation_comes_first(draw):
    assert pairs_that_differ((table(draw, False, 1), table(draw, True, 2)))[0] == PAIR


@pytest.mark.false_alarm(6e-8)
@pytest.mark.parametrize("draw", [circle, common_scale, parity])
def test_equal_tables_of_independent_columns_have_no_such_pair(draw):
    """Of 6,400 comparisons of 4,000 rows each, none is 7.2 standard errors off but with probability 1e-8."""
    rows = table(draw, True, 3), table(draw, True, 4)
    assert not _hidden_dependence(tuple(np.clip(side, -4, 4) for side in rows), rows, rows[0].shape[1]).any()
