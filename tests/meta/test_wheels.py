"""What is installed from the built wheels, tried in an environment that has nothing else."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def needed(name, found):
    """Add to `found` the installed distributions that one requires, and those that they require."""
    for line in metadata.distribution(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            key = canonicalize_name(requirement.name)
            if key not in found:
                found[key] = metadata.distribution(requirement.name)
                needed(requirement.name, found)
    return found


def link(distribution, site):
    """Make an installed distribution importable from another folder of packages."""
    for top in {file.parts[0] for file in distribution.files if file.parts[0] not in ("..", "__pycache__")}:
        if not (site / top).exists():
            (site / top).symlink_to(distribution.locate_file(top))


def test_the_first_example_runs_from_the_wheel_in_a_bare_environment(auditor, tmp_path):
    """The environment has the wheel, what it says it requires, and nothing else."""
    venv.create(tmp_path / "bare")
    python = tmp_path / "bare" / "bin" / "python"
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-compile", "--no-deps"]
    installed = command(sys.executable, *install, auditor)
    assert installed.returncode == 0, installed.stderr
    (site,) = tmp_path.glob("bare/lib/python*/site-packages")
    for distribution in needed("dp-audit", {}).values():
        link(distribution, site)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    (tmp_path / "test_count.py").write_text(example[1])
    done = command(python, "-m", "pytest", "-p", "no:cacheprovider", "test_count.py", cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAIL: (0.5, 0)-DP under substitution" in done.stdout
    assert command(python, "-c", "import mechanisms", cwd=tmp_path).returncode != 0
