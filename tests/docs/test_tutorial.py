"""The tutorial does what it says: its files, in order, in an empty folder."""

import re
from pathlib import Path

from tests.processes import PROGRAMS, run_python

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()


def test_the_tutorial(tmp_path):
    files = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, flags=re.S))
    assert list(files) == ["mean.py", "clipped_mean.py", "test_mean.py", "audits.py"]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    commands = [block for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.S) if "pip install" not in block]
    assert len(commands) == 4
    for block in commands:
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        for command in re.findall(r"^\$ (.+)$", block, re.MULTILINE):
            program, *arguments = command.split()
            done = run_python(*PROGRAMS[program], *arguments, cwd=tmp_path, timeout=120)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
            assert set(shown) <= set(done.stdout.splitlines()), command
