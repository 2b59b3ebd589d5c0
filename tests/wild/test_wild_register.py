"""The register: what stands in docs/ is what the command generates from the certificates; nothing is run."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wild.about import About
from wild.absent import ABSENT
from wild.audited import all_audited
from wild.environments import Pin
from wild.markdown import anchor, escaped, fenced, table
from wild.register import history, pages, severity, write_pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def audited():
    """Every release with a certificate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return all_audited()


@pytest.fixture(scope="module")
def generated(audited):
    return pages(audited)


def test_the_pages_are_what_the_command_generates(generated):
    """`python -m wild.register` writes them anew."""
    written = {path.relative_to(ROOT) for path in (ROOT / "docs" / "register").glob("*")}
    assert written | {Path("docs/found.md")} == set(generated)
    assert not [str(path) for path, text in generated.items() if (ROOT / path).read_text() != text]


def test_every_release_has_a_page_in_the_toctree_and_a_badge(audited, generated):
    index = generated[Path("docs/register/index.md")]
    toctree = index.partition("{toctree}")[2].split()
    for each in audited:
        assert each.library in toctree
        assert ElementTree.fromstring(generated[Path(f"docs/register/{each.library}.svg")]) is not None
    assert "register/index" in (ROOT / "docs" / "index.md").read_text()
    assert all(escaped(name) in index for name in ABSENT)


def test_links_of_the_findings_lead_to_headings(generated):
    links = re.findall(r"\]\((register/\w+\.md)#([^)]+)\)", generated[Path("docs/found.md")])
    assert len(links) >= 50
    for page, target in links:
        headings = re.findall(r"^### (.*)$", generated[Path("docs") / page], re.MULTILINE)
        assert target in {anchor(re.sub(r"\\(.)", r"\1", heading)) for heading in headings}


def test_every_finding_is_explained_and_every_page_says_what_is_missing(audited):
    for each in audited:
        assert {check["name"] for check in each.refuted} <= set(each.notes), each.library
        assert each.about.not_audited, each.library


def test_patterns_about_checks_match_checks(audited):
    for each in audited:
        names = [check["name"] for check in each.checks]
        for pattern in (*each.about.upstream, *each.about.access):
            assert fnmatch.filter(names, pattern), f"{each.library}: {pattern}"


def test_a_claim_is_followed_over_releases(audited):
    one = next(each for each in audited if each.library == "pure_ldp")
    other = replace(one, pin=Pin(one.pin.package, "9.9"), again=None)
    name = one.refuted[0]["name"].partition("/")[2]
    told = dict(history([one, other], one)[name])
    assert told == {one.pin.version: "refuted", "9.9": "not refuted (FAIL)"}


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((50, 0, 0, 0, 50, 0), "nothing is hidden"),
        ((10, 0, 40, 0, 0, 50), "10 % of the outputs tell"),
        ((500, 1, 0, 0, 499, 0), "1 errors in 1,000"),
        ((30, 10, 10, 10, 30, 10), "a factor of 7.39 and more, where the claim allows 2.72"),
    ],
)
def test_severity_is_read_off_the_counts(counts, words):
    sides = [f"{side}_{guess}" for side in ("left", "right") for guess in ("plus", "minus", "abstain")]
    game = {"counts": dict(zip(sides, counts, strict=True))}
    check = {"kind": "privacy", "evidence": {"game": game}, "epsilon_lower_bound": 2.0, "claim": {"epsilon": 1.0}}
    assert words in severity(check)


def test_what_is_not_stated_has_defaults():
    about = About(upstream={"*one": "known"}, access={"*two": "bits"})
    assert about.known("lib/one") == "known"
    assert "not reported" in about.known("lib/two")
    assert about.needed("lib/two", "privacy") == "bits"
    assert "all its bits" in about.needed("lib/one", "precision")


def test_markdown_of_foreign_text():
    assert escaped("a\n`b`_*<i>") == r"a \`b\`\_\*\<i\>"
    assert fenced("x = '```'").startswith("````python\n")
    assert table(["a"], [[1]]) == "| a |\n| --- |\n| 1 |\n"


def test_a_page_without_a_certificate_is_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stale = Path("docs/register/gone.md")
    stale.parent.mkdir(parents=True)
    stale.write_text("# gone\n")
    write_pages()
    assert not stale.exists()
    assert (stale.parent / "index.md").exists()
