"""The page on mechanisms that answer back runs as printed, and its numbers are those of the benchmark.

What must be convicted is so with fixed seeds. The one PASS is exact: the fit of its sampler rejects with probability
0.05 over fresh seeds, and the seed is fixed.
"""

import re
from pathlib import Path

import audit
from tests.processes import run_python

PAGE = (Path(__file__).parents[2] / "docs" / "interactive.md").read_text()
SESSION, TEST, *BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
TURNS, *SHOWN = re.findall(r"```text\n(.*?)```", PAGE, flags=re.S)


def test_the_session_fails_in_pytest_by_the_conversation_that_is_shown(tmp_path):
    (tmp_path / "test_session.py").write_text(SESSION + TEST)
    # Without the summary: it repeats the whole message where CI is set.
    done = run_python("-m", "pytest", "-p", "no:cacheprovider", "-rN", "test_session.py", cwd=tmp_path)
    printed = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [line for line in printed if line in TURNS.splitlines()] == TURNS.splitlines()


def test_the_blocks_print_what_is_shown(capsys):
    names = {"audit": audit}
    for block, shown in zip(BLOCKS, SHOWN, strict=True):
        exec(block, names)
        assert capsys.readouterr().out == shown
