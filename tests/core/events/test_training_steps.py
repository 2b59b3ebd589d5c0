"""Training of events: as many steps as chance decides, halves of the outputs, thresholds on sorted scores."""

import numpy as np
import pytest

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.events.candidates import Folds, Ranked, Thresholds
from audit.evidence import session as sessions
from audit.evidence.base import Allowance
from audit.evidence.session import Split, train
from audit.mechanism.call import Stream
from audit.outputs.encode import encode
from audit.scorers import Training

FIRST, STEP = 1024, 2048  # multiples of the size of a call


def far(share):
    """Nothing tells the two sides apart but this share of outputs."""

    def mechanism(data, size, rng):
        numbers = rng.random(size)
        return np.where(rng.random(size) < share, numbers + 5 * data, numbers)

    return mechanism


rarely_far, SELDOM = far(0.03), far(0.08)


def trained(monkeypatch, mechanism, pairs, epsilon, seed=0):
    for name, value in {"MOST_FIRST": FIRST, "FEWEST_SEEN": 1, "MOST_MORE": STEP}.items():
        monkeypatch.setattr(sessions, name, value)
    claim = PrivacyClaim(epsilon, 0.0, Local())
    check = PrivacyCheck(name="steps", mechanism=mechanism, claim=claim, pairs=pairs, method="fixed")
    session = check.session(Allowance(50_000, 0.05, Stream(seed)))
    session.open()
    return session, train(session)


@pytest.mark.parametrize(
    ("budget", "pairs", "width", "training", "more"),
    [
        (100, 1, 1, 30, ()),
        (10_000_000, 1, 10, 100_000, (550_000, 550_000)),
        (10**9, 1, 1, 100_000, (550_000, 550_000)),
        (10**9, 1, 2**24, 1, (1,)),
    ],
)
def test_a_second_step_is_a_whole_one_and_memory_stays(budget, pairs, width, training, more):
    split = Split.of(budget, pairs, width)
    assert (split.training, split.more) == (training, more)


def test_rare_events_take_every_step_and_no_output_comes_twice(monkeypatch):
    session, found = trained(monkeypatch, rarely_far, [(0, 1)], 0.1)
    assert (found.split.training, found.split.more) == (FIRST + 2 * STEP, ())
    assert [len(side) for side in found.drawn[0]] == [FIRST + 2 * STEP] * 2
    assert len(np.unique(found.drawn[0][0].numbers)) == FIRST + 2 * STEP
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
