"""The register: what stands in docs/ is what the command generates from the certificates; nothing is run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wild import register
from wild.audited import Audited, Run, all_audited, withheld_findings
from wild.badge import GRAY, GREEN, RED, color, wording
from wild.environments import Pin
from wild.finding_page import needed, severity, whole_pair
from wild.findings import all_findings
from wild.ledger import distinct
from wild.markdown import anchor, escaped, fenced, table
from wild.register import ABSENT, Unexplained, history, pages, write_pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def audited():
    """Every release with a certificate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return all_audited()


@pytest.fixture(scope="module")
def generated(audited):
    return pages(audited, withheld_findings(all_findings())["all"])


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


def test_links_of_the_findings_lead_to_headings(audited, generated):
    links = re.findall(r"\]\((register/\w+\.md)#([^)]+)\)", generated[Path("docs/found.md")])
    assert len(links) == len(distinct(audited)) >= 5
    for page, target in links:
        headings = re.findall(r"^### (.*)$", generated[Path("docs") / page], re.MULTILINE)
        assert target in {anchor(re.sub(r"\\(.)", r"\1", heading)) for heading in headings}


def test_every_page_says_what_is_missing(audited):
    for each in audited:
        assert each.about.not_audited, each.library


def test_a_cause_counts_once_however_many_functions_and_releases_have_it(audited):
    refuted = sum(len(run.refuted) for each in audited for run in each.findings)
    names = [finding.name for finding in distinct(audited)]
    assert len(names) == len(set(names)) < refuted
    assert "dpmm/missing_value" not in names  # documented behavior does not count


def test_a_claim_is_followed_over_releases(audited):
    one = next(each for each in audited if each.library == "pure_ldp_1_1")
    (run,) = one.runs
    other = replace(one, pin=Pin(one.pin.package, "9.9"), runs=(replace(run, again=None),))
    name = run.refuted[0]["name"].partition("/")[2]
    told = dict(history([one, other], one)[name])
    assert told == {one.pin.version: "refuted", "9.9": "not refuted (FAIL)"}


def test_a_refuted_claim_without_a_finding_is_on_no_page(audited):
    one = next(each for each in audited if each.library == "pure_ldp_1_1")
    unexplained = replace(one, runs=tuple(replace(run, finding=None) for run in one.runs))
    with pytest.raises(Unexplained, match=r"no finding is about pure-ldp 1\.1/SUE"):
        pages([unexplained])


@pytest.mark.parametrize(
    ("letter", "verdicts", "hidden", "expected"),
    [
        ("A", ["FAIL", "PASS"], 0, RED),
        ("B", ["FAIL", "PASS"], 3, RED),
        ("C", ["FAIL", "PASS"], 0, GRAY),
        ("E", ["FAIL", "PASS"], 0, GRAY),
        ("", ["PASS", "PASS"], 0, GREEN),
        ("", ["PASS", "INCONCLUSIVE"], 0, GRAY),
        ("", ["PASS", "PASS"], 1, GRAY),
        ("", [], 1, GRAY),
    ],
)
def test_a_badge_is_red_for_severe_classes_and_green_only_where_all_passed(letter, verdicts, hidden, expected):
    findings = [each for each in all_findings() if each.letter == letter]
    records = [{"name": str(place), "verdict": verdict} for place, verdict in enumerate(verdicts)]
    run = Run(Path(), {"checks": records}, {"checks": records}, findings[0] if findings else None)
    each = Audited("lib", Pin("lib", "1"), (run,), withheld=hidden)
    assert color(each) == expected
    assert f"{verdicts.count('PASS')} of {len(verdicts)} passed" in wording(each)


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
    game = {"way": "guess game", "counts": dict(zip(sides, counts, strict=True))}
    check = {"kind": "privacy", "evidence": {"ways": [game]}, "epsilon_lower_bound": 2.0, "claim": {"epsilon": 1.0}}
    assert words in severity(check)


def test_access_has_defaults():
    finding = next(each for each in all_findings() if each.name == "opendp/two_lengths")
    assert needed(finding, {"kind": "privacy"}) == "one report; its length is enough"
    assert "all its bits" in needed(replace(finding, access=""), {"kind": "precision"})
    assert "one released result" in needed(replace(finding, access=""), {"kind": "privacy"})


def test_pairs_are_printed_whole():
    """A certificate cuts long datasets short; the finding's own check has them."""
    finding = next(each for each in all_findings() if each.name == "opendp/two_lengths")
    record = {"name": finding.own_checks[0].name, "witness": {"pair": 0, "left": "[0, 0, ...]", "right": "[0, 0, ...]"}}
    assert whole_pair(finding, record) == ["[0] * 7 + [1]", "[0] * 15 + [1]"]


def test_no_page_cuts_a_pair_short(generated):
    for path, text in generated.items():
        assert not re.search(r"^(left|right) = .*\.\.\.", text, re.MULTILINE), path


def test_markdown_of_foreign_text():
    assert escaped("a\n`b`_*<i>") == r"a \`b\`\_\*\<i\>"
    assert fenced("x = '```'").startswith("````python\n")
    assert table(["a"], [[1]]) == "| a |\n| --- |\n| 1 |\n"


def test_a_page_without_a_certificate_is_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(register, "WITHHELD", tmp_path / "withheld.json")
    stale = Path("docs/register/gone.md")
    stale.parent.mkdir(parents=True)
    stale.write_text("# gone\n")
    write_pages()
    assert not stale.exists()
    assert (stale.parent / "index.md").exists()
