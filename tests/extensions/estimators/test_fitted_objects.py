"""Whole fitted objects as outputs: what they carry beside their predictions is seen, and what is refused is named.

The wrong learners below tell the first record with certainty. At significance 1e-6 and a budget of 300 outputs per
dataset each is convicted for sure; the right one, with Laplace noise of the claimed scale, fails with probability 1e-6.
"""

import numpy as np
import pytest

from audit import FittedObject, Predictions, PrivacyClaim, Released, Substitution, Verdict, check_privacy
from audit.extensions.adapters import Documented
from audit.extensions.estimators.fits import list_set_orders, show
from audit.extensions.estimators.neighbors import COLUMN, ORDER, named_pairs
from audit.laws import Laplace
from audit.outputs.walk import walk
from tests.offenders import refused

PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))


class NoisySum:
    """Releases the sum with Laplace(1) noise: 1-DP where a record lies in [0, 1]."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X):
        rng = np.random.default_rng(self.random_state)
        self.sum_ = float(np.sum(X) + rng.laplace())
        self.keep(X, rng)
        return self

    def keep(self, X, rng):
        pass

    def predict(self, X):
        return np.full(len(X), self.sum_ > 0.5)


class KeepsOrder(NoisySum):
    def keep(self, X, rng):
        self.names_ = {"a": 0, "b": 1} if X[0] else {"b": 1, "a": 0}


class KeepsOrderOfASet(NoisySum):
    """0 and 8 share a slot of a small set: the one that came first comes out first."""

    def keep(self, X, rng):
        self.names_ = set([8, 0] if X[0] else [0, 8])


class KeepsARecordDeep(NoisySum):
    def keep(self, X, rng):
        first = float(X[0])
        self.parts_ = [{"model": NoisySum()}, lambda x: x + first]


class KeepsGenerator(NoisySum):
    def keep(self, X, rng):
        self.rng_ = rng


class ChangesWhenAsked(NoisySum):
    def keep(self, X, rng):
        self.asked_ = 0

    def predict(self, X):
        self.asked_ += 1
        return super().predict(X)


def check(mechanism, **settings):
    claim = PrivacyClaim(1.0, 0.0, Substitution())
    return check_privacy(mechanism, claim, [PAIR], **{"budget": 1_000, "significance": 1e-6, "seed": 3, **settings})


@pytest.mark.parametrize("kind", [KeepsOrder, KeepsOrderOfASet, KeepsARecordDeep])
def test_what_predictions_hide_is_convicted(kind):
    assert check(FittedObject(kind, np.zeros(2)), budget=300).verdict is Verdict.FAIL


def test_a_learner_that_keeps_its_release_alone_is_not():
    assert check(FittedObject(NoisySum, np.zeros(2)), budget=300).verdict is not Verdict.FAIL


def test_predictions_are_those_of_fresh_fits_and_repeat_under_a_random_state():
    votes, again = (np.array(Predictions(NoisySum, np.zeros(3))(PAIR[0], 200, np.random.default_rng(7))) for _ in "ab")
    assert votes.shape == (200, 3)
    assert set(np.unique(votes)) == {0, 1}
    assert np.array_equal(votes, again)
    assert not Predictions(NoisySum, [0]).own_randomness
    assert Predictions(lambda: NoisySum(), [0]).own_randomness


def test_a_learner_that_raises_gives_the_exception_as_output():
    def fragile():
        raise RuntimeError("no luck")

    outputs = Predictions(fragile, np.zeros(1))(PAIR[0], 2, np.random.default_rng(0))
    assert [str(output) for output in outputs] == ["raised RuntimeError: no luck"] * 2


def test_a_generator_is_named():
    refused = check(FittedObject(KeepsGenerator))
    assert refused.verdict is Verdict.INCONCLUSIVE
    assert "Generator, which could be rewound" in refused.reason


def test_the_seed_of_the_audit_is_no_part_of_the_output():
    output = FittedObject(NoisySum)(PAIR[0], 1, np.random.default_rng(0))[0]
    assert output["learner"].random_state is None
    assert output["pickle"] == "as the attributes"


def test_predictions_leave_the_learner_as_it_was_fitted():
    output = FittedObject(ChangesWhenAsked, np.zeros(2))(PAIR[0], 1, np.random.default_rng(0))[0]
    assert output["learner"].asked_ == 0
    assert output["predict"].shape == (2,)


def test_a_learner_without_a_pickle_says_so():
    assert show(KeepsARecordDeep().fit(PAIR[0]), None)["pickle"].startswith("not pickled")


def test_parts_are_found_at_any_depth():
    learner = KeepsARecordDeep().fit(PAIR[1])
    learner.more_ = (learner, [frozenset({3})], np.array([{5}, None]), learner.predict)
    assert sorted(map(sorted, list_set_orders(learner))) == [[3], [5]]
    assert sum(part is learner for part in walk(learner)) == 1


def law_of_sum(data):
    return Laplace(float(np.sum(data)), 1.0)


def shown_sum(learner):
    return learner.sum_


def with_sum(learner, value, size):
    learner.sum_ = value
    return learner


def test_a_release_is_exact_if_nothing_else_is_carried():
    right, wrong = (
        check(Documented(Released(kind, shown_sum, with_sum), law_of_sum), method="exact")
        for kind in (NoisySum, KeepsOrder)
    )
    assert right.verdict is Verdict.PASS
    assert right.exact_epsilon == pytest.approx(1.0)
    assert wrong.verdict is Verdict.INCONCLUSIVE
    assert "the sampler and its stated law disagree" in wrong.reason


class WithTies(NoisySum):
    def keep(self, X, rng):
        self.ties_ = int(np.random.default_rng().integers(2**31))


def sum_and_ties(learner):
    return learner.sum_, learner.ties_


def with_both(learner, revealed, size):
    learner.sum_, learner.ties_ = revealed
    return learner


def first(revealed):
    return revealed[0]


def test_a_part_of_the_release_may_be_shown():
    outputs = Released(WithTies, sum_and_ties, with_both, first)(PAIR[0], 3, np.random.default_rng(0))
    assert all(isinstance(output, float) for output in outputs)
    outputs = Released(WithTies, shown_sum, with_sum)(PAIR[0], 3, np.random.default_rng(0))
    assert all(isinstance(output, dict) for output in outputs)


test_wrong_arguments_are_refused = refused([
    (lambda: FittedObject(3), "`build` must be callable"),
    (lambda: Predictions(3, [0]), "`build` must be callable"),
    (lambda: Released(NoisySum, 3, with_sum), "`reveal` must be callable"),
    (lambda: Released(NoisySum, shown_sum, None), "`rebuild` must be callable"),
])  # fmt: skip


def test_a_constant_column_hides_no_record_that_is_far_from_the_first():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 5.0], [1.0, 0.2]])
    left, right = named_pairs(X, Substitution())[ORDER]
    assert (left[0, 1], right[0, 1]) == (0.0, 5.0)


def test_a_column_that_is_constant_is_the_first_and_the_others_stay():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    left, right = named_pairs(X, Substitution())[COLUMN]
    assert left.tolist() == [[1.0, 2.0], [1.0, 4.0], [1.0, 6.0]]
    assert right[0, 0] != 1.0
    assert np.array_equal(right[1:], left[1:])
