"""The two wheels hold all files of their packages, data and templates too, and nothing else."""

import subprocess
import zipfile

import pytest

from tests.bare import ROOT, built


@pytest.mark.parametrize(("project", "package"), [(".", "audit"), ("mechanisms", "mechanisms")])
def test_a_wheel_holds_its_package(project, package, tmp_path):
    listed = subprocess.run(["git", "ls-files", package], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    due = {name for name in listed.split() if not name.endswith(("pyproject.toml", "LICENSE", "README.md"))}
    with zipfile.ZipFile(built(project, tmp_path)) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == due
