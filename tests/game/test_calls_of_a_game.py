"""What the calls of a game show: the design effect, and tests of dispersion and drift with their false-alarm rates."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyClaim, Verdict
from audit.checks.plain import from_plain, to_plain
from audit.checks.privacy.guess_game import GuessGame
from audit.checks.privacy.judge import PrivacyEvidence, judge
from audit.checks.privacy.way import PrivacyTerms
from audit.game.dependence import LOG_LEVEL, CallStatistics, SideCalls, Tally
from audit.game.guesses import GameCounts

SIZE, CALLS = 20, 100
RIGHT, WRONG = 0.4, 0.15


def counted(rng, size=SIZE, calls=CALLS, shared=0.0):
    """Counts of "left" and "right" in calls on the left dataset; a share of the outputs of a call ends alike."""
    together = rng.binomial(size, shared, calls)
    own = np.stack([rng.multinomial(size - number, [RIGHT, WRONG, 1 - RIGHT - WRONG]) for number in together])
    kinds = rng.choice(3, calls, p=[RIGHT, WRONG, 1 - RIGHT - WRONG])
    own[np.arange(calls), kinds] += together
    return own[:, :2]


def game(rng, **settings):
    tally = Tally.of(SIZE, (SIZE * CALLS, SIZE * CALLS))
    tally.add(0, counted(rng, **settings))
    tally.add(1, counted(rng, **settings)[:, ::-1])
    return tally.finish(rng)


def test_the_tally_adds_whole_calls_and_takes_a_part_of_the_last_one():
    rng = np.random.default_rng(1)
    left, right = counted(rng), counted(rng, calls=30)
    tally = Tally.of(SIZE, (SIZE * (CALLS - 1) + 7, SIZE * 30))
    tally.add(0, left[:10], is_early=True)
    for start in range(10, CALLS, 13):
        tally.add(0, left[start : start + 13])
    tally.add(1, right)
    counts, calls = tally.finish(rng)
    whole = left[:-1]
    assert (calls.left.calls, calls.right.calls) == (CALLS - 1, 30)
    assert (calls.left.plus, calls.left.products) == (whole[:, 0].sum(), (whole[:, 0] * whole[:, 1]).sum())
    assert calls.left.minus_squares == (whole[:, 1] ** 2).sum()
    assert 0 <= counts.left_plus - calls.left.plus <= min(7, left[-1, 0])
    assert counts.runs == SIZE * (CALLS - 1) + 7 + SIZE * 30
    assert calls.parts[0][:3] == (10 * SIZE, *left[:10].sum(axis=0))
    assert np.array(calls.parts)[:, :3].sum(axis=0).tolist() == [SIZE * (CALLS - 1), *whole.sum(axis=0)]
    assert from_plain(CallStatistics, to_plain(calls)) == calls


@pytest.mark.parametrize(
    "bad", [{"size": 0}, {"parts": ((1, 2),)}, {"long": (1, 2)}, {"left": SideCalls(1, 99, 0, 1, 1, 1)}]
)
def test_statistics_that_contradict_each_other_are_refused(bad):
    side = SideCalls(2, 3, 1, 5, 1, 1)
    with pytest.raises(ValueError, match="contradict"):
        CallStatistics(**{"size": 10, "left": side, "right": side, **bad})


def test_the_design_effect_is_one_for_independent_runs_and_the_size_for_shared_ones():
    """200 games; the mean of the effect before it is cut at 1 is 1, so its mean is about 1.06 with 198 degrees."""
    rng = np.random.default_rng(2)
    effects = [game(rng)[1].design_effect(1.0, 0.05) for _ in range(200)]
    assert 1.02 < np.mean(effects) < 1.10
    assert np.mean([game(rng, shared=0.5)[1].design_effect(1.0, 0.05) for _ in range(50)]) == pytest.approx(
        5.9, abs=0.8
    )
    assert game(rng, shared=1.0)[1].design_effect(1.0, 0.05) > 0.8 * SIZE


def test_the_design_effect_of_few_calls_pays_for_an_estimated_variance():
    """The factor is (t / z)^2 of the quantiles at the significance, by hand: 3.11 with 10 degrees at 1e-5."""
    # 6 calls of 100 outputs per dataset, 60 +- 10 of them guessed right, none abstained
    left = SideCalls(6, 360, 240, 3 * (70**2 + 50**2), 3 * (30**2 + 50**2), 6 * 2_300)
    right = SideCalls(6, 240, 360, left.minus_squares, left.plus_squares, left.products)
    calls = CallStatistics(100, left, right)
    theta = math.e / (1 + math.e)
    # right guesses minus theta times all guesses: the latter are 100 in each call
    between, within = 6 * 100 * 6 / 5, 600 * (0.6 * (1 - theta) ** 2 + 0.4 * theta**2 - (0.6 - theta) ** 2) * 600 / 599
    plain = between / within
    for significance, factor in ((1e-5, 3.115), (0.05, 1.214)):
        quotient = stats.t(10).ppf(significance) / stats.norm.ppf(significance)
        assert quotient**2 == pytest.approx(factor, abs=0.006)
        assert calls.design_effect(1.0, significance) == pytest.approx(plain * quotient**2, rel=1e-9)


@pytest.mark.false_alarm(1e-07)
def test_dispersion_keeps_its_level_and_finds_shared_noise():
    """The bound of a p-value is below 0.05 in at most 5 % of 300 games: more than 38 have probability 1e-7."""
    rng = np.random.default_rng(3)
    alarms = sum(game(rng)[1].dispersion()[1] < math.log(0.05) for _ in range(300))
    assert alarms <= stats.binom.isf(1e-7, 300, 0.05)
    ratio, log_p = game(rng, shared=0.5)[1].dispersion()
    assert ratio > 3
    assert log_p < LOG_LEVEL


@pytest.mark.false_alarm(1e-07)
def test_drift_keeps_its_level_and_finds_a_change():
    rng = np.random.default_rng(4)
    alarms = sum(game(rng)[1].drift() < math.log(0.05) for _ in range(300))
    assert alarms <= stats.binom.isf(1e-7, 300, 0.05)
    tally = Tally.of(SIZE, (SIZE * CALLS, SIZE * CALLS))
    for side in (0, 1):
        tally.add(side, counted(rng)[: CALLS // 2])
        tally.add(side, np.zeros((CALLS // 2, 2), dtype=np.int64))
    assert tally.finish(rng)[1].drift() < LOG_LEVEL


NO_CALLS = CallStatistics(1, *[SideCalls(0, 0, 0, 0, 0, 0)] * 2)  # they show nothing, as calls of one output do


def judged(counts, calls, epsilon):
    evidence = GuessGame(0, "output", True, "x", "y", False, counts, (0, 3), 5_000, None, calls)
    claim = PrivacyClaim(epsilon, relation=Local())
    return judge(PrivacyTerms(claim), PrivacyEvidence(10**6, (evidence,)), 0.05)


def test_runs_that_all_end_alike_are_as_many_as_their_calls():
    """2,000 runs on either dataset guessed right: epsilon >= 7.2 if they are independent, 4.2 by their 200 calls."""
    runs = SIZE * CALLS
    counts = GameCounts(runs, 0, 0, 0, runs, 0)
    squares = runs * SIZE
    calls = CallStatistics(SIZE, SideCalls(CALLS, runs, 0, squares, 0, 0), SideCalls(CALLS, 0, runs, 0, squares, 0))
    assert judged(counts, calls, 4.0).verdict is Verdict.FAIL
    shared = judged(counts, calls, 4.5)
    assert shared.verdict is Verdict.INCONCLUSIVE
    assert "nearly all runs ended alike, in 200 calls" in shared.reason
    assert judged(counts, NO_CALLS, 4.5).verdict is Verdict.FAIL  # a record without calls


def test_the_design_effect_lowers_the_bound():
    rng = np.random.default_rng(5)
    counts, calls = game(rng, shared=0.5)
    plain, corrected = (judged(counts, part, 0.1).epsilon_lower_bound for part in (NO_CALLS, calls))
    assert corrected < plain - 0.05


def test_a_long_call_that_is_guessed_otherwise_bars_a_pass():
    rng = np.random.default_rng(6)
    counts, calls = game(rng)
    side = calls.left
    alike, other = (CallStatistics(SIZE, side, calls.right, calls.parts, (0, 1000, plus, 150)) for plus in (400, 10))
    assert alike.of_size() > math.log(1e-3)
    assert other.of_size() < LOG_LEVEL
    assert "a call of 1000 outputs" in judged(counts, other, 3.0).reason
