"""A FAIL is certain: what the first outputs refute is tested again on fresh ones, and only there."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict
from audit.certificate.summary import find_view
from audit.certificate.verify import list_problems, replay
from audit.checks import base as running
from audit.evidence.base import (
    CONFIRMING_POWER,
    LOOKS,
    Allowance,
    Evidence,
    Judgment,
    estimate_growth,
    find_confirming_level,
    judge_confirmed,
    list_fresh_allowances,
)
from audit.execution.seeds import Stream
from audit.statistics.bounds import (
    GameCounts,
    game_resolution,
    proportion_lower_bound,
    proportion_upper_bound,
    runs_to_resolve,
)
from audit.statistics.independence import LOG_LEVEL, log_agreement
from tests.core.mechanisms import PAIR, laplace

PAIRS = [PAIR]


@dataclass(frozen=True)
class Seen(Evidence):
    pvalue: float = 1.0


class Stub:
    """A check whose evidence is one p-value: uniform on a true claim, tiny on a false one."""

    def __init__(self, small=1.0):
        self.small = small

    def complete(self, evidence):
        return self

    def gather(self, allowance):
        return Seen(1, pvalue=float(allowance.stream.rng().random()) * self.small)

    def confirm(self, evidence, allowance, level):
        return map(self.gather, list_fresh_allowances(allowance, level))

    def terms(self):
        return None

    @staticmethod
    def judge(terms, evidence, significance):
        refuted = evidence.pvalue <= significance
        return Judgment(Verdict.FAIL if refuted else Verdict.PASS, "outputs", f"p = {evidence.pvalue:.2g}")


def verdict_of(stub, significance, confirmation, seed):
    evidence, _ = running.gather_evidence(stub, Allowance(2, significance, Stream(seed), confirmation))
    return judge_confirmed(stub, None, evidence, significance, confirmation).verdict


@pytest.mark.false_alarm(4e-8)
@pytest.mark.parametrize(
    ("significance", "confirmation", "chance"), [(0.5, 0.05, 0.5 * (1 - 0.95**LOOKS)), (0.05, None, 0.05)]
)
def test_a_true_claim_fails_with_the_stated_probability(significance, confirmation, chance):
    """4,000 runs at levels that can be counted: suspected in 50 %, and FAIL in 0.5 (1 - 0.95^2) = 0.04875 of them.

    Without confirmation the significance is the error probability. The counted share lies within its exact interval of
    1 - 2e-8.
    """
    found = [verdict_of(Stub(), significance, confirmation, seed) for seed in range(4_000)]
    failed = sum(verdict is Verdict.FAIL for verdict in found)
    assert proportion_lower_bound(failed, 4_000, 1e-8) <= chance <= 0.05
    assert proportion_upper_bound(failed, 4_000, 1e-8) >= chance


@pytest.mark.parametrize("spent", [0.0, 0.5, 0.9])
def test_looks_before_and_after_share_the_confirmation(spent):
    """An early look has `spent` of it; two looks at fresh outputs, each after a suspicion, have the rest."""
    level = find_confirming_level(0.05, 1e-6, spent)
    assert spent * 1e-6 + LOOKS * 0.05 * level == pytest.approx(1e-6)


def test_a_false_claim_fails_whatever_the_levels():
    for significance, confirmation in ((0.05, 1e-6), (0.5, 1e-12), (1e-9, 1e-6)):
        assert verdict_of(Stub(1e-15), significance, confirmation, 0) is Verdict.FAIL


@pytest.mark.parametrize(
    ("first", "fresh", "verdict", "said"),
    [
        (0.01, 1e-7, "FAIL", "error probability together 1e-06"),
        (0.01, 1e-4, "INCONCLUSIVE", "refuted twice"),
        (0.01, 0.02, "PASS", "fresh ones did not"),
        (0.01, None, "INCONCLUSIVE", "no fresh outputs were drawn"),
        (0.5, 1e-7, "INCONCLUSIVE", "where nothing was refuted"),
        (0.5, None, "PASS", "p = 0.5"),
    ],
)
def test_the_fresh_outputs_decide(first, fresh, verdict, said):
    evidence = Seen(1, pvalue=first, confirmation=None if fresh is None else Seen(1, pvalue=fresh))
    judgment = judge_confirmed(Stub, None, evidence, 0.05, 1e-6)
    assert judgment.verdict is Verdict(verdict)
    assert said in "; ".join([judgment.reason, *judgment.scope])


@pytest.mark.parametrize("tests", [1, 8, 300])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_a_violation_as_large_as_the_resolution_is_confirmed(tests, epsilon, delta):
    """The planned runs have power 0.99 at the resolution that the first ones have with power 0.8."""
    significance = 0.05 / tests
    level = find_confirming_level(significance, 1e-6 / tests)
    runs = runs_to_resolve(epsilon, 1.25 * epsilon + 0.05, delta, significance)
    resolution = game_resolution(epsilon, delta, runs, significance)
    confirmed = game_resolution(
        epsilon, delta, int(estimate_growth(significance, level) * runs), level, power=CONFIRMING_POWER
    )
    assert confirmed <= resolution * 1.01


def test_fresh_outputs_are_other_outputs_and_few_where_few_convict():
    result = audit.check_privacy(laplace, PrivacyClaim(0.1), PAIRS, budget=40_000, workers=0)
    assert result.verdict is Verdict.FAIL
    first, fresh = result.evidence.game, result.evidence.confirmation.game
    assert first.coins != fresh.coins
    assert fresh.counts.runs < 0.2 * first.counts.runs
    assert (first.plus, first.minus, first.pair) == (fresh.plus, fresh.minus, fresh.pair)
    assert result.samples == result.evidence.samples + result.evidence.confirmation.samples


def test_the_certificate_holds_both_and_replays(tmp_path):
    check = audit.PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.3, 1e-5), pairs=PAIRS)
    report = audit.run([check], budget=20_000, workers=0, directory=tmp_path)
    record = report.certificate["checks"][0]
    assert record["settings"]["confirmation"] == report.certificate["settings"]["confirmation"] == 1e-6
    assert find_view(record).reason.endswith("refuted with error probability 1e-06")
    assert find_view(
        audit.run([check], budget=20_000, workers=0, confirmation=None).certificate["checks"][0]
    ).reason.endswith("refuted with error probability 0.05")
    assert list_problems(report.certificate) == []
    assert replay(report.certificate).verdict is Verdict.FAIL
    without = replace(report.results[0].evidence, confirmation=None)
    judged = judge_confirmed(audit.PrivacyCheck, check.terms(), without, 0.05, 1e-6)
    assert judged.verdict is Verdict.INCONCLUSIVE


def test_a_second_look_at_fresh_outputs_has_a_budget_of_its_own():
    """True epsilon 1, claimed 0.83: 5,000 outputs make it suspect, and only the long look confirms it (fixed seed)."""
    late = audit.PrivacyCheck(name="late", mechanism=laplace, claim=PrivacyClaim(0.83), pairs=PAIRS)
    report = audit.run([late], budget=5_000, workers=0)
    assert report.results[0].verdict is Verdict.FAIL
    assert report.results[0].evidence.confirmation.game.counts.runs > 2 * 5_000
    assert list_problems(report.certificate) == []


@pytest.mark.parametrize(("first", "drawn"), [(1e-9, 10), (0.5, 110)])
def test_looks_end_where_one_confirms_and_all_are_counted(first, drawn):
    looks = [Seen(10, pvalue=first), Seen(100, pvalue=1e-9)]
    allowance = Allowance(2, 0.05, Stream(0), 1e-6)
    evidence, judgment = running.confirm_evidence(Stub(), Seen(1, pvalue=0.01), allowance, lambda level: iter(looks))
    assert judgment == judge_confirmed(Stub, None, evidence, 0.05, 1e-6)
    assert evidence.confirmation.samples == drawn


def test_the_seconds_of_a_check_are_those_of_all_its_processes():
    """A process that did not confirm what it refuted is followed by another one, with fresh outputs."""
    taken = [1.0, 2.0]

    def call(gather, check, allowance, **_):
        return check.pack_evidence(check.gather(allowance)), taken.pop(), {}

    pool = SimpleNamespace(is_here=False, call=call)
    leak = audit.PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.3), pairs=PAIRS)
    assert running.run_check(leak, Allowance.of(20_000, 0.05, 0, confirmation=1e-6), 60.0, pool).seconds == 3.0
    assert not taken


@dataclass(frozen=True)
class Over(Seen):
    """Evidence of what cannot be drawn again."""

    @property
    def is_final(self):
        return True


@pytest.mark.parametrize(
    ("pvalue", "verdict", "said"),
    [
        (1e-7, Verdict.FAIL, "p = 1e-07"),
        (1e-4, Verdict.INCONCLUSIVE, "refuted, but not for certain: p = 0.0001; a finished run cannot be repeated"),
        (0.01, Verdict.PASS, "p = 0.01; suspected, but not for certain: p = 0.01"),
        (0.5, Verdict.PASS, "p = 0.5"),
    ],
)
def test_what_cannot_be_drawn_again_is_judged_at_the_level_of_a_fail(pvalue, verdict, said):
    found = judge_confirmed(Stub, None, Over(1, pvalue=pvalue), 0.05, 1e-6)
    assert found.verdict is verdict
    assert "; ".join([found.reason, *found.scope]).startswith(said)
    assert (found.basis == "none") is (verdict is Verdict.INCONCLUSIVE)


class HeldNoise:
    """Noise that a clock seeds: the same for the first outputs, and new in every call from then on."""

    def __init__(self, held):
        self.held, self.drawn = held, 0

    def __call__(self, data, size, rng):
        self.drawn += size
        return data.sum() + np.full(size, 0.123 if self.drawn < self.held else 1000.0 * self.drawn)


def test_fresh_outputs_unlike_the_first_ones_are_no_pass():
    """Every output of the first draws tells the dataset; among the fresh ones their values do not come back."""
    result = audit.check_privacy(HeldNoise(4_200), PrivacyClaim(1.0), PAIRS, budget=2_000, tolerance=2.0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "depend on the time or on earlier calls" in result.reason


def test_what_a_chance_suspicion_leaves_stays_a_pass():
    """The counts of a first game that barely refutes and those of a usual one are alike; none and many are not."""
    first, usual = GameCounts(420, 100, 480, 100, 420, 480), GameCounts(1_460, 540, 2_000, 540, 1_460, 2_000)
    assert log_agreement(first, usual) > LOG_LEVEL
    assert log_agreement(first, GameCounts(0, 0, 4_000, 0, 0, 4_000)) < LOG_LEVEL


@pytest.mark.parametrize("side", [0, 1])
def test_the_event_of_a_witness_holds_the_outputs_of_its_side(side):
    def shows(data, size, rng):
        return np.where(rng.random(size) < 0.5 * (data.sum() == side), 9.0, rng.laplace(size=size))

    pairs = [(np.zeros(1), np.ones(1))]
    result = audit.check_privacy(shows, PrivacyClaim(1.0), pairs, budget=4_000, workers=0, method="fixed")
    assert (result.verdict, result.witness.direction) == (Verdict.FAIL, ("left", "right")[side])
    assert result.witness.event(np.array([9.0, 0.1])).tolist() == [True, False]
