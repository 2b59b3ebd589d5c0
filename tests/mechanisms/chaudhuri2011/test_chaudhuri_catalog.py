"""The verdicts of its catalog: every claim holds, every fault is convicted, no decoy is.

Significance 1e-9 a check for what should hold, 0.001 for what must be convicted, with fixed seeds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit import EstimatorCheck, PrivacyCheck, Verdict, run
from audit.checks.run import run_check
from audit.checks.stated import StatedCheck
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms.papers import chaudhuri2011
from mechanisms.papers.chaudhuri2011 import faults
from tests.mechanisms.conviction import by_game

EVERY = [*chaudhuri2011.CHECKS, *faults.CHECKS]
PRIVATE = [c for c in chaudhuri2011.CHECKS if isinstance(c, PrivacyCheck) and not isinstance(c, EstimatorCheck)]
UTILITY = [check for check in EVERY if isinstance(check, StatedCheck)]


def by_name(checks):
    return [pytest.param(check, id=check.name) for check in checks]


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
