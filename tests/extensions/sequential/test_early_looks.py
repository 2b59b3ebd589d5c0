"""A look at few outputs of slow calls: exact error probabilities, gross violations at once, true claims as before."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special

import audit
from audit import PrivacyClaim, Verdict, plugins
from audit.certificate.verify import list_problems
from audit.evidence import session
from audit.evidence.base import LOOKS, Allowance, find_confirming_level
from audit.extensions.sequential import game
from audit.extensions.sequential.game import EarlyLook
from audit.extensions.sequential.wealth import Wealth

PAIRS = [(np.zeros(1), np.ones(1))]
CLAIM = PrivacyClaim(0.5, relation=audit.Local())


def slow(data, rng):
    return data.sum() + rng.laplace()


@pytest.fixture(scope="module", autouse=True)
def any_call_is_slow():
    """Nobody waits: any call of Python code takes longer than this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "SLOW_CALL", 1e-7)
        patch.setattr("audit.checks.privacy.SLOW_CALL", 1e-7)
        yield


@pytest.fixture(scope="module")
def report():
    check = audit.PrivacyCheck(name="slow", mechanism=audit.per_call(slow), claim=CLAIM, pairs=PAIRS)
    return audit.run([check], workers=0)


def test_a_gross_violation_of_a_slow_mechanism_is_refuted_at_once(report):
    """The default budget is 61,000 outputs per dataset; a miss of this seed would be the same in every run."""
    (result,) = report.results
    early = result.evidence.by(EarlyLook)
    assert result.verdict is Verdict.FAIL, result.reason
    assert (early.is_final, result.evidence.game, result.evidence.confirmation) == (True, None, None)
    assert result.samples < 10_000
    assert CLAIM.epsilon <= result.epsilon_lower_bound < 1
    assert "an early look refuted it after" in result.reason
    assert result.witness.direction in str(result).split("likelier on ")[1]


def test_an_early_look_is_judged_again_by_a_replay(report):
    assert list_problems(report.certificate) == []


def test_of_several_pairs_the_look_that_refutes_is_kept():
    """The first pair keeps the claim at 0.2; a seed at which the second were missed would miss it in every run."""
    result = audit.check_privacy(audit.per_call(slow), CLAIM, [(np.zeros(1), np.full(1, 0.2)), *PAIRS], workers=0)
    assert (result.verdict, result.evidence.by(EarlyLook).pair) == (Verdict.FAIL, 1)


@pytest.mark.parametrize(("seconds", "steps"), [(1.0, 45), (4.0, 100), (40.0, 400), (4_000.0, 6_000)])
def test_a_look_that_no_game_can_follow_has_a_fifth_of_the_time_or_100_pairs(seconds, steps, monkeypatch):
    monkeypatch.setattr(game, "replace", lambda own, **changes: own)
    monkeypatch.setattr(game.sandbox, "clock", lambda: SimpleNamespace(left=seconds))
    monkeypatch.setattr(game, "play_on", lambda *given: (SimpleNamespace(log_wealth=0.0, steps=given[-1]), None))
    allowance = Allowance.of(1_000, 0.05, 0, confirmation=1e-6)
    ((look,), _) = game.look_early(SimpleNamespace(allowance=allowance, pairs=PAIRS, is_short=True, cost=0.01))
    assert look.outcome.steps == steps


def test_all_looks_share_one_confirmation():
    """The bound of the docstring, with the levels that a run of two checks used: no simulation."""
    pairs = 3
    different = [(np.zeros(1), np.full(1, float(number))) for number in range(1, pairs + 1)]
    checks = [
        audit.PrivacyCheck(name=name, mechanism=audit.per_call(slow), claim=CLAIM, pairs=different, budget="quick")
        for name in ("one", "two")
    ]
    report = audit.run(checks, workers=0, significance=0.05, confirmation=1e-6)
    significance, confirmation = 0.05 / 2, 1e-6 / 2
    for result in report.results:
        early = pairs * result.evidence.by(EarlyLook).level
        late = significance * LOOKS * find_confirming_level(significance, confirmation, result.evidence.spent)
        assert early + late == pytest.approx(confirmation, rel=1e-12)


@pytest.mark.parametrize("level", [0.05, 1e-3])
def test_the_wealth_seldom_reaches_its_level_at_the_edge_of_the_claim(level):
    """Randomized response that is exactly epsilon-DP, known to the bettor: the probability of a crossing, computed.

    With constant posteriors the wealth depends on the number of right guesses alone, so that the probabilities of these
    numbers, among runs that have not crossed, follow by recursion over 400 steps.
    """
    epsilon, steps = 0.5, 400
    grid, sure = np.array([epsilon]), special.expit(1.0)
    right, wrong = np.array([sure]), np.array([1 - sure])
    factors = []
    for left, other in ((right, wrong), (wrong, wrong), (wrong, right)):  # 2, 1 and 0 right guesses in a step
        one = Wealth(grid, 0.0, one_sided=False)
        one.bet(left, other)
        factors.append(one._log_wealth[:, 0])
    assert factors[0] + factors[2] == pytest.approx(2 * factors[1])  # so the sum is one of counts
    shares = Wealth(grid, 0.0, one_sided=False)._log_shares[:, 0]
    p = float(special.expit(epsilon))
    alive, crossed = np.array([1.0]), 0.0
    for step in range(1, steps + 1):
        alive = np.convolve(alive, [(1 - p) ** 2, 2 * p * (1 - p), p**2])
        gained = (factors[0] - factors[2]) / 2
        counts = np.arange(2 * step + 1)[:, None]
        wealth = special.logsumexp(step * factors[2] + counts * gained + shares, axis=1)
        over = wealth >= -math.log(level)
        crossed += alive[over].sum()
        alive[over] = 0.0
    assert 0.05 * level < crossed <= level


def test_a_true_claim_is_judged_as_without_the_look(monkeypatch):
    """The wealth against a true claim reaches its level with probability 5e-7."""
    monkeypatch.setattr(plugins, "list_first", lambda: ())  # which would follow the noise, and look no further
    claim = PrivacyClaim(1.0, relation=audit.Local())
    result = audit.check_privacy(audit.per_call(slow), claim, PAIRS, tolerance=2.0, budget="quick", workers=0)
    early = result.evidence.by(EarlyLook)
    assert early is not None
    assert not early.is_final
    assert result.verdict is Verdict.PASS, result.reason
    assert result.evidence.game.counts.runs + 2 * early.outcome.steps < result.samples


def test_the_sequential_game_names_outputs_that_are_all_the_same():
    def nothing(data, size, rng):
        return np.zeros(size)

    found = audit.check_privacy(
        nothing, PrivacyClaim(1.0), [([0.0], [1.0])], method="sequential", budget=200, workers=0
    )
    assert found.evidence.anomalies["constant"] == 1


@pytest.mark.parametrize("noise", [0.02, 0.0])
def test_a_sequential_game_shows_an_event_and_how_often_it_came(noise):
    def sum_of(data, size, rng):
        return np.sum(data) + noise * rng.laplace(size=size)

    result = audit.check_privacy(sum_of, PrivacyClaim(1.0), [([0.0], [1.0])], method="sequential", workers=0)
    assert result.verdict == "FAIL"
    outputs = np.zeros(3) if result.witness.direction == "left" else np.ones(3)
    assert result.witness.event(outputs).all()
    assert not result.witness.event(1 - outputs).any()
    assert "500 of 500" in str(result).splitlines()[-2]
    assert "wealth" not in str(result)
