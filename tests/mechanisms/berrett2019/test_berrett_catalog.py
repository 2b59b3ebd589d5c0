"""The verdicts of its catalog: every claim holds, every fault is convicted, no decoy is.

Significance 1e-7 a check for what should hold (below 1e-5 for the file), 0.001 for what must be convicted. A fault that
is convicted by sampling is so with a fixed seed; over eight other seeds every certified bound lay above the claim by
at least four times its standard deviation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit import EstimatorCheck, PrivacyCheck, Verdict, run
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms.learners import LocalVoteClassifier
from mechanisms.papers import berrett2019
from mechanisms.papers.berrett2019 import faults
from tests.mechanisms.conviction import by_game

EVERY = [*berrett2019.CHECKS, *faults.CHECKS]
UTILITY = [check for check in EVERY if isinstance(check, StatedCheck)]
FAULTS = [check for check in faults.CHECKS if isinstance(check, PrivacyCheck)]
STATED = [check for check in berrett2019.CHECKS if isinstance(check, PrivacyCheck) and check.method == "exact"]
SLOW = ("fits and evaluator", "rate d=1 s=1, simulated", "aggregate sampler and evaluator d=2")
CHEAP = 50_000  # `dp-audit run` does the slow and the expensive ones


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def test_the_example_on_the_page():
    """Fixed seed; at eps = 2 and 20,000 users each of the four votes is 5 deviations from 0."""
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 1))
    learner = LocalVoteClassifier(2.0, 0.125, bounds=(0, 1), projection=None, classes=[0, 1], random_state=0)
    with pytest.warns(UserWarning, match="random_state"):
        learner.fit(X, X[:, 0] > 0.5)
    assert learner.predict([[0.1], [0.3], [0.7], [0.9]]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("check", by_name(check for check in UTILITY if not any(part in check.name for part in SLOW)))
@pytest.mark.false_alarm(1e-08)
def test_a_utility_check_gets_the_verdict_that_it_expects(check):
    share = 1e-3 if check.expected is Verdict.FAIL else 1e-8
    result = run_check(check, Allowance(100_000, share, Stream(20190501, (len(check.name),))))
    assert result.verdict is check.expected, result.reason


@pytest.mark.parametrize("check", by_name(check for check in FAULTS if check.budget <= CHEAP))
def test_a_privacy_fault_is_convicted(check):
    report = run([by_game(check)], significance=0.001, seed=1, workers=0)
    assert report.results[0].verdict is Verdict.FAIL, report.results[0].reason


@pytest.mark.parametrize("check", by_name(STATED))
@pytest.mark.false_alarm(1e-08)
def test_a_stated_law_decides_exactly(check):
    """1e-8 each: a sampler that follows its law is accused of a misfit with this probability.

    The law decides at any budget; 2,000 outputs per dataset are compared with it.
    """
    assert not isinstance(check, EstimatorCheck)
    result = run([replace(check, budget=2_000)], significance=1e-8, seed=1, workers=0).results[0]
    assert result.verdict is check.expected, result.reason
    assert result.basis == "law"


def test_outputs_come_from_the_generator_alone():
    for check in FAULTS:
        first, second = (check.mechanism(check.pairs[0][0], 30, np.random.default_rng(9)) for _ in range(2))
        assert len(first) == 30
        np.testing.assert_array_equal(first, second)
