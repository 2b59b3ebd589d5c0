"""What is not public stays in `drafts/`: its text is nowhere else, and a command moves a finding once it is public."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from audit.report.certificate import load_certificate
from audit.report.verify import problems_of
from tests.offenders import for_each
from wild import disclosure, findings
from wild.audited import all_audited, withheld_findings
from wild.excerpt import excerpt
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


@pytest.fixture
def one_draft(tmp_path, monkeypatch):
    """A repository with one draft, and no page to write."""
    monkeypatch.chdir(tmp_path)
    for module in (findings, disclosure):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "CATALOGUE", tmp_path / "wild")
    monkeypatch.setattr(disclosure, "write_pages", list)
    folder = made(tmp_path, DATA_OF_A_FINDING.format(status="draft"))
    (folder / "letter.md").write_text("Dear maintainers")
    (folder / "fake").mkdir()
    (folder / "fake" / "certificate.json").write_text("{}")
    return tmp_path


def asked(*arguments):
    return CliRunner().invoke(disclosure.main, arguments)


def test_a_draft_is_listed_reported_and_published(one_draft):
    assert asked().output == "A  fake/leak  a leak  (draft)\n"
    assert asked("reported", "fake/leak", "2026-12-01").exit_code == 0
    assert asked().output == "A  fake/leak  a leak  (reported 2026-12-01)\n"
    assert asked("public", "fake/leak", "https://example.org/1").exit_code == 0
    assert asked().output == ""
    (finding,) = all_findings()
    assert (finding.folder, finding.address) == (Path("wild/fake/findings/leak"), "https://example.org/1")
    assert finding.reported.isoformat() == "2026-12-01"
    assert (one_draft / finding.folder / "fake" / "certificate.json").is_file()
    assert not (one_draft / finding.folder / "letter.md").exists()


def test_what_is_not_there_is_refused(one_draft):
    assert asked("public", "fake/other", "there").exit_code == 64
    assert asked("reported", "fake/leak", "soon").exit_code == 64
    shutil.copytree(one_draft / "drafts" / "fake" / "leak", one_draft / "wild" / "fake" / "findings" / "leak")
    (one_draft / "wild" / "fake" / "findings" / "leak" / DATA).unlink()
    refused = asked("public", "fake/leak", "there")
    assert refused.exit_code == 64
    assert "is there already" in refused.output


@for_each(sorted(ROOT.glob("wild/*/findings/*/*/**/certificate.json")))
def test_certificates_of_public_findings_are_whole(path):
    assert not problems_of(load_certificate(path))


def test_an_excerpt_is_a_whole_certificate_of_fewer_checks():
    certificate = load_certificate(ROOT / "reports" / "wild" / "pydp")
    names = [check["name"] for check in certificate["checks"]][1:4]
    part = excerpt(certificate, names)
    assert [check["name"] for check in part["checks"]] == names
    assert not problems_of(part)
    assert problems_of({**part, "checks": certificate["checks"]})
