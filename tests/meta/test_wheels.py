"""What is installed from the built wheels, tried in an environment that has nothing else."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments, cwd=ROOT):
    # what this environment has must not be found by the new one
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    return subprocess.run([*map(str, arguments)], cwd=cwd, env=clean, capture_output=True, text=True)


def built(project, folder):
    done = command(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, project)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def contents(wheel):
    """The folders and files at the top of a wheel, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    return {top for top in tops if not top.endswith(".dist-info")}


@pytest.fixture(scope="module")
def auditor(tmp_path_factory):
    return built(".", tmp_path_factory.mktemp("auditor"))


def test_the_wheel_holds_the_auditor_alone(auditor):
    assert contents(auditor) == {"audit"}
    with zipfile.ZipFile(auditor) as archive:
        names = archive.namelist()
    for kind in ("*.json", "*.j2", "*.css", "*.js", "py.typed", "__init__.pyi"):
        for path in (ROOT / "audit").rglob(kind):
            assert str(path.relative_to(ROOT)) in names


def test_the_catalog_is_a_wheel_of_its_own(tmp_path):
    wheel = built("mechanisms", tmp_path)
    assert contents(wheel) == {"mechanisms"}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.endswith(".py")}
    assert packed == {str(path.relative_to(ROOT)) for path in (ROOT / "mechanisms").rglob("*.py")}


def test_both_have_the_same_version():
    auditor, catalog = (
        tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"] for name in (".", "mechanisms")
    )
    assert catalog["version"] == auditor["version"]
    assert f"{auditor['name']}=={auditor['version']}" in catalog["dependencies"]


def test_the_first_example_runs_from_the_wheel_in_a_bare_environment(auditor, tmp_path):
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare" / "bin" / "python"
    installed = command(python, "-m", "pip", "install", "--quiet", "--no-compile", auditor)
    assert installed.returncode == 0, installed.stderr
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    (tmp_path / "test_count.py").write_text(example[1])
    done = command(python, "-m", "pytest", "-p", "no:cacheprovider", "test_count.py", cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAIL: (0.5, 0)-DP under substitution" in done.stdout
    assert command(python, "-c", "import mechanisms", cwd=tmp_path).returncode != 0
