"""Environments: made from exact pins, once, and anew when the pins change. The one package is a wheel written here."""

from __future__ import annotations

import subprocess
import zipfile

import pytest

from wild import environments
from wild.environments import EnvironmentFailed, environment_of, libraries, pin_of


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


def test_what_cannot_be_installed_says_why_and_is_not_taken_for_made(catalogue):
    (catalogue / "fake" / "requirements.txt").write_text("fakelib==9.9\n--no-index\n")
    environment = environment_of("fake", catalogue=catalogue)
    with pytest.raises(EnvironmentFailed, match=r"fakelib==9\.9"):
        environment.prepare()
    assert not (environment.home / "installed.txt").exists()


@pytest.mark.parametrize("text", ["", "# nothing\n", "lib>=1.0\n", "lib\n"])
def test_a_first_requirement_that_is_no_pin_is_refused(catalogue, text):
    (catalogue / "fake" / "requirements.txt").write_text(text)
    with pytest.raises(EnvironmentFailed, match="exact pin"):
        pin_of("fake", catalogue)
