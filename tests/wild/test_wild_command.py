"""The command audits a library written here, in environments made from exact pins; nothing is downloaded.

Two checks are random. Laplace noise of scale 1 on a count keeps epsilon = 1, and a run gives a
FAIL to a true claim with probability at most 1e-6. The other one has no noise, and is refuted.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import audit
from wild import __main__ as command
from wild import audits, environments, findings, mechanism
from wild.environments import CATALOGUE, EnvironmentFailed, environment_of, libraries, pin_of

SERVED = """
MECHANISMS = {
    "noisy": lambda dataset, size, rng: len(dataset) + rng.laplace(size=size),
    "bare": lambda dataset, rng: len(dataset) + 0.01 * rng.random(),
}
"""
AUDITS = """
not_audited = []

[[check]]
name = "fake/noisy eps=1"
source = 'fake 1.0, README: "noise of scale 1"'
own_randomness = false
budget = 20000
tolerance = 1.0
pairs = ["[], [0]"]
"""
FINDINGS = """
[[finding]]
name = "leak"
title = "no noise"
class = "A"
address = "https://example.org/1"
cause = "It adds none."
releases = {fake = {shows = ["1.0"]}}

[[finding.check]]
name = "fake/bare eps=1"
source = "fake 1.0, README"
own_randomness = false
budget = 2000
pairs = ["[], [0]"]
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A library `fake` 1.0 whose environment is this Python."""
    folder = tmp_path / "fake"
    (folder / "findings").mkdir(parents=True)
    texts = {"served.py": SERVED, "audits.toml": AUDITS, "findings.toml": FINDINGS, "requirements.txt": "fake==1.0\n"}
    for name, text in {**texts, "findings/leak.py": "print('bare')\n"}.items():
        (folder / name).write_text(text)
    (tmp_path / "serve.py").write_text((CATALOGUE / "serve.py").read_text())
    for module in (command, audits, findings, mechanism):
        monkeypatch.setattr(module, "CATALOGUE", tmp_path)
    monkeypatch.setattr(environments.Environment, "prepare", lambda self: True)
    monkeypatch.setattr(environments.Environment, "python", Path(sys.executable))
    monkeypatch.setattr(command, "environment_of", lambda name, release: environment_of(name, release, tmp_path))
    for cached in (audits.audits_of, findings.findings_of):
        cached.cache_clear()
    monkeypatch.chdir(tmp_path)
    yield folder
    for cached in (audits.audits_of, findings.findings_of):
        cached.cache_clear()


def asked(*words):
    return CliRunner().invoke(command.main, list(map(str, words)))


@pytest.mark.false_alarm(1e-06)
def test_a_library_is_audited_and_its_finding_is_met(fake, tmp_path):
    done = asked("fake", "--workers", 0, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "fake/leak shows: bare" in done.output
    assert "fake 1.0 does not hold the words 'noise of scale 1'" in done.output  # it is not installed
    certificate = audit.load_certificate(tmp_path / "out")
    assert {each["name"]: each["verdict"] for each in certificate["checks"]} == {
        "fake/noisy eps=1": "PASS",
        "fake/bare eps=1": "FAIL",
    }
    assert audit.verify(tmp_path / "out") == []


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
