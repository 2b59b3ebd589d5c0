"""Canaries: a plan binds its coins, what is planted is what it says, and scores are larger for what was included."""

import numpy as np
import pytest

import audit
from audit import Labeled
from audit.errors import InvalidArgument
from audit.extensions import training

DATA = Labeled(np.arange(40.0).reshape(20, 2), np.arange(20) % 4)


def test_a_plan_is_bound_by_its_digest():
    plan = training.CanaryPlan.flip(200, canaries=DATA)
    assert training.CanaryPlan.from_json(plan.to_json(), plan.digest) == plan
    other = training.CanaryPlan((not plan.included[0], *plan.included[1:]), plan.nonce, plan.canaries)
    renamed = training.CanaryPlan(plan.included, plan.nonce[::-1], plan.canaries)
    assert len({plan.digest, other.digest, renamed.digest}) == 3
    with pytest.raises(InvalidArgument, match="`digest` must be that of the plan"):
        training.CanaryPlan.from_json(other.to_json(), plan.digest)
    for text in ("", "{}", plan.to_json().replace("1", "2")):
        with pytest.raises(InvalidArgument, match="`text` must"):
            training.CanaryPlan.from_json(text)


@pytest.mark.false_alarm(1e-9)
def test_the_coins_are_fair_and_of_the_system():
    """Null: 10,000 fair coins, off by more than 6.1 deviations with probability 1e-9."""
    plan = training.CanaryPlan.flip(10_000)
    assert abs(len(plan.places) - 5_000) < 305
    assert plan != training.CanaryPlan.flip(10_000)
    assert training.CanaryPlan.flip(50, seed=1) == training.CanaryPlan.flip(50, seed=1)


def test_what_is_planted_is_what_the_plan_says():
    canaries = training.mislabeled_canaries(DATA, 8, rng=np.random.default_rng(0))
    plan = training.CanaryPlan.flip(8, canaries=canaries, seed=2)
    planted = training.plant(DATA, canaries, plan)
    assert np.array_equal(planted.X[20:], canaries.X[plan.places])
    assert np.array_equal(planted.y[20:], canaries.y[plan.places])
    included, left_out = plan.split(np.arange(8))
    assert sorted([*included, *left_out]) == list(range(8))
    assert included.tolist() == plan.places.tolist()
    with pytest.raises(InvalidArgument, match="those of the plan"):
        training.plant(DATA, Labeled(canaries.X + 1, canaries.y), plan)
    with pytest.raises(InvalidArgument, match="as many as the plan's coins, 8"):
        training.plant(DATA, DATA, plan)
    with pytest.raises(InvalidArgument, match="one number for each of the 8"):
        plan.split(np.arange(9))


def test_mislabeled_canaries_are_records_with_wrong_labels():
    canaries = training.mislabeled_canaries(DATA, 20, rng=np.random.default_rng(0))
    places = (canaries.X[:, 0] / 2).astype(int)
    assert sorted(places) == list(range(20))
    assert not (canaries.y == DATA.y[places]).any()
    assert set(canaries.y) <= set(DATA.y)
    with pytest.raises(InvalidArgument, match="two classes"):
        training.mislabeled_canaries(Labeled(DATA.X, np.zeros(20)), 3, rng=np.random.default_rng(0))


def test_scores_are_larger_for_what_was_included():
    """A learner that remembers: its loss on a canary is smaller if the canary was planted."""
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(0)
    data = Labeled(rng.normal(size=(60, 2)), np.arange(60) % 3)
    base = KNeighborsClassifier(1).fit(data.X, data.y)
    candidates = rng.normal(size=(40, 2))
    canaries = training.mislabeled_canaries(Labeled(candidates, base.predict(candidates)), 20, rng=rng)
    plan = training.CanaryPlan.flip(20, canaries=canaries, seed=1)
    planted = training.plant(data, canaries, plan)
    model = KNeighborsClassifier(1).fit(planted.X, planted.y)
    own = np.arange(20), np.searchsorted(model.classes_, canaries.y)
    scores, reference = (np.maximum(each.predict_proba(canaries.X)[own], 1e-12) for each in (model, base))
    included, left_out = plan.split(np.log(scores / reference))
    assert included.min() > 20
    assert np.mean(left_out < 1) > 0.7  # a canary may be the nearest neighbor of another one
    assert audit.check_canaries(included, left_out, audit.PrivacyClaim(1.0), guesses=20).epsilon_lower_bound > 0.8
