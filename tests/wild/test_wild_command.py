"""The command: a library written here is audited in this Python, its finding shown; nothing is installed.

Two checks are random. Laplace noise of scale 1 on a count keeps epsilon = 1, and a run gives a
FAIL to a true claim with probability at most 1e-6. The other one has no noise, and is refuted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import audit
from wild import __main__ as command
from wild import audits, environments, findings, mechanism
from wild.environments import CATALOGUE, environment_of

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
