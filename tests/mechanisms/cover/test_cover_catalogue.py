"""Every check of the package says what it expects; every fault is convicted, no decoy is.

Significance 1e-7 a check for what should hold (below 1e-5 for the file), 0.001 for what must be convicted, with fixed
seeds; over five seeds every certified bound of a fault lay above its claim by 0.25 and more.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

from audit import PackingCheck, PrivacyCheck, Verdict, run
from audit.checks import search as pair_search
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms import cover
from mechanisms.faults import cover as faults
from tests.offenders import for_each

ALL = [*cover.CHECKS, *faults.CHECKS]
UTILITY = [check for check in ALL if isinstance(check, StatedCheck)]
PRIVACY = [check for check in cover.CHECKS if isinstance(check, PrivacyCheck)]
FAULTS = [check for check in faults.CHECKS if isinstance(check, PrivacyCheck)]
SLOW = ("on the sphere m=", "noise=0.2 m=")  # seconds each; `dp-audit run mechanisms.cover` does them


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def test_names():
    names = [check.name for check in ALL]
    assert len(set(names)) == len(names)
    assert all(check.name.startswith(("cover/", "decoy/cover ")) for check in cover.CHECKS)
    assert all(check.name.startswith("fault/cover ") for check in faults.CHECKS)


def test_every_fault_expects_conviction_within_its_budget():
    for check in faults.CHECKS:
        assert check.expected is Verdict.FAIL
        assert check.budget <= 200_000


@for_each(FAULTS)
def test_a_fault_says_what_it_gives(check):
    assert "True privacy:" in inspect.getdoc(type(check.mechanism))


@for_each(UTILITY)
def test_a_theorem_names_its_source_and_says_it_in_a_sentence(check):
    assert check.source
    assert check.statement.endswith(".")
    if check.expected is Verdict.FAIL:
        assert "false" in check.statement


@pytest.mark.parametrize("check", by_name(check for check in UTILITY if not any(part in check.name for part in SLOW)))
@pytest.mark.false_alarm(1e-08)
def test_a_utility_check_gets_the_verdict_that_it_expects(check):
    share = 1e-3 if check.expected is Verdict.FAIL else 1e-8
    result = run_check(check, Allowance(100_000, share, Stream(20110601, (len(check.name),))))
    assert result.verdict is check.expected, result.reason


@pytest.mark.parametrize("check", by_name(check for check in PRIVACY if check.datasets is None))
@pytest.mark.false_alarm(1e-07)
def test_a_privacy_check_gets_the_verdict_that_it_expects(check):
    """1e-7 each: a sampler that follows its law is accused of a misfit with this probability.

    A law decides at any budget; 2,000 outputs per dataset are compared with it. No guess game is played beside it:
    it decides nothing where a law is stated. `make audit` plays all of them.
    """
    if hasattr(check.mechanism, "law"):
        check = replace(check, method="exact", budget=2_000)
    result = run([check], significance=1e-7, seed=1, workers=0).results[0]
    assert result.verdict is check.expected, result.reason
    if check.expected is Verdict.PASS:
        assert result.basis == "law"


@pytest.mark.parametrize("check", by_name(FAULTS))
def test_a_privacy_fault_is_convicted(check):
    report = run([check], significance=0.001, seed=1, workers=0)
    assert report.results[0].verdict is Verdict.FAIL, report.results[0].reason


def test_the_search_shrinks_its_pair(monkeypatch):
    """A3 under substitution: the pair that the search found has points in few places."""
    monkeypatch.setattr(pair_search, "_EXAMPLES", 60)  # 200 find nothing larger
    (check,) = [check for check in PRIVACY if check.name.endswith("searched")]
    result = run([check], significance=1e-3, seed=1, workers=0).results[0]
    assert result.verdict is Verdict.FAIL
    left, right = result.check.pairs[0]
    assert len(left) == len(right) <= 12
    assert np.unique(np.r_[left.X, right.X]).size <= 4


def test_outputs_come_from_the_generator_alone():
    for check in FAULTS:
        first, second = (check.mechanism(check.pairs[0][0], 30, np.random.default_rng(9)) for _ in range(2))
        np.testing.assert_array_equal(first, second)


def test_packing_checks_convict_and_do_not():
    packings = [check for check in ALL if isinstance(check, PackingCheck)]
    assert {check.expected for check in packings} == {Verdict.PASS, Verdict.FAIL}
