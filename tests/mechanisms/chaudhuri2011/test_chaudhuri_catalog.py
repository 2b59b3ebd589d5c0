"""Every check of the folder says what it expects and belongs to a statement; every fault is convicted, no decoy is.

Significance 1e-9 a check for what should hold, 0.001 for what must be convicted, with fixed seeds.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from audit import EstimatorCheck, PrivacyCheck, Verdict, run
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms.papers import chaudhuri2011
from mechanisms.papers.chaudhuri2011 import faults
from tests.mechanisms.conviction import by_game

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "cover-learning.md").read_text()
STATEMENTS = tomllib.loads((Path(chaudhuri2011.__file__).parent / "statements.toml").read_text())["statement"]
EVERY = [*chaudhuri2011.CHECKS, *faults.CHECKS]
NAMES = [check.name for check in EVERY]
PRIVATE = [c for c in chaudhuri2011.CHECKS if isinstance(c, PrivacyCheck) and not isinstance(c, EstimatorCheck)]
UTILITY = [check for check in EVERY if isinstance(check, StatedCheck)]


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


def matches(patterns):
    return {name for pattern in patterns for name in NAMES if fnmatchcase(name, pattern)}


def test_names_and_expectations():
    assert len(NAMES) > 120
    assert len(set(NAMES)) == len(NAMES)
    assert all(check.name.startswith(("chaudhuri2011/", "decoy/chaudhuri2011 ")) for check in chaudhuri2011.CHECKS)
    assert all(check.name.startswith("fault/chaudhuri2011 ") for check in faults.CHECKS)
    assert {check.expected for check in faults.CHECKS} == {Verdict.FAIL}
    for check in UTILITY:
        assert check.statement.endswith(".")
        if check.expected is Verdict.FAIL and check.name.startswith("chaudhuri2011/"):
            assert "false" in check.statement


def test_the_statements_of_the_paper_have_checks_and_grades():
    assert len(STATEMENTS) == len({row["number"] for row in STATEMENTS}) == 29
    for row in STATEMENTS:
        assert set(row) - {"reason"} == {"number", "claim", "checks", "grade"}
        assert row["grade"] in ("printed", "reconstructed", "weaker", "missing")
        assert ("reason" in row) == (row["grade"] != "printed")
        assert bool(row["checks"]) == (row["grade"] != "missing")
        assert all(matches([pattern]) for pattern in row["checks"]), row
    listed = matches(pattern for row in STATEMENTS for pattern in row["checks"])
    assert {name for name in NAMES if name.startswith("chaudhuri2011/")} <= listed


def test_the_page_names_checks_that_exist_and_says_how_many():
    patterns = re.findall(r"['`]((?:fault/|decoy/)?chaudhuri2011[/ ][^'`]+)['`]", PAGE)
    patterns = [pattern for pattern in patterns if not pattern.endswith(".toml")]
    assert len(patterns) >= 15
    assert [pattern for pattern in patterns if not matches([pattern])] == []
    assert f"{len(chaudhuri2011.CHECKS)} checks: theorems" in PAGE
    assert f"{len(faults.CHECKS)} broken variants" in PAGE


@pytest.mark.parametrize("check", by_name([*PRIVATE, *UTILITY]))
@pytest.mark.false_alarm(1e-08)
def test_a_check_gets_the_verdict_that_it_expects(check):
    """1e-10 each, about 100; a stated law decides at any budget."""
    if hasattr(getattr(check, "mechanism", None), "law") and check.datasets is None:
        check = replace(check, budget=2_000, method="exact")
    share = 1e-3 if check.expected is Verdict.FAIL else 1e-10
    result = run_check(
        check, Allowance(min(check.budget or 20_000, 20_000), share, Stream(20110609, (len(check.name),)))
    )
    assert result.verdict is check.expected, result.reason


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.check.name) for fault in faults.FAULTS])
def test_a_fault_is_convicted(fault):
    check = by_game(replace(fault.check, budget=min(fault.check.budget, 20_000)))
    result = run([check], significance=0.001, seed=1, workers=0).results[0]
    assert result.verdict is Verdict.FAIL, result.reason
    assert result.epsilon_lower_bound <= fault.truth


@pytest.mark.parametrize(
    "fault",
    [fault for fault in faults.FAULTS if fault.truth < 2.0 or "balanced" in fault.check.name],
    ids=lambda fault: fault.check.name,
)
def test_the_true_epsilon_of_changed_weights(fault):
    left, right = (fault.check.mechanism.mechanism.law(side) for side in fault.check.pairs[0])
    assert left.loss_against(right).epsilon(0.0) == pytest.approx(fault.truth, abs=6e-4)


def test_covers_from_the_data_share_no_threshold():
    """The supports differ: delta = 1 whatever epsilon, for kappa and for distinct examples, .9964 for the range."""
    shares = {}
    for name in ("kappa", "range", "distinct"):
        fault = next(fault for fault in faults.FAULTS if name in fault.check.name)
        first, second = (fault.check.mechanism.mechanism.law(side).pmf for side in fault.check.pairs[0])
        shares[name] = sum(mass for outcome, mass in first.items() if outcome not in second)
    assert shares == {
        "kappa": pytest.approx(1.0),
        "range": pytest.approx(0.9964, abs=1e-4),
        "distinct": pytest.approx(1.0),
    }
    assert [len(faults.count_examples(side)) for side in faults.FAULTS[-1].check.pairs[0]] == [19_086, 19_092]
