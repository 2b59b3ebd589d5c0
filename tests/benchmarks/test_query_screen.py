"""The screen of whole queries: each kind of flag, shrinking, and a worker that dies. Nothing is drawn as noise."""

import math
import random
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from benchmarks.stability.opendp_facts import distance
from benchmarks.stability.opendp_grammar import Program, draw_aggregate, draw_group, draw_steps, widened
from benchmarks.stability.opendp_queries import _scores, clearer
from benchmarks.stability.opendp_text import expression_text, plan_text, values_text
from benchmarks.stability.programs import (
    Case,
    Query,
    QueryViolation,
    RefusedError,
    ScreenCounts,
    Withheld,
    covered,
    hunt,
    screen,
    shortest,
    shrunk,
    tabulate,
)
from benchmarks.stability.sessions import held

PAIR = ((3.0,), (9.0,)), ((3.0,),)  # one row more, of a sum that is clipped to 5


class Toy:
    """Programs are tuples of operators on a column, and the last one is the aggregate."""

    def __init__(self, claim=5.0, noise=0.0):
        self.claim = claim
        self.noise = noise
        self.calls = 0

    def draw(self, source):
        rows = tuple((float(source.randint(0, 9)),) for _ in range(source.randint(1, 6)))
        operators = tuple(source.choice(("clip", "same", "unclipped")) for _ in range(3))
        aggregate = "abort" if source.random() < 0.001 else "sum"
        return Case((*operators, aggregate), rows, rows[1:])

    def build(self, case):
        if not case.program or case.program[-1] == "refused":
            raise RefusedError("no aggregate")
        left, right = Counter(case.left), Counter(case.right)
        claim = self.claim * ((left - right).total() + (right - left).total())
        return Query(claim, lambda rows: self._run(case.program, rows), lambda: {"total": 1.0}, noise=self.noise)

    def _run(self, program, rows):
        self.calls += 1
        what = program[-1]
        if what == "abort":
            sys.exit(3)
        if what == "raise" and len(rows) > 1:
            raise ValueError("no")
        if what == "random":
            return {"total": float(self.calls * 1000)}
        if what == "nan" and len(rows) > 1:
            return {"total": math.nan}
        if what == "keys":
            return {f"total:{row[0]}": 0.0 for row in rows}
        total = sum(row[0] if "unclipped" in program else min(row[0], 5.0) for row in rows)
        return {"total": total * 1e9 if what == "far" else total}

    def smaller(self, program):
        for at in range(len(program) - 1):
            yield program[:at] + program[at + 1 :]

    def signature(self, program):
        return tuple(sorted(program))

    def script(self, case):
        return repr(case)


@pytest.mark.parametrize(
    ("program", "claim", "kind"),
    [
        (("sum",), 5.0, None),
        (("refused",), 5.0, None),
        (("unclipped", "sum"), 5.0, "loss"),
        (("sum",), 5.0 * (1 - 1e-9), "rounding"),
        (("sum",), 0.0, "loss"),
        (("raise",), 5.0, "exception"),
        (("random",), 5.0, "nondeterministic"),
        (("nan",), 5.0, "support"),
        (("keys",), 5.0, "support"),
    ],
)
def test_each_kind_of_flag(program, claim, kind):
    found = screen(Toy(claim), Case(program, *PAIR))
    assert (found and found.kind) == kind


@pytest.mark.parametrize(
    ("left", "right", "order", "kind"),
    [
        ({"a": 3.0}, {"a": 3.0, "b": Withheld(9.0)}, 1, None),  # the key stays private
        ({"a": 3.0}, {"a": 3.0, "b": 9.0}, 1, "support"),
        ({"a": 3.0}, {"a": Withheld(9.0)}, 1, "loss"),  # noise decides whether it is withheld
        ({"a": (0, 4)}, {"a": (2, 2)}, 1, None),  # scores of two candidates: their difference moves by 4
        ({"a": (0, 4)}, {"a": (3, 2)}, 1, "loss"),
        ({"a": (0, 4)}, {"a": (2, 2)}, 2, None),  # 4^2 / 8 is 2
        ({"a": (0, 4)}, {"a": (4, 0)}, 2, "loss"),  # 8^2 / 8 is 8
        ({"a": (0, 4)}, {"a": None}, 1, "support"),
    ],
)
def test_answers_under_a_threshold_and_scores_of_a_selection(left, right, order, kind):
    class Stated(Toy):
        def build(self, case):
            return Query(4.0, lambda rows: rows[0], lambda: {"a": 1.0, "b": 1.0}, order=order)

    found = screen(Stated(), Case((), (left,), (right,)))
    assert (found and found.kind) == kind


def test_scores_are_those_of_the_library_s_text():
    """Of 1, 2, 2.5, 2 and 4, one is below 2 and three are not 2; the missing value lies between the candidates."""
    assert _scores([1, 2, None, 2, 4], 0.25, (2, 3)) == (abs(4 * 1 - 3), abs(4 * 4 - 5))


def test_differences_within_the_noise_that_is_left_are_none():
    assert screen(Toy(0.0, noise=100.0), Case(("sum",), *PAIR)) is None
    assert screen(Toy(0.0, noise=100.0), Case(("far",), *PAIR)).kind == "loss"


def test_program_and_pair_shrink_together():
    library = Toy()
    rows = tuple((float(n),) for n in (1, 2, 9, 3))
    case = Case(("same", "unclipped", "clip", "same", "sum"), rows, (*rows[:2], rows[3]))
    small, flag = shrunk(library, case, screen(library, case))
    assert small == Case(("unclipped", "sum"), ((9.0,),), ())
    assert (flag.kind, flag.claim, flag.attained) == ("loss", 5.0, 9.0)


@pytest.mark.parametrize(
    ("measure", "rows", "factor"), [("zero_concentrated_divergence", 3, 4.5), ("max_divergence", 2, 2)]
)
def test_rows_make_a_factor_clear_that_few_outputs_show(measure, rows, factor):
    """The claim counts keys and the answer rows: a third row of one of two keys is not paid for."""

    class Keys(Toy):
        def build(self, case):
            claim = len({row[0] for row in (*case.left, *case.right)}) / 2
            return Query(claim, lambda rows: {"n": len(rows)}, lambda: {"n": 1.0}, order=2)

    case = Case(SimpleNamespace(measure=measure), ((1, 0.5, "a", None, 0), (2, 0.5, "a", None, 1)), ())
    clear, flag = clearer(Keys(), case, screen(Keys(), case))
    assert (len(clear.left), len(clear.right), flag.attained / flag.claim) == (rows, 0, factor)


def test_accepted_programs_are_counted():
    seen, library = ScreenCounts(), Toy()
    for number in range(50):
        case = library.draw(random.Random(number))
        if case.program[-1] != "abort":
            screen(library, case, seen)
    assert seen.accepted == seen.compared > 40


CODE = (
    "import sys, pathlib; from tests.benchmarks import test_query_screen as t\n"
    "import benchmarks.stability.programs as p\n"
    "s, a, b, c, *k = sys.argv[1:]\n"
    "p.work(t.Toy(), int(s), pathlib.Path(a), pathlib.Path(b), float(c), k)"
)
COMMAND = [sys.executable, "-c", CODE]


def test_a_worker_that_dies_is_started_again_after_the_program_that_ended_it():
    """Programs come from the seed and their number alone, so that a known cause stays away and nothing else does."""
    found = hunt(COMMAND, seed=0, seconds=0.4)
    assert len(found.aborts) >= 2
    assert found.programs > found.accepted > 100
    assert {(flag.kind, flag.signature) for flag in found.flags} == {("loss", ("sum", "unclipped"))}
    assert len(found.raw) > len(found.flags)
    assert hunt(COMMAND, seed=0, seconds=0.1, known=["loss unclipped"]).flags == ()


def test_a_table_names_what_is_known_and_the_rest_is_news(tmp_path, capsys):
    table, saved = tmp_path / "causes.toml", tmp_path / "flags.jsonl"
    for flags, mask, news in (("loss unclipped", False, 0), ("loss unclipped", True, 0), ("loss clip", False, 1)):
        table.write_text(f'[[cause]]\nname = "no limit"\nflags = ["{flags}"]\n')
        found = tabulate(COMMAND, 0, 0.05, [table], mask, saved)
        assert bool(found) == bool(news)
        assert ("x no limit: " in capsys.readouterr().out) != bool(news)
        assert saved.read_text().count("\n") > 1


def test_the_shortest_flags_go_by_cause_or_by_their_operators():
    """Those of three rows and one; an exception is not a violation unless a table names it."""
    flags = [
        QueryViolation(kind, 1.0, 2.0, "", signature, "script", rows=(rows, 0))
        for kind, signature, rows in (("loss", (".sum", "cut"), 3), ("loss", (".sum", "cut"), 1), ("exception", (), 1))
    ]
    assert [(name, each[0].rows) for name, each in shortest(flags, {}, 1).items()] == [("loss .sum cut", (1, 0))]
    assert set(shortest(flags, {"loss cut": "codes", "exception": "raises"}, 1)) == {"codes", "raises"}


@pytest.mark.parametrize(
    ("line", "fits"),
    [("loss cut", True), ("loss cut -sum", False), ("support cut", False), ("loss cut count", False), ("loss", True)],
)
def test_a_line_of_a_table_names_a_kind_and_operators(line, fits):
    assert (covered([line], "loss", ("cut", "sum")) == line) == fits


def test_a_worker_that_never_runs_is_an_error():
    with pytest.raises(RuntimeError, match="start a process that calls `work`"):
        hunt([sys.executable, "-c", "raise SystemExit(3)"], seed=0, seconds=1.0)


@pytest.mark.parametrize(
    ("metric", "left", "right", "expected"),
    [
        ("symmetric", "ab", "bcc", 3),
        ("change_one", "abc", "cbd", 1),
        ("insert_delete", "ab", "ba", 2),
        ("insert_delete", "abc", "abdc", 1),
        ("identifier", "", "xx", 1),
        ("identifier", "xy", "xx", 2),
        ("change_one_identifier", "xy", "xx", 2),
        ("hamming", "abc", "acb", 2),
    ],
)
def test_distances_follow_the_text_of_the_library(metric, left, right, expected):
    """Rows are letters; under identifiers all of them belong to one user."""
    program = SimpleNamespace(metric=metric)
    pair = [tuple((letter, 0) for letter in side) for side in (left, right)]
    assert distance(Case(program, *pair)) == expected
    assert distance(Case(program, *reversed(pair))) == expected


def test_a_session_that_says_less_than_its_parts_cost_is_convicted():
    parts = [("laplace", 1.0), ("laplace", 2.0)]
    assert [str(held([(parts, stated)]).verdict) for stated in (1.5, 1.4)] == ["PASS", "FAIL"]


def test_programs_of_the_grammar_are_python():
    source = random.Random(0)
    for _ in range(300):
        group, aggregate = draw_group(source), draw_aggregate(source)
        steps = draw_steps(source, "frame", group)
        given = (*group, aggregate[1], *(step[-1] for step in steps if step[0] in ("filter", "with", "select")))
        for expression in given:
            if expression is not None:
                compile(expression_text(expression), "program", "eval")
        plain = Program(steps, group, None, 0, (aggregate,), "frame", "max_divergence", None, (), ())
        wide = widened(source, plain)
        compile(plan_text(wide, ""), "program", "eval")
        if wide.aggregates[-1][0] == "quantile":
            compile(values_text(wide, -1), "program", "eval")
        assert wide.threshold is None or (group and wide.measure == "zero_concentrated_divergence")
