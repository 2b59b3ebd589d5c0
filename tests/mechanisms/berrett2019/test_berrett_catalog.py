"""Every check of the folder says what it expects and belongs to a statement; every fault is convicted, no decoy is.

Significance 1e-7 a check for what should hold (below 1e-5 for the file), 0.001 for what must be convicted. A fault that
is convicted by sampling is so with a fixed seed; over eight other seeds every certified bound lay above the claim by
at least four times its standard deviation.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

from audit import EstimatorCheck, PrivacyCheck, Verdict, run
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from benchmarks import local_classification
from mechanisms.learners import LocalVoteClassifier
from mechanisms.papers import berrett2019
from mechanisms.papers.berrett2019 import faults
from tests.mechanisms.conviction import by_game
from tests.offenders import for_each

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "local-classification.md").read_text()
STATEMENTS = tomllib.loads((Path(berrett2019.__file__).parent / "statements.toml").read_text())["statement"]
EVERY = [*berrett2019.CHECKS, *faults.CHECKS]
NAMES = [check.name for check in EVERY]
UTILITY = [check for check in EVERY if isinstance(check, StatedCheck)]
FAULTS = [check for check in faults.CHECKS if isinstance(check, PrivacyCheck)]
STATED = [check for check in berrett2019.CHECKS if isinstance(check, PrivacyCheck) and check.method == "exact"]
SLOW = ("fits and evaluator", "rate d=1 s=1, simulated", "aggregate sampler and evaluator d=2")
CHEAP = 50_000  # `dp-audit run` does the slow and the expensive ones


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def matches(patterns):
    return {name for pattern in patterns for name in NAMES if fnmatchcase(name, pattern)}


def test_names_and_expectations():
    assert len(NAMES) > 190
    assert len(set(NAMES)) == len(NAMES)
    assert all(check.name.startswith(("berrett2019/", "decoy/berrett2019 ")) for check in berrett2019.CHECKS)
    assert all(check.name.startswith("fault/berrett2019 ") for check in faults.CHECKS)
    assert {check.expected for check in faults.CHECKS} == {Verdict.FAIL}
    assert {check.expected for check in berrett2019.CHECKS if check.name.startswith("decoy/")} == {Verdict.PASS}


@for_each(UTILITY)
def test_a_theorem_names_its_source_and_says_it_in_a_sentence(check):
    assert check.source
    assert check.statement.endswith(".")
    if check.expected is Verdict.FAIL and check.name.startswith("berrett2019/"):
        assert "false" in check.statement


def test_the_statements_of_the_paper_have_checks_and_grades():
    """13 statements: mechanism, classifier, excess identity, five theorems, (3.1) to (3.3), family and factor 1/4."""
    assert len(STATEMENTS) == len({row["number"] for row in STATEMENTS}) == 13
    for row in STATEMENTS:
        assert set(row) - {"reason"} == {"number", "claim", "checks", "grade"}
        assert row["grade"] in ("printed", "reconstructed", "weaker", "missing")
        assert ("reason" in row) == (row["grade"] != "printed")
        assert all(matches([pattern]) for pattern in row["checks"]), row
    listed = matches(pattern for row in STATEMENTS for pattern in row["checks"])
    assert {name for name in NAMES if name.startswith("berrett2019/")} <= listed


def test_the_page_names_checks_that_exist_and_says_how_many():
    quoted = re.findall(r"['`]((?:fault/|decoy/)?berrett2019[/ ][^'`]+)['`]", PAGE)
    patterns = [text for text in quoted if not text.endswith(".toml")]
    assert len(patterns) >= 25
    assert [pattern for pattern in patterns if not matches([pattern])] == []
    assert f"{len(berrett2019.CHECKS)} checks: theorems" in PAGE
    assert f"{len(faults.CHECKS)} broken variants" in PAGE
    assert set(re.findall(r"table `([a-z-]+)`", PAGE, re.IGNORECASE)) <= set(local_classification.TABLES)


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
