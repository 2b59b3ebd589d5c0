"""What the built wheels hold. `tests/docs/test_printed_pages.py` runs the README with the first one alone."""

import tomllib
import zipfile

import pytest

from tests.bare import ROOT, built


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
