"""Guarantees of probability 1 - beta. Significance 1e-7, which is the probability of each false alarm."""

import numpy as np
import pytest
from scipy import stats

import audit
from audit import GuaranteeCheck, Verdict
from audit.extensions.utility.guarantee import GuaranteeEvidence, GuaranteeTerms, Look, look_share, planned_looks
from tests.offenders import refused

LEVEL = 1e-7
PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def holding(failure_probability):
    def trials(replicates, rng):
        return rng.random(replicates) >= failure_probability

    return trials


@pytest.mark.parametrize(
    ("failing", "beta", "verdict"),
    [(0.02, 0.05, PASS), (0.0, 0.05, PASS), (0.0, 0.0, PASS), (0.09, 0.05, FAIL), (0.01, 0.0, FAIL), (1.0, 0.9, FAIL)],
)
@pytest.mark.false_alarm(1e-07)
def test_decided_before_the_budget_is_spent(failing, beta, verdict):
    """At most 20 000 trials, and each of these is decided with probability > 1 - 1e-9 long before."""
    result = audit.check_guarantee(holding(failing), beta, significance=LEVEL, budget=20_000, seed=3)
    assert (result.verdict, result.uses, result.basis) == (verdict, "simulation", "outputs")
    assert result.samples < 20_000
    lower, upper = result.found[0].lower, result.found[0].upper
    assert lower <= failing <= upper


@pytest.mark.parametrize(("budget", "repeated"), [(256, 1), (150, 0)])
def test_certain_trials_decide_at_the_first_look(budget, repeated):
    """0.5^16 is far below 2 % of the significance; the trials of the probe are the first eight of them."""
    result = audit.check_guarantee(holding(1.0), 0.5, significance=0.05, budget=budget)
    assert (result.verdict, result.evidence.looks) == (FAIL, (Look(16, 16),))
    assert result.evidence.samples == 16 + repeated


@pytest.mark.parametrize(("failing", "slack"), [(0.0625, 0.0125), (0.05, 0.001)])
@pytest.mark.false_alarm(1e-07)
def test_undecided_at_the_edges(failing, slack):
    result = audit.check_guarantee(holding(failing), 0.05, slack=slack, significance=LEVEL, budget=2_000, seed=1)
    assert (result.verdict, result.samples) == (OPEN, 2_000)
    assert "not refuted" in result.reason


def test_the_looks_spend_the_significance():
    plan = planned_looks(150)
    assert plan == [16, 20, 25, 31, 38, 47, 58, 72, 90, 112, 140, 150]
    assert sum(look_share(index, len(plan), 0.05) for index in range(len(plan))) == pytest.approx(0.05)
    assert planned_looks(16) == [16]
    assert look_share(0, 1, 0.05) == 0.05


@pytest.mark.parametrize("beta", [0.01, 0.1, 0.4])
def test_exact_false_alarm_probability_at_the_edge(beta):
    """Null: failures are Bernoulli(beta). The probability that some look refutes, by recursion over the looks, is at
    most the significance; no randomness."""
    plan, significance = planned_looks(600), 0.05
    terms = GuaranteeTerms(beta, 1e-9)
    alive, alarm, before = np.ones(1), 0.0, 0
    for index, until in enumerate(plan):
        steps = until - before
        alive = np.convolve(alive, stats.binom.pmf(np.arange(steps + 1), steps, beta))
        for failures in range(until + 1):
            looks = (*(Look(1, 0) for _ in range(index)), Look(until, failures))  # only the last one can decide
            evidence = GuaranteeEvidence(until, len(plan), looks, uses="simulation")
            if GuaranteeCheck.judge(terms, evidence, significance).verdict is FAIL:
                alarm += alive[failures]
                alive[failures] = 0.0
        before = until
    assert 0 < alarm <= significance


test_what_is_refused = refused([
    ({"trials": 3, "beta": 0.1}, "`trials` must be callable"),
    ({"trials": holding(0), "beta": 1.0}, "`beta` must be less than 1"),
    ({"trials": holding(0), "beta": -0.1}, "`beta` must lie in"),
    ({"trials": holding(0), "beta": 0.1, "slack": 0.0}, "`slack` must"),
], audit.check_guarantee)  # fmt: skip
