"""The catalogue of checks: names, relations, tight claims, and samplers that follow their laws.

The verdict of each is that of `make audit`.
"""

from __future__ import annotations

import copy
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest

import mechanisms
from audit import AddRemove, Group, LabelFlip, Local, PrivacyCheck, Substitution, Verdict
from mechanisms import faults, real_data
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism
from tests.offenders import for_each

CHECKS = [check for check in mechanisms.BASIC if isinstance(check, PrivacyCheck)]
DECOYS = [check for check in CHECKS if check.name.startswith("decoy/")]


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def test_names_are_unique():
    names = [check.name for check in (*mechanisms.CHECKS, *faults.CHECKS, *real_data.CHECKS)]
    assert len(set(names)) == len(names)


def test_every_relation_is_used():
    used = {type(check.claim.relation) for check in CHECKS}
    assert used == {Substitution, AddRemove, LabelFlip, Local, Group}


def test_every_module_has_decoys():
    decoyed = {type(check.mechanism).__module__ for check in DECOYS}
    assert decoyed == {type(check.mechanism).__module__ for check in CHECKS}


@for_each(CHECKS)
def test_a_check_expects_pass_and_states_its_source_and_law(check):
    assert check.expected is Verdict.PASS
    assert check.claim.source
    assert callable(check.mechanism.law)


TIGHT = ("laplace/", "geometric/", "randomized response/", "noisy max/exponential")


@for_each(check for check in CHECKS if check.name.startswith(TIGHT))
def test_pure_epsilon_is_attained(check):
    losses = [check.mechanism.law(left).loss_against(check.mechanism.law(right)) for left, right in check.pairs]
    assert max(loss.epsilon(0.0) for loss in losses) == pytest.approx(check.claim.epsilon, rel=1e-9)


@for_each(c for c in CHECKS if isinstance(c.mechanism, GaussianMechanism))
def test_gaussian_delta_is_attained_but_by_the_textbook_calibration(check):
    loss = check.mechanism.privacy_loss(*check.pairs[0])
    attained = loss.delta(check.claim.epsilon) / check.claim.delta
    assert attained < 0.5 if isinstance(check.mechanism, ClassicalGaussian) else attained == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("prefix", "share"),
    [
        ("exponential/two constant hypotheses", 0.999),
        ("noisy max/laplace", 0.96),
        ("noisy max/gumbel", 0.92),
        ("sparse vector/one epoch eps", 0.95),
    ],
)
def test_pairs_come_close_to_the_claim(prefix, share):
    checks = [check for check in CHECKS if check.name.startswith(prefix)]
    assert len(checks) == 2
    for check in checks:
        losses = [check.mechanism.law(left).loss_against(check.mechanism.law(right)) for left, right in check.pairs]
        assert max(loss.epsilon(0.0) for loss in losses) >= share * check.claim.epsilon


BY_LAW = [
    check
    for check in (*mechanisms.CHECKS, *real_data.CHECKS)
    if type(check) is PrivacyCheck and check.pairs and "as called" not in check.name
]


@for_each(BY_LAW)
@pytest.mark.false_alarm(1e-8)
def test_a_mechanism_is_seeded_follows_its_law_leaves_its_data_alone_and_can_be_sent(check):
    """Null: the outputs are i.i.d. from the stated law; 2,000 of them, 1e-11 each, below 1,000 of them."""
    dataset, mechanism = check.pairs[0][0], check.mechanism
    before, kept = joblib.hash(dataset), copy.deepcopy(dataset)
    first = mechanism(dataset, 2_000, np.random.default_rng(3))
    again = pickle.loads(cloudpickle.dumps(mechanism))(kept, 2_000, np.random.default_rng(3))
    assert joblib.hash(dataset) == before
    np.testing.assert_array_equal(first, again)
    assert [len(mechanism(dataset, size, np.random.default_rng(3))) for size in (0, 1)] == [0, 1]
    if callable(getattr(mechanism, "law", None)):
        assert mechanism.law(dataset).fit_pvalue(first, np.random.default_rng(4)) > 1e-11
