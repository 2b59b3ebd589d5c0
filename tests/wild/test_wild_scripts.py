"""The scripts of findings: short, of the library alone, one for each; `make wild` runs them where it is installed."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.offenders import for_each
from wild import environments, scripts
from wild.findings import all_findings
from wild.scripts import LONGEST, Shown, lines_of, releases_of, run_script, script_of


@for_each(all_findings())
def test_every_finding_has_a_short_script_that_calls_the_library_alone(finding):
    path = script_of(finding)
    assert (path is None) == bool(finding.no_script)
    if path is None:
        assert not finding.is_public
        return
    assert 3 <= len(lines_of(path)) <= LONGEST
    assert all(len(line) <= 120 for line in lines_of(path))
    if path.suffix == ".py":
        tree = ast.parse(path.read_text())
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert not {name.split(".")[0] for name in names} & {"audit", "wild", "mechanisms", "tests"}
        assert any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(tree))  # it fails where nothing shows


@pytest.mark.parametrize(
    ("code", "limit", "holds", "printed"),
    [
        ("print(1, 2)\nassert 1 < 2", 60.0, True, "1 2"),
        ("print(2, 1)\nassert 2 < 1", 60.0, False, "AssertionError"),
        ("while True: pass", 0.5, False, "did not end within"),
        ("import os; os.kill(os.getpid(), 9)", 60.0, False, "was killed by signal 9"),
    ],
)
def test_a_script_shows_or_fails(tmp_path, monkeypatch, code, limit, holds, printed):
    monkeypatch.setattr(scripts, "python_of", lambda library: sys.executable)
    monkeypatch.setattr(scripts, "is_javascript", lambda library: False)
    monkeypatch.setattr(scripts, "SECONDS", limit)
    path = tmp_path / "script.py"
    path.write_text(code)
    done = run_script(path, "fake")
    assert done.holds is holds
    assert printed in done.printed


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (Shown(True, "1 2"), "shows"),
        (Shown(False, "Traceback (most recent call last):\n  assert 2 < 1\nAssertionError"), "does not show"),
        (Shown(False, "no NaN"), "does not show"),  # `raise SystemExit("no NaN")`
        (Shown(False, "Traceback (most recent call last):\nImportError: no module x"), "does not run: ImportError"),
        (Shown(False, "did not end within 300 seconds"), "does not run: did not end within 300 seconds"),
        (Shown(False, "was killed by signal 15"), "does not run: was killed by signal 15"),
    ],
)
def test_what_a_script_cannot_run_in_says_nothing_of_the_finding(shown, status):
    assert shown.status == status


def test_what_scripts_say_of_releases_is_recorded_with_the_finding(tmp_path, monkeypatch, capsys):
    finding = next(each for each in all_findings() if each.library == "flwr" and script_of(each))
    monkeypatch.setattr(scripts, "all_findings", lambda: [finding])
    monkeypatch.setattr(scripts, "script_of", lambda finding: tmp_path / "script.py")
    monkeypatch.setattr(scripts, "ROOT", tmp_path)
    monkeypatch.setattr(environments, "versions_of", lambda package: ["1.9.0", "1.10.0"])
    monkeypatch.setattr(environments, "environment_of", lambda package, version: f"{package}=={version}")
    monkeypatch.setattr(scripts, "run_script", lambda path, library: Shown(library == "flwr==1.10.0", "no"))
    scripts.main("flwr==1.10.0")
    scripts.main("flwr")
    scripts.main("another")
    monkeypatch.setattr(scripts, "run_script", lambda path, library: Shown(False, "did not end within 300 seconds"))
    scripts.main("flwr")
    assert releases_of(finding) == {"1.9.0": "does not show", "1.10.0": "shows"}
    assert capsys.readouterr().out.count("\n") == 5
