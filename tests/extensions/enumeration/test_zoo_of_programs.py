"""The zoo: no program that was written to break the enumeration gets a wrong law, and each guard is needed for one."""

import os
import sys
import warnings
from fractions import Fraction

import pytest

import audit
from audit.extensions.enumeration import (
    apart,
    arithmetic,
    bytecode,
    deferred,
    exploring,
    hash_seeds,
    known_numbers,
    linked_draws,
    process_state,
    surroundings,
)
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, Table, contradicted
from benchmarks.enumeration.zoo import families
from benchmarks.enumeration.zoo.case import REFUSED, RIGHT, STATED, WRONG, outcome_of

# the programs change the process that they run in
pytestmark = pytest.mark.skipif("COVERAGE_FILE" in os.environ, reason="coverage is measured in one process")
FAMILIES = sorted({case.family for case in families.CASES})
BY_NAME = {f"{case.family}: {case.name}": case for case in families.CASES}
SECONDS = 2.0  # of the processor, for each law


def test_the_zoo_is_large():
    assert len(BY_NAME) == len(families.CASES) >= 400
    assert len(FAMILIES) == 12


@pytest.mark.parametrize("third", range(3))  # the first of each family on every commit
@pytest.mark.parametrize("family", FAMILIES)
def test_no_law_is_wrong(family, third):
    cases = [case for case in families.CASES if case.family == family][third::3]
    found = {case.name: outcome_of(case, time_limit=SECONDS) for case in cases}
    assert not {name: outcome.said for name, outcome in found.items() if outcome.name == WRONG}
    assert family != "control" or {outcome.name for outcome in found.values()} == {RIGHT}
    assert family != "hidden" or {outcome.name for outcome in found.values()} <= {REFUSED, STATED}


def half_way(data, rng):
    """Return the data where a uniform is in a range that no end and no middle is in, and not where it is a stand-in."""
    u = rng.random()
    return data if type(u) is float and 0.3 < u < 0.3001 else None


def without_merges(monkeypatch):
    for name in ("test_merges", "repeat"):  # what is repeated may go through merges as well
        monkeypatch.setattr(exploring.Explorer, name, lambda self: None)


def without_super(monkeypatch):
    without_merges(monkeypatch)
    plain = bytecode._live
    monkeypatch.setattr(bytecode, "_live", lambda code, *rest: plain(code.replace(co_names=(), co_freevars=()), *rest))


def without_width(monkeypatch):
    for module in (arithmetic, deferred):
        monkeypatch.setattr(module, "wraps", lambda *arguments: False)
    without_known_numbers(monkeypatch)


def without_known_numbers(monkeypatch):
    monkeypatch.setattr(exploring.Explorer, "_unconfirmed", lambda self, text: None)


def without_process_state(monkeypatch):
    without_merges(monkeypatch)
    monkeypatch.setattr(process_state.ProcessState, "is_unchanged", lambda self: True)


def without_handled_exceptions(monkeypatch):
    without_merges(monkeypatch)
    monkeypatch.setattr("audit.extensions.enumeration.states._is_handling", lambda: False)


def without_sets(monkeypatch):
    monkeypatch.setattr(surroundings, "goes_through", lambda code: False)
    monkeypatch.setattr("benchmarks.enumeration.zoo.case.confirmed", lambda laws, *arguments: laws)


def without_groups(monkeypatch):
    without_known_numbers(monkeypatch)
    monkeypatch.setattr(linked_draws, "Group", lambda members, region: None)


def without_hooks(monkeypatch):
    monkeypatch.setattr("audit.extensions.enumeration.system_calls.NAMES", {1_000_000: "none"})
    monkeypatch.setattr(apart, "_EVENTS", ("none",))


of_3_11 = pytest.mark.skipif(sys.version_info >= (3, 12), reason="since 3.12 bytecode says that `super()` reads self")


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("modules: module of a list", without_merges),
        pytest.param("reads: super release", without_super, marks=of_3_11),
        ("kinds of uniforms: type is float", without_known_numbers),
        ("fixed width: uint8 + 10 < 128", without_width),
        ("outside: decimal precision", without_process_state),
        ("reads: exception that is raised again", without_handled_exceptions),
        ("order: join of a set", without_sets),
        ("linked: threshold afterwards", without_groups),
        ("hidden: name of a host", without_hooks),  # the same each time, so that no repeated run tells
    ],
)
def test_each_guard_is_needed(name, without, monkeypatch):
    without(monkeypatch)
    assert outcome_of(BY_NAME[name], time_limit=SECONDS).name == WRONG


def test_a_type_is_seen_at_every_value(monkeypatch):
    """The four points miss a range of 1e-4 in most runs; the instructions part at each value."""
    law = audit.enumerate_law(half_way, 1)
    (said,) = law.behind
    assert said.startswith("the code tells numbers that are not known yet from known ones (half_way, line ")
    monkeypatch.setattr(known_numbers, "is_compared", lambda count: False)
    assert audit.enumerate_law(half_way, 1).behind == ()


def test_two_brackets_of_a_law_exclude_one_another_on_either_side():
    half, whole = Table({"a": Fraction(1, 2)}, Fraction(1, 4)), Table({"a": Fraction(1)}, Fraction(0))
    assert list(contradicted(half, whole)) == list(contradicted(whole, half)) == ["a"]
    assert list(contradicted(half._replace(residual=Fraction(1, 2)), whole)) == []


def in_the_order_of_names(data, rng):
    return [name for name in data if rng.random() < 0.5]


def test_laws_are_found_again_under_other_hash_seeds():
    names = frozenset("abcdefgh")
    law = hash_seeds.SeededLaw({"a": 1}, 0, ())
    assert hash_seeds.differ(audit.enumerate_law(lambda data, rng: 1, 0), law)
    settings = {"residual": 1e-12, "time_limit": 10.0}
    function = audit.per_call(in_the_order_of_names)
    one = audit.enumerate_law(function, tuple(sorted(names)[:2]), **settings)
    (same,) = hash_seeds.confirmed([one], function, [tuple(sorted(names)[:2])], settings)
    assert (same.behind, same.assumed, same.is_proved) == ((), (), True)
    assert one.assumed == (HASHES_ASSUMED,)


def test_what_cannot_be_sent_is_assumed():
    """A generator that is running cannot be sent to another process."""
    kept = (number for number in range(3))

    def held(data, rng):
        return bool(rng.random() < 0.5) if kept else None

    law = audit.enumerate_law(held, 0)
    (same,) = hash_seeds.confirmed([law], held, [0], {"residual": 1e-12})
    assert same.assumed == (HASHES_ASSUMED,)


@pytest.fixture(autouse=True)
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
