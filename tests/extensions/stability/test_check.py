"""The check around the search: its record, its judge, its arguments, and objects of libraries."""

import copy
import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st

import audit
from audit import StabilityCheck, Verdict, check_stability, columns, numbers
from audit.certificate.verify import judge_record
from audit.errors import InvalidCertificate
from audit.extensions.stability import stated_maps
from tests.offenders import refused

INTEGERS = columns(numbers(0, 10, integers=True), max_size=16)


def clipped_sum(column):
    return sum(min(x, 10) for x in column)


def a_check(bound, **settings):
    settings = {"distance_in": "symmetric", "distance_out": "absolute", "datasets": INTEGERS, "budget": 400, **settings}
    return StabilityCheck(name=f"sum within {bound}", transformation=clipped_sum, bound=bound, **settings)


def test_a_record_is_judged_the_same_after_a_round_trip():
    for bound in (9, 10):
        record = audit.run([a_check(bound)], workers=0).results[0].record()
        again = json.loads(json.dumps(record))
        assert judge_record(again) == {key: record[key] for key in ("verdict", "basis", "reason", "found", "scope")}


@pytest.mark.parametrize(("key", "value"), [("distance_out", 8.0), ("kind", "doubt")])
def test_a_violation_that_shows_nothing_is_refused(key, value):
    record = copy.deepcopy(audit.run([a_check(9)], workers=0).results[0].record())
    record["evidence"]["violation"][key] = value
    with pytest.raises(InvalidCertificate):
        judge_record(record)


def test_a_run_saves_and_verifies(tmp_path):
    report = audit.run([a_check(10), a_check(9, expected=Verdict.FAIL)], workers=2)
    assert report.verdict is Verdict.PASS
    report.save(tmp_path)
    assert audit.certificate.verify.list_problems(json.loads((tmp_path / "certificate.json").read_text())) == []
    page = (tmp_path / "certificate.md").read_text()
    assert "the map allows 9" in page
    assert "no violation found in 4" in page


def run(transformation, bound, distance_out="absolute", **settings):
    return check_stability(
        transformation, bound, distance_in="symmetric", distance_out=distance_out, datasets=INTEGERS, **settings
    )


def test_the_same_seed_gives_the_same_evidence():
    first, second = (run(clipped_sum, 9, seed=3).evidence for _ in range(2))
    assert first == second


test_what_is_wrong_is_named = refused([
    ({"bound": -1}, "number >= 0"),
    ({"bound": "2"}, "number >= 0"),
    ({"datasets": [[1], [2]]}, "Hypothesis strategy"),
    ({"distance_in": "manhattan"}, "insert_delete"),
    ({"distance_out": None}, 'type distance_out="l1"'),
    ({"domain_in": 3}, "predicate"),
], a_check, bound=10)  # fmt: skip


@pytest.mark.parametrize("name", ["distance_in", "distance_out", "domain_in", "domain_out"])
def test_a_function_that_raises_ends_the_search_with_its_cause(name):
    def raises(*values):
        raise KeyError("unit")

    result = audit.run([a_check(10, **{name: raises})], workers=0).results[0]
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "raised KeyError: 'unit'" in result.reason
    negative = audit.run([a_check(10, distance_out=lambda one, other: -1)], workers=0).results[0]
    assert "`a distance` must be at least 0, got -1" in negative.reason


def test_a_hang_ends_with_its_cause():
    def endless(column):
        while True:
            pass

    result = run(endless, 1, timeout=1.0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "longer than 1 s" in result.reason


@pytest.fixture(scope="module")
def dp():
    prelude = pytest.importorskip("opendp.prelude")
    prelude.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    return prelude


def test_an_opendp_transformation_states_its_own_map(dp):
    bounded = dp.vector_domain(dp.atom_domain(bounds=(0, 10)))
    result = check_stability(dp.t.make_sum(bounded, dp.symmetric_distance()), datasets=INTEGERS, budget=500)
    assert result.verdict is Verdict.PASS
    assert result.check.terms().distance_in == "symmetric"
    assert result.check.terms().distance_out == "absolute"


@pytest.mark.parametrize(
    ("metric", "asked"),
    [("AbsoluteDistance(i32)", 2), ("L1Distance(u8)", 2), ("AbsoluteDistance(f64)", 1.5), ("SymmetricDistance()", 1.5)],
)
def test_a_map_is_asked_at_no_less_than_the_distance(metric, asked):
    """One that counts in integers is asked at the next one."""
    found = stated_maps._ask(SimpleNamespace(input_metric=metric, map=lambda distance: distance))(Fraction(3, 2))
    assert (found, type(found)) == (asked, Fraction if "Symmetric" in metric else type(asked))


def test_a_chain_of_opendp_names_the_step_that_breaks(dp):
    bounded = dp.vector_domain(dp.atom_domain(bounds=(0, 10)))
    space = bounded, dp.symmetric_distance()
    doubled = dp.t.make_user_transformation(*space, *space, lambda column: column + column, lambda distance: distance)
    chain = dp.t.make_clamp(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance(), (0, 10)) >> doubled
    result = check_stability(chain >> dp.t.then_sum(), datasets=INTEGERS, budget=200)
    assert result.verdict is Verdict.FAIL
    assert result.reason.endswith("step 2 of 3, make_user_transformation, breaks its own map")
    assert "step" not in check_stability(doubled, datasets=INTEGERS, budget=200).reason


def test_a_tree_of_opendp_under_l2_is_refuted(dp):
    # opendp/opendp issue 2924: the map multiplies by the height of the tree
    vectors = dp.vector_domain(dp.atom_domain(T=int))
    tree = dp.t.make_b_ary_tree(vectors, dp.l2_distance(T=int), leaf_count=4, branching_factor=4)
    result = check_stability(tree, datasets=st.lists(st.integers(0, 20), min_size=4, max_size=4))
    assert (result.verdict is Verdict.FAIL) == (tree.map(2) < np.sqrt(20)), str(result)


def test_rows_and_keys_in_another_order_are_the_same_output():
    """As every group-by gives them: 0 apart by the declared distance, and no sign of randomness."""
    order = np.random.default_rng(0)

    def shuffled(column):
        return [column[place] for place in order.permutation(len(column))]

    result = run(shuffled, 1, "symmetric", budget=300)
    assert result.verdict is Verdict.PASS, result.reason
    doubled = run(lambda column: shuffled(column + column), 1, "symmetric", budget=300)
    assert doubled.verdict is Verdict.FAIL


def frames_of(library):
    pandas = pytest.importorskip(library)
    rows = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10)), max_size=8)
    if library == "polars":
        return rows.map(lambda drawn: pandas.DataFrame(drawn, schema={"key": pandas.String, "x": int}, orient="row"))
    types = {"key": object, "x": "int64"}
    return rows.map(lambda drawn: pandas.DataFrame(drawn, columns=[*types]).astype(types))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_frames_are_records_and_neighbors_differ_in_one(library):
    def two_of_each(frame):
        return frame.groupby("key").head(2) if library == "pandas" else frame.group_by("key").head(2)

    def all_of_each(frame):
        return frame.sort_values("x") if library == "pandas" else frame.sort("x")

    given = {"distance_out": "symmetric", "datasets": frames_of(library), "budget": 200}
    broken = check_stability(two_of_each, 1, **given)
    assert broken.verdict is Verdict.FAIL
    assert broken.check.terms().distance_in == "symmetric"
    assert "[('a', 0), ('a', 0), ('a', 1)]" in broken.reason
    assert check_stability(all_of_each, 1, **given).verdict is Verdict.PASS


def test_a_series_is_a_vector_by_its_index():
    def sums(frame):
        return frame.groupby("key")["x"].sum()

    given = {"distance_out": "l1", "datasets": frames_of("pandas"), "budget": 200}
    assert check_stability(sums, 10, **given).verdict is Verdict.PASS
    assert check_stability(sums, 9, **given).verdict is Verdict.FAIL
