"""Branches of different forks have one end where the code goes on alike; where it does not, this is found."""

import itertools
import math
from fractions import Fraction

import pytest

import audit
from audit.extensions.enumeration import alike, bytecode, exploring, reading, states
from audit.extensions.enumeration.merges import DIFFER
from benchmarks.enumeration import samplers


def bit(rng):
    return bool(rng.random() < 0.5)


def jumps_that_leave_half_a_number(data, rng):
    first = bit(rng)
    u = rng.random()
    if u < (0.5 if first else 0.75):
        return bool(u < 0.25)
    return None


def jumps_with_a_live_variable(data, rng):
    first = bit(rng)
    if rng.random() < 0.75:
        return first
    return 2 + first


def pick(one, other, rng):
    if rng.random() < 0.25:
        return other
    return one or other


def jumps_with_a_list_that_is_held_outside(data, rng):
    """Behind the jump `one` is gone: what the outer frame holds has to be compared with what is left."""
    first = bit(rng)
    lists = [0], [0]
    held, one, other = lists[not first], lists[0] if first else None, lists[1]
    del lists
    pick(one, other, rng).append(1)
    return len(held)


JUMPS = {
    jumps_that_leave_half_a_number: {True: Fraction(1, 4), False: Fraction(3, 8), None: Fraction(3, 8)},
    jumps_with_a_list_that_is_held_outside: {1: Fraction(1, 8), 2: Fraction(7, 8)},
    jumps_with_a_live_variable: {**dict.fromkeys((0, 1), Fraction(3, 8)), **dict.fromkeys((2, 3), Fraction(1, 8))},
}


@pytest.mark.parametrize("subject", JUMPS, ids=lambda subject: subject.__name__)
def test_branches_with_unlike_ends_are_run_each(subject):
    law = audit.enumerate_law(subject, 0)
    assert law.probabilities == JUMPS[subject]
    assert law.residual == 0


def what_is_left_of_a_number_is_forgotten(monkeypatch):
    monkeypatch.setattr(
        reading.PlainReading, "split", property(lambda self: None, lambda self, draw: None), raising=False
    )


def what_is_live_behind_a_jump_is_forgotten(monkeypatch):
    monkeypatch.setattr(bytecode, "_sides", blind_to_variables(bytecode._sides))
    monkeypatch.setattr(bytecode, "_places", {})


def outer_frames_are_never_read_again(monkeypatch):
    frame_of = states.StateReader._frame

    def kept(self, frame, above, reading):
        self._known[states.identity(frame)] = content = frame_of(self, frame, above, reading)
        return content

    monkeypatch.setattr(states.StateReader, "_frame", kept)


def blind_to_variables(sides):
    def blinded(*arguments):
        found = sides(*arguments)
        return found and found._replace(live=(0, 0))

    return blinded


@pytest.mark.parametrize(
    ("subject", "without"),
    [
        (jumps_that_leave_half_a_number, what_is_left_of_a_number_is_forgotten),
        (jumps_with_a_live_variable, what_is_live_behind_a_jump_is_forgotten),
        (jumps_with_a_list_that_is_held_outside, outer_frames_are_never_read_again),
    ],
)
def test_ends_that_are_inferred_wrongly_are_found(subject, without, monkeypatch):
    without(monkeypatch)
    assert audit.enumerate_law(subject, 0).behind
    monkeypatch.setattr(exploring.Explorer, "test_merges", lambda self: None)
    monkeypatch.setattr(exploring.Explorer, "repeat", lambda self: None)
    monkeypatch.setattr(
        alike.LikeBranches,
        "arrived",
        lambda self, step, end, plain=alike.LikeBranches.arrived: plain(self, step, end) or [],
    )
    assert audit.enumerate_law(subject, 0).probabilities != JUMPS[subject]  # it is wrong, or not whole


def test_ends_of_like_branches_are_found_once():
    def flip(scores, rng):
        return samplers.permute_and_flip(scores, 1.0, rng)

    scores = (3, 1, 4, 1, 5, 9, 2, 6)
    law = audit.enumerate_law(flip, scores, rng="random")
    assert law.residual == 0
    assert law.runs < law.states / 2
    assert law.merges > law.states
    found = {index: Fraction(0) for index in range(len(scores))}
    for order in itertools.permutations(range(len(scores))):
        left = Fraction(1, math.factorial(len(scores)))
        for index in order:
            accepted = Fraction(math.ceil(math.exp((scores[index] - 9) / 2) * 2**53), 2**53)
            found[index] += left * accepted
            left *= 1 - accepted
    assert law.probabilities == found


def law_of_permute_and_flip(scores):
    """Return the law for epsilon = 1 by the sets of candidates that are left, each in the exact numbers of floats."""
    points = 2**53
    accepted = [Fraction(math.ceil(Fraction(math.exp((score - max(scores)) / 2)) * points), points) for score in scores]
    reached = {frozenset(range(len(scores))): Fraction(1)}
    law = dict.fromkeys(range(len(scores)), Fraction(0))
    while reached:
        onward = {}
        for left, mass in reached.items():
            for index in left:
                taken = mass / len(left)
                law[index] += taken * accepted[index]
                rest = left - {index}
                onward[rest] = onward.get(rest, 0) + taken * (1 - accepted[index])
        reached = {left: mass for left, mass in onward.items() if left and mass}
    return law


def test_the_last_ends_may_all_be_inferred():
    """All that waited for the next round had ends by then: nothing is left to follow."""
    scores = (8, 4, 7, 1, 9, 5, 4, 0)
    function = audit.per_call(lambda data, rng: samplers.permute_and_flip(data, 1.0, rng))
    law = audit.enumerate_law(function, scores, rng="random")
    assert law.residual == 0
    assert law.probabilities == law_of_permute_and_flip(scores)


def test_a_merge_that_goes_on_otherwise_bars_the_law(monkeypatch):
    """Runs through merges have other outputs than the graph says."""
    scores = (3, 1, 4, 1, 5)
    function = audit.per_call(lambda data, rng: samplers.permute_and_flip(data, 1.0, rng))
    assert audit.enumerate_law(function, scores, rng="random").behind == ()
    tested = exploring.tested_merges
    monkeypatch.setattr(exploring, "tested_merges", lambda nodes, run, *most: tested(nodes, lambda script: "6", *most))
    assert DIFFER in audit.enumerate_law(function, scores, rng="random").behind
