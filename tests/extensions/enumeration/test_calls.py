"""The law of a call is remembered only where the call can do nothing but return; each guard is needed."""

import math
from fractions import Fraction

import pytest

import audit
from audit.extensions.enumeration import lazy_calls, states
from benchmarks.enumeration import samplers


def die(sides, rng):
    while (face := rng.getrandbits(2)) >= sides:
        pass
    return face + 1


def six_dice(data, rng):
    total = 0
    for _ in range(6):
        total += die(3, rng)
    return total


def keeping(found, rng):
    found.append(die(3, rng))
    return True


def kept_in_a_list(data, rng):
    found = []
    for _ in range(6):
        keeping(found, rng)
    return sum(found)


class Sum:
    def __init__(self):
        self.value = 0

    def see(self, rng):
        self.value = self.value + die(3, rng)
        return True


def kept_in_an_attribute(data, rng):
    best = Sum()
    for _ in range(6):
        best.see(rng)
    return best.value


def in_a_box(rng):
    while (face := rng.getrandbits(2)) >= 3:
        pass
    return [face + 1]


def returned_in_a_list(data, rng):
    total = 0
    for _ in range(6):
        total += in_a_box(rng)[0]
    return total


def raising(rng):
    while (face := rng.getrandbits(2)) >= 3:
        pass
    if face == 2:
        raise ValueError


def ended_by_an_exception(data, rng):
    best = 0
    for _ in range(6):
        try:
            raising(rng)
        except ValueError:
            best += 1
    return best


def kept_in_a_closure(data, rng):
    best = 0

    def see():
        nonlocal best
        best = best + die(3, rng)
        return True

    for _ in range(6):
        see()
    return best


SAME = [six_dice, kept_in_a_list, kept_in_an_attribute, returned_in_a_list, kept_in_a_closure]
FACES = {1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(1, 3)}
FAILS = {k: Fraction(math.comb(6, k) * 2 ** (6 - k), 3**6) for k in range(7)}  # 6 calls that raise with probability 1/3


def sums(number):
    """Return the law of a sum of dice."""
    found = {0: Fraction(1)}
    for _ in range(number):
        more: dict[int, Fraction] = {}
        for total, probability in found.items():
            for face, share in FACES.items():
                more[total + face] = more.get(total + face, Fraction(0)) + probability * share
        found = more
    return found


@pytest.mark.parametrize("subject", SAME, ids=lambda subject: subject.__name__)
def test_calls_in_every_form(subject):
    law = audit.enumerate_law(subject, None, rng="random")
    assert dict(law.probabilities) == sums(6)
    assert law.residual == 0


def test_a_call_that_raises_is_followed():
    law = audit.enumerate_law(ended_by_an_exception, None, rng="random")
    assert law.probabilities == FAILS


def test_calls_are_remembered(monkeypatch):
    remembered = audit.enumerate_law(samplers.discrete_laplace, 10, rng="random", residual=1e-9)
    monkeypatch.setattr(lazy_calls, "_OFTEN_ALIKE", 10**9)
    followed = audit.enumerate_law(samplers.discrete_laplace, 10, rng="random", residual=1e-9)
    assert remembered.states < 0.6 * followed.states  # 0.39; at a scale of 3 few states are within calls
    assert set(remembered.probabilities) & set(followed.probabilities)
    for value, probability in followed.probabilities.items():
        other = remembered.probabilities.get(value, Fraction(0))
        assert -followed.residual <= other - probability <= remembered.residual or abs(other - probability) <= 1e-9


def sharing_unseen(monkeypatch):
    whole = states.StateReader._state

    def lenient(self, signature):
        state = whole(self, signature)
        inner = [part if part is not None else -2 - number for number, part in enumerate(state.parts)]
        return state._replace(parts=inner)

    monkeypatch.setattr(states.StateReader, "_state", lenient)


def anything_returned(monkeypatch):
    monkeypatch.setattr(states.StateReader, "returned", lambda self, value: ("something",))


@pytest.mark.parametrize(
    ("subject", "without"),
    [
        (kept_in_a_list, sharing_unseen),
        (kept_in_an_attribute, sharing_unseen),
        (returned_in_a_list, anything_returned),
        (ended_by_an_exception, anything_returned),
    ],
    ids=lambda part: part.__name__,
)
def test_each_guard_is_needed(subject, without, monkeypatch):
    without(monkeypatch)
    law = audit.enumerate_law(subject, None, rng="random", states=300)
    assert dict(law.probabilities) not in (sums(6), FAILS)
