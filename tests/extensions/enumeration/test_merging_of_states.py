"""States that only look alike are not merged: the law would be wrong; states that are alike are."""

import fractions
import types
from fractions import Fraction

import pytest

import audit
from audit.api import sandbox
from audit.extensions.enumeration import frames, real_outputs
from benchmarks.enumeration.programs import FLOWS
from benchmarks.enumeration.stress import LOCALS, PLACES, WAITS, hiding, holding, is_followed, list_flows, true_law

REFUSED = {"queue", "generator of Python", "type of a number", "evaluated"}  # threads, other sources, code that is made


@pytest.fixture
def without_outputs(monkeypatch):
    """Look at the law alone, which outputs with the real generator would refute."""
    monkeypatch.setattr(sandbox, "FORKS", False)
    monkeypatch.setattr(real_outputs, "_draw_all", lambda *_: None)


def judge(program, truth):
    """Return whether the law of a program is right, or None where it is refused."""
    law = audit.enumerate_law(audit.per_call(program), 0)
    return None if law.behind else is_followed(law, truth)


@pytest.mark.filterwarnings("ignore")  # what is shown of a warning is state
@pytest.mark.usefixtures("without_outputs")
@pytest.mark.parametrize("shape", WAITS)
def test_what_is_hidden_tells_states_apart(shape):
    """A coin in an object of a local variable, or in a place outside of frames, where a law may be refused."""
    wait, early = WAITS[shape]
    held = {name: judge(holding(name, wait), true_law(early)) for name in LOCALS}
    assert held == {name: None if name in REFUSED else True for name in LOCALS}
    hidden = [judge(hiding(name, wait), true_law(early)) for name in PLACES]
    assert False not in hidden
    assert hidden.count(True) >= 20


@pytest.mark.filterwarnings("ignore")  # what is shown of a warning is state
@pytest.mark.usefixtures("without_outputs")
@pytest.mark.parametrize(("name", "program", "truth"), [*list_flows()], ids=FLOWS)
def test_programs_of_a_few_draws_have_the_law_of_all_their_runs(name, program, truth):
    assert judge(program, truth) is (None if name in REFUSED else True)


def test_a_fraction_of_a_draw_is_a_state():
    def tossed(data, rng):
        while True:
            share = fractions.Fraction(rng.randrange(8), 8)
            if rng.randrange(8) < 8 * share:
                return share

    law = audit.enumerate_law(tossed, 0, rng="random")
    assert law.residual == 0
    assert law.notes == ()
    assert law.probabilities == {Fraction(k, 8): Fraction(k, 28) for k in range(1, 8)}


def test_states_that_are_the_same_are_merged():
    """After each of 60 coins only their parity is left: 2^60 paths, and two states per place."""

    def parity(number, rng):
        odd = False
        for _ in range(number):
            coin = rng.random() < 0.5
            odd ^= coin
        return odd

    law = audit.enumerate_law(parity, 60)
    assert law.probabilities == {False: Fraction(1, 2), True: Fraction(1, 2)}
    assert law.states < 200


def test_where_frames_cannot_be_read_nothing_is_merged(monkeypatch):
    """As on other interpreters: a rejection loop is followed to the residual, and the law says why."""
    monkeypatch.setattr(frames, "IS_READABLE", False)

    def die(sides, rng):
        while (face := rng.getrandbits(3)) >= sides:
            pass
        return face + 1

    law = audit.enumerate_law(die, 6, rng="random", residual=1e-6)
    assert law.behind == ()
    assert 0 < law.residual <= Fraction(1, 10**6)
    assert law.probabilities[3] <= Fraction(1, 6) <= law.probabilities[3] + law.residual
    assert "states were not merged: frames cannot be read on this interpreter" in law.notes
    assert law.merges == 0


@pytest.mark.parametrize(
    ("name", "argument", "before"),
    [
        ("LOAD_FAST", 1, 0b1010),
        ("STORE_FAST", 3, 0b0000),
        ("LOAD_FAST_AND_CLEAR", 2, 0b1100),
        ("LOAD_FAST_LOAD_FAST", 0x12, 0b1110),
        ("STORE_FAST_LOAD_FAST", 0x32, 0b0100),
        ("STORE_FAST_LOAD_FAST", 0x33, 0b0000),  # what is loaded was just stored
        ("STORE_FAST_STORE_FAST", 0x31, 0b0000),
        ("STORE_FAST_MAYBE_NULL", 0, 0b1111),  # not known: all variables count as read
    ],
)
def test_variables_are_live_before_they_are_read(name, argument, before):
    """The fourth variable is live afterwards; the numbers of pairs are those of CPython 3.13, four bits each."""
    instruction = types.SimpleNamespace(opname=name, arg=argument)
    assert frames._read_before(0b1000, instruction, 0b1111) == before
