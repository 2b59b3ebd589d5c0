"""A release: versions agree, large generated files change at releases only, and what is missing is named."""

from pathlib import Path

import pytest

import audit
from benchmarks import release

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_states_the_same_version():
    assert set(release.stated_versions().values()) == {release.version()}
    assert audit.__version__ == release.version()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("CITATION.cff", "version: 0.0.9\n", "CITATION.cff states version 0.0.9: write "),
        ("CHANGELOG.md", "## 0.1.0, unreleased\n", "has no dated entry"),
        ("action.yml", "name: dp-audit\n", "action.yml states version None: write "),
    ],
)
def test_what_is_missing_is_named_with_what_to_do(tmp_path, monkeypatch, name, text, says):
    for each in (*release._STATED, "pyproject.toml"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text((ROOT / each).read_text())
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "_git", lambda *arguments: "?? left.py\n" if arguments[0] == "status" else "")
    found = list(release.problems(release.version()))
    assert any(says in line for line in found)
    assert "left.py is not committed: commit it, or remove it" in found
    assert sum(line.endswith("type make dist") for line in found) == 2
