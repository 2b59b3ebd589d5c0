"""What the calls of a game show: the design effect, and tests of dispersion and drift with their false-alarm rates."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyClaim, Verdict
from audit.checks.judge import PrivacyEvidence, judge
from audit.errors import InvalidCertificate
from audit.events.violations import Plants
from audit.evidence.base import PrivacyTerms
from audit.evidence.guess_game import GuessGame
from audit.evidence.session import count_guesses
from audit.outputs.encode import OutputForm, encode
from audit.records.plain import from_plain, to_plain
from audit.statistics.bounds import GameCounts
from audit.statistics.independence import LOG_LEVEL, CallStatistics, SideCalls, Tally

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
    tally = Tally(SIZE, (SIZE * CALLS, SIZE * CALLS))
    tally.add(0, counted(rng, **settings))
    tally.add(1, counted(rng, **settings)[:, ::-1])
    return tally.finish(rng)


def test_the_tally_adds_whole_calls_and_takes_a_part_of_the_last_one():
    rng = np.random.default_rng(1)
    left, right = counted(rng), counted(rng, calls=30)
    tally = Tally(SIZE, (SIZE * (CALLS - 1) + 7, SIZE * 30))
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
    ends = (-math.inf, -0.5, math.inf)
    assert from_plain(tuple[float, ...], json.loads(json.dumps(to_plain(ends), allow_nan=False))) == ends
    with pytest.raises(InvalidCertificate, match="a number"):
        from_plain(float, True)


@pytest.mark.parametrize(
    "bad", [{"size": 0}, {"parts": ((1, 2),)}, {"long": (1, 2)}, {"left": SideCalls(1, 99, 0, 1, 1, 1)}]
)
def test_statistics_that_contradict_each_other_are_refused(bad):
    side = SideCalls(2, 3, 1, 5, 1, 1)
    with pytest.raises(InvalidCertificate, match="contradict"):
        CallStatistics(**{"size": 10, "left": side, "right": side, **bad})


def test_only_calls_of_several_outputs_may_hide_what_they_share():
    side = SideCalls(100, 1, 0, 1, 0, 0)
    assert [CallStatistics(size, side, side).is_uniform for size in (1, 10)] == [False, True]


NONE = SideCalls(0, 0, 0, 0, 0, 0)
NO_CALLS = CallStatistics(1, NONE, NONE)  # they show nothing, as calls of one output do


def judged(counts, calls, epsilon):
    evidence = GuessGame(0, "output", Plants(OutputForm(1), 1), "x", "y", False, counts, (0, 3), 5_000, None, calls)
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


def test_a_long_call_that_is_guessed_otherwise_bars_a_pass():
    rng = np.random.default_rng(6)
    counts, calls = game(rng)
    side = calls.left
    alike, other = (CallStatistics(SIZE, side, calls.right, calls.parts, (0, 1000, plus, 150)) for plus in (400, 10))
    assert alike.of_size() > math.log(1e-3)
    assert other.of_size() < LOG_LEVEL
    assert "a call of 1000 outputs" in judged(counts, other, 3.0).reason


def summed(rng, calls, size=SIZE):
    """Counts per call on one side with many abstentions, and their sums."""
    counts = rng.multinomial(size, [0.3, 0.2, 0.5], calls)[:, :2]
    plus, minus = counts.T
    squares = (plus**2).sum(), (minus**2).sum(), (plus * minus).sum()
    return counts, SideCalls(calls, *map(int, (plus.sum(), minus.sum(), *squares)))


@pytest.mark.parametrize("calls", [(2, 2), (3, 5), (30, 20)])
def test_variances_and_design_effect_are_those_of_the_runs_one_by_one(calls):
    """Every run is listed: what it adds to the statistic of the game on its side, by hand."""
    rng, theta = np.random.default_rng(8), math.e / (1 + math.e)
    (left, left_sums), (right, right_sums) = (summed(rng, number) for number in calls)
    between = within = 0.0
    for counts, sums, a, b in ((left, left_sums, 1 - theta, -theta), (right, right_sums, -theta, 1 - theta)):
        runs = np.concatenate([np.repeat([a, b, 0.0], [plus, minus, SIZE - plus - minus]) for plus, minus in counts])
        due = len(counts) * np.var(counts @ [a, b], ddof=1), len(runs) * np.var(runs, ddof=1)
        assert sums.variances(SIZE, a, b) == pytest.approx(due)
        between, within = between + due[0], within + due[1]
        ends = [*counts.sum(axis=0), len(runs) - counts.sum()]
        assert sums.unusual(SIZE) == len(runs) - max(ends)
    degrees, level = sum(calls) - 2, 0.001
    due = between / within * (stats.t(degrees).ppf(level) / stats.norm.ppf(level)) ** 2
    found = CallStatistics(SIZE, left_sums, right_sums).design_effect(1.0, level)
    assert found == pytest.approx(min(SIZE, max(1.0, due)))


@pytest.mark.parametrize("side", [0, 1])
def test_a_long_call_is_compared_with_the_calls_on_its_dataset(side):
    """Hoeffding's bound for the larger deviation of the two, times 6 tests, by hand."""
    usual, other = SideCalls(50, 600, 200, 8_000, 1_000, 2_400), SideCalls(50, 0, 1_000, 0, 20_000, 0)
    sides = (usual, other)[:: 1 if side == 0 else -1]
    calls = CallStatistics(SIZE, *sides, long=(side, 500, 400, 50))
    logs = []
    for long, rest in ((400, 600), (50, 200)):  # and 50 of 500 abstain, where 200 of 1,000 do
        p = (long + rest) / 1_500
        for count, runs in ((long, 500), (rest, 1_000)):
            share = count / runs
            logs.append(-runs * (share * math.log(share / p) + (1 - share) * math.log((1 - share) / (1 - p))))
    assert calls.of_size() == pytest.approx(min(logs) + math.log(6))
    alike = CallStatistics(SIZE, *sides, long=(side, 500, 300, 100))
    assert alike.of_size() == 0.0 == CallStatistics(SIZE, *sides).of_size()


def test_the_bound_of_dispersion_is_chernoff_s_by_hand():
    """Of 12 calls of 10 outputs per dataset, half are all "left": independent counts have such a sum of squares."""
    sums = SideCalls(12, 60, 0, 600, 0, 0)
    ratio, log_p = CallStatistics(10, sums, sums).dispersion()
    assert ratio == pytest.approx((600 - 300) * 12 / 11 / (30 * 120 / 119))
    runs, counts = 120, np.arange(11)
    exact = 11 * ratio * runs / (runs - 1)
    squares = (counts - 5.0) ** 2 / 2.5
    rates = np.concatenate([np.geomspace(1e-3, 0.3, 24), np.linspace(0.32, 0.7, 20)])
    growth = [math.log(np.sum(stats.binom(10, 0.5).pmf(counts) * np.exp(rate * squares))) for rate in rates]
    each = 12 * np.array(growth) - rates * exact + 0.5 * math.log(8 * runs * 0.25)
    assert log_p == pytest.approx(2 * float(np.min(each)) + math.log(2))


class Positive:
    """Guesses "left" of positive numbers, and remembers how many outputs it was shown at once."""

    def __init__(self):
        self.shown = []

    def test_events(self, outputs):
        self.shown.append(len(outputs))
        is_positive = outputs.numbers.ravel() > 0
        return is_positive, ~is_positive


@pytest.mark.parametrize(("types", "shown"), [([float] * 40, [80]), ([float, int] * 20, [2] * 40)])
def test_only_calls_of_one_type_are_joined_before_they_are_read(types, shown):
    events = Positive()
    counts = count_guesses([events], [encode(np.array([1, -1], dtype=kind), 2) for kind in types])[0]
    assert counts.tolist() == [[1, 1]] * 40
    assert events.shown == shown


@pytest.mark.parametrize(("others", "is_uniform"), [(9, True), (10, False)])
def test_shared_noise_shows_from_20_runs_on_that_end_otherwise(others, is_uniform):
    odd = others % 2  # as a count is, so is its square
    left = SideCalls(5, 100 - others, others, 1_750 - odd, 40 - odd, 0)
    right = SideCalls(5, 10, 90, 40, 1_700, 0)
    assert CallStatistics(SIZE, left, right).is_uniform is is_uniform


def test_a_long_call_without_others_to_compare_it_with_shows_nothing():
    """A time limit may end a game before its first whole call: zero runs times an infinite divergence is no number."""
    assert CallStatistics(10, NONE, NONE, long=(0, 100, 100, 0)).of_size() == 0.0


def test_the_bound_of_drift_pays_for_every_count_at_every_cut():
    """Of 1,000 runs in either half, 200 and 400 are not guessed: three counts on two sides, in two directions."""
    halves = ((1_000, 600, 200, 1_000, 500, 500), (1_000, 400, 200, 1_000, 500, 500))
    smallest = -1_000 * (0.2 * math.log(0.2 / 0.3) + 0.8 * math.log(0.8 / 0.7))
    assert CallStatistics(100, NONE, NONE, halves).drift() == pytest.approx(smallest + math.log(12))
