"""The recipes of docs/ for continuous integration and signatures: their commands run as they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.processes import PROGRAMS, run_python

DOCS = Path(__file__).parents[2] / "docs"
MODULE = """
import numpy as np
from audit import PrivacyCheck, PrivacyClaim

def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(scale={scale}, size=size)

CHECKS = [
    PrivacyCheck(
        name="count", mechanism=noisy_count, claim=PrivacyClaim(1.0),
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
    """A project with `mylib/audits.py`, and a shell in it, which one call of `dp-audit` does not need."""
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "__init__.py").write_text("")
    (tmp_path / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "1.0"))

    def shell(line, settings=None):
        program, *arguments = shlex.split(line)
        if program in PROGRAMS and not set(line) & set("|&;<>$`"):
            return run_python(*PROGRAMS[program], *arguments, cwd=tmp_path)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        variables = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
        variables |= settings or {}
        return subprocess.run(["bash", "-c", line], cwd=tmp_path, env=variables, capture_output=True, text=True)

    shell.folder = tmp_path
    return shell


def test_the_workflow_and_the_page(project):
    """The commands of the page are those of the workflow, and one that resumes."""
    lines, resuming = commands("github-actions.yml", "run"), "dp-audit run mylib.audits --out certificate --resume"
    assert len(lines) == 4
    steps = re.findall(r"- (?:if: (.+)\n +)?run: ", (DOCS / "recipes" / "github-actions.yml").read_text())
    assert all("always()" in condition for condition in steps[2:])  # they come after an audit that FAILs as well
    assert set(console("ci.md")) == {line for line in lines if line.startswith("dp-audit")} | {resuming}
    for line in [*lines, resuming]:
        if "diff" in line:
            shutil.copytree(project.folder / "certificate", project.folder / "reference")
        done = project(line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert (project.folder / "summary.md").read_text().startswith("# Privacy certificate: PASS")


@pytest.mark.parametrize("recipe", ["privacy.sh", "gitlab-ci.yml"])
def test_what_comes_after_the_audit_happens_whatever_its_verdict(project, recipe):
    """Every command of a recipe runs; the audit alone decides the status of the script."""
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "0.5"))
    text = (DOCS / "recipes" / recipe).read_text()
    if recipe == "privacy.sh":
        assert project(text).returncode == 1
    else:
        after = text[text.index("after_script:") : text.index("artifacts:")]
        script, *later = re.findall(r"^    - (dp-audit run.+)$", text, re.MULTILINE) + re.findall(r"- (.+)", after)
        assert [project(line).returncode for line in (script, *later)] == [1, 0, 0]
        assert (project.folder / "certificate" / "junit.xml").exists()


def test_every_step_of_the_action(project):
    """As a runner runs them; .500 and not .5: a module of one size and second would be taken for the compiled one."""
    project("dp-audit run mylib.audits --out reference")
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "0.500"))
    action = yaml.safe_load((DOCS.parent / "action.yml").read_text())
    install, *steps = action["runs"]["steps"]
    assert install["run"] == 'python -m pip install "$GITHUB_ACTION_PATH"'
    assert [step.get("if") for step in steps] == [None, *3 * ["always()"]]
    inputs = {f"${{{{ inputs.{name} }}}}": given["default"] for name, given in action["inputs"].items()}
    done = [project(step["run"], {name: inputs[value] for name, value in step["env"].items()}) for step in steps]
    assert [step.returncode for step in done] == [1, 0, 0, 1], [step.stderr for step in done]
    assert (project.folder / "summary.md").read_text().startswith("# Privacy certificate: ")
    assert action["outputs"]["sarif"]["value"] == "${{ inputs.out }}/findings.sarif"
    assert (project.folder / "certificate" / "findings.sarif").exists()


def test_the_page_on_signing(project):
    """Its lines of the auditor run. What they refuse: `test_command_line.py::test_a_seal_and_a_plan_kept_elsewhere`."""
    project("dp-audit run mylib.audits --out certificate")
    lines = re.findall(r"^(?:\$ )?(dp-audit .+)$", (DOCS / "signing.md").read_text(), re.MULTILINE)
    assert any(line.startswith("dp-audit verify certificate --seal") for line in lines)
    for line in dict.fromkeys(lines):
        done = project(line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
