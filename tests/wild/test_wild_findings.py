"""Findings: their data keep the rules, their scripts call the library alone; page and records follow from the data."""

from __future__ import annotations

import ast
import datetime
import sys
from types import SimpleNamespace

import pytest

from tests.offenders import for_each
from wild import findings, page
from wild.findings import BROKEN, SHOWS, SILENT, InvalidFinding, all_findings, read, run_script

DATA = {
    "name": "leak", "title": "it leaks", "class": "A", "address": "https://example.org/1", "cause": "It does.",
    "releases": {"lib": {SHOWS: ["1.0", "1.1"], SILENT: ["1.2"], BROKEN: ["0.9"]}},
    "search": [{"query": "lib leak", "date": datetime.date(2026, 1, 2), "hits": 3, "relevant": []}],
}  # fmt: skip


@for_each(all_findings())
def test_a_script_calls_the_library_alone(finding):
    tree = ast.parse(finding.script.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not {name.split(".")[0] for name in names} & {"audit", "wild", "mechanisms", "tests"}
    assert any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tree))  # it fails where nothing shows


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
