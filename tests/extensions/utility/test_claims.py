"""Inequalities, guarantees of probability 1 - beta, and consistency, computed and simulated.

Simulations use significance 1e-7: the probability of each false alarm.
"""

import math

import numpy as np
import pytest
from scipy import stats

import audit
from audit import GuaranteeCheck, Verdict
from audit.extensions.utility.curve import CurveEvidence, CurvePoint
from audit.extensions.utility.guarantee import GuaranteeEvidence, GuaranteeTerms, Look, look_share, planned_looks
from audit.extensions.utility.inequality import InequalityTerms
from audit.statistics.bounds import summarize
from tests.offenders import refused

LEVEL = 1e-7
PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def uniform(replicates, rng):
    return rng.random(replicates)


@pytest.mark.parametrize(
    ("sense", "cases", "verdict", "says"),
    [
        ("<=", [("a", 1.0, 2.0), ("b", 0.5, 0.5)], PASS, "all 2 cases hold; the tightest is b"),
        ("<=", [("a", 1.0, 2.0), ("b", 0.51, 0.5), ("c", 0.6, 0.5)], FAIL, "2 of 3 cases break it; the worst is c"),
        ("<=", [("a", 0.5 * (1 + 1e-12), 0.5)], PASS, "hold"),
        ("<=", [("a", 0.5 * (1 + 1e-6), 0.5)], FAIL, "break"),
        ("<=", [("a", 1e-14, 0.0)], PASS, "hold"),
        ("<=", [("a", 1e-6, 0.0)], FAIL, "break"),
        ("<=", [("a", 2e-9, 1e-9)], FAIL, "break"),
        ("<=", [("a", -2.0, -1.0)], PASS, "hold"),
        ("<=", [("a", 5.0, math.inf)], PASS, "hold"),
        ("<=", [("a", math.inf, 5.0)], FAIL, "break"),
        ("<=", [("a", math.inf, math.inf)], PASS, "hold"),
        (">=", [("a", 2.0, 1.0)], PASS, "hold"),
        (">=", [("a", 0.9, 1.0)], FAIL, "break"),
        ("<=", [("a", 1.0, 2.0), ("b", math.nan, 0.5)], OPEN, "b: quantity nan"),
        ("<=", [("a", 1.0, math.nan)], OPEN, "bound nan"),
        ("<=", [], OPEN, "there is no case"),
        ("<=", [("a", 1.0)], OPEN, "(label, quantity, bound)"),
        ("<=", [("a", "many", 1.0)], OPEN, "(label, quantity, bound)"),
    ],
)
def test_computed_inequality(sense, cases, verdict, says):
    result = audit.check_inequality(lambda: cases, sense=sense)
    assert (result.verdict, result.uses) == (verdict, "stated values")
    assert says in result.reason
    assert result.basis == ("none" if verdict is OPEN else "computed")


@pytest.mark.parametrize(("value", "verdict"), [(0.30, PASS), (0.305, PASS), (0.33, FAIL), (0.27, FAIL)])
def test_equalities_hold_within_their_tolerance(value, verdict):
    result = audit.check_inequality(lambda: [("a", value, 0.3)], sense="==", tolerance=0.05)
    assert result.verdict is verdict


def test_sides_and_points_share_the_level():
    assert [InequalityTerms(sense, 0.0, None).per_side(0.02) for sense in ("<=", ">=", "==")] == [0.02, 0.02, 0.01]
    losses = np.random.default_rng(0).random(600)
    point = CurvePoint(10, None, summarize(losses[:100], losses[100:], (0.0, 1.0), 0.02), None)
    assert CurveEvidence(0, points=(point, point)).intervals(0.02) == [point.interval(0.02 / 4)] * 2


def test_values_that_raise_are_inconclusive():
    result = audit.check_inequality(lambda: 1 / 0)
    assert (result.verdict, result.samples) == (OPEN, 0)
    assert "values() raised ZeroDivisionError" in result.reason


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"bound": 0.55}, PASS),
        ({"bound": 0.45}, FAIL),
        ({"bound": 0.5}, OPEN),
        ({"bound": 0.45, "sense": ">="}, PASS),
        ({"bound": 0.55, "sense": ">="}, FAIL),
        ({"bound": 0.5, "sense": "==", "tolerance": 0.05}, PASS),
        ({"bound": 0.4, "sense": "==", "tolerance": 0.05}, FAIL),
        ({"bound": 0.45, "sense": "==", "tolerance": 0.05}, OPEN),
        ({"bound": 0.45, "support": (0.0, math.inf)}, FAIL),
        ({"bound": 0.55, "support": (0.0, math.inf)}, OPEN),
    ],
)
@pytest.mark.false_alarm(1e-07)
def test_sampled_inequality(more, verdict):
    """The mean is 0.5; 20 000 uniform losses know it within 0.012 at this level, so that all others are decided."""
    result = audit.check_inequality(losses=uniform, significance=LEVEL, budget=20_000, seed=1, **more)
    assert (result.verdict, result.uses, result.samples) == (verdict, "simulation", 20_000)


test_an_inequality_refuses = refused([
    ({}, "give either `values` or `losses`"),
    ({"values": list, "losses": uniform}, "either `values` or"),
    ({"values": 3}, "`values` must be callable"),
    ({"values": list, "sense": "<"}, "`sense` must be one of"),
    ({"values": list, "sense": "=="}, "sense='==' needs `tolerance`"),
    ({"values": list, "tolerance": -1.0}, "`tolerance` must"),
    ({"losses": uniform}, "`bound` must be a real number"),
    ({"losses": uniform, "bound": math.inf}, "`bound` must be finite"),
    ({"losses": uniform, "bound": 0.5, "support": (1.0, 0.0)}, "`support` must"),
    ({"losses": uniform, "bound": 0.5, "support": (-math.inf, math.inf)}, "`support` must"),
    ({"losses": uniform, "bound": 0.5, "budget": 0}, "`budget` must"),
    ({"losses": uniform, "bound": 0.5, "significance": 1.0}, "`significance` must"),
], audit.check_inequality)  # fmt: skip


def test_twelve_losses_are_enough_to_be_bounded():
    said = [audit.check_inequality(losses=uniform, bound=0.6, budget=budget).reason for budget in (11, 12)]
    assert "the budget gives 11 losses, fewer than 12" in said[0]
    assert "fewer than" not in said[1]


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
    lower, upper = result.bounds[0].lower, result.bounds[0].upper
    assert lower <= failing <= upper


@pytest.mark.parametrize(("budget", "repeated"), [(256, 1), (150, 0)])
def test_certain_trials_decide_at_the_first_look(budget, repeated):
    """0.5^16 is far below 2 % of the significance; the trials of the probe are the first eight of them."""
    drawn = []
    trials = lambda count, rng: drawn.append(count) or np.zeros(count, bool)  # noqa: E731
    result = audit.check_guarantee(trials, 0.5, significance=0.05, budget=budget)
    assert (result.verdict, result.evidence.looks) == (FAIL, (Look(16, 16),))
    assert sum(drawn) - result.evidence.confirmation.samples == result.evidence.samples == 16 + repeated


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


test_a_guarantee_refuses = refused([
    ({"trials": 3, "beta": 0.1}, "`trials` must be callable"),
    ({"trials": holding(0), "beta": 1.0}, "`beta` must be less than 1"),
    ({"trials": holding(0), "beta": -0.1}, "`beta` must lie in"),
    ({"trials": holding(0), "beta": 0.1, "slack": 0.0}, "`slack` must"),
], audit.check_guarantee)  # fmt: skip


SIZES = (100, 400, 1600, 6400)


def risk(limit, factor=1.0):
    """Binary losses around a risk of limit + factor / sqrt(n)."""

    def losses(n, replicates, rng):
        return rng.random(replicates) < limit + factor * n**-0.5

    return losses


def consistency(losses=None, **more):
    settings = {"sizes": SIZES, "bayes_risk": 0.2, "tolerance": 0.05, "budget": 80_000, "significance": LEVEL}
    return audit.check_consistency(losses, **(settings | more))


@pytest.mark.parametrize(
    ("losses", "more", "verdict", "says"),
    [
        (risk(0.2), {}, PASS, "within 0.05 of 0.2 (by simulation)"),
        (risk(0.2), {"finite_bounds": lambda n: 0.2 + 1.0 * n**-0.5}, PASS, "within"),
        (risk(0.3), {}, FAIL, "the risk at n = 6400 is at least"),
        (risk(0.2), {"finite_bounds": lambda n: 0.2 + 0.3 * n**-0.5}, FAIL, "n = 100 is at least"),
        (risk(0.2), {"tolerance": 0.012}, OPEN, "raise the budget"),
        (risk(0.2), {"tolerance": 0.05, "budget": 4_000}, OPEN, "raise the budget"),
        (risk(0.1), {}, OPEN, "below the Bayes risk"),
        (risk(0.2), {"support": lambda n: (0, float("inf"))}, OPEN, "may be inf"),
        (risk(0.2), {"finite_bounds": lambda n: float("nan")}, OPEN, "finite_bounds(100) returned nan"),
    ],
)
@pytest.mark.false_alarm(1e-07)
def test_simulated_consistency(losses, more, verdict, says):
    result = consistency(losses, **more)
    assert (result.verdict, result.uses) == (verdict, "simulation")
    assert says in result.reason


@pytest.mark.parametrize(
    ("evaluator", "more", "verdict"),
    [
        (lambda n: 0.2 + n**-0.5, {}, PASS),
        (lambda n: 0.2 + n**-0.5, {"finite_bounds": lambda n: 0.2 + n**-0.5}, PASS),
        (lambda n: 0.2 + n**-0.5, {"finite_bounds": lambda n: 0.2 + 0.99 * n**-0.5}, FAIL),
        (lambda n: 0.3 + n**-0.5, {}, FAIL),
        (lambda n: 0.19, {}, OPEN),
        (lambda n: float("nan"), {}, OPEN),
        (lambda n: None, {}, OPEN),
        (lambda n: 1 / 0, {}, OPEN),
    ],
)
def test_computed_consistency(evaluator, more, verdict):
    result = consistency(evaluator=evaluator, **more)
    assert (result.verdict, result.uses) == (verdict, "evaluator")
    assert result.basis == ("none" if verdict is OPEN else "computed")


test_consistency_refuses = refused([
    ({}, "give either `losses` or `evaluator`"),
    ({"losses": risk(0.2), "evaluator": lambda n: 0.2}, "give either `losses` or `evaluator`"),
    ({"losses": 1}, "`losses` must be callable"),
    ({"losses": risk(0.2), "sizes": ()}, "`sizes` must hold at least 1"),
    ({"losses": risk(0.2), "sizes": 100}, "`sizes` must be a sequence"),
    ({"losses": risk(0.2), "sizes": (100, 100)}, "`sizes` must increase"),
    ({"losses": risk(0.2), "sizes": (0, 100)}, "`sizes` must be an integer >= 1"),
    ({"losses": risk(0.2), "support": 3}, "`support` must be"),
    ({"losses": risk(0.2), "tolerance": -1}, "`tolerance` must"),
    ({"losses": risk(0.2), "finite_bounds": 3}, "`finite_bounds` must be callable"),
], audit.check_consistency, sizes=SIZES)  # fmt: skip
