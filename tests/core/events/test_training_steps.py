"""Training goes on, step by step, as long as chance decides which events look best; and no longer."""

import numpy as np
import pytest

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.events import candidates as events
from audit.evidence import fixed_budget
from audit.evidence import session as sessions
from audit.evidence.allowance import Allowance
from audit.evidence.fixed_budget import Split
from audit.evidence.session import train
from audit.execution.seeds import Stream

FIRST, STEP = 1024, 2048  # multiples of the size of a call


def far(share):
    """Nothing tells the two sides apart but this share of outputs."""

    def mechanism(data, size, rng):
        numbers = rng.random(size)
        return np.where(rng.random(size) < share, numbers + 5 * data, numbers)

    return mechanism


rarely_far, SELDOM = far(0.03), far(0.08)


def mostly_apart(data, size, rng):
    """Every output tells."""
    return data + rng.random(size) - (rng.random(size) < 0.1)


def trained(monkeypatch, mechanism, pairs, epsilon, seed=0):
    monkeypatch.setattr(fixed_budget, "MOST_FIRST", FIRST)
    for module in (fixed_budget, sessions):
        monkeypatch.setattr(module, "FEWEST_SEEN", 1)
    monkeypatch.setattr(fixed_budget, "MOST_MORE", STEP)
    claim = PrivacyClaim(epsilon, 0.0, Local())
    check = PrivacyCheck(name="steps", mechanism=mechanism, claim=claim, pairs=pairs, method="fixed")
    session = check.session(Allowance(50_000, 0.05, Stream(seed)))
    session.open()
    return session, train(session)


@pytest.mark.parametrize(
    ("budget", "pairs", "width", "training", "more"),
    [
        (100, 1, 1, 30, ()),
        (10_000, 1, 1, 2496, (741,)),
        (100_000, 1, 1, 19_890, (12_480,)),
        (1_000_000, 2, 1, 50_000, (100_000,)),
        (5_000_000, 1, 1, 100_000, (550_000,)),
        (10_000_000, 1, 10, 100_000, (550_000, 550_000)),
        (10_000_000, 1, 20, 100_000, (550_000,)),
        (10**9, 1, 1, 100_000, (550_000, 550_000)),
        (10**9, 1, 2**24, 1, (1,)),
    ],
)
def test_a_second_step_is_a_whole_one_and_memory_stays(budget, pairs, width, training, more):
    split = Split.of(budget, pairs, width)
    assert (split.training, split.more) == (training, more)


@pytest.mark.parametrize(
    ("more", "wanted", "training", "left"),
    [
        ((20, 20), 1.1, 30, (20,)),
        ((20, 20), 12.0, 30, (20,)),
        ((20, 20), 12.1, 50, ()),
        ((20, 20), 1e9, 50, ()),
        ((20,), 12.1, 30, ()),
    ],
)
def test_as_many_steps_are_taken_at_once_as_are_needed(more, wanted, training, left):
    split = Split(10, more).with_more(wanted)
    assert (split.training, split.more) == (training, left)


def test_rare_events_take_every_step_and_no_output_comes_twice(monkeypatch):
    session, found = trained(monkeypatch, rarely_far, [(0, 1)], 0.1)
    assert (found.split.training, found.split.more) == (FIRST + 2 * STEP, ())
    assert [len(side) for side in found.drawn[0]] == [FIRST + 2 * STEP] * 2
    assert len(np.unique(found.drawn[0][0].numbers)) == FIRST + 2 * STEP
    early, whole = 2 * found.split.early * found.split.call, 2 * (found.split.call - 1)
    assert 2 * session.allowance.budget - session.samples == found.choice.runs - early + whole


def test_events_that_need_little_more_take_one_step(monkeypatch):
    _, found = trained(monkeypatch, SELDOM, [(0, 1)], 0.1)
    assert (found.split.training, found.split.more) == (FIRST + STEP, (STEP,))


def test_frequent_events_take_none(monkeypatch):
    _, found = trained(monkeypatch, mostly_apart, [(0, 1)], 0.1)
    assert found.split.training == FIRST


def test_a_claim_that_nothing_refutes_takes_none(monkeypatch):
    _, found = trained(monkeypatch, rarely_far, [(0, 1)], 20.0)
    assert found.split.training == FIRST


def in_a_row(data, size, rng):
    """The same beside a number that tells nothing."""
    return np.column_stack([rarely_far(data, size, rng), rng.random(size)])


@pytest.mark.parametrize(
    ("pairs", "looks"),
    [([(0, 1)], {2 * (FIRST + 2 * STEP)}), ([(0, 1), (0, 1)], {FIRST, FIRST + 2 * STEP})],
)
def test_slow_scorers_wait_for_the_last_step_of_one_pair(monkeypatch, pairs, looks):
    """Of several pairs, the one that takes no further step may be the one that needs them."""
    asked, needs = [], events._needs_slow_scorers

    def needed(proposals, design):
        if found := needs(proposals, design):
            asked.append(design.training_runs)
        return found

    monkeypatch.setattr(events, "_needs_slow_scorers", needed)
    trained(monkeypatch, in_a_row, pairs, 0.1, seed=2)
    assert set(asked) == looks
