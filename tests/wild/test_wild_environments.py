"""Environments: made from exact pins, once, and anew when the pins change. The one package is a wheel written here."""

from __future__ import annotations

import re
import subprocess
import zipfile

import pytest

from wild import environments
from wild.environments import EnvironmentFailed, Pin, environment_of, interpreter, libraries, pin_of


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


def installed_version(environment):
    command = [str(environment.python), "-I", "-c", "import fakelib; print(fakelib.VERSION)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_made_once_and_anew_when_the_pin_changes(catalogue, tmp_path):
    assert libraries(catalogue) == ["fake"]
    assert environment_of("fake", catalogue=catalogue).prepare()
    assert installed_version(environment_of("fake", catalogue=catalogue)) == "1.0"
    assert not environment_of("fake", catalogue=catalogue).prepare()
    require(catalogue / "fake", wheel(tmp_path, "2.0"), "2.0")
    assert environment_of("fake", catalogue=catalogue).prepare()
    assert installed_version(environment_of("fake", catalogue=catalogue)) == "2.0"
    assert (environments.HOME / ".gitignore").read_text() == "*\n"


def test_another_release_has_an_environment_beside_that_of_the_pinned_one(catalogue, tmp_path):
    wheel(tmp_path, "0.9")
    pinned, older = (environment_of("fake", release, catalogue) for release in (None, "fakelib==0.9"))
    assert pinned.is_pinned
    assert not older.is_pinned
    assert older.prepare()
    assert not older.prepare()
    assert installed_version(older) == "0.9"
    assert older.home != pinned.home
    assert older.requirements.read_text().startswith("fakelib==0.9\n--no-index\n")


def test_what_cannot_be_installed_says_why_and_is_not_taken_for_made(catalogue):
    (catalogue / "fake" / "requirements.txt").write_text("fakelib==9.9\n--no-index\n")
    environment = environment_of("fake", catalogue=catalogue)
    with pytest.raises(EnvironmentFailed, match=r"fakelib==9\.9"):
        environment.prepare()
    assert not (environment.home / "installed.txt").exists()


@pytest.mark.parametrize(("library", "release", "says"), [
    ("absent", None, "no library 'absent'; there are fake"),
    ("fake", "fakelib", "a release must be an exact pin, such as opendp==0.15.1, got 'fakelib'"),
])  # fmt: skip
def test_what_is_not_there_is_named(catalogue, library, release, says):
    with pytest.raises(EnvironmentFailed, match=re.escape(says)):
        environment_of(library, release, catalogue)


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


def test_a_release_may_need_another_python_and_other_packages(catalogue, tmp_path, monkeypatch):
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
    (catalogue / "fake" / "audits.toml").write_text('[older]\n"0.5" = {python = "3.9", packages = ["numpy<1.20"]}\n')
    monkeypatch.setattr(environments, "_run", asked.append)
    older = environment_of("fake", "fakelib==0.5", catalogue)
    assert older.prepare()
    assert asked[0][:3] == [found[1], "-m", "venv"]
    assert asked[1][:3] == [str(older.python), "-m", "pip"]
    assert older.requirements.read_text().splitlines()[:2] == ["fakelib==0.5", "numpy<1.20"]
