"""Budgets are computed: suites of any size pass at the defaults, and what cannot pass says what would do.

A time limit ends the drawing, never the evidence: what was drawn is judged, and no time invents evidence.
"""

import signal
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import audit
from audit import GaussianClaim, PrivacyCheck, PrivacyClaim, Verdict, per_call
from audit.evidence.base import LIMITED, Allowance, PrivacyTerms
from audit.evidence.guess_game import share_of
from audit.evidence.session import Session, Split, plan_outputs
from audit.execution.sandbox import Drawing, TimedOut, clock, limit_time
from audit.execution.seeds import HERE, Place
from audit.mechanism.call import Subject
from audit.statistics.bounds import blind_spot, game_resolution, logit_lower_bound
from audit.validate import EFFORTS
from tests.core.mechanisms import PAIR, laplace

CLAIM, PAIRS = PrivacyClaim(1.0), [PAIR]
played = partial(audit.check_privacy, laplace, CLAIM, PAIRS, workers=0, method="fixed")  # by the game alone


@pytest.mark.parametrize("checks", [1, 8, 30, 100, 300])
@pytest.mark.parametrize("claim", [PrivacyClaim(0.1), PrivacyClaim(1.0), PrivacyClaim(4.0), PrivacyClaim(1.0, 1e-5)])
@pytest.mark.parametrize("pairs", [1, 5, 60])
def test_the_computed_budget_resolves_the_claim(checks, claim, pairs):
    """Whatever the number of checks: the runs are there, resolve the claim, and the training shows rare events."""
    terms, significance = PrivacyTerms(claim), 0.05 / checks
    budget, runs = plan_outputs(terms, significance, pairs)
    split = Split.of(budget, pairs, epsilon=claim.epsilon)
    aside = (pairs - 1) * split.early * split.call  # those of the pair that is chosen certify
    drawn = pairs * split.training + aside + sum(split.more) + 3 * split.call
    assert 2 * (budget - drawn) >= runs
    assert game_resolution(*claim.point, runs, significance) <= terms.allowed_epsilon(claim.point)
    assert blind_spot(split.training) <= 0.01


def test_a_tight_mechanism_passes_at_the_defaults_among_300():
    result = played(significance=0.05 / 300)
    assert result.verdict is Verdict.PASS, result.reason
    assert result.resolution <= 1.25


def test_a_named_budget_is_a_tolerance():
    result = played(budget="quick")
    assert result.verdict is Verdict.PASS, result.reason
    assert result.check.tolerance == 0.5
    assert 1.4 < result.resolution <= 1.5


def slow(data, rng):
    time.sleep(0.004)
    return data.sum() + rng.laplace()


def test_what_takes_too_long_says_what_would_do(monkeypatch):
    """The cost of an output is measured before the budget is spent; sleeping makes it at least 4 ms."""
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], seconds=6.0))
    result = audit.check_privacy(per_call(slow), PrivacyClaim(1.0), PAIRS, budget="quick", workers=0, method="fixed")
    assert result.verdict is Verdict.INCONCLUSIVE
    budget, seconds = result.evidence.need
    assert f"use budget={budget:.0f}, which takes about " in result.reason
    assert budget == plan_outputs(PrivacyTerms(PrivacyClaim(1.0), 0.5), 0.05, 1)[0]
    assert seconds >= 0.004 * 2 * budget * 0.9
    assert result.samples < 0.1 * 2 * budget


class SlowAtFirst:
    """Noise whose first call takes long, as on a machine that was busy for a moment."""

    calls = 0

    def __call__(self, data, size, rng):
        self.calls += 1
        time.sleep(0.05 if self.calls == 2 else 0.0)  # the first call finds out how long an output is
        return laplace(data, size, rng)


def test_a_pause_of_the_machine_costs_no_verdict(monkeypatch):
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], seconds=6.0))
    mechanism = SlowAtFirst()
    result = audit.check_privacy(mechanism, PrivacyClaim(1.0), PAIRS, budget="quick", workers=0)
    assert result.verdict is Verdict.PASS, result.reason
    assert mechanism.calls > 2


def test_a_budget_that_is_too_small_says_what_would_do():
    result = played(budget=5_000, seed=1)
    assert result.verdict is Verdict.INCONCLUSIVE
    (budget,) = result.evidence.need
    said, tolerance = result.reason.split(" or tolerance=")
    assert said.endswith(f"use budget={budget:.0f}")
    for named, verdict in ((float(tolerance), Verdict.PASS), (float(tolerance) - 0.02, Verdict.INCONCLUSIVE)):
        asked = played(budget=5_000, tolerance=named, seed=1)
        assert asked.verdict is verdict, asked.reason
        assert verdict is Verdict.INCONCLUSIVE or f"resolution {1 + named:.2g}" in asked.scope[0]
    again = played(budget=budget)
    assert again.verdict is Verdict.PASS, again.reason


def test_a_curve_is_resolved_at_all_its_points():
    budget, runs = plan_outputs(PrivacyTerms(GaussianClaim(0.5), 0.5), 0.05, 1)
    for point in GaussianClaim(0.5).points:
        assert game_resolution(*point, runs, 0.05) <= point.epsilon + 0.5
    assert budget > runs / 2


class Sleeper:
    """A noisy sum that takes some time for each output, and never ends from one of them on: then the limit is over."""

    def __init__(self, scale, seconds=0.004, last=None):
        self.scale, self.seconds, self.last, self.calls = scale, seconds, last, 0

    def __call__(self, data, rng):
        self.calls += 1
        if self.last is not None and self.calls > self.last:
            clock().seconds = clock().elapsed  # whatever the load of the machine was
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            time.sleep(1e6)
        time.sleep(self.seconds)
        return float(data.sum()) + self.scale * rng.laplace()


def audited(function, **settings):
    """What leaks has noise of a hundredth of the due scale: a miss, or a wrong FAIL, has probability 1e-6 or less."""
    return audit.check_privacy(per_call(function), CLAIM, PAIRS, name="sleeper", **settings)


def test_a_leak_that_the_time_lets_be_seen_is_refuted():
    result = audited(Sleeper(0.01), timeout=5.0)
    assert result.verdict is Verdict.FAIL, result.reason
    assert result.epsilon_lower_bound > result.check.claim.epsilon
    assert result.witness is not None


def test_a_correct_mechanism_that_takes_as_long_is_told_what_would_do():
    result = audited(Sleeper(1.0), timeout=4.0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.evidence.game.counts.runs > 0
    assert "an output takes " in result.reason
    limit = float(result.reason.split("set timeout=")[1].split()[0])
    budget = float(result.reason.split("use budget=")[1].split()[0])
    assert limit > 2 * budget * 0.004


def test_a_hang_leaves_what_came_before_it():
    """The claim is suspected by the outputs until the hang; nothing fresh can confirm it, so that FAIL is not said."""
    result = audited(Sleeper(0.01, 0.001, last=1_200), timeout=15.0, budget=1_000, method="fixed")
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.evidence.game.counts.correct > 50
    assert "the first draws seemed to refute the claim" in result.reason
    assert "the mechanism took longer than 15 s" in result.reason
    assert 700 < result.evidence.samples <= 1_200


def test_the_limit_is_named_in_the_setting_that_was_used():
    never = PrivacyCheck(name="never", mechanism=per_call(Sleeper(1.0, last=0)), claim=CLAIM, pairs=PAIRS)
    own = replace(never, timeout=1.5)
    for check, targets, said in ((never, (), "timeout=3"), (never, ["m"], "--timeout 3"), (own, ["m"], "timeout=3")):
        reason = audit.run([check], timeout=1.5, workers=1, targets=targets).results[0].reason
        assert reason.endswith(f": set {said}"), reason


def test_whose_time_it_was_is_said():
    """After 100 s, 440 outputs at half a second are due: 220 s, beside 80 s of the audit if it took these itself."""
    for called, blamed, enough in ((90.0, "the mechanism", 1.2 * 220 / 0.8), (20.0, "the audit", 1.2 * 300 / 0.8)):
        with limit_time(None):
            now = clock()
            now.called, now.started = called, time.monotonic() - 100
            now.drawn, now.outputs, now.planned = 50.0, 100, 440
            reason = Allowance.of(100, 0.05, 0).limit_time(125.0).out_of_time("the mechanism")
        assert reason.startswith(f"{blamed} took longer than 125 s"), reason
        assert reason.endswith(f"set timeout={enough:g}"), reason


def test_drawing_elsewhere_is_a_call_from_begin_to_end():
    """Whatever was called or drawn within it, here, is not counted again."""
    with limit_time(None):
        with Drawing(8, is_elsewhere=True) as now, Drawing(4):
            now.called += 1_000.0
        assert (now.called < 1_000.0, now.outputs) == (True, 8)


def test_the_alarm_ends_a_call_and_not_the_audit_beside_it():
    with limit_time(0.1):
        time.sleep(0.2)  # no drawing: nothing is raised
        with pytest.raises(TimedOut), Drawing(1):
            pass


PROGRAM = SimpleNamespace(own_randomness=True, is_process=True)  # each process starts one of its own


@pytest.mark.parametrize("runs", [40, 137, 1_000])
@pytest.mark.parametrize("delta_free_level", [0.05, 0.05 / 30])
def test_no_choice_of_the_checkpoint_refutes_a_true_claim_more_often(runs, delta_free_level):
    """The exact probability that any checkpoint refutes a tight claim, by convolution of right guesses."""
    allowance = Allowance.of(10 * runs, delta_free_level, 0).limit_time(10.0)
    session = Session(Subject(None), PrivacyTerms(CLAIM), PAIRS, "fixed", allowance, pace=1.0)
    totals = session.schedule(runs)
    assert totals[-1] == runs
    assert len(totals) == 4
    assert sum(share_of(look, 4) for look in range(4)) == pytest.approx(1.0, abs=1e-12)
    theta, alive, refuted, before = np.e / (1 + np.e), np.ones(1), 0.0, 0
    for look, total in enumerate(totals):
        alive = np.convolve(alive, stats.binom.pmf(np.arange(total - before + 1), total - before, theta))
        level = delta_free_level * share_of(look, len(totals))
        over = np.array([logit_lower_bound(count, total, level) > 1.0 for count in range(total + 1)])
        refuted, alive, before = refuted + alive[over].sum(), np.where(over, 0.0, alive), total
    assert 0 < refuted <= delta_free_level


@pytest.mark.parametrize(
    ("mechanism", "is_here"),
    [(laplace, False), (per_call(slow), False), (per_call(lambda data: 0.0), True), (PROGRAM, False)],
    ids=["seeded", "seeded calls", "its own generator", "a program"],
)
def test_only_a_generator_of_its_own_keeps_a_mechanism_in_this_process(mechanism, is_here):
    there = Place(workers=2)
    allowance = replace(Allowance.of(1_000, 0.05, 0), place=there)
    session = Session(Subject(mechanism), PrivacyTerms(CLAIM), PAIRS, "fixed", allowance, pace=1.0)
    assert session.place == (HERE if is_here else there)
    assert replace(session, confirms=True).place == HERE  # it is shorter than the start of a process


def test_ample_time_costs_no_significance():
    limited_ = audit.run([PrivacyCheck(name="fast", mechanism=laplace, claim=CLAIM, pairs=PAIRS)], workers=1).results[0]
    assert limited_.evidence.game.share in (1.0, 0.8, 0.2)
    assert not any(kind.startswith(LIMITED) for kind in limited_.evidence.anomalies)
