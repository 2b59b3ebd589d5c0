"""A call is one draw only where its law is surely the one that was found; each guard is needed."""

import math
from fractions import Fraction

import pytest

import audit
from audit.extensions.enumeration import lazy_calls
from benchmarks.enumeration import samplers

SHIFT = 0


def nine(rng):
    return int(rng.getrandbits(3)) + int(rng.getrandbits(1))


def high(data, rng):
    found = 0
    for _ in range(4):
        found += nine(rng) >= 5
    return found


def shifted(rng):
    return nine(rng) + SHIFT


def moved_in_between(data, rng):
    global SHIFT
    found = 0
    for shift in (0, 0, 0, 3):
        SHIFT = shift
        found += shifted(rng) >= 5
    SHIFT = 0
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


def law_of(mechanism, data=0):
    return audit.enumerate_law(audit.per_call(mechanism), data, rng="random")


def sum_of_coins(chances):
    """Return the law of the number of heads, for coins with these chances."""
    law = {0: Fraction(1)}
    for chance in chances:
        law = {
            heads: law.get(heads, Fraction(0)) * (1 - chance) + law.get(heads - 1, Fraction(0)) * chance
            for heads in range(len(law) + 1)
        }
    return {heads: mass for heads, mass in law.items() if mass}


NINE = (Fraction(3, 8) + Fraction(4, 8)) / 2
COUNTED = [Fraction(8 - max(0, 5 - seen), 8) for seen in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("mechanism", "chances"),
    [
        (high, [NINE] * 4),
        (moved_in_between, [NINE] * 3 + [(Fraction(6, 8) + Fraction(7, 8)) / 2]),
        (through_a_list, COUNTED),
        (through_a_closure, COUNTED),
        (through_an_attribute, COUNTED),
    ],
)
def test_laws_by_hand(mechanism, chances):
    law = law_of(mechanism)
    assert law.probabilities == sum_of_coins(chances)


def drawn_calls(monkeypatch):
    # what is noted in another process is not seen here
    monkeypatch.setattr("audit.extensions.enumeration.enumerate.FORKS", False)
    drawn = []
    draw = lazy_calls.LazyCalls._draw
    monkeypatch.setattr(lazy_calls.LazyCalls, "_draw", lambda self, law: drawn.append(law) or draw(self, law))
    return drawn


def test_calls_are_drawn_where_nothing_can_change(monkeypatch):
    drawn = drawn_calls(monkeypatch)
    law_of(high)
    assert drawn


@pytest.mark.parametrize("mechanism", [through_a_list, through_a_closure, through_an_attribute])
def test_calls_that_share_what_changes_are_made(monkeypatch, mechanism):
    drawn = drawn_calls(monkeypatch)
    law_of(mechanism)
    assert not drawn


def test_without_the_guard_a_changed_global_would_be_missed(monkeypatch):
    monkeypatch.setattr("audit.extensions.enumeration.states.StateReader.is_readable", lambda self: True)
    law = law_of(moved_in_between)
    assert law.behind or law.probabilities != sum_of_coins([NINE] * 3 + [Fraction(13, 16)])


def test_functions_have_their_own_code_again():
    code = samplers.discrete_laplace.__code__
    law_of(lambda data, rng: samplers.sparse_vector((0, 1), 1, 1, rng))
    assert samplers.discrete_laplace.__code__ is code


def test_code_that_knows_a_draw_from_a_number_is_refused():
    law = law_of(tells)
    assert law.residual > Fraction(1, 4)
    assert any("tells numbers" in reason for reason in law.behind)


def tells(data, rng):
    found = 0
    for _ in range(4):
        found += type(nine(rng)) is int
    return found


def test_sparse_vector_by_hand():
    """Scales 1 and 2, three answers: the index is that of the first of independent noises above a noisy level.

    P(noise = x) = tanh(1 / 2s) e^(-|x| / s) at scale s (Canonne, Kamath and Steinke 2020).
    """
    answers, threshold = (0, 1, 0), 1
    law = law_of(lambda data, rng: samplers.sparse_vector(data, threshold, 1, rng), answers)
    expected = dict.fromkeys(range(4), 0.0)
    for level in range(-60, 61):
        mass = math.tanh(0.5) * math.exp(-abs(level))
        for index, answer in enumerate(answers):
            above = sum(math.tanh(0.25) * math.exp(-abs(x) / 2) for x in range(level + threshold - answer, 200))
            expected[index] += mass * above
            mass *= 1 - above
        expected[3] += mass
    assert float(law.residual) <= 1e-12
    for index, probability in expected.items():
        assert float(law.probabilities[index]) == pytest.approx(probability, abs=2e-12)
