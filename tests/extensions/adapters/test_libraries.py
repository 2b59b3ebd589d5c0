"""OpenDP, diffprivlib and PyDP as mechanisms: what they release, right verdicts.

A true claim fails with probability at most the significance, 1e-6. The broken ones promise half of the epsilon = 2 that
they keep: at 10,000 outputs per dataset the game misses that with probability below 1e-9. The libraries draw from the
operating system's randomness, so that no seed repeats a run.
"""

import pickle
from functools import partial

import numpy as np
import pytest

from audit import AddRemove, PrivacyClaim, Verdict, check_privacy
from audit.errors import InvalidArgument
from audit.laws import PointMass

dp = pytest.importorskip("opendp.prelude")
dpl = pytest.importorskip("diffprivlib.mechanisms")
pydp = pytest.importorskip("pydp.algorithms.numerical_mechanisms")
laplacian = pytest.importorskip("pydp.algorithms.laplacian")

from audit.extensions.adapters import Documented, LibraryObject  # noqa: E402

dp.enable_features("contrib")
COUNT_PAIR = [(np.zeros(3, dtype=int), np.array([0, 0, 0, 1]))]
RNG = np.random.default_rng(0)


def total(data):
    return int(np.sum(data))


def real_total(data):
    return float(np.sum(data))


def number(scale):
    return dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale)


def vectors(scale):
    return dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=scale)


def counting(scale):
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return space >> dp.t.then_count() >> dp.m.then_laplace(scale=scale)


def google_laplace(epsilon):
    return pydp.LaplaceMechanism(epsilon, 1.0)


def warner():
    return dp.m.make_randomized_response_bool(prob=0.75)


SUBJECTS = {
    "opendp": LibraryObject(partial(number, 0.5), total),
    "opendp, records": LibraryObject(partial(counting, 0.5), entrywise=False),
    "diffprivlib": LibraryObject(partial(dpl.Laplace, epsilon=2.0, sensitivity=1.0), real_total, method="randomise"),
    "pydp": LibraryObject(partial(google_laplace, 2.0), real_total, method="add_noise"),
    "pydp, records": LibraryObject(
        partial(laplacian.Count, epsilon=2.0, dtype="int"), method="quick_result", entrywise=False
    ),
}


@pytest.mark.parametrize(("epsilon", "verdict"), [(2.0, Verdict.PASS), (1.0, Verdict.FAIL)])
@pytest.mark.parametrize("name", [name for name in SUBJECTS if name != "opendp, records"])
@pytest.mark.false_alarm(1e-07)
def test_verdicts(name, epsilon, verdict):
    """A PASS needs 60,000 outputs per dataset to resolve its tolerance; at 10,000 the bound of a FAIL is about 1.9."""
    result = check_privacy(
        SUBJECTS[name],
        PrivacyClaim(epsilon, 0.0, AddRemove()),
        COUNT_PAIR,
        budget=60_000 if verdict is Verdict.PASS else 10_000,
        significance=1e-7,
        method="fixed",
        tolerance=1.5,
    )
    assert result.verdict is verdict
    assert result.epsilon_lower_bound < 2


@pytest.mark.parametrize("mechanism", SUBJECTS.values(), ids=SUBJECTS)
def test_mechanisms_travel_and_say_that_a_seed_does_not_repeat_them(mechanism):
    sent = pickle.loads(pickle.dumps(mechanism))
    outputs = np.array(sent(np.array([1, 0, 1]), 50, RNG))
    assert outputs.shape == (50,)
    assert len(np.unique(outputs)) > 1
    assert mechanism.own_randomness
    assert Documented(mechanism, PointMass).own_randomness
    assert mechanism.__name__


@pytest.mark.parametrize(
    "mechanism",
    [
        LibraryObject(partial(vectors, 1.0), entrywise=False),
        LibraryObject(partial(dpl.Geometric, epsilon=1.0), method="randomise"),
        LibraryObject(partial(google_laplace, 1.0), method="add_noise"),
    ],
)
def test_vectors_are_released_entry_by_entry(mechanism):
    """Answers 10,000 apart stay in their places; noise of scale 1 reaches 1,000 with probability below e^-1000."""
    truth = np.array([0, 10_000, 20_000])
    released = np.array(mechanism(truth, 40, RNG))
    assert released.shape == (40, 3)
    assert np.all(np.abs(released - truth) < 1000)
    assert all(len(np.unique(column)) > 1 for column in (released - truth).T)


def test_categories():
    binary = LibraryObject(partial(dpl.Binary, epsilon=1.0, value0="no", value1="yes"), method="randomise")
    assert set(binary("yes", 200, RNG)) == {"yes", "no"}
    assert set(LibraryObject(warner)(True, 200, RNG)) == {True, False}


def test_what_builds_no_object_is_refused():
    with pytest.raises(InvalidArgument, match="`build` must be callable"):
        LibraryObject(3)
