"""What is not public stays in `drafts/`: its text is nowhere else, until its folder is moved and its status changed."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from audit.certificate.document import load_certificate
from audit.certificate.verify import problems_of
from tests.offenders import for_each
from wild import findings, register
from wild.audited import all_audited, withheld_findings
from wild.findings import DATA, DRAFTS, InvalidFinding, all_findings, read
from wild.letters import letters

ROOT = Path(__file__).resolve().parents[2]
WITHHELD = [finding for finding in all_findings() if not finding.is_public]
LONG_ENOUGH = 40  # characters of a sentence that says something of its own
DATA_OF_A_FINDING = """title = "a leak"
class = "A"
status = "{status}"
releases = ["fake"]
cause = "The code."
"""

needs_drafts = pytest.mark.skipif(not (ROOT / DRAFTS).is_dir(), reason="the folder of drafts is not in this copy")


@cache
def published():
    """Every text file under version control that is not in the folder of drafts, its spaces as one."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for name in names:
        path = ROOT / name
        if path.is_file() and Path(name).parts[0] != DRAFTS.name and path.suffix not in {".png", ".gz"}:
            found[name] = plain(path.read_text(encoding="utf-8", errors="replace"))
    assert len(found) > 500
    return found


def plain(text):
    """A text without what Markdown and JSON escape, its spaces as one."""
    return " ".join(text.replace("\\", "").split())


def sentences(text):
    return [part for part in re.split(r"(?<=[.;])\s", plain(text)) if len(part) >= LONG_ENOUGH]


@needs_drafts
@for_each(WITHHELD)
def test_no_text_of_a_draft_is_outside_its_folder(finding):
    said = sentences(finding.cause)
    said += [check.name for release in finding.releases for check in finding.checks(release)]
    assert said
    for part in said:
        assert not [name for name, text in published().items() if part in text], part


@needs_drafts
@for_each(WITHHELD)
def test_a_letter_and_a_page_are_beside_every_draft(finding):
    letter, page = ((ROOT / finding.folder / name).read_text() for name in ("letter.md", "page.md"))
    for part in sentences(finding.cause):
        assert part in plain(letter)
        assert part in plain(page)


@needs_drafts
def test_letters_and_numbers_are_what_the_command_generates():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        written = letters(all_audited(drafts=True))
        numbers = withheld_findings(all_findings())
    assert not [str(path) for path, text in written.items() if (ROOT / path).read_text() != text]
    assert numbers == json.loads((ROOT / "wild" / "withheld.json").read_text())
    assert numbers["all"] == len(WITHHELD)


def test_site_and_distributions_leave_the_drafts_out():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert DRAFTS.name not in project["sdist"]["only-include"] + project["wheel"]["packages"]
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("conf.py")]
    assert not [path for path in pages if "../drafts" in path.read_text()]


def test_the_weekly_run_publishes_nothing():
    workflow = (ROOT / ".github" / "workflows" / "wild.yml").read_text()
    assert "issues" not in workflow.replace("# ", "")
    assert "github-script" not in workflow
    assert re.findall(r"path: (.*)", workflow) == ["newer.tar.gz.gpg"]
    assert "gpg" in (ROOT / "Makefile").read_text().partition("wild-sealed:")[2].partition("\n\n")[0]


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({'class = "A"': 'class = "Z"'}, "class"),
        ({'status = "draft"': 'status = "secret"'}, "status"),
        ({'status = "draft"': 'status = "public"'}, "address"),
        ({'status = "draft"': 'status = "public"\naddress = "there"'}, "status"),
        ({'status = "draft"': 'status = "draft"\naddress = "there"'}, "address"),
        ({'status = "draft"': 'status = "reported"'}, "reported"),
        ({'releases = ["fake"]': "releases = []"}, "releases"),
        ({'title = "a leak"': 'name = "a leak"'}, "unexpected keyword argument 'name'"),
    ],
)
def test_data_that_break_a_rule_are_refused(tmp_path, monkeypatch, changes, key):
    monkeypatch.setattr(findings, "ROOT", tmp_path)
    text = DATA_OF_A_FINDING.format(status="draft")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    made(tmp_path, text)
    with pytest.raises(InvalidFinding, match=key):
        read(DRAFTS / "fake" / "leak")


def made(root, text):
    folder = root / DRAFTS / "fake" / "leak"
    folder.mkdir(parents=True)
    (folder / DATA).write_text(text)
    return folder


def test_a_draft_is_published_by_a_move_and_a_status_that_fits(tmp_path, monkeypatch):
    for module in (findings, register):
        monkeypatch.setattr(module, "CATALOGUE", tmp_path / "wild")
    monkeypatch.setattr(findings, "ROOT", tmp_path)
    monkeypatch.setattr(register, "WITHHELD", tmp_path / "withheld.json")
    monkeypatch.setattr(register, "all_audited", lambda **_: [])
    monkeypatch.chdir(tmp_path)
    text = DATA_OF_A_FINDING.format(status="draft")
    (made(tmp_path, text) / "letter.md").write_text("Dear maintainers")
    moved = tmp_path / "wild" / "fake" / "findings" / "leak"
    moved.parent.mkdir(parents=True)
    (tmp_path / DRAFTS / "fake" / "leak").rename(moved)
    with pytest.raises(InvalidFinding, match="must be public outside of drafts/"):
        all_findings()
    (moved / DATA).write_text(text.replace('"draft"', '"public"\naddress = "https://example.org/1"'))
    assert [each.folder for each in all_findings()] == [Path("wild/fake/findings/leak")]
    register.write_pages()
    assert not (moved / "letter.md").exists()


@for_each(sorted(ROOT.glob("wild/*/findings/*/*/**/certificate.json")))
def test_certificates_of_public_findings_are_whole(path):
    assert not problems_of(load_certificate(path))
