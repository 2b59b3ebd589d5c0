"""The catalogue of checks: names, tight claims, samplers that follow their laws; the releases on real data.

The verdict of each is that of `make audit`, whose committed certificate is whole.
"""

import copy
import pickle
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pytest

import mechanisms
from audit import InequalityCheck, PrivacyCheck, Verdict
from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems
from audit.checks.result import show
from mechanisms import faults, real_data
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism
from tests.offenders import for_each

CHECKS = [check for check in mechanisms.BASIC if isinstance(check, PrivacyCheck)]


def test_names_are_unique():
    names = [check.name for check in (*mechanisms.CHECKS, *faults.CHECKS, *real_data.CHECKS)]
    assert len(set(names)) == len(names)


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


def test_extreme_swap_moves_the_mean_by_its_whole_sensitivity():
    left, right = real_data.extreme_swap(real_data.column("age"))
    moved = real_data.AGE(right) - real_data.AGE(left)
    assert moved == pytest.approx(24.5 / real_data.RECORDS, rel=1e-9)
    assert moved <= real_data.AGE.sensitivity(real_data.RECORDS)


REFERENCE = Path(__file__).parents[2] / "reports"


def test_the_committed_certificate_is_whole():
    """Its schema, sums and verdicts hold; tests/core/certificate/test_forgeries.py shows what is refused."""
    assert list_problems(load_certificate(REFERENCE)) == []


@cache
def read_records():
    return {record["name"]: record for record in load_certificate(REFERENCE)["checks"]}


def without_words(claim):
    return {part: value for part, value in claim.items() if part not in ("statement", "source")}


RECORDED = (*mechanisms.CHECKS, *real_data.CHECKS)


@for_each(RECORDED)
def test_a_check_has_the_claim_and_the_pairs_of_the_committed_certificate(check):
    record = read_records()[check.name]
    assert without_words(check.recorded_claim()) == without_words(record["claim"])
    if getattr(check, "pairs", None) and not check.datasets:
        assert [{"left": show(left), "right": show(right)} for left, right in check.pairs] == record["pairs"]


COSTLY = (
    "bassily2018/distance*", "*/rate self-consistent*", "*/exact loss, any*", "*/regression error*",
    "*/equation [57] with*", "*/sample size on*", "*/covers cover", "*/packings pack",
    "*/every learner, n*", "zhao2024/excess [ar]*",
)  # fmt: skip
CASES = [
    check
    for check in mechanisms.CHECKS
    if isinstance(check, InequalityCheck)
    and check.values is not None
    and not any(fnmatch(check.name, pattern) for pattern in COSTLY)
]


@pytest.mark.parametrize("paper", mechanisms.PAPERS)
def test_the_numbers_of_a_statement_are_those_of_the_committed_certificate(paper):
    """A statement with room would hold with a wrong constant as well; the costly ones are left to `make audit`."""

    @for_each(check for check in CASES if check.name.startswith(f"{paper}/"))
    def compare(check):
        recorded = read_records()[check.name]["evidence"]["cases"]
        found = list(check.values())
        assert [label for label, *_ in found] == [case["label"] for case in recorded]
        numbers = [[float(case["quantity"]), float(case["bound"])] for case in recorded]
        np.testing.assert_allclose([row[1:] for row in found], numbers, rtol=1e-6, atol=1e-12)

    compare()


@for_each(check for check in RECORDED if getattr(check, "evaluator", None))
def test_the_smallest_size_of_a_rate_has_the_risk_of_the_committed_certificate(check):
    first = read_records()[check.name]["evidence"]["points"][0]
    assert check.evaluator(first["size"]) == pytest.approx(first["exact"], rel=1e-6, abs=1e-12)
