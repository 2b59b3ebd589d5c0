"""The five pages on papers state each finding in one of three forms, with a command, and say what they leave out."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from mechanisms import consistency, cover, labels, local, stability
from mechanisms.faults import cover as cover_faults
from mechanisms.faults import local as local_faults
from mechanisms.faults import stability as stability_faults

DOCS = Path(__file__).parents[2] / "docs"
FORMS = ("Loose", "Refuted as printed", "Refuted for the printed algorithm, setting or reconstruction")
LEFT_OUT = "What is not covered"
PAGES = {
    "consistency": (consistency,),
    "cover-learning": (cover, cover_faults),
    "stability-learning": (stability, stability_faults),
    "label-privacy": (labels,),
    "local-classification": (local, local_faults),
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


@pytest.mark.parametrize("page", PAGES)
def test_findings_have_one_of_three_forms_and_pages_say_what_they_leave_out(page):
    sections = sections_of(page)
    refuting = {title for title in sections if re.search("refuted|loose", title, re.IGNORECASE)}
    assert refuting <= set(FORMS)
    assert {"Loose", FORMS[2]} <= refuting
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
