"""Objects that answer: every fault says what it gives and is convicted, no twin is refuted, correct ones keep claims.

Faults are convicted at 1e-6 together (ledgers without probability), with a fixed seed. Null of the twins: their claims
hold; each of 30 is refuted with probability 1e-8 at most, at a budget of 500 conversations.
"""

import pickle
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from audit import Verdict, run
from mechanisms.faults.interactive import CHECKS as FAULTS
from mechanisms.faults.interactive import TWINS, ClosedChildGoesOn, RefundsTheLast, SharedCache
from mechanisms.faults.truths import TRUTHS
from mechanisms.interactive import (
    LENGTH,
    Cached,
    Careful,
    Closing,
    Odometer,
    Session,
    SparseVector,
    Tickets,
    TreeCounter,
    event_at,
    until_above,
)
from mechanisms.parts.sparse_vector import Noise
from tests.offenders import for_each

QUICK = 500
CONVICTED = 4_000  # conversations that convict every fault; their own budgets also find what the claims leave open


@for_each(FAULTS)
def test_a_fault_states_its_privacy_expects_conviction_and_has_a_correct_parent(check):
    assert check.expected is Verdict.FAIL
    assert TRUTHS["interactive"][check.name.removeprefix("fault/interactive ")]
    assert check.make.__mro__[1].__module__ == "mechanisms.interactive"
    assert pickle.loads(pickle.dumps(check)).name == check.name


def test_an_analyst_asks_a_row_until_it_is_above_or_four_times():
    analyst = until_above()
    moves = [next(analyst), *map(analyst.send, (False, True, False, False, False))]
    assert [row for _, row, _ in moves] == [0, 0, 1, 1, 1, 1]
    assert next(analyst, "no more") == "no more"


def has_exact_costs(check):
    return check.law is not None or check.cost is not None


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "sampled"])
def test_every_fault_is_convicted(exact):
    faults = [replace(check, budget=CONVICTED) for check in FAULTS if has_exact_costs(check) is exact]
    report = run(faults, workers=0, significance=0.03)
    assert [result.name for result in report.results if result.verdict is not Verdict.FAIL] == []
    assert not exact or {result.basis for result in report.results} <= {"law", "computed"}
    assert all(result.conversation for result in report.results)


@pytest.mark.false_alarm(2.9e-07)
def test_no_twin_is_refuted():
    quick = [replace(check, budget=QUICK) for check in TWINS]
    report = run(quick, workers=0, confirmation=2.9e-7)
    assert [result.name for result in report.results if result.verdict is Verdict.FAIL] == []


def test_a_budget_is_exact():
    session = Session([0.0], np.random.default_rng(0))
    for _ in range(10):
        session.ask(0, 0.1)
    assert session.spent == Fraction(1)
    with pytest.raises(PermissionError, match="the budget is spent"):
        session.ask(0, 0.1)


@pytest.mark.parametrize("kind", [Session, Odometer, Closing, Cached, Tickets, Careful])
@pytest.mark.parametrize(
    "cost", [0.1, "0.1", np.float64(0.1), np.float32(0.1), Decimal("0.1"), Fraction(1, 10)], ids=repr
)
def test_a_child_is_of_its_parents_kind_and_has_what_its_cost_says(kind, cost):
    parent = kind([0.0], np.random.default_rng(0))
    child = parent.child(cost)
    assert type(child) is kind
    assert (parent.spent, child.spent, child.limit) == (Fraction(1, 10), 0, Fraction(1, 10))


def test_a_cache_answers_the_same_query_the_same():
    cached = Cached([0.0, 0.0], np.random.default_rng(0))
    assert {cached.ask(0, 0.5) for _ in range(5)} == {cached.known[0, 0.5]}
    assert len({cached.ask(*query) for query in ((0, 0.5), (0, 0.25), (1, 0.25))}) == 3
    assert cached.spent == 1


def test_a_cache_that_is_shared_answers_every_epsilon_alike():
    cached = SharedCache([0.0], np.random.default_rng(0))
    assert cached.ask(0, 0.1) == cached.ask(0, 0.4)


def test_the_answer_gives_its_price_back_once_to_who_repeats_it():
    session = RefundsTheLast([0.0], np.random.default_rng(0))
    answer = session.ask(0, 0.9)
    assert [session.refund(answer + 1), session.refund(answer), session.refund(answer)] == [False, True, False]
    assert session.spent == 0


def test_a_closed_child_gives_its_rest_back_once():
    parent, fault = Closing([0.0], np.random.default_rng(0)), ClosedChildGoesOn([0.0], np.random.default_rng(0))
    for session in (fault, parent):
        child = session.child(0.9)
        child.ask(0, 0.4)
        session.close(child)
        assert session.spent == Fraction(2, 5)
    parent.close(child)
    assert parent.spent == Fraction(2, 5)
    with pytest.raises(PermissionError, match="the budget is spent"):
        child.ask(0, 0.1)


def test_a_ticket_answers_once():
    tickets = Tickets([0.0], np.random.default_rng(0))
    number = tickets.reserve(0, 0.5)
    assert isinstance(tickets.redeem(number), float)
    with pytest.raises(PermissionError, match="the ticket is used"):
        tickets.redeem(number)


def test_sparse_vector_stops():
    sparse = SparseVector([0.0], np.random.default_rng(0))
    assert [sparse.above(0, 500.0) for _ in range(2)] == [True, True]
    with pytest.raises(PermissionError, match="cut-off"):
        sparse.above(0, 500.0)
    assert SparseVector([0.0], np.random.default_rng(0), epsilon=0.3, cutoff=5).runs.noise == Noise(10 / 0.3, 0.0, 5)


def test_a_prefix_is_the_sum_of_its_nodes():
    counter = TreeCounter(event_at(1, 4), np.random.default_rng(0), epsilon=1e9)
    assert [round(counter.step()) for _ in range(LENGTH)] == [0, 1, 1, 1, 2, 2, 2, 2]
    with pytest.raises(EOFError):
        counter.step()


@pytest.mark.parametrize("length", [*range(1, 20), 100])
def test_an_event_pays_for_each_node_that_holds_it(length):
    counter = TreeCounter([0] * length, np.random.default_rng(0), epsilon=0.3)
    for _ in range(length):
        counter.step()
    held = Counter(time for level, start in counter.nodes for time in range(start, start + 2**level))
    assert counter.scale == pytest.approx(max(held.values()) / 0.3)


def test_a_negative_cost_gives_no_budget_back():
    session = Session([0.0, 0.0], np.random.default_rng(0))
    session.ask(0, 0.75)
    with pytest.raises(ValueError, match="negative"):
        session.ask(0, -0.5)
    assert session.left() == 0.25
