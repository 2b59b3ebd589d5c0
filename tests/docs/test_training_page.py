"""The page about training runs does what it says: its audits, as commands, and its canaries."""

import re
from pathlib import Path

import numpy as np

import audit
from tests.processes import PROGRAMS, run_python

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)


def test_from_a_loop_to_a_certificate(tmp_path):
    """The seed of the run is 0: the draws repeat, and what they gave was looked at."""
    (tmp_path / "audits.py").write_text(BLOCKS[0])
    for command in re.findall(r"^\$ (.+)$", PAGE, re.MULTILINE):
        program, *arguments = command.split()
        done = run_python(*PROGRAMS[program], *arguments, cwd=tmp_path, timeout=120)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    text = (tmp_path / "report" / "certificate.json").read_text()
    assert "as if it were divided by 4" in text


def test_the_canaries_of_an_estimator():
    """A regression that remembers its wrong labels is told apart."""
    names = {"np": np, "audit": audit}
    exec(next(block for block in BLOCKS if "check_canaries" in block), names)
    assert 0.5 < names["bound"] < 3
