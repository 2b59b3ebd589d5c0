"""The tutorial, and the pages on maps and on mechanisms that answer back, run as printed; seeds are fixed."""

import re
from pathlib import Path

import pytest

import audit
from audit import Verdict
from tests.processes import PROGRAMS, run_python

DOCS = Path(__file__).parents[2] / "docs"


def blocks_of(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), flags=re.S)


def test_the_tutorial(tmp_path):
    for block in blocks_of("tutorial.md", "python"):
        if file := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / file[1]).write_text(block)
    commands = [block for block in blocks_of("tutorial.md", "console") if "pip install" not in block]
    assert commands
    for block in commands:
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE):
            program, *arguments = command.split()
            done = run_python(*PROGRAMS[program], *arguments, cwd=tmp_path, timeout=120)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
            assert set(shown) <= set(done.stdout.splitlines()), command


def test_maps_print_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps, opendp, spent = blocks_of("glue.md", "python")
    names = {}
    exec(steps, names)
    assert blocks_of("glue.md", "text")[0] in capsys.readouterr().out
    assert (tmp_path / "glue" / "certificate.json").exists()
    pytest.importorskip("opendp")
    for block in (opendp, spent):
        exec(block, names)
        assert capsys.readouterr().out.endswith("PASS\n")
    said = audit.check_accounting(
        lambda event, delta: names["spent"](event, delta) * 0.9, names["events"], 1e-9, names["epsilon_bracket"]
    )
    assert said.verdict is Verdict.FAIL


def test_a_session_fails_in_pytest_by_the_conversation_that_is_shown(tmp_path):
    session, test, *_ = blocks_of("interactive.md", "python")
    turns, *_ = blocks_of("interactive.md", "text")
    (tmp_path / "test_session.py").write_text(session + test)
    # Without the summary: it repeats the whole message where CI is set.
    done = run_python("-m", "pytest", "-p", "no:cacheprovider", "-rN", "test_session.py", cwd=tmp_path)
    printed = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [line for line in printed if line in turns.splitlines()] == turns.splitlines()


def test_conversations_print_what_is_shown(capsys):
    names = {"audit": audit}
    session, _, *blocks = blocks_of("interactive.md", "python")
    exec(session, names)
    for block, shown in zip(blocks, blocks_of("interactive.md", "text")[1:], strict=True):
        exec(block, names)
        assert capsys.readouterr().out == shown
