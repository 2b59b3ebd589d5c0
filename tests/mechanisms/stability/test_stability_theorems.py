"""The utility theorems: reference values, verdicts of their checks, faults convicted.

Reference values were computed independently, by another implementation, before this package existed. Randomized checks
run at 1e-7 where they should hold, 0.001 where they must convict, with fixed seeds.
"""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from audit import AuditError, Verdict
from audit.checks.allowance import Allowance
from audit.checks.run import run_check
from audit.execution.seeds import Stream
from mechanisms.faults.stability import utility
from mechanisms.stability import average_stability, rates, service_theorems, sgd, soft_theorems, transfer
from mechanisms.stability.coins import SmallSGD
from mechanisms.stability.rates import MeasuredRate
from mechanisms.stability.service_theorems import dealt_mistakes, most_bad_points
from mechanisms.stability.sgd import OnePassSGD
from mechanisms.stability.sizes import ServiceSize, student_size, transfer_records
from mechanisms.stability.soft_theorems import full_run, soft_teachers, stable_alpha, unsure_probability
from tests.offenders import for_each

CHECKS = [c for m in (average_stability, rates, service_theorems, sgd, soft_theorems, transfer) for c in m.CHECKS]
SLOW = ("tenth of the labels", "self-consistent, simulated", "gamma=0.05", "weak quality becomes")


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


@pytest.mark.parametrize("check", by_name(c for c in CHECKS if not any(part in c.name for part in SLOW)))
@pytest.mark.false_alarm(1e-07)
def test_a_theorem_gets_the_verdict_that_it_expects(check):
    result = run_check(check, Allowance(20_000, 1e-3 if check.expected is Verdict.FAIL else 1e-5, Stream(20180305)))
    assert result.verdict is check.expected, result.reason


@for_each([*CHECKS, *utility.CHECKS])
def test_a_theorem_names_its_source_and_says_it_in_a_sentence(check):
    assert check.name.startswith(("stability/", "fault/stability "))
    assert check.source
    assert check.statement.endswith(".")
    if check.expected is Verdict.FAIL:
        assert "false" in check.statement


@pytest.mark.parametrize("check", by_name(utility.CHECKS))
@pytest.mark.false_alarm(1e-20)
def test_a_utility_fault_is_convicted(check):
    """Every trial fails but for 3 % in `zero for silence`: missed with a probability below 1e-20."""
    result = run_check(check, Allowance(20_000, 0.001, Stream(0)))
    assert result.verdict is Verdict.FAIL, result.reason


def test_utility_faults_state_their_privacy():
    for subject in (utility.FewTeachers, utility.OnlyShifted, utility.OnlyShiftedScores, utility.ZeroForSilence):
        assert "True privacy:" in inspect.getdoc(subject)


@pytest.mark.parametrize(
    ("records", "queries", "teachers", "cutoff"), [(1e10, 1e6, 3.5e6, 29_325), (1e9, 1e4, 5.6e5, 1_174)]
)
def test_sizes_of_a_service(records, queries, teachers, cutoff):
    size = ServiceSize(records, queries)
    assert math.ceil(size.cutoff()) == cutoff
    assert size.teachers(size.cutoff()) == pytest.approx(teachers, rel=0.01)
    k = size.teachers(size.cutoff())
    assert 3 * size.mistakes(k, size.error(k)) == pytest.approx(size.cutoff(), rel=1e-9)


@pytest.mark.parametrize(("records", "cutoff"), [(1e8, 688), (3e8, 77)])
def test_self_consistent_cutoffs(records, cutoff):
    assert ServiceSize(records, 1e6).stable_cutoff() == pytest.approx(cutoff, rel=0.01)


def slope(evaluator, size):
    low, high = (math.log(evaluator(size * factor)) for factor in (0.99, 1.01))
    return (high - low) / math.log(1.01 / 0.99)


@pytest.mark.parametrize(
    ("evaluator", "size", "exponent"),
    [
        (lambda n: ServiceSize(n, 1e8).rate(), 1e10, -2.17),
        (lambda m: ServiceSize(1e10, m).rate(), 1e8, 1.22),
        (lambda n: ServiceSize(n, 1e24).rate(), 1e20, -2.09),
        (lambda m: ServiceSize(1e20, m).rate(), 1e24, 1.11),
        (lambda n: ServiceSize(n, n ** (4 / 3)).rate(), 1e20, -0.622),
        (lambda n: ServiceSize(n, n**0.8, realizable=False).rate(), 1e10, -0.379),
        (lambda n: ServiceSize(n, n**0.8, realizable=False).rate(), 1e20, -0.386),
        (lambda n: ServiceSize(n, n**0.8, realizable=False).rate(), 1e40, -0.391),
        (lambda n: ServiceSize(n, n, deviation="chernoff").rate(), 1e20, -0.977),
        (lambda n: ServiceSize(n, n, deviation="chernoff").rate(), 1e40, -0.985),
        (lambda size: transfer_records(1 / size, 1.0, True), 1e1, 1.76),
        (lambda size: transfer_records(1 / size, 1.0, True), 1e16, 1.55),
        (lambda size: transfer_records(1 / size, 1.0, False), 1e1, 2.76),
        (lambda size: transfer_records(1 / size, 1.0, False), 1e16, 2.55),
    ],
)
def test_exponents_against_reference_values(evaluator, size, exponent):
    assert slope(evaluator, size) == pytest.approx(exponent, abs=0.008)


def test_public_points_of_a_student():
    assert student_size(0.05, 1.0) == pytest.approx(4 * (1 + math.log(400)) / 0.0025)


@pytest.mark.parametrize(("teachers", "mistakes", "points"), [(3, 2, 4), (4, 1, 5), (3, 3, 4), (2, 2, 4)])
@pytest.mark.parametrize("share", [Fraction(1, 3), Fraction(1, 2)])
def test_the_extremum_is_that_of_all_layouts(teachers, mistakes, points, share):
    """Each teacher errs on any set of at most B points: all of them, tried."""
    rows = [row for row in product((0, 1), repeat=points) if sum(row) <= mistakes]
    most = max(
        sum(count > share * teachers for count in np.sum(table, axis=0).tolist())
        for table in product(rows, repeat=teachers)
    )
    assert most == most_bad_points(teachers, mistakes, share, points)
    assert most < mistakes / share


def test_mistakes_dealt_in_turn():
    table = dealt_mistakes(101, 10, 34, 500)
    assert table.sum(axis=1).max() <= 10
    bad = np.sum(table.sum(axis=0) > 101 / 3)
    assert bad == most_bad_points(101, 10, Fraction(1, 3), 500) == 29


@pytest.mark.parametrize(("ratio", "share"), [(1, 0.521), (2, 0.0680), (3, 0.00384), (4, 8.8e-5)])
def test_unsure_points_of_two_gaussians(ratio, share):
    assert unsure_probability(ratio) == pytest.approx(share, rel=3e-3)


def test_the_full_run_of_soft_labels():
    """One run of 86,795 teachers: all of 1,000 queries answered, the 20 on the border by the shifted partition."""
    assert soft_teachers(1.0, 1e-6, 1000, 20, 0.05) == 86_795
    assert soft_teachers(1e6, 1e-6, 1000, 20, 0.05) == math.ceil(72 * math.log(20_000))
    assert 4 * stable_alpha(1.0, 1e-6, 1000, 20, 0.05) == pytest.approx(86_795, abs=1)
    run = full_run(6400)
    scores = run.scores(np.random.default_rng(1))
    doubtful = run.cells() == 3
    assert doubtful.sum() == 20
    assert np.abs(scores - run.expected()).max() == pytest.approx(0.03, abs=1e-6)
    assert np.all(np.abs(scores[doubtful] - 0.3) < 1e-9)
    assert full_run(1600).widest > 0.1 > run.widest


def test_a_corrupted_theorem_is_refuted():
    """The checks can fail: three quarters of T, and a bound on the scores of a hundredth."""
    trials = service_theorems.SpreadMistakes(10, 15, 2000, 200_001)
    assert not trials(20, np.random.default_rng(0)).any()
    near = soft_theorems.ScoresNear(full_run(6400, 200, 4, 4.0), 0.01)
    assert not near(2, np.random.default_rng(0)).any()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: ServiceSize(0, 1), "records"),
        (lambda: ServiceSize(1, 1, vc=-1.0), "vc"),
        (lambda: ServiceSize(1, 1, delta=1.0), "delta"),
        (lambda: ServiceSize(1, 1, deviation="bernstein"), "deviation"),
        (lambda: MeasuredRate("teachers", 1e6), "axis"),
        (lambda: student_size(0.0, 1.0), "alpha"),
        (lambda: dealt_mistakes(3, 2, 0, 4), "each"),
    ],
)
def test_what_is_refused(make, name):
    with pytest.raises(AuditError, match=f"`{name}` must"):
        make()


def test_small_sgd_is_the_learner_that_people_fit():
    """In data order and from 0, each score is that of `OnePassSGD` without its penalty; mu by hand for two records."""
    small = SmallSGD(2, 0.5, shuffled=False)
    fitted = [OnePassSGD(penalty=0.0).fit(np.ones((2, 1)), y).predict(np.ones((1, 1)))[0] for y in small.labels]
    assert small.scores()[0] == pytest.approx(fitted, abs=1e-15)
    first = ((fitted[0] - fitted[2]) ** 2 + (fitted[1] - fitted[3]) ** 2) / 2  # the first record's label changes
    second = ((fitted[0] - fitted[1]) ** 2 + (fitted[2] - fitted[3]) ** 2) / 2
    assert small.stability() ** 2 == pytest.approx((first + second) / 4)  # it changes half of the time
