"""The first cases of a search lie at corners, where a loss is largest, and stay inside of the strategy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit
from audit.api import Allowance
from audit.extensions.search.corners import CORNERS
from audit.extensions.search.search import Search

TABLES = st.lists(st.lists(st.floats(0, 1), min_size=12, max_size=12), min_size=4, max_size=4)


def choose_product(data, rng):
    """Half of the noise of permute-and-flip: it shows only where two columns of ones and one zero change places."""
    return int(np.argmax(np.prod(np.array(data), axis=0) + rng.exponential(scale=1.0, size=12)))


def test_a_pair_is_found_where_two_columns_move_against_each_other():
    mechanism, claim = audit.per_call(choose_product), audit.PrivacyClaim(1.0)
    check = audit.PrivacyCheck(name="product", mechanism=mechanism, claim=claim, datasets=TABLES)
    found = Search(check, Allowance.of(1000, 0.05, 0)).find()
    left, right = (np.prod(np.array(side), axis=0) for side in found.pair)
    assert (
        min((left - right).max(), (right - left).max()) >= 0.9
    )  # the whole violation is 1 + 1, and a shrunk one 0.9 of it


@pytest.mark.parametrize("numbers", [st.floats(-2, 3), st.integers(-50, 50), st.floats(1e-3, 1, exclude_min=True)])
def test_numbers_at_corners_are_of_the_strategy_and_share_a_place(numbers):
    drawn = []

    @settings(backend=CORNERS, max_examples=50, database=None, derandomize=True)
    @given(st.lists(numbers, min_size=20, max_size=20))
    def see(case):
        drawn.append(case)

    see()
    assert sum(case.count(max(case, key=case.count)) > 10 for case in drawn) > len(drawn) / 3


@given(st.data())
@settings(backend=CORNERS, max_examples=30, database=None, derandomize=True)
def test_unbounded_numbers_are_drawn_as_ever(data):
    assert isinstance(data.draw(st.floats(allow_nan=False)), float)
    assert isinstance(data.draw(st.integers()), int)
