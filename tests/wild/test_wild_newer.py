"""Newer releases: what is compared, and what the page says; nothing is installed, and pip is not asked."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from wild import newer
from wild.audited import Audited
from wild.environments import EnvironmentFailed, Pin

OLD = Audited("somelib", Pin("somelib", "1.2"), ())


def test_the_newest_release_of_a_package_counts():
    later = replace(OLD, pin=Pin("somelib", "1.10"))
    assert newer.newest_audited([OLD, later, replace(OLD, pin=Pin("other", "3"))])[0] is later


@pytest.mark.parametrize(("said", "version"), [("somelib (1.11)\nAvailable versions: 1.11, 1.2\n", "1.11"), ("", None)])
def test_what_pip_finds(monkeypatch, said, version):
    monkeypatch.setattr(subprocess, "run", lambda *args, **settings: SimpleNamespace(stdout=said))
    assert newer.released("somelib") == version


@pytest.mark.parametrize(
    ("version", "audit", "text"),
    [
        ("1.2", None, "None."),
        (None, None, "None."),
        (
            "1.3",
            lambda *args: ["worse  somelib/mean: PASS became FAIL <b>"],
            r"* worse somelib/mean: PASS became FAIL \<b\>",
        ),
        ("1.3", lambda *args: [], "## somelib 1.3, after 1.2\n\n* no change"),
    ],
)
def test_the_page(tmp_path, monkeypatch, version, audit, text):
    monkeypatch.setattr(newer, "all_audited", lambda: [OLD])
    monkeypatch.setattr(newer, "released", lambda package: version)
    monkeypatch.setattr(newer, "audited_newer", audit)
    done = CliRunner().invoke(newer.main, ["--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert text in (tmp_path / newer.PAGE).read_text()


def test_what_cannot_be_installed_is_said(tmp_path, monkeypatch):
    def fails(*args):
        raise EnvironmentFailed("no wheel")

    monkeypatch.setattr(newer, "all_audited", lambda: [OLD])
    monkeypatch.setattr(newer, "released", lambda package: "2.0")
    monkeypatch.setattr(newer, "audited_newer", fails)
    CliRunner().invoke(newer.main, ["--out", str(tmp_path)])
    assert "cannot be installed: no wheel" in (tmp_path / newer.PAGE).read_text()
