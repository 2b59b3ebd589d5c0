"""The five pages on papers state each finding in one of four forms, with the paper's sentence and a command."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mechanisms.papers import bassily2018, berrett2019, bousquet2022, chaudhuri2011, zhao2024
from mechanisms.papers.bassily2018 import faults as bassily2018_faults
from mechanisms.papers.berrett2019 import faults as berrett2019_faults
from mechanisms.papers.bousquet2022 import faults as bousquet2022_faults
from mechanisms.papers.chaudhuri2011 import faults as chaudhuri2011_faults
from mechanisms.papers.zhao2024 import faults as zhao2024_faults

DOCS = Path(__file__).parents[2] / "docs"
FALSE, STEP, READING = "The theorem is false", "A step of the proof is false", "Misprint or reading"
FORMS = ("Loose", FALSE, STEP, READING)
LEFT_OUT = "Not covered"
QUOTED = re.compile(r'"[^"]*"')
SOURCE = re.compile(
    r"\b(?:Theorem|Lemma|Corollary|Definition|Example|Remark|Appendix|Equation|Footnote|section)\b|\(\d"
)
COMMAND = re.compile(r"\btables? `|--select '|`[\w ./-]*/[^`]*`", re.IGNORECASE)
FEWEST_WORDS = 3  # of a quotation
PAGES = {
    "consistency": (bousquet2022, bousquet2022_faults),
    "cover-learning": (chaudhuri2011, chaudhuri2011_faults),
    "stability-learning": (bassily2018, bassily2018_faults),
    "label-privacy": (zhao2024, zhao2024_faults),
    "local-classification": (berrett2019, berrett2019_faults),
}


def sections_of(page):
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)$", (DOCS / f"{page}.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def findings_of(text):
    """The rows of tables, but their heads, and the bullets of a section."""
    rows = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    found = [row for table in rows for row in table.splitlines()[2:]]
    return found + re.findall(r"^\* .*(?:\n  .*)*", text, flags=re.MULTILINE)


def with_leads(text):
    """Each finding of a section, and with it the paragraph before its table or list, for what they all share."""
    parts, lead = re.split(r"\n\s*\n", text), ""
    for part in parts:
        found = findings_of(part.strip() + "\n")
        yield from ((finding, lead) for finding in found)
        lead = lead if found else part


def quotations_of(text):
    return [found for found in QUOTED.findall(text) if len(found.split()) >= FEWEST_WORDS]


@pytest.mark.parametrize("page", PAGES)
def test_each_finding_quotes_the_sentence_with_its_place_and_a_command(page):
    sections = sections_of(page)
    for form in FORMS:
        findings = list(with_leads(sections.get(form, "")))
        assert {finding for finding, _ in findings} == set(findings_of(sections.get(form, "")))
        for finding, lead in findings:
            quoting = finding if quotations_of(finding) else lead
            assert quotations_of(quoting), finding
            assert SOURCE.search(quoting), finding
            assert form != "Loose" or COMMAND.search(finding + lead), finding


@pytest.mark.parametrize("page", PAGES)
def test_what_is_said_against_a_paper_quotes_a_whole_sentence(page):
    """Up to its full stop."""
    sections = sections_of(page)
    for form in (FALSE, STEP, READING):
        for finding in findings_of(sections.get(form, "")):
            quoted = quotations_of(finding)
            assert quoted, finding
            assert all(text.endswith('."') for text in quoted), finding


def test_a_finding_without_a_sentence_is_noticed():
    assert quotations_of('| Theorem 2, "for every n" | false |') == ['"for every n"']
    assert quotations_of('| the "gap" of Theorem 2 | false |') == []
    shared = 'Theorem 2 says "for every n" (table `a`).\n\n| n | found |\n| --- | --- |\n| 3 | no |\n\nOther.\n\n* no\n'
    assert list(with_leads(shared)) == [
        ("| 3 | no |", 'Theorem 2 says "for every n" (table `a`).'),
        ("* no", "Other."),
    ]


@pytest.mark.parametrize("page", PAGES)
def test_findings_have_one_of_four_forms_and_pages_say_what_they_leave_out(page):
    sections = sections_of(page)
    refuting = {title for title in sections if re.search("refuted|loose|false|misprint", title, re.IGNORECASE)}
    assert refuting <= set(FORMS)
    assert {"Loose", READING} <= refuting
    assert len(sections[LEFT_OUT].split()) >= 60


@pytest.mark.parametrize("page", PAGES)
def test_what_is_refuted_names_a_check_that_exists_or_a_table(page):
    names = [check.name for module in PAGES[page] for check in module.CHECKS]
    sections, count = sections_of(page), 0
    for form in FORMS[1:]:
        for finding in findings_of(sections.get(form, "")):
            count += 1
            quoted = [
                re.sub(r"--select '(.*)'", r"\1", " ".join(text.split())) for text in re.findall(r"`([^`]+)`", finding)
            ]
            patterns = [text for text in quoted if text in names or ("*" in text and " * " not in text)]
            assert patterns or "table `" in finding or "proof" in finding, finding
            for pattern in patterns:
                assert any(fnmatchcase(name, f"*{pattern}") for name in names), (pattern, finding)
    assert count >= 2
