"""Environments: made from exact pins, once, and anew when the pins change. The one package is a wheel written here."""

from __future__ import annotations

import subprocess
import zipfile

import pytest

from wild import environments
from wild.environments import (
    EnvironmentFailed,
    Pin,
    interpreter,
    libraries,
    node_of,
    pin_of,
    prepare,
    python_of,
    served_of,
)


@pytest.fixture
def catalogue(tmp_path, monkeypatch):
    """A catalogue with one library, `fake`, installed without network; the working folder is empty."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    folder = tmp_path / "catalogue" / "fake"
    folder.mkdir(parents=True)
    (folder / "served.py").write_text("MECHANISMS = {}\n")
    (folder / "audits.toml").write_text("not_audited = []\n")
    require(folder, wheel(tmp_path, "1.0"), "1.0")
    return tmp_path / "catalogue"


def require(folder, path, version):
    lines = ("# the audited library first", f"fakelib=={version}", "--no-index", f"--find-links {path.parent}")
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n")


def wheel(folder, version):
    path = folder / f"fakelib-{version}-py3-none-any.whl"
    info = f"fakelib-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fakelib.py", f"VERSION = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: fakelib\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def installed_version():
    command = [str(python_of("fake")), "-I", "-c", "import fakelib; print(fakelib.VERSION)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_made_once_and_anew_when_the_pin_changes(catalogue, tmp_path):
    assert libraries(catalogue) == ["fake"]
    assert prepare("fake", catalogue)
    assert installed_version() == "1.0"
    assert not prepare("fake", catalogue)
    require(catalogue / "fake", wheel(tmp_path, "2.0"), "2.0")
    assert prepare("fake", catalogue)
    assert installed_version() == "2.0"
    assert (environments.HOME / ".gitignore").read_text() == "*\n"


def test_what_cannot_be_installed_says_why_and_is_not_taken_for_made(catalogue):
    requirements = catalogue / "fake" / "requirements.txt"
    requirements.write_text("fakelib==9.9\n--no-index\n")
    with pytest.raises(EnvironmentFailed, match=r"fakelib==9\.9"):
        prepare("fake", catalogue)
    assert not (environments.HOME / "fake" / "installed.txt").exists()


def test_a_folder_without_all_three_files_is_no_library(catalogue):
    (catalogue / "fake" / "audits.toml").unlink()
    assert libraries(catalogue) == []


@pytest.mark.parametrize(
    ("first", "pin"),
    [("some-lib==1.2.3", Pin("some-lib", "1.2.3")), ("lib[extra]==1.0rc1  # why", Pin("lib", "1.0rc1"))],
)
def test_the_first_requirement_is_what_is_audited(catalogue, first, pin):
    (catalogue / "fake" / "requirements.txt").write_text(f"# comment\n\n{first}\nnumpy==2.0.0\n")
    assert pin_of("fake", catalogue) == pin
    assert str(pin) == f"{pin.package} {pin.version}"


@pytest.mark.parametrize("text", ["", "# nothing\n", "lib>=1.0\n", "lib\n"])
def test_a_first_requirement_that_is_no_pin_is_refused(catalogue, text):
    (catalogue / "fake" / "requirements.txt").write_text(text)
    with pytest.raises(EnvironmentFailed, match="exact pin"):
        pin_of("fake", catalogue)


def node_wheel(folder):
    """A wheel with a Node.js that writes down what it was asked to run."""
    path, info = folder / "nodejs_fake-18.0-py3-none-any.whl", "nodejs_fake-18.0.dist-info"
    program = zipfile.ZipInfo("nodejs/bin/node")
    program.external_attr = 0o100755 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(program, '#!/bin/sh\necho "$@" > "$(dirname "$0")/asked.txt"\n')
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nodejs-fake\nVersion: 18.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def test_a_library_in_javascript_is_installed_by_the_node_of_its_requirements(catalogue, tmp_path):
    folder = catalogue / "fake"
    (folder / "package.json").write_text('{"dependencies": {"fakelib": "1.2.3", "other": "4.5.6"}}')
    lines = ("nodejs-fake==18.0", "--no-index", f"--find-links {node_wheel(tmp_path).parent}")
    (folder / "requirements.txt").write_text("\n".join(lines))
    assert libraries(catalogue) == []
    (folder / "served.py").rename(folder / "served.js")
    assert libraries(catalogue) == ["fake"]
    assert pin_of("fake", catalogue) == Pin("fakelib", "1.2.3")
    assert prepare("fake", catalogue)
    environment = python_of("fake").parents[1]
    assert (environment / "package.json").read_text() == (folder / "package.json").read_text()
    asked = (node_of("fake").parent / "asked.txt").read_text().split()
    assert asked[:4] == [
        str(node_of("fake").parents[1] / "lib/node_modules/npm/bin/npm-cli.js"),
        "install",
        "--prefix",
        str(environment),
    ]
    assert "--ignore-scripts" in asked
    assert not prepare("fake", catalogue)
    (folder / "package.json").write_text('{"dependencies": {"fakelib": "1.3.0"}}')
    assert prepare("fake", catalogue)


def test_another_release_is_served_by_its_sibling_unless_it_has_a_file_of_its_own(catalogue):
    folder = catalogue / "fake_0_9"
    folder.mkdir()
    (folder / "audits.toml").write_text('[sibling]\nof = "fake"\n')
    assert served_of("fake_0_9", catalogue) == catalogue / "fake" / "served.py"
    (folder / "served.py").write_text("MECHANISMS = {}\n")
    assert served_of("fake_0_9", catalogue) == folder / "served.py"


def test_a_release_may_need_another_python(catalogue, tmp_path, monkeypatch):
    """Python of a version comes from pyenv, or from the path; an environment that names one is made by it."""
    asked = []
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(EnvironmentFailed, match=r"python3\.9 is not installed"):
        interpreter("3.9")
    found = []
    for path in ("bin/python3.9", "pyenv/versions/3.9.18/bin/python3.9"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch(mode=0o755)
        found.append(interpreter("3.9"))
    assert found == [str(tmp_path / "bin/python3.9"), str(tmp_path / "pyenv/versions/3.9.18/bin/python3.9")]
    (catalogue / "fake" / "python.txt").write_text("3.9")
    monkeypatch.setattr(environments, "_run", asked.append)
    with pytest.raises(FileNotFoundError):  # nothing was made, so that there is no place for the stamp
        prepare("fake", catalogue)
    assert asked[0][:3] == [found[1], "-m", "venv"]
    assert asked[1][:3] == [str(python_of("fake")), "-m", "pip"]
