"""The catalogue of real libraries and the findings are well-formed, served as audited; nothing is installed or run."""

import ast
import datetime
import importlib
import sys
import tomllib
from types import SimpleNamespace

import pytest

from audit import AddRemove, Group, Labeled, PrivacyClaim
from tests.offenders import for_each
from wild import findings, page
from wild.__main__ import checks_in
from wild.audits import audits_of, checks_of
from wild.environments import CATALOGUE, environment_of, libraries
from wild.findings import BROKEN, SHOWS, SILENT, InvalidFinding, all_findings, findings_of, read, run_script

LIBRARIES = libraries()


def everything(library):
    """The checks of a library, those of its findings among them."""
    return checks_in(environment_of(library))


def claim_of(check):
    """The claim of a check; of one that searches parameters, at the simplest ones."""
    return check.claim if isinstance(check.claim, PrivacyClaim) else check.example.claim


@for_each(LIBRARIES)
def test_a_library_is_well_formed(library):
    checks = everything(library)
    assert checks
    for check in checks:
        assert check.mechanism.library == library
        assert claim_of(check).source, f"{check.name} must say where its claim is made"


@for_each(LIBRARIES)
def test_only_checks_of_findings_that_show_are_expected_to_fail(library):
    pin = environment_of(library).pin
    assert all(check.expected.value == "PASS" for check in audits_of(library).checks)
    for each in findings_of(library):
        assert {check.expected.value for check in each.checks_in(pin)} <= {"FAIL" if each.shows_in(pin) else "PASS"}


@for_each(LIBRARIES)
def test_what_is_served_is_audited(library):
    """A mechanism that no check calls would be one that nobody may know of yet."""
    called = {check.mechanism.name for check in everything(library)}
    assert called >= set(constant_keys(library))


def constant_keys(library):
    """The keys of the tables of mechanisms that are written as texts."""
    for path in (CATALOGUE / library).glob("served*.py"):
        for node in ast.parse(path.read_text()).body:
            named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("MECHANISMS", "RELEASES")
            if named and isinstance(node.value, ast.Dict):
                yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant))


TABLE = """
[default]
budget = 20
relation = "add/remove of 2"

[[check]]
name = "mine/sum, twice eps=2"
epsilon = 2.0
source = "README"
pairs = ["[], [1.0]"]

[[check]]
name = "mine/fit bits eps=1"
served = "fit"
source = "README"
bits = true
pairs = ["{'X': [[0.5]], 'y': [1]}, {'X': [[0.5], [0.25]], 'y': [1, 0]}"]
"""


def test_a_table_of_checks_is_read_as_it_is_written():
    first, second = checks_of(tomllib.loads(TABLE), "mine")
    assert (first.name, first.mechanism.name, first.budget) == ("mine/sum, twice eps=2", "sum, twice", 20)
    assert (first.claim.epsilon, first.claim.relation, first.claim.source) == (2.0, Group(2, AddRemove()), "README")
    assert first.pairs == (([], [1.0]),)
    assert (first.floats, second.floats) == ("real", "audit")
    assert (second.mechanism.name, second.mechanism.library) == ("fit", "mine")
    assert isinstance(second.pairs[0][1], Labeled)
    with pytest.raises(KeyError, match="source"):
        checks_of({"check": [{"name": "mine/sum eps=1", "pairs": []}]}, "mine")


def imported_by(path):
    """The first parts of the names of the modules that a file imports."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.split(".")[0] for name in names}


@for_each(sorted(CATALOGUE.rglob("serve*.py")))
def test_what_runs_in_the_environments_does_not_import_the_auditor(path):
    assert not imported_by(path) & {"audit", "wild", "mechanisms"}


@for_each(sorted(CATALOGUE.glob("*/conformance.py")))
def test_what_a_library_takes_of_the_auditor_is_there(path):
    """The libraries themselves are not installed here, so that nothing imports these files."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("audit"):
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


DATA = {
    "name": "leak", "title": "it leaks", "class": "A", "address": "https://example.org/1", "cause": "It does.",
    "releases": {"lib": {SHOWS: ["1.0", "1.1"], SILENT: ["1.2"], BROKEN: ["0.9"]}},
    "search": [{"query": "lib leak", "date": datetime.date(2026, 1, 2), "hits": 3, "relevant": []}],
}  # fmt: skip


@for_each(all_findings())
def test_a_script_calls_the_library_alone(finding):
    assert not imported_by(finding.script) & {"audit", "wild", "mechanisms", "tests"}
    nodes = ast.walk(ast.parse(finding.script.read_text()))
    assert any(isinstance(node, ast.Assert | ast.Raise) for node in nodes)  # it fails where nothing shows


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"class": "G"}, "`class` must be one of A, B, C, D, E, F, got 'G'"),
        ({"address": ""}, "`address` must be where the finding is public"),
        ({"class": "F"}, "`caveat` must quote documented behavior"),
        ({"caveat": {"quote": "it leaks", "place": "README"}}, "`caveat` must quote documented behavior"),
        ({"releases": {"lib": {"raises": ["1.0"]}}}, "`releases` must have statuses of"),
        ({"releases": {"lib": {SILENT: ["1.0"]}}}, "`releases` must name a release in which it shows"),
        ({"severity": 3}, "severity"),
    ],
)
def test_data_that_break_a_rule_are_refused(change, says):
    with pytest.raises(InvalidFinding, match=r"lib/findings\.toml, leak") as caught:
        read("lib", {**DATA, **change})
    assert says in str(caught.value)


def test_page_and_records_in_the_repository_are_those_of_the_data():
    found = dict(page.written())
    assert {path for path in found if path.parent == page.RECORDS} == set(page.RECORDS.glob("*.json"))
    assert {path.name for path, text in found.items() if path.read_text(encoding="utf-8") != text} == set()


@pytest.mark.parametrize(
    ("code", "limit", "status", "printed"),
    [
        ("print(1, 2)\nassert 1 < 2", 60.0, SHOWS, "1 2"),
        ("print(2, 1)\nassert 2 < 1", 60.0, SILENT, "AssertionError"),
        ("raise SystemExit('no NaN')", 60.0, SILENT, "no NaN"),
        ("import no_such_module", 60.0, BROKEN, "ModuleNotFoundError"),
        ("while True: pass", 0.5, BROKEN, "did not end within"),
        ("import os; os.kill(os.getpid(), 9)", 60.0, BROKEN, "was killed by signal 9"),
    ],
)
def test_a_script_shows_does_not_show_or_says_nothing(tmp_path, monkeypatch, code, limit, status, printed):
    monkeypatch.setattr(findings, "SECONDS", limit)
    (tmp_path / "script.py").write_text(code)
    done = run_script(tmp_path / "script.py", SimpleNamespace(python=sys.executable))
    assert done.status == status
    assert printed in done.printed
