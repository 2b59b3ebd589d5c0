"""The releases on the real survey."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import real_data


def test_the_survey_is_the_one_that_is_described():
    assert len(real_data.survey()) == real_data.RECORDS
    ages = real_data.column("age")
    assert (ages.min(), ages.max()) == (real_data.AGE.lower, real_data.AGE.upper)
    assert set(real_data.codes("occupation").tolist()) == set(real_data.OCCUPATIONS)
    assert set(real_data.codes("religious").tolist()) == set(real_data.RELIGIOUSNESS)


def test_neighbors_take_the_value_of_a_real_record_and_leave_the_survey_alone():
    before = real_data.column("affairs").copy()
    for check in real_data.CHECKS:
        left, right = check.pairs[0]
        if isinstance(left, np.ndarray) and len(left) == len(right):
            rows = np.unique(left, axis=0)
            assert np.unique(np.concatenate([rows, right]), axis=0).shape == rows.shape
    np.testing.assert_array_equal(real_data.column("affairs"), before)


def test_sources_name_the_data():
    assert len(real_data.CHECKS) >= 10
    assert all(real_data.DATA in check.claim.source for check in real_data.CHECKS)


def test_extreme_swap_moves_the_mean_by_its_whole_sensitivity():
    left, right = real_data.extreme_swap(real_data.column("age"))
    moved = real_data.AGE(right) - real_data.AGE(left)
    assert moved == pytest.approx(24.5 / real_data.RECORDS, rel=1e-9)
    assert moved <= real_data.AGE.sensitivity(real_data.RECORDS)
