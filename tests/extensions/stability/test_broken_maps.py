"""A broken map is found and shrunk, whatever breaks it; correct maps that look broken are left alone.

No test draws from a null: a FAIL is a fact. Seeds are fixed, since a search may miss.
"""

import functools
import itertools
import math
import operator
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import PerPartition, Verdict, check_stability, columns, numbers
from audit.extensions.stability.search import _repartition

INTEGERS = columns(numbers(0, 10, integers=True), max_size=64)
FLOATS = columns(numbers(0.0, 10.0))
VECTORS = st.lists(st.integers(-50, 50), min_size=3, max_size=3)
GROUPS = st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 3), max_size=3))


def up_to_ten(column):
    return all(type(x) is float and 0 <= x <= 10 for x in column)


def mean(column):
    return sum(column) / max(len(column), 1)


def pairwise(column):
    """Sum in pairs, as a library does against rounding."""
    if len(column) < 2:
        return column[0] if column else 0.0
    half = len(column) // 2
    return pairwise(column[:half]) + pairwise(column[half:])


def wrapped(column):
    with np.errstate(over="ignore"):
        return int(np.sum(np.array(column, dtype=np.int8), dtype=np.int8))


def first_of_each(groups):
    return {key: rows[:1] for key, rows in groups.items()}


def run(transformation, bound, distance_in, distance_out, datasets, **settings):
    given = {"distance_in": distance_in, "distance_out": distance_out, "budget": 1_000, **settings}
    return check_stability(transformation, bound, datasets=datasets, **given)


BROKEN = {  # by what is wrong: the check's arguments and the kind of the violation
    "factor": ((sum, 9, "symmetric", "absolute", INTEGERS), "loss"),
    "substitution as removal": ((sum, 5, "change_one", "absolute", INTEGERS), "loss"),
    "order of a multiset": ((lambda column: column[:1], 1, "symmetric", "symmetric", INTEGERS), "loss"),
    "even length": ((lambda c: c[: len(c) // 2 * 2], 1, "insert_delete", "insert_delete", INTEGERS), "loss"),
    "adjacent differences": ((lambda v: [v[0], v[1] - v[0], v[2] - v[1]], 1, "l1", "l1", VECTORS), "loss"),
    "sums of a vector": ((lambda v: [*v, sum(v)], math.sqrt(2), "l2", "l2", VECTORS), "loss"),
    "cumulative sums": ((lambda v: list(itertools.accumulate(v)), 2, "l2", "l2", VECTORS), "loss"),
    "private count": ((mean, lambda distance: distance, "symmetric", "absolute", INTEGERS), "loss"),
    "wraps": ((wrapped, 127, "symmetric", "absolute", columns(numbers(0, 127, integers=True), max_size=16)), "loss"),
    "sum of floats, reordered": ((sum, 10, "symmetric", "absolute", FLOATS), "rounding"),
    "new partition": ((lambda groups: list(groups.items()), 0, PerPartition("symmetric"), "symmetric", GROUPS), "loss"),
    "product": ((lambda c: functools.reduce(operator.mul, c, 1), 10, "symmetric", "absolute", INTEGERS), "loss"),
}
CORRECT = {
    "sum": (sum, 10, "symmetric", "absolute", INTEGERS),
    "substituted sum": (sum, 10, "change_one", "absolute", INTEGERS),
    "exact sum of floats": (lambda column: math.fsum(column), lambda d: 10 * d + 1e-8, "symmetric", "absolute", FLOATS),
    "sorted": (sorted, 1, "symmetric", "insert_delete", INTEGERS),
    "pairs from the front": (lambda c: c[: len(c) // 2 * 2], 2, "insert_delete", "insert_delete", INTEGERS),
    "sums of a vector": (lambda v: [*v, sum(v)], 2, "l2", "l2", VECTORS),
    "adjacent differences": (lambda v: [v[0], v[1] - v[0], v[2] - v[1]], 2, "l1", "l1", VECTORS),
    "clipped": (lambda column: [min(x, 3) for x in column], 1, "symmetric", "symmetric", INTEGERS),
    "histogram": (lambda c: {key: c.count(key) for key in c}, 1, "symmetric", "l1", INTEGERS),
    "truncated groups": (first_of_each, 2, PerPartition("insert_delete"), PerPartition("insert_delete"), GROUPS),
    "constant": (lambda column: 1.0, 0, "symmetric", "absolute", FLOATS),
    "raises on both sides": (lambda column: column[10**6], 1, "symmetric", "absolute", INTEGERS),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_maps_are_refuted_on_two_seeds(name):
    arguments, kind = BROKEN[name]
    for seed in range(2):
        result = run(*arguments, seed=seed)
        assert (result.verdict, result.basis) == (Verdict.FAIL, "computed"), (name, seed, str(result))
        assert result.evidence.violation.kind == kind


@pytest.mark.parametrize("name", CORRECT)
def test_correct_maps_are_not_refuted(name):
    result = run(*CORRECT[name], budget=600)
    assert result.verdict is not Verdict.FAIL, str(result)
    assert name == "raises on both sides" or result.verdict is Verdict.PASS
    assert result.evidence.samples >= 600


@pytest.mark.parametrize(("edit", "kept"), [("remove", {"b"}), ("replace", {"a", "b"})])
def test_a_whole_partition_is_dropped_where_any_change_of_it_counts_as_one(edit, kept):
    plan = SimpleNamespace(dataset={"a": [1], "b": [2]}, donor={})
    assert set(_repartition(plan, PerPartition("discrete"), ((edit, 0, 0),), False)) == kept


def test_a_pair_is_shrunk():
    violation = run(*BROKEN["factor"][0]).evidence.violation
    assert (violation.left, violation.right) in {("[10]", "[]"), ("[]", "[10]")}
    assert (violation.distance_in, violation.distance_out, violation.bound) == (1, 10, 9)


def test_a_claim_that_fails_by_rounding_is_told_from_one_that_is_wrong():
    by_rounding, wrong = run(*BROKEN["sum of floats, reordered"][0]), run(sum, 9, "symmetric", "absolute", FLOATS)
    assert "by rounding" in by_rounding.reason
    assert "by rounding" not in wrong.reason
    assert wrong.evidence.violation.kind == "loss"


def test_a_claim_that_is_wrong_is_sought_after_one_that_fails_by_rounding():
    late = run(lambda rows: sum(rows) + 30 * (len(rows) == 5), 10, "symmetric", "absolute", FLOATS, seed=2)
    assert late.evidence.violation.kind == "loss"


def test_contracts_of_domains():
    def root(column):
        return [math.sqrt(x - 10) if x > 9.99 else x for x in column]

    raised = run(root, 1, "symmetric", "symmetric", columns(st.just(9.995), max_size=3), domain_in=up_to_ten)
    assert raised.evidence.violation.kind == "exception"
    assert "ValueError" in raised.reason
    left = run(
        lambda c: [x + 1 for x in c], 1, "symmetric", "symmetric", FLOATS, domain_in=up_to_ten, domain_out=up_to_ten
    )
    assert left.evidence.violation.kind == "domain"
    assert "an output leaves the declared domain: domain_out refuses it" in left.reason
    assert run(sum, 10, "symmetric", "absolute", columns(numbers(0, 10, integers=True), min_size=4, max_size=4),
               domain_in=lambda column: len(column) == 4, budget=500).verdict is Verdict.PASS  # fmt: skip


def test_numbers_beside_those_of_the_strategy_are_tried_only_inside_a_domain():
    def step(column):
        return sum(x > 1.0 for x in column)

    ones = columns(st.just(1.0), max_size=4)
    assert run(step, 0, "change_one", "absolute", ones, budget=500).verdict is not Verdict.FAIL
    assert run(step, 0, "change_one", "absolute", ones, domain_in=up_to_ten).verdict is Verdict.FAIL


def test_an_exception_on_one_side_tells_the_sides_apart():
    for transformation in (lambda column: 1 / len(column), lambda column: len(column) or sys.exit("empty")):
        result = run(transformation, 10, "symmetric", "absolute", INTEGERS)
        assert result.verdict is Verdict.FAIL
        assert result.evidence.violation.kind == "exception"


def test_what_is_not_a_function_gets_no_verdict():
    rng = np.random.default_rng(0)
    result = run(lambda column: rng.normal(), 1, "symmetric", "absolute", INTEGERS, budget=500)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "not a function of its inputs" in result.reason
    counter = itertools.count()
    counted = run(lambda column: next(counter), 1, "symmetric", "absolute", INTEGERS, budget=500)
    assert counted.verdict is Verdict.INCONCLUSIVE


def test_no_pass_without_pairs_or_without_a_map():
    alone = run(len, 1, "hamming", "absolute", st.just([]), budget=50)  # a dataset and itself are not a pair
    assert alone.verdict is Verdict.INCONCLUSIVE
    texts = run(len, 1, "symmetric", "absolute", st.text(), budget=50)
    assert texts.verdict is Verdict.INCONCLUSIVE
    assert "no pair was compared" in texts.reason

    def states_nothing(distance):
        raise OverflowError

    silent = run(len, states_nothing, "symmetric", "absolute", INTEGERS, budget=50)
    assert silent.verdict is Verdict.INCONCLUSIVE
    assert "states nothing" in silent.reason


def test_pairs_are_counted_until_one_breaks_the_map():
    """The first ones do; the comparisons by which one of them is shrunk, more than a hundred, are not counted."""
    broken = run(lambda column: 100 * sum(column), 1, "symmetric", "absolute", INTEGERS)
    assert broken.verdict is Verdict.FAIL
    assert broken.samples < 10


def test_the_subject_gets_copies():
    def emptied(column):
        total = sum(column)
        column.clear()
        return total

    assert run(emptied, 10, "symmetric", "absolute", INTEGERS, budget=500).verdict is Verdict.PASS
