"""The recipes of docs/ for continuous integration: their commands run as they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PROGRAMS, run_python

DOCS = Path(__file__).parents[2] / "docs"
MODULE = """
import numpy as np
from audit import PrivacyCheck, PrivacyClaim

def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(scale={scale}, size=size)

CHECKS = [
    PrivacyCheck(
        name="count", mechanism=noisy_count, claim=PrivacyClaim(1.5), tolerance=1,
        pairs=[(np.zeros(3), np.r_[1.0, 0, 0])],
    )
]
"""


def commands(name, key):
    found = re.findall(rf"^\s*(?:- )?{key}: (.+)$", (DOCS / "recipes" / name).read_text(), re.MULTILINE)
    return [line for line in found if not line.startswith("pip install")]


def console(page):
    return re.findall(r"^\$ (.+)$", (DOCS / page).read_text(), re.MULTILINE)


@pytest.fixture
def project(tmp_path):
    """A project with `mylib/audits.py`, and a shell in it; its summary of a job is a file.

    A line that is one call of `dp-audit` needs no shell.
    """
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "__init__.py").write_text("")
    (tmp_path / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "1.0"))

    def shell(line):
        program, *arguments = shlex.split(line)
        if program in PROGRAMS and not set(line) & set("|&;<>$`"):
            return run_python(*PROGRAMS[program], *arguments, cwd=tmp_path)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, env=variables, capture_output=True, text=True)

    shell.folder = tmp_path
    return shell


def test_the_workflow_and_the_page(project):
    """The commands of the page are those of the workflow, and one that resumes: here there is nothing left to do."""
    lines, resuming = commands("github-actions.yml", "run"), "dp-audit run mylib.audits --out certificate --resume"
    assert len(lines) == 4
    assert set(console("ci.md")) == {line for line in lines if line.startswith("dp-audit")} | {resuming}
    for line in [*lines, resuming]:
        if "diff" in line:
            shutil.copytree(project.folder / "certificate", project.folder / "reference")
        done = project(line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert "nothing was audited" in done.stdout
    assert (project.folder / "summary.md").read_text().startswith("# Privacy certificate: PASS")


def test_the_hook(project):
    (line,) = commands("pre-commit-config.yaml", "entry")
    assert project(line).returncode == 0
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "0.2"))
    assert project(line).returncode == 1
