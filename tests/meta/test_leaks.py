"""No leak of the zoo passes, and each that is certain is convicted.

A FAIL here is no matter of chance: what the tests need is certain but for a probability below 1e-9, and seeds are
fixed. The budget is smaller than the default, so that a conviction here is a conviction there. Where only a PASS is
excluded, budget and tolerance are large enough for one, which a private mechanism gets.
"""

import pytest

import audit
from audit import Verdict

from .leaks import CLAIM, LEAKS, LEFT, RIGHT, SUSPICIOUS, LeaksLater, private

BUDGET, TOLERANCE = 2_000, 1.5
ENOUGH = 20_000  # for a PASS


def audited(mechanism, budget=BUDGET, floats="real"):
    settings = {"budget": budget, "tolerance": TOLERANCE, "floats": floats}
    return audit.check_privacy(mechanism, CLAIM, pairs=[(LEFT, RIGHT)], **settings)


def test_a_private_mechanism_passes():
    assert audited(audit.per_call(private), ENOUGH).verdict is Verdict.PASS


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.name)
@pytest.mark.false_alarm(1e-09)
def test_a_leak_does_not_pass(leak):
    budgets = {"calls": 100_000}  # the default: these leak in long calls or late, and fewer outputs never see it
    certain = 4 * BUDGET if leak.name == "order_of_json" else BUDGET
    result = audited(leak.mechanism, certain if leak.certain else budgets.get(leak.group, ENOUGH), leak.floats)
    assert result.verdict is not Verdict.PASS, result.reason
    if leak.certain:
        assert result.verdict is Verdict.FAIL, result.reason


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_nothing_tells_the_stage(name):
    subject = SUSPICIOUS[name]
    assert audited(subject, ENOUGH).verdict is Verdict.PASS
    assert not subject.found


@pytest.mark.parametrize("after", [2_000, 10_000, 30_000])
def test_a_change_of_behavior_is_noticed(after):
    assert audited(LeaksLater(after), ENOUGH).verdict is not Verdict.PASS
