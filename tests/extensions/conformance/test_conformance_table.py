"""The table before it accuses anybody: pairs are neighbors, right libraries fail nowhere, each case has a fault.

A right library has a cell that fails by its outputs with probability at most `confirmation`, for all of its cells
together: RARE here, with fixed seeds on top.
"""

import itertools
import json
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from audit.claims import PrivacyClaim
from audit.errors import InvalidArgument, UnknownTarget
from audit.extensions.conformance import Library, Parameters, conform, running
from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.cells import Cell, LawfulCall, cells_of, probe
from audit.extensions.conformance.command import conformance_command
from audit.extensions.conformance.findings import load, save
from audit.extensions.conformance.queries import QUERIES, RELATIONS, find_distance
from audit.extensions.conformance.running import MANY
from audit.extensions.conformance.usual import discrete_gaussian, find_usual
from audit.laws import Laplace
from tests.extensions.conformance.faulty import FAULTS, faulty
from tests.extensions.conformance.right import once, reference

RARE = 1e-8
CHEAP = {"substitution": ["ordinary"], "add/remove": ["bounds 2 ulps apart, 16 records"]}


def everything(relation):
    """Return a library that offers each query, with a parameter of its own noise, and is never called."""
    library = Library("everything", relation=relation)
    for name in QUERIES:
        library.query(name, native=lambda p: PrivacyClaim(p.sensitivity / p.scale))(lambda p: None)
    return library


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_pair_is_neighboring(relation):
    """`PrivacyCheck` refuses a pair that is not, so that no library can be accused by a wrong table."""
    pairs = 0
    for cell in cells_of(everything(relation)):
        parts = cell.parts()
        for part in () if isinstance(parts, str) else parts:
            assert part.check("any").pairs
            pairs += len(part.instances)
    assert pairs >= 1_500


def test_differences_are_exact():
    assert find_distance(1.0, 2**53, 2**53 + 1) is None
    assert find_distance(1.0, 0.0, 1.0000000000000002) == "two numbers differ by more than 1"
    assert "not finite" in find_distance(1.0, float("nan"), 0.0)
    assert "type" in find_distance(1.0, 0, 1.0)
    assert "equal" in find_distance(1.0, [1.0], [1.0])


def test_every_case_has_a_fault():
    assert set(FAULTS) == set(CASES)


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_fails_where_its_case_looks(case):
    """2,000 outputs: each fault has a loss that they show beyond doubt."""
    (found,) = conform(faulty(case), queries=[FAULTS[case].query], cases=[case], workers=0, draws=2_000, timeout=300)
    assert found.fails, found
    left, right = (eval(side, {"nan": math.nan, "inf": math.inf}) for side in (found.left, found.right))
    assert repr(left) != repr(right)


@pytest.mark.false_alarm(RARE)
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_right_library_fails_nowhere(relation):
    """The cheap part of the table; the weekly run asks all of it."""
    found = conform(reference(relation), cases=CHEAP[relation], draws=500, timeout=300, workers=0, confirmation=RARE)
    assert len({each.query for each in found}) == len(QUERIES)
    odd = [each for each in found if each.status not in ("screened", "does not apply", "PASS")]
    assert not odd


@pytest.mark.false_alarm(RARE)
@pytest.mark.parametrize("relation", RELATIONS)
def test_a_right_library_fails_nowhere_in_the_whole_table(relation):
    found = conform(reference(relation), draws=5_000, timeout=600, confirmation=RARE)
    odd = [each for each in found if each.status not in ("screened", "does not apply", "PASS")]
    assert not odd
    assert sum(each.pairs for each in found) >= 1_500


@pytest.mark.false_alarm(RARE)
@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_fails_in_no_other_row(case):
    fault = FAULTS[case]
    found = conform(faulty(case), queries=[fault.query], draws=20_000, timeout=600, confirmation=RARE)
    assert {each.case for each in found if each.fails} - {case, *fault.also} == set()


def counts(p):
    return lambda data, rng: len(data) + rng.laplace(scale=1 / p.epsilon)


def counting(**settings):
    library = Library("counting", relation="add/remove", quote="one person is one record", **settings)
    library.query("count")(counts)
    return library


def test_a_local_library_is_asked_about_single_records_alone():
    library = Library("one record", relation="local")
    library.query("frequency oracle")(reference("substitution").answers["frequency oracle"].build)
    library.query("count")(counts)
    found = conform(library, queries=["frequency oracle", "count"], cases=["two keys"], draws=500, workers=1)
    assert {each.query: each.status for each in found} == {"frequency oracle": "screened", "count": "does not apply"}


def test_what_the_documentation_excludes_accuses_nobody():
    library = Library("sums", relation="substitution")

    @library.query("sum")
    def _(p):
        return lambda data, rng: (
            float("nan") if any(x != x for x in data) else sum(data) + rng.laplace(scale=1 / p.epsilon)
        )

    (found,) = conform(library, queries=["sum"], cases=["NaN"], workers=1)
    assert found.status == "FAIL C"
    assert "nan" in found.left

    @library.outside
    def _(query, p, data):
        return "sum(): values must be numbers" if any(x != x for x in data) else None

    (found,) = conform(library, queries=["sum"], cases=["NaN"], workers=1)
    assert found.status == "excluded"
    assert "sum(): values must be numbers" in found.reason


def find(build, query="count", case="ordinary", relation="add/remove", outputs=2_000, **more):
    """Return the cell of a library that has one query; more arguments are those of the query."""
    library = Library("one query", relation=relation)
    library.query(query, **more)(build)
    (found,) = conform(library, queries=[query], cases=[case], workers=1, draws=outputs)
    return found


def raising(error):
    def release(*given):
        raise error

    return release


def hanging(data):
    time.sleep(60)


def claimed(p):
    if p.epsilon < 0.1:
        raise ValueError("noise scale is too large")
    return PrivacyClaim(p.epsilon)


ODD = {  # query and case: build, further arguments, and the finding
    ("count", "ordinary"): (raising(ValueError("epsilon is too large")), {}, "refused", "epsilon is too large"),
    ("sum", "ordinary"): (lambda p: raising(RuntimeError("always")), {}, "raises on both", "RuntimeError"),
    ("mean", "ordinary"): (lambda p: hanging, {}, "does not return", "took longer than 3 s"),
    ("median", "ordinary"): (None, {}, "not offered", ""),
    ("laplace noise", "round scales"): (
        counts, {"native": lambda p: PrivacyClaim(1 / (p.scale - p.scale))}, "undecided", "cannot be stated",
    ),
    ("variance", "tiny epsilon"): (counts, {"claim": claimed}, "refused", "ValueError: noise scale is too large"),
    ("variance", "one record"): (counts, {"claim": claimed}, "screened", ""),
    ("variance", "empty"): (counts, {"claim": claimed}, "does not apply", "needs add/remove"),
    ("quantile", "ordinary"): (
        lambda p: lambda data, rng: len(data) * 10**40 + int(rng.integers(2**62)) * 10**30, {}, "undecided",
        "no score reads",
    ),
    ("minimum", "ordinary"): (lambda p: lambda data: 0.0, {}, "screened", "never varied"),
}  # fmt: skip


@pytest.mark.parametrize(("query", "case"), ODD)
def test_refusals_and_calls_that_raise_hang_or_cannot_be_read_have_names_of_their_own(query, case):
    library, (build, more, status, says) = Library("odd"), ODD[query, case]
    if build is not None:
        library.query(query, **more)(build)
    timeout = 3.0 if status == "does not return" else 60.0
    (found,) = conform(library, queries=[query], cases=[case], workers=1, timeout=timeout, draws=2_000)
    assert found.status == status
    assert says in found.reason


def test_values_without_noise_are_compared_exactly_and_without_a_draw():
    cell = Cell(faulty("offset column"), "sum", "offset column")
    (part,) = cell.parts()
    seen = probe(part, calls=0)
    assert seen.exceeds
    assert seen.excess == 256  # sums of 1,024 numbers around 2^50 are multiples of 2^8
    right = Cell(reference("substitution"), "sum", "offset column")
    assert not probe(right.parts()[0], calls=0).exceeds


@pytest.mark.false_alarm(RARE)
def test_a_cell_counts_all_of_its_parts_and_shows_the_coarsest():
    """Three epsilons are three parts: one wrong scale is FAIL B, since some guesses are wrong under it."""
    (found,) = conform(faulty("epsilon 1, 2, 3"), queries=["count"], cases=["epsilon 1, 2, 3"], workers=1, draws=8_000)
    assert (found.status, found.pairs) == ("FAIL B", 3)
    (found,) = conform(
        counting(), queries=["count"], cases=["epsilon 1, 2, 3"], workers=1, draws=8_000, confirmation=RARE
    )
    assert (found.status, found.pairs, found.claimed) == ("PASS", 3, 3.0)  # its noise is followed

    def partly(p):
        if p.epsilon > 2:
            raise ValueError("too large")
        return counts(p)

    found = find(partly, case="epsilon 1, 2, 3", outputs=8_000)
    assert "1 of 3 settings are refused or raise" in found.reason


def test_all_parts_of_all_cells_share_one_level(monkeypatch):
    """Four settings in two cells: an error of any of them is as rare as that of one check."""
    given, check = [], running.run_check

    def checked(one, allowance, *more):
        given.append(allowance)
        return check(one, allowance, *more)

    monkeypatch.setattr(running, "run_check", checked)
    conform(
        counting(), queries=["count"], cases=["epsilon 1, 2, 3", "ordinary"], workers=0, draws=50, confirmation=RARE
    )
    assert len(given) == 4
    assert math.fsum(each.significance for each in given) == pytest.approx(running.SUSPECTED)
    assert math.fsum(each.confirmation for each in given) == pytest.approx(RARE)


def test_a_slow_library_limits_the_draws():
    library = Library("slow", relation="add/remove", draws=50)
    library.query("count")(counts)
    library.query("sum", draws=20)(counts)
    for query, most in (("count", 50), ("sum", 20)):
        (part,) = Cell(library, query, "ordinary").parts()
        assert [part.check("any", draws).budget for draws in (5_000, 10)] == [most, 10]


def test_a_value_that_moves_more_than_its_noise_is_scaled_for_fails_without_an_output_that_shows_it():
    """The noise is wide enough for the outputs, and the library says of itself that it was scaled for half."""
    found = find(counts, sensitivity=lambda p: 0.5, noiseless=lambda p: len)
    assert (found.status, found.bound) == ("FAIL B", None)
    assert "moves by 2 times the sensitivity that the noise assumes" in found.reason


def test_what_is_usual_of_a_query_need_not_be_said():
    library = Library("usual", quote=usual_docstring)
    library.answer({name: lambda p: max for name in ("laplace noise", "geometric noise")}, native="usual", law="usual")
    library.answer({"gaussian noise": lambda p: max}, claim="usual", native="usual", quote='README: "zCDP"')
    library.answer({name: lambda p: max for name in ("count", "sum", "mean", "variance")}, sensitivity="usual", draws=9)
    named = ("randomized response", "frequency oracle", "exponential mechanism", "histogram of public keys")
    library.answer({name: lambda p: max for name in named}, law="usual")
    library.answer({"histogram of numbers": lambda p: max}, law="integer", relation="add/remove")
    p, answers = Parameters(lower=-1.0, upper=3.0, size=4, sensitivity=2.0, scale=4.0), library.answers
    assert {name: answers[name].sensitivity(p) for name in ("count", "sum", "mean", "variance")} == {
        "count": 1, "sum": 4, "mean": 1, "variance": 3,
    }  # fmt: skip
    assert answers["laplace noise"].native(p).epsilon == 0.5
    assert answers["laplace noise"].law(p, 1.0) == Laplace(1.0, 4.0)
    assert answers["geometric noise"].law(p, 1).ratio == math.exp(-0.25)
    assert answers["gaussian noise"].claim(p).rho == 0.125
    keys, bits, chosen = (
        answers[name].law(Parameters(), x) for name, x in zip(named, ("a", "b", [2.0, 0.0]), strict=False)
    )
    assert np.exp(keys.log_likelihood(["a", "b"])) == pytest.approx([math.e / (math.e + 2), 1 / (math.e + 2)])
    assert np.exp(bits.log_likelihood([[0, 1, 0]])) == pytest.approx(0.5 * (math.e / (math.e + 1)) ** 2)
    assert np.exp(chosen.log_likelihood([0])) == pytest.approx(math.e / (math.e + 1))
    assert answers[named[-1]].law(Parameters(), ["a", "a", "c"]).laws == (Laplace(2, 2), Laplace(0, 2), Laplace(1, 2))
    binned = answers["histogram of numbers"].law(Parameters(), [0.0, 0.25, 1.0]).laws
    assert [(law.loc, law.ratio) for law in binned] == [(count, math.exp(-1)) for count in (1, 1, 0, 1)]
    assert answers["sum"].quote == 'docstring of usual_docstring: "This is epsilon-differentially private."'
    assert answers["gaussian noise"].quote == 'README: "zCDP"'
    for kind, value in (("usual", 0.25), ("sample", 0.5)):
        assert find_usual("law", "variance", "substitution", kind)(Parameters(size=2), [0.0, 1.0]) == Laplace(
            value, value
        )
    tight = find_usual("law", "gaussian noise", "")(Parameters(epsilon=1.0, delta=1e-6), 0.0)
    assert tight.loss_against(replace(tight, loc=1.0)).epsilon(1e-6) == pytest.approx(1.0, abs=1e-6)
    for wrong in ({"law": "usual"}, {"native": "usual"}, {"claim": "usual"}, {"sensitivity": "usual"}):
        with pytest.raises(InvalidArgument, match="for a query other than"):
            library.query("minimum", **wrong)
    with pytest.raises(InvalidArgument, match="says nothing of privacy"):
        Library("silent", quote=counts)


def usual_docstring():
    """Sum numbers. This is
    epsilon-differentially private. It is fast.
    """


def test_a_release_with_next_to_no_noise_is_the_value_without_noise():
    """A sum in floating-point moves by more than its noise is scaled for; the same sum in fractions does not."""
    library = Library("frozen")

    @library.query("sum", sensitivity="usual")
    def _(p):
        return lambda data, rng: sum(data) + rng.laplace(scale=(p.upper - p.lower) / p.epsilon)

    wrong, right = (
        Cell(library, "sum", case).parts()[0] for case in ("bounds 2 ulps apart, 64 records", "out of bounds")
    )
    assert probe(wrong, calls=0).excess > 2
    assert probe(right, calls=0).excess == pytest.approx(100, rel=1e-3)  # it does not clamp


def test_a_release_whose_noise_does_not_shrink_is_no_value_without_noise():
    """Where a scale overflows, the noise is as large at 2^40 times the epsilon, and outputs differ by it alone."""
    signs = itertools.cycle([1e9, -1e9])
    library = Library("overflowing")
    library.query("sum", sensitivity="usual")(lambda p: lambda data: next(signs))
    (part,) = Cell(library, "sum", "one record").parts()
    assert probe(part, calls=0).excess == 0


def test_records_of_another_type_are_excluded_with_the_words_that_say_so():
    library = counting()
    library.exclude_types('count(): "numbers"')
    p = Parameters()
    assert [library.find_exclusion("count", p, data) for data in ([1.0, 2], [], [1.0, "2"], [None], [True])] == [
        None, None, *['count(): "numbers"'] * 3,
    ]  # fmt: skip
    assert [library.find_exclusion("top-k", p, data) is None for data in (["a"], [1], [None])] == [True, False, False]
    assert library.find_exclusion("linear regression", p, [[[0.1, "x"], 1]])
    assert p.place("b") == 1
    assert Parameters(epsilon=2.0, sensitivity=3.0).noise == 1.5
    assert p.place("elsewhere") == 0


def test_queries_without_noise_of_their_own_are_asked_no_scales():
    library = counting()
    assert Cell(library, "count", "round scales").parts().startswith("no input of the query (numbers)")
    library.query("laplace noise")(counts)
    assert Cell(library, "laplace noise", "round scales").parts().startswith("the library has no parameter")
    with pytest.raises(InvalidArgument, match="name parameters"):
        Parameters().change({"epsilom": 1})


def test_a_library_says_what_it_offers():
    library = counting()
    with pytest.raises(InvalidArgument, match="not offered yet"):
        library.query("count")
    with pytest.raises(InvalidArgument, match="`sensitivity` with `noiseless`"):
        library.query("sum", noiseless=lambda p: sum)
    with pytest.raises(InvalidArgument, match="relation"):
        Library("other", relation="change-one")
    for wrong in ({"queries": ["counts"]}, {"queries": ["count"], "cases": ["nowhere"]}):
        with pytest.raises(InvalidArgument, match=f"`{[*wrong][-1]}` must be one of .*, (got )?'(counts|nowhere)'"):
            conform(library, **wrong)


def test_tables_are_saved_and_keep_what_was_not_asked_again(tmp_path, monkeypatch):
    library = faulty("NaN")
    found = conform(library, queries=["sum", "count"], cases=["NaN", "ordinary"], draws=2_000, workers=1)
    save(tmp_path / "one.json", library, found)
    head, rows = load(tmp_path / "one.json")
    assert head["library"] == library.name
    assert [(row.query, row.case, row.status) for row in rows] == [(row.query, row.case, row.status) for row in found]
    again = conform(library, queries=["sum"], cases=["ordinary"], draws=100, workers=1)
    save(tmp_path / "one.json", library, again)
    kept = [row for row in rows if (row.query, row.case) != ("sum", "ordinary")]
    assert load(tmp_path / "one.json")[1] == sorted([*kept, *again], key=rows_in_order(rows))
    monkeypatch.setattr(type(library), "version", "another release")
    save(tmp_path / "one.json", library, again)
    assert {(row.query, row.case) for row in load(tmp_path / "one.json")[1] if row.case} == {("sum", "ordinary")}
    (tmp_path / "other.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(InvalidArgument, match="holds no table"):
        load(tmp_path / "other.json")
    (tmp_path / "other.json").write_text(json.dumps({**head, "cells": [{**rows[0]._asdict(), "cpu": 1.0}]}))
    with pytest.raises(InvalidArgument, match="cells of another form"):
        load(tmp_path / "other.json")


def rows_in_order(rows):
    order = [(row.query, row.case) for row in rows]
    return lambda row: order.index((row.query, row.case))


def test_the_command_says_what_fails_and_writes_the_table(tmp_path, monkeypatch, capsys):
    (tmp_path / "conforming_lib.py").write_text(
        "from tests.extensions.conformance.faulty import faulty\nlibrary = faulty('NaN')\nlibrary.name = 'mine'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--query", "sum", "--case", "NaN", "--case", "infinity", "--draws", "2000", "--workers", "1"]
    status = conformance_command.main(
        ["conforming_lib", *options, "--out", str(tmp_path / "out")], standalone_mode=False
    )
    printed = capsys.readouterr().out
    assert status == 1
    assert "FAIL C  sum, NaN: certified epsilon >= " in printed
    assert "mine: 1 FAIL C, 1 screened" in printed
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["mine.json"]
    with pytest.raises(UnknownTarget, match="cannot be imported"):
        conformance_command.main(["nowhere_at_all"], standalone_mode=False)
    with pytest.raises(UnknownTarget, match="holds no library"):
        conformance_command.main(["json"], standalone_mode=False)


def test_a_dataset_is_computed_once_for_outputs_of_both_sides():
    """Equal datasets in fresh lists are one dataset; 1, 1.0 and True are not."""
    computed = []
    held = once(lambda data: computed.append(data) or len(computed))
    assert [held(list(data)) for data in ([1.0, math.nan], [2.0], [1.0, math.nan], [2.0])] == [1, 2, 1, 2]
    assert [held(data) for data in ([1], [True], [1.0], [1])] == [3, 4, 5, 3]
    long = np.zeros(5_000), np.zeros(5_000)
    long[1][2_500] = 1.0
    assert [held(data) for data in long] == [6, 7]


@pytest.mark.parametrize(("width", "status"), [(1.0, "PASS"), (1.2, "undecided"), (0.4, "FAIL B")])
def test_noise_is_held_to_the_law_that_is_documented(width, status):
    """Null of the first, twice: the noise follows its law; the level of its fit is half of the significance, 0.005.

    The seed is fixed. Noise that is a fifth wider than documented is private, and accuses nobody: it does not PASS.
    Noise of 0.4 times the scale loses 2.5: the game that is played where outputs leave the law refutes the claim.
    """
    found = find(
        lambda p: lambda value, rng: value + rng.laplace(scale=width / p.epsilon),
        "laplace noise", relation="substitution", outputs=MANY, law=lambda p, value: Laplace(value, 1 / p.epsilon),
    )  # fmt: skip
    assert found.status == status, found


def test_a_law_that_breaks_the_claim_fails_with_its_own_epsilon():
    """Noise is documented with 0.95 of the scale that its claim needs: outputs do not show that it loses 1 / 0.95."""
    found = find(
        lambda p: lambda value, rng: value + rng.laplace(scale=0.95 / p.epsilon),
        "laplace noise", relation="substitution", outputs=4_000,
        law=lambda p, value: Laplace(value, 0.95 / p.epsilon),
    )  # fmt: skip
    assert (found.status, found.bound, found.reason.partition(",")[0]) == (
        "FAIL B", pytest.approx(1 / 0.95), "epsilon of the documented law >= 1.053"
    )  # fmt: skip
    assert (found.left, found.right) in (("0.0", "1.0"), ("-0.5", "0.5"))


def test_the_discrete_gaussian_law_is_the_density_on_the_integers():
    """Deviation 2: P(z) is proportional to exp(-(z - loc)^2 / 8); the mechanism is 1/8-zCDP, so P(0)/P(1) is e^1/8."""
    law, other = (discrete_gaussian(loc, 2.0) for loc in (0, 1))
    assert sum(law.pmf.values()) == pytest.approx(1.0)
    assert law.pmf[0] / law.pmf[3] == pytest.approx(math.exp(9 / 8))
    assert law.loss_against(other).delta(0.0) == pytest.approx(law.pmf[0], rel=1e-9)  # all but one mass shifts
    assert all(min(discrete_gaussian(loc, 1 / 3).pmf.values()) > 0 for loc in (0, 1, 5))  # no loss is infinite
    assert discrete_gaussian(0, 1e6) is None
    assert law.log_likelihood(np.array([0.5, 1e6])).tolist() == [-math.inf] * 2


def test_the_largest_score_with_exponential_noise():
    """Scores 0 and -2 log 2 at epsilon 1: the lesser one is tried first half of the time, and then kept half of it."""
    law = find_usual("law", "noisy max", "substitution")(Parameters(), [0.0, -2 * math.log(2)])
    assert law.pmf == pytest.approx({0: 0.75, 1: 0.25})
    median = find_usual("law", "median", "substitution")(Parameters(quantile=0.5, epsilon=9.0), [0.3, 0.4, 0.6, 0.9])
    assert median.pmf[0.5] > 0.9  # of the eighths, the one that halves the records


def test_a_law_that_is_not_stated_at_some_parameters_is_not_tested_there():
    library = Library("mine", relation="add/remove")
    library.query("count", law=lambda p, data: Laplace(len(data), 1 / p.epsilon) if p.epsilon > 0.1 else None)(min)
    for case, held in (("ordinary", True), ("tiny epsilon", False), ("NaN", False)):
        (cell,) = cells_of(library, ["count"], [case])
        assert isinstance(cell.parts()[-1].mechanism, LawfulCall) is held
