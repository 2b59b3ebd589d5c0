"""Laws are held to outputs with the real generator: wrong ones are accused, right ones are not."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import audit
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, Table
from audit.extensions.enumeration.real_outputs import FEWER, LEVEL, OUTPUTS, contradiction
from benchmarks.enumeration.natural import SAMPLERS
from benchmarks.enumeration.stress import PLACES, WAITS, hiding, is_right, true_law, unguarded
from tests.extensions.enumeration.test_proofs import checked, flipped

QUICK = [each for each in SAMPLERS if not any(word in each.name for word in ("200 users", "12 users", "by an array"))]


def law_of(table, residual=0):
    return Table({text: Fraction(mass) for text, mass in table.items()}, Fraction(residual))


def test_events_share_the_level_of_an_accusation():
    """1,000 equal outputs: a count of 48 of 10,000 is beyond the level of one event, and not beyond that of each."""
    law, counts = law_of(dict.fromkeys(map(str, range(1_000)), "1/1000")), dict.fromkeys(map(str, range(1_000)), 10)
    found = {count: contradiction(law, counts | {"0": count}) for count in range(10, 80)}
    by_one = [count for count in found if (9_990 + count) * kl(count / (9_990 + count), 1e-3) > math.log(2 / LEVEL)]
    assert min(by_one) < min(count for count, said in found.items() if said)


def kl(share, p):
    return share * math.log(share / p) + (1 - share) * math.log((1 - share) / (1 - p))


@pytest.mark.parametrize("part", range(8))
@pytest.mark.false_alarm(1e-9)
def test_wrong_laws_are_accused(part):
    """What is put in a place is not seen by the frames; an accusation is missed with probability below 1e-9 each."""
    number, accused, truth = len(PLACES) // 8, 0, true_law(WAITS["chain"][1])
    for name in list(PLACES)[part::8]:
        with unguarded():
            law = audit.enumerate_law(audit.per_call(hiding(name)), 0)
        is_accused = any("outputs of the code" in said for said in law.behind)
        assert is_accused != is_right(law, truth), name
        accused += is_accused
    assert accused >= number - 2  # else the guards are not off


@pytest.mark.parametrize("part", range(4))
@pytest.mark.false_alarm(1e-9)
def test_right_laws_are_not_accused(part):
    for each in QUICK[part::4]:
        law = audit.enumerate_law(audit.per_call(each.function), each.data, rng=each.rng, time_limit=1.0)
        assert law.behind == (), each.name
        assert sum(law.outputs.values()) == OUTPUTS


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)])
def test_a_right_law_is_accused_with_the_stated_probability(share):
    """The exact binomial probability of all counts that are too many or too few."""
    law, counts = law_of({"a": share, "b": 1 - share}), np.arange(OUTPUTS + 1)
    told = [bool(contradiction(law, {"a": int(count), "b": OUTPUTS - int(count)})) for count in counts]
    assert 0 < stats.binom.pmf(counts, OUTPUTS, float(share))[told].sum() <= LEVEL


def test_what_is_left_over_may_be_any_output():
    assert contradiction(law_of({"a": Fraction(1, 2)}, Fraction(1, 2)), {"a": 9_900, "b": 100}) is None
    assert "a has probability 0.5 to 0.6" in contradiction(
        law_of({"a": "1/2", "b": "2/5"}, "1/10"), {"a": 7_000, "b": 3_000}
    )
    assert "any other output has probability 0 " in contradiction(
        law_of({"a": "1/2", "b": "1/2"}), {"a": 5_000, "b": 4_999, "": 1}
    )
    assert contradiction(law_of({"a": Fraction(1)}, 0), {}) is None


def first_of_a_set(data, rng):
    return next(iter({"alpha", "beta", "gamma", str(data)})) if rng.random() < 0.5 else data


def test_the_order_of_hashes_is_another_one_in_other_processes():
    result = checked(first_of_a_set)
    assert result.verdict is audit.Verdict.INCONCLUSIVE
    assert "its enumerated law is not that of the code" in result.reason


def read_from_the_frame(data, rng):
    unused = rng.random() < 0.5  # noqa: F841
    again = rng.random() < 0.5
    return sys._getframe().f_locals["unused"], again


def test_what_reads_dead_variables_is_accused():
    assert audit.enumerate_law(read_from_the_frame, 0).behind


def test_a_proof_says_what_it_was_held_to():
    result = checked(flipped)
    assert (result.verdict.value, result.basis) == ("PASS", "proof")
    assert "10,000 outputs with the real generator have the law, on each of 2 datasets" in result.scope
    assert "no states were merged" in result.scope


def test_what_cannot_be_sent_is_assumed():
    """A generator that is running cannot be sent to another process: the outputs are drawn in this one."""
    kept = (number for number in range(3))
    result = checked(lambda data, rng: flipped(data, rng) if kept else None)
    assert (result.verdict.value, result.basis) == ("PASS", "computed")
    assert f"assumed: {HASHES_ASSUMED}" in result.scope


def slow(data, rng):
    return flipped(data, rng) if math.factorial(3000) else None


def test_too_few_outputs_prove_nothing():
    law = audit.enumerate_law(slow, True, time_limit=0.05)
    assert FEWER in law.assumed
