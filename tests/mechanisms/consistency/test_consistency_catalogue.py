"""The catalogue: every theorem has its checks, what is false as printed is convicted, faults fall and decoys stand."""

from __future__ import annotations

import fnmatch
import pickle
import re
from pathlib import Path

import pytest

import audit
import mechanisms
from audit import PrivacyCheck, Verdict
from mechanisms import consistency, fitted
from mechanisms.consistency import long_runs
from mechanisms.faults import consistency as faults
from tests.offenders import for_each

DOCS = Path(__file__).resolve().parents[3] / "docs" / "consistency.md"
ALL = [*consistency.CHECKS, *long_runs.CHECKS, *faults.CHECKS]
SLOW_FAULTS = ("noisy label counts", "noise on the means", "half the budget", "one noise for both")
SLOW = ("theorem 1.7", "equation 12", "remark 1.8", "open question 3 pure", "histograms", "theorem 4.2")


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def run(check, budget):
    """One check at a significance of 1e-7, so that the whole file stays below 1e-5."""
    return audit.run([check], workers=0, significance=1e-7, budget=budget).results[0]


def test_names_are_unique_and_sources_are_given():
    names = [check.name for check in ALL]
    assert len(set(names)) == len(names) > 150
    for check in ALL:
        cited = re.search(r"theorem|equation|lemma|remark|footnote|question", check.claim.source.lower())
        assert cited, check.name


@for_each(ALL)
def test_checks_can_be_sent_to_a_worker(check):
    assert pickle.loads(pickle.dumps(check)).name == check.name


def test_what_is_false_says_so():
    for check in consistency.CHECKS:
        refuted = "is false" in check.name or "too few" in check.name
        assert (check.expected is Verdict.FAIL) == refuted, check.name


def test_the_table_of_claims_covers_40_claims_with_checks_that_exist():
    names = [check.name for check in [*ALL, *mechanisms.CHECKS, *fitted.CHECKS]]
    rows = re.findall(r"^\| (\d+) \|.*\| (.*) \|$", DOCS.read_text(), flags=re.M)
    assert [int(number) for number, _ in rows] == list(range(1, 41))
    for number, cell in rows:
        patterns = re.findall(r"`([^`]+)`", cell)
        assert patterns, f"claim {number} names no check"
        for pattern in patterns:
            assert fnmatch.filter(names, pattern.replace("[", "[[]")), f"claim {number}: {pattern}"


QUICK_FALSE = [c for c in consistency.CHECKS if c.expected is Verdict.FAIL and not any(s in c.name for s in SLOW)]


@pytest.mark.parametrize("check", by_name(QUICK_FALSE))
def test_statements_that_are_false_as_printed_are_convicted(check):
    assert run(check, 60_000).verdict is Verdict.FAIL


QUICK_FAULTS = [c for c in faults.CHECKS if not any(slow in c.name for slow in SLOW_FAULTS)]


@pytest.mark.parametrize("check", by_name(QUICK_FAULTS))
def test_faults_are_convicted(check):
    """At a budget of 30,000 per dataset every effect is at least ten standard deviations from the claim."""
    assert run(check, 30_000).verdict is Verdict.FAIL


@pytest.mark.parametrize("check", by_name(c for c in consistency.CHECKS if c.name.startswith("decoy/")))
def test_decoys_are_not_convicted(check):
    assert run(check, 30_000).verdict is Verdict.PASS


@for_each(c for c in faults.CHECKS if isinstance(c, PrivacyCheck))
def test_a_fault_states_its_true_privacy_and_keeps_to_its_budget(check):
    assert "True privacy:" in type(check.mechanism).__doc__
    assert check.expected is Verdict.FAIL
    assert check.budget <= 200_000
