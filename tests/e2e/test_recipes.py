"""The recipes of docs/ for continuous integration and signatures: their commands run as they stand."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import audit
from audit.certificate.document import compute_seal
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
    """A project with `mylib/audits.py`, and a shell in it; its summary of a job is a file.

    A line that is one call of `dp-audit` needs no shell.
    """
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


@pytest.mark.parametrize(("scale", "status"), [("1.0", 0), ("0.5", 1)])
@pytest.mark.parametrize("recipe", ["privacy.sh", "gitlab-ci.yml", "github-actions.yml"])
def test_what_comes_after_the_audit_happens_whatever_its_verdict(project, recipe, scale, status):
    """Every command of a recipe runs; the audit alone decides the status of the script."""
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", scale))
    text = (DOCS / "recipes" / recipe).read_text()
    if recipe == "privacy.sh":
        assert project(text).returncode == status
    elif recipe == "gitlab-ci.yml":
        after = text[text.index("after_script:") : text.index("artifacts:")]
        script, *later = re.findall(r"^    - (dp-audit run.+)$", text, re.MULTILINE) + re.findall(r"- (.+)", after)
        assert [project(line).returncode for line in (script, *later)] == [status, 0, 0]
        assert (project.folder / "certificate" / "junit.xml").exists()
    else:
        steps = re.findall(r"- (?:if: (.+)\n +)?run: (.+)", text)
        assert all("always()" in condition for condition, _ in steps[2:])
        assert [project(line).returncode for _, line in steps[1:4]] == [status, 0, 0]


@pytest.mark.parametrize(("scale", "statuses"), [("1.0", [0, 0, 0, 0]), ("0.500", [1, 0, 0, 1])])
def test_every_step_of_the_action(project, scale, statuses):
    """The steps run as a runner runs them, with the inputs in their environment; the diff shows a claim that broke.

    The scales differ in length: a module of the same size and second would be taken for the one that is compiled.
    """
    project("dp-audit run mylib.audits --out reference")
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", scale))
    action = yaml.safe_load((DOCS.parent / "action.yml").read_text())
    install, *steps = action["runs"]["steps"]
    assert install["run"] == 'python -m pip install "$GITHUB_ACTION_PATH"'
    assert [step.get("if") for step in steps] == [None, *3 * ["always()"]]
    inputs = {f"${{{{ inputs.{name} }}}}": given["default"] for name, given in action["inputs"].items()}
    done = [project(step["run"], {name: inputs[value] for name, value in step["env"].items()}) for step in steps]
    assert [step.returncode for step in done] == statuses, [step.stderr for step in done]
    assert (project.folder / "summary.md").read_text().startswith("# Privacy certificate: ")


def test_shells_complete_its_commands(project):
    """The lines of the page, run by the shell they are for, know the commands."""
    page = (DOCS / "tutorial.md").read_text()
    line = next(line for line in page.splitlines() if "_DP_AUDIT_COMPLETE=bash_source" in line)
    asked = 'COMP_WORDS=(dp-audit ver) COMP_CWORD=1; _dp_audit_completion dp-audit; echo "${COMPREPLY[@]}"'
    assert project(f"{line}\n{asked}").stdout.split() == ["verify"]


def test_the_hook(project):
    (line,) = commands("pre-commit-config.yaml", "entry")
    assert project(line).returncode == 0
    (project.folder / "mylib" / "audits.py").write_text(MODULE.replace("{scale}", "0.200"))
    assert project(line).returncode == 1


SIGNING = (DOCS / "signing.md").read_text()
SECTIONS = dict(section.split("\n", 1) for section in SIGNING.split("\n## ")[1:])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A folder with a certificate, to be copied."""
    folder = tmp_path_factory.mktemp("signed") / "certificate"
    pairs = [(np.zeros(3), np.r_[1.0, 0, 0])]
    check = audit.PrivacyCheck(name="count", mechanism=noisy_count, claim=audit.PrivacyClaim(1.5), pairs=pairs)
    audit.run([check], budget=2_000, workers=0).save(folder)
    return folder


def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def signed(line, folder):
    """Run a line of the page; a `dp-audit` in it runs in a process that is forked, as everywhere in the suite."""
    line = re.sub(r'"\$\(cat (\S+)\)"', lambda found: (folder / found[1]).read_text().strip(), line)
    if not line.startswith("dp-audit"):
        return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
    command, _, rest = line.partition(" | ")
    done = run_python(*PROGRAMS["dp-audit"], *shlex.split(command)[1:], cwd=folder)
    return subprocess.run(["bash", "-c", rest], cwd=folder, input=done.stdout, text=True) if rest else done


@pytest.mark.parametrize("section", SECTIONS)
def test_the_recipes_for_signing(certificate, tmp_path, section):
    """Every line runs whose tool is there and needs no network; afterwards an edited certificate is refused."""
    shutil.copytree(certificate, tmp_path / "certificate")
    lines = re.findall(r"^(?:\$ |(?=gh |cosign |dp-audit ))(.+)$", SECTIONS[section], re.MULTILINE)
    tools = {line.split()[0] for line in lines} - {"dp-audit", "echo"}
    missing = {tool for tool in tools if shutil.which(tool) is None or tool in ("gh", "cosign")}
    assert any(line.startswith("dp-audit verify certificate") for line in lines)
    run = [line for line in lines if line.startswith("dp-audit") or not missing]
    for line in run:
        assert signed(line, tmp_path).returncode == 0, line
    path = tmp_path / "certificate" / "certificate.json"
    document = json.loads(path.read_text())
    document["provenance"]["platform"] = "another"
    path.write_text(json.dumps({**document, "seal": compute_seal(document)}))  # whole, and not the one that was signed
    checks = [line for line in run if re.search(r"--seal \"|minisign -V|-Y verify", line)]
    signs = section != "A statement about what was audited"  # that a signing tool takes
    assert bool(checks) == (signs and not missing)
    assert [signed(line, tmp_path).returncode == 0 for line in checks] == [False] * len(checks)
    if missing:
        pytest.skip(f"only the lines of dp-audit were run: {', '.join(sorted(missing))} is not there, or needs network")
