"""The releases on the real survey, and the third-party libraries on it."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pytest

from audit import Verdict
from audit.errors import MissingExtra
from mechanisms import real_data

LIBRARIES = ("opendp", "diffprivlib")


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


@pytest.mark.parametrize("library", LIBRARIES)
def test_third_party_mechanisms_run_and_can_be_sent(library):
    pytest.importorskip(library)
    module = importlib.import_module(f"mechanisms.third_party.{library}")
    assert len(module.CHECKS) == 5
    for check in module.CHECKS:
        assert check.expected is Verdict.PASS
        assert check.mechanism.own_randomness
        mechanism = pickle.loads(pickle.dumps(check.mechanism))
        outputs = mechanism(check.pairs[0][0], 200, np.random.default_rng(0))
        assert len(outputs) == 200
        assert len(set(np.asarray(outputs).tolist())) > 1  # all alike: below 1e-20 where one value has probability 0.76


@pytest.mark.parametrize(("library", "imported"), [("opendp", "opendp.prelude"), ("diffprivlib", "diffprivlib")])
def test_a_missing_library_says_what_to_install(library, imported, monkeypatch):
    monkeypatch.setitem(sys.modules, imported, None)
    for package in ("mechanisms.third_party", "audit.extensions.adapters"):
        monkeypatch.delitem(sys.modules, f"{package}.{library}", raising=False)
    with pytest.raises(MissingExtra, match=rf"`{library}` is not installed.*pip install '.\[libraries\]'$"):
        importlib.import_module(f"mechanisms.third_party.{library}")


def test_all_libraries_are_gathered():
    for library in LIBRARIES:
        pytest.importorskip(library)
    from mechanisms import third_party

    prefixes = {check.name.split("/")[0] for check in third_party.CHECKS}
    assert prefixes == set(LIBRARIES)
