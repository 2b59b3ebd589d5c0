"""Calls that draw: states within them are merged, whatever they share with their callers."""

import itertools
import math
from fractions import Fraction

import pytest

import audit
from audit.extensions.enumeration import exploring
from audit.extensions.enumeration.merges import DIFFER
from benchmarks.enumeration import samplers

NINE = Fraction(7, 16)


def nine(rng):
    return int(rng.getrandbits(3)) + int(rng.getrandbits(1))


def high(data, rng):
    found = 0
    for _ in range(4):
        found += nine(rng) >= 5
    return found


def counting(rng, seen):
    seen.append(1)
    return int(rng.getrandbits(3)) + len(seen)


def through_a_list(data, rng):
    seen, found = [], 0
    for _ in range(4):
        found += counting(rng, seen) >= 5
    return found


def through_a_closure(data, rng):
    seen = found = 0

    def counted(rng):
        nonlocal seen
        seen += 1
        return int(rng.getrandbits(3)) + seen

    for _ in range(4):
        found += counted(rng) >= 5
    return found


class Counter:
    def __init__(self):
        self.seen = 0

    def next(self, rng):
        self.seen += 1
        return int(rng.getrandbits(3)) + self.seen


def through_an_attribute(data, rng):
    counter, found = Counter(), 0
    for _ in range(4):
        found += counter.next(rng) >= 5
    return found


def raising(rng):
    while (face := rng.getrandbits(2)) >= 3:
        pass
    if face == 2:
        raise ValueError


def ended_by_an_exception(data, rng):
    found = 0
    for _ in range(6):
        try:
            raising(rng)
        except ValueError:
            found += 1
    return found


def die(rng):
    while (face := rng.getrandbits(2)) >= 3:
        pass
    return "abc"[face]


def dice_of_letters(data, rng):
    found = 0
    for _ in range(6):
        found += die(rng) == "c"
    return found


def in_a_list(rng):
    return [die(rng)]


def returned_in_a_list(data, rng):
    found = 0
    for _ in range(6):
        found += in_a_list(rng)[0] == "c"
    return found


def sum_of_coins(chances):
    """Return the law of the number of heads, for coins with these chances."""
    law = {0: Fraction(1)}
    for chance in chances:
        law = {
            heads: law.get(heads, Fraction(0)) * (1 - chance) + law.get(heads - 1, Fraction(0)) * chance
            for heads in range(len(law) + 1)
        }
    return {heads: mass for heads, mass in law.items() if mass}


COUNTED, THIRDS = [Fraction(8 - max(0, 5 - seen), 8) for seen in (1, 2, 3, 4)], [Fraction(1, 3)] * 6


def law_of(mechanism, data=0, **settings):
    return audit.enumerate_law(audit.per_call(mechanism), data, rng="random", **settings)


@pytest.mark.parametrize(
    ("mechanism", "chances"),
    [
        (high, [NINE] * 4),
        (through_a_list, COUNTED),
        (through_a_closure, COUNTED),
        (through_an_attribute, COUNTED),
        (ended_by_an_exception, THIRDS),
        (dice_of_letters, THIRDS),
        (returned_in_a_list, THIRDS),
    ],
)
def test_laws_by_hand(mechanism, chances):
    law, truth = law_of(mechanism), sum_of_coins(chances)
    assert set(law.probabilities) == set(truth)
    assert all(0 <= truth[value] - mass <= law.residual for value, mass in law.probabilities.items())
    assert law.residual < 1e-12


def flip(scores, rng):
    return samplers.permute_and_flip(scores, 1.0, rng)


def test_permute_and_flip_by_hand():
    scores = (3, 1, 4, 1, 5, 9)
    law, found = law_of(flip, scores), {index: Fraction(0) for index in range(len(scores))}
    for order in itertools.permutations(found):
        left = Fraction(1, math.factorial(len(scores)))
        for index in order:
            accepted = Fraction(math.ceil(math.exp((scores[index] - 9) / 2) * 2**53), 2**53)
            found[index] += left * accepted
            left *= 1 - accepted
    assert (law.probabilities, law.residual) == (found, 0)


def test_a_merge_that_goes_on_otherwise_bars_the_law(monkeypatch):
    """Runs through merges have other outputs than the graph says."""
    tested = exploring.test_merges
    monkeypatch.setattr(exploring, "test_merges", lambda nodes, run, most: tested(nodes, lambda script: "6", most))
    assert DIFFER in law_of(flip, (3, 1, 4, 1, 5)).behind
