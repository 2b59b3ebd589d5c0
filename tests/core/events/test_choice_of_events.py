"""Events: what those that are chosen are worth, by the exact output law, and how they are trained.

The law takes the place of the certifying outputs, so that only the choice is measured. Seeds are fixed and nothing is
a hypothesis test: the rules that these tests hold fast were each seen to fail them when taken out. Training takes as
many steps as chance decides, halves of the outputs, and thresholds on sorted scores.
"""

import math
from statistics import mean, median
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.claims.privacy import Point
from audit.events.candidates import Folds, Ranked, TestDesign, Thresholds, choose_events
from audit.evidence import session as sessions
from audit.evidence.base import Allowance
from audit.evidence.session import Split, _excess, train
from audit.execution.seeds import Stream
from audit.outputs.encode import encode
from audit.scorers import Training
from tests.core.scorers.exact_value import value_of

GRID = np.linspace(-15, 16, 62_001)

TEN_ONES, HALF_TWOS = np.ones(10), np.repeat([2.0, 0.0], 5)


def on_the_line(law):
    """Numbers, and the probability of each on either side of the pair (0, 1)."""
    steps = (GRID[1:] + GRID[:-1]) / 2
    edges = np.r_[-np.inf, steps, np.inf]
    return GRID, [np.diff(law.cdf(edges - center)) for center in (0, 1)]


def two_sided_geometric(epsilon):
    integers = np.arange(-60, 61)
    ratio = np.exp(-epsilon)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(integers)
    return integers.astype(float), [law, np.r_[0.0, law[:-1]]]


def stopped(epsilon):
    """Rows of flags with one above at most (Lyu, Su & Li 2017, Algorithm 1, c = 1); the threshold is summed out."""
    rows = np.triu(np.full((10, 10), 2.0), 1) + np.eye(10)
    return np.r_[rows, np.zeros((1, 10))], [first_above(answers, epsilon) for answers in (TEN_ONES, HALF_TWOS)]


def first_above(answers, epsilon):
    noise = np.linspace(-60, 60, 120_001) / epsilon
    still = stats.laplace.pdf(noise, scale=2 / epsilon)
    still /= still.sum()
    law = []
    for answer in answers:
        above = still * stats.laplace.sf(0.5 + noise - answer, scale=4 / epsilon)
        law.append(above.sum())
        still = still - above
    return np.append(law, still.sum())


def value(case, size, runs, seed, pair=(0, 1)):
    """Return the bound that events chosen on `size` outputs per dataset give at the expected counts of `runs` runs."""
    outputs, laws = case
    rng = np.random.default_rng(seed)
    drawn = [outputs[rng.choice(len(outputs), size, p=law / law.sum())] for law in laws]
    training = Training(*(encode(side, size) for side in drawn), None, pair)
    events = choose_events(training, [TestDesign(math.inf, 0.0, size, runs, 0.05)])[0]
    return value_of(events, encode(outputs, len(outputs)), laws, runs)


@pytest.mark.parametrize(
    ("case", "size", "certifying", "seeds", "average", "least"),
    [
        pytest.param(on_the_line(stats.laplace), 12_500, 175_000, 8, mean, 0.985, id="plateau on the line"),
        pytest.param(on_the_line(stats.norm), 6_250, 87_500, 8, mean, 2.85, id="ratio that grows outwards"),
        pytest.param(two_sided_geometric(1.0), 12_500, 175_000, 8, mean, 0.988, id="plateau of repeated values"),
        pytest.param(stopped(1.0), 32_500, 135_000, 16, mean, 0.8, id="few values, a rare one best"),
        pytest.param(stopped(0.1), 300_000, 1_400_000, 3, median, 0.069, id="few values, nearly alike"),
    ],
)
def test_events_reach_nearly_what_the_law_allows(case, size, certifying, seeds, average, least):
    found = [value(case, size, certifying, seed) for seed in range(seeds)]
    assert average(found) >= least


def test_rare_outputs_borrow_strength_where_the_inputs_say_which_answers_change_alike():
    found = [value(stopped(1.0), 20_000, 120_000, seed, (TEN_ONES, HALF_TWOS)) for seed in range(8)]
    assert mean(found) >= 0.82  # 0.79 if each output counts by itself


def test_the_excess_of_one_run_by_hand():
    """All guesses are right, and kappa is 1: W = 1 / 2, V(t) = 1 + t^2 / 2, and t falls from 4 to the claimed 2."""
    events = SimpleNamespace(estimated_bound=math.log(4), guess=lambda side: side, delta_share=lambda delta: 0.0)
    design = SimpleNamespace(standard_errors=lambda penalty: 1.0)
    found = _excess(events, Point(math.log(2), 0.0), design, (np.ones(8), -np.ones(8)))
    assert found == pytest.approx((math.sqrt(1 + 4**2 / 2) + (4 - 2) / 2) / math.sqrt(1 + 2**2 / 2))


@pytest.mark.parametrize(
    ("budget", "pairs", "width", "training", "more"),
    [
        (100, 1, 1, 30, ()),
        (5_500_000, 1, 1, 100_000, (550_000, 550_000)),  # whose rest is two steps exactly
        (10_000_000, 1, 10, 100_000, (550_000, 550_000)),
        (10**9, 1, 1, 100_000, (550_000, 550_000)),
        (10**9, 1, 2**24, 1, (1,)),
    ],
)
def test_a_second_step_is_a_whole_one_and_memory_stays(budget, pairs, width, training, more):
    split = Split.of(budget, pairs, width)
    assert (split.training, split.more) == (training, more)


def test_rare_events_take_every_step_and_no_output_comes_twice(monkeypatch):
    """Nothing tells the two sides apart but 3 % of the outputs; steps are multiples of the size of a call."""

    def far_now_and_then(data, size, rng):
        numbers = rng.random(size)
        return np.where(rng.random(size) < 0.03, numbers + 5 * data, numbers)

    for name, value in {"MOST_FIRST": 1024, "FEWEST_SEEN": 1, "MOST_MORE": 2048}.items():
        monkeypatch.setattr(sessions, name, value)
    claim, every = PrivacyClaim(0.1, 0.0, Local()), 1024 + 2 * 2048
    check = PrivacyCheck(name="steps", mechanism=far_now_and_then, claim=claim, pairs=[(0, 1)], method="fixed")
    session = check.session(Allowance(50_000, 0.05, Stream(0)))
    session.open()
    found = train(session)
    assert (found.split.training, found.split.more) == (every, ())
    assert [len(side) for side in found.drawn[0]] == [every] * 2
    assert len(np.unique(found.drawn[0][0].numbers)) == every
    early, whole = 2 * found.split.early * found.split.call, 2 * (found.split.call - 1)
    assert 2 * session.allowance.budget - session.samples == found.choice.runs - early + whole


def training(left, right):
    return Training(encode(left, len(left)), encode(right, len(right)), None, (0, 1))


def test_single_numbers_are_split_by_turns_and_only_then_sorted():
    """Sorted first, the halves would be two copies of one sample: what one picks would always please the other."""
    left, right = np.random.default_rng(0).laplace(size=(2, 101))
    folds = Folds.of(training(left, right))
    for start, half in enumerate(folds.halves):
        np.testing.assert_array_equal(half.left.numbers, np.sort(left[start::2]))
        np.testing.assert_array_equal(half.right.numbers, np.sort(right[start::2]))
    np.testing.assert_array_equal(folds.whole.left.numbers, np.sort(left))


@pytest.mark.parametrize("thresholds", [Thresholds(1.0, -1.0), Thresholds(2.0, np.nan), Thresholds(np.nan, 0.0)])
def test_frequencies_on_sorted_scores_are_those_of_the_outputs(thresholds):
    """Ties at the threshold count, abstentions count in the denominator only."""
    rng = np.random.default_rng(2)
    left, right = (np.where(rng.random(500) < 0.1, np.nan, rng.integers(-3, 4, 500).astype(float)) for _ in range(2))
    plus, minus = (
        [np.mean(test) for test in tests]
        for tests in (
            [side >= thresholds.upper for side in (left, right)],
            [side <= thresholds.lower for side in (left, right)],
        )
    )
    expected = (plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2
    assert thresholds.frequencies(Ranked.of(left, right)) == pytest.approx(expected, abs=1e-15)
