"""Every check of the package says what it expects; every fault is convicted, no decoy is.

Significance 1e-7 a check for what should hold (below 1e-5 for the file), 0.001 for what must be convicted. A fault that
is convicted by sampling is so with a fixed seed; over eight other seeds every certified bound lay above the claim by
at least four times its standard deviation.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

from audit import PrivacyCheck, Verdict, run
from audit.checks.allowance import Allowance
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.execution.batches import Stream
from mechanisms import local
from mechanisms.faults import local as faults
from tests.offenders import for_each

UTILITY = [check for check in (*local.CHECKS, *faults.CHECKS) if isinstance(check, StatedCheck)]
FAULTS = [check for check in faults.CHECKS if isinstance(check, PrivacyCheck)]
SLOW = ("literal classifier and evaluator", "rate d=1 s=1, simulated", "aggregate sampler and evaluator d=2")
CHEAP = 50_000  # `dp-audit run` of the two packages does the slow and the expensive ones


def is_heavy(check):
    return "d=3 eps=0.5" in check.name


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def inner(mechanism):
    """The broken mechanism inside a wrapper that only hides or cuts it."""
    while type(mechanism).__name__ in ("Released", "OneCell"):
        mechanism = mechanism.array
    return mechanism


def test_names():
    names = [check.name for check in (*local.CHECKS, *faults.CHECKS)]
    assert len(names) > 190
    assert len(set(names)) == len(names)
    assert all(check.name.startswith(("local/", "decoy/local ")) for check in local.CHECKS)
    assert all(check.name.startswith("fault/local ") for check in faults.CHECKS)


def test_every_fault_expects_conviction_within_its_budget():
    for check in faults.CHECKS:
        assert check.expected is Verdict.FAIL
        assert check.budget is None or check.budget <= 200_000


@for_each(FAULTS)
def test_a_fault_says_what_it_gives(check):
    assert "True privacy:" in inspect.getdoc(type(inner(check.mechanism)))


@for_each(check for check in local.CHECKS if check.name.startswith("decoy/"))
def test_a_decoy_is_not_expected_to_fail(check):
    assert check.expected is Verdict.PASS


@for_each(UTILITY)
def test_a_theorem_names_its_source_and_says_it_in_a_sentence(check):
    assert check.source
    assert check.statement.endswith(".")
    if check.expected is Verdict.FAIL and check.name.startswith("local/"):
        assert "false" in check.statement


@pytest.mark.parametrize("check", by_name(check for check in UTILITY if not any(part in check.name for part in SLOW)))
@pytest.mark.false_alarm(1e-08)
def test_a_utility_check_gets_the_verdict_that_it_expects(check):
    share = 1e-3 if check.expected is Verdict.FAIL else 1e-8
    result = run_check(check, Allowance(100_000, share, Stream(20190501, (len(check.name),))))
    assert result.verdict is check.expected, result.reason


@pytest.mark.parametrize("check", by_name(check for check in FAULTS if check.budget <= CHEAP))
def test_a_privacy_fault_is_convicted(check):
    report = run([check], significance=0.001, seed=1, workers=0)
    assert report.results[0].verdict is Verdict.FAIL, report.results[0].reason


STATED = [check for check in local.CHECKS if isinstance(check, PrivacyCheck) and hasattr(check.mechanism, "law")]


@pytest.mark.parametrize("check", by_name(check for check in STATED if not is_heavy(check)))
@pytest.mark.false_alarm(1e-07)
def test_a_stated_law_decides_exactly(check):
    """1e-7 each: a sampler that follows its law is accused of a misfit with this probability.

    The law decides at any budget; 2,000 outputs per dataset are compared with it. No guess game is played beside it:
    it decides nothing where a law is stated. `make audit` plays all of them.
    """
    result = run([replace(check, method="exact", budget=2_000)], significance=1e-7, seed=1, workers=0).results[0]
    assert result.verdict is check.expected, result.reason
    assert result.basis == "law"


def test_outputs_come_from_the_generator_alone():
    for check in faults.CHECKS:
        if isinstance(check, PrivacyCheck):
            first, second = (check.mechanism(check.pairs[0][0], 30, np.random.default_rng(9)) for _ in range(2))
            assert len(first) == 30
            np.testing.assert_array_equal(first, second)
