"""The public copy: one commit, no history, nothing that the owner's list names. A release: versions, files, wheels."""

import importlib.util
import subprocess
import zipfile

import pytest

import audit
from benchmarks import release
from tests.bare import ROOT, built


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The script, of a repository with a file that is gone and one that is not for the public."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    run(root, "init", "--quiet")
    for key, value in {"user.name": "Nobody", "user.email": "nobody@example.org"}.items():
        run(root, "config", key, value)
    write(root, "gone/secret.md", "the fault of the library\n")
    run(root, "rm", "-r", "--quiet", "gone")
    write(root, "notes/kept.md", "for us alone\n")
    write(root, ".gitattributes", "notes export-ignore\n")
    write(root, "src/code.py", "def served():\n    return 'A  Noisy\n      Median'\n")
    spec = importlib.util.spec_from_file_location("public_copy", ROOT / ".ci" / "public_copy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", root)
    return module


def run(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout


def write(root, name, text):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)
    run(root, "add", "--all")
    run(root, "commit", "--quiet", "--message", f"add {name}")


def copied(script, tmp_path, text):
    listed = tmp_path / "hidden.txt"
    listed.write_text(text)
    return script.main(str(tmp_path / "copy"), str(listed))


def test_a_copy_has_one_commit_and_nothing_of_the_history(script, tmp_path, capsys):
    assert copied(script, tmp_path, "# titles\nthe fault of the library\nsecret\nfor us alone\n") == 0
    copy = tmp_path / "copy"
    assert "3 words looked for, none found" in capsys.readouterr().out
    assert run(copy, "rev-list", "--count", "--all").strip() == "1"
    assert "secret" not in run(copy, "log", "--all", "--stat", "--patch")
    assert run(copy, "ls-files").split() == [".gitattributes", "src/code.py"]
    assert run(copy, "log", "--format=%an %ae %cn").strip() == "Nobody nobody@example.org Nobody"
    assert run(copy, "status", "--short") == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("none of it\n\n# served\nnoisy  MEDIAN\n", "hidden.txt:4, 'noisy median', stands in src/code.py (blob "),
        ("src/\n", "hidden.txt:1, 'src/', stands in the path src/code.py"),
        ("Code.PY\n", "hidden.txt:1, 'code.py', stands in the path src/code.py"),
        ("nobody@example.org\n", "hidden.txt:1, 'nobody@example.org', stands in the commit"),
    ],
)
def test_a_word_of_the_list_is_found(script, tmp_path, capsys, text, says):
    assert copied(script, tmp_path, text) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()


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


@pytest.mark.parametrize(("project", "package"), [(".", "audit"), ("mechanisms", "mechanisms")])
def test_a_wheel_holds_its_package(project, package, tmp_path):
    listed = subprocess.run(["git", "ls-files", package], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    due = {name for name in listed.split() if not name.endswith(("pyproject.toml", "LICENSE", "README.md"))}
    with zipfile.ZipFile(built(project, tmp_path)) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == due
