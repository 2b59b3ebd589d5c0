"""How often a correct package fails its own tests: stated test by test, and summed over the suite.

A test that can fail by chance carries `@pytest.mark.false_alarm(p)`: over fresh seeds, a correct package fails it with
probability at most p. Its docstring, or that of its file, states null and sample size. `seeded=True` is for a weak
test, with p above `WEAK`, whose draws repeat in every run: it cannot fail by chance until a change moves its stream.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
MOST = 1e-4  # a run
WEAK = 1e-6
STATES_A_CHANCE = re.compile(
    r"\bnull:|\bfalse alarm|pvalue.* > (ALARM|LEVEL|\d?\.?\d*e-)|significance=STRICT\)$", re.I | re.M
)
WITHOUT_CHANCE = {  # their words are about chance; nothing in them is drawn, or what is drawn decides nothing
    "test_exact_false_alarm_probability_at_the_edge",
    "test_exact_error_of_both_bounds_on_bernoulli_losses",
    "test_exact_error_on_laws_of_three_values",
    "test_a_check_and_the_function_agree",
    "test_noise_that_workers_share_fails",
}


def alarms(items):
    """The mark of each collected test that has one."""
    return [(item.nodeid, mark) for item in items if (mark := item.get_closest_marker("false_alarm"))]


def test_false_alarms_of_the_collected_tests_are_rare(request):
    """Every worker of pytest-xdist collects the whole suite."""
    found = alarms(request.session.items)
    assert sum(mark.args[0] for _, mark in found if not mark.kwargs.get("seeded")) < MOST


def test_a_weak_test_has_fixed_draws(request):
    for name, mark in alarms(request.session.items):
        (chance,) = mark.args
        assert 0 < chance < 1, name
        assert mark.kwargs in ({}, {"seeded": True}), name
        assert (chance > WEAK) == bool(mark.kwargs), f"{name}: `seeded=True` above {WEAK}, and only there"


def functions_of(path):
    """The test functions of a file with their sources."""
    source = path.read_text()
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node, "\n".join(lines[node.lineno - 1 : node.end_lineno])


def marks_of(node):
    return [mark for mark in node.decorator_list if ast.unparse(mark).startswith("pytest.mark.false_alarm(")]


def test_a_test_that_speaks_of_chance_states_its_own():
    missing = [
        f"{path.relative_to(TESTS)}: {node.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node, source in functions_of(path)
        if STATES_A_CHANCE.search(source) and not marks_of(node) and node.name not in WITHOUT_CHANCE
    ]
    assert not missing, f"mark them with @pytest.mark.false_alarm(p): {missing}"
