"""What the tables of libraries say in public: numbers, no finding; and words that occur in the distributions."""

import re

import pytest

from audit.conformance.findings import Finding
from audit.faces.conformance.matrix import load
from wild.conformance import TABLES, answering, command_of, quotations, summary
from wild.environments import CATALOGUE
from wild.findings import DRAFTS, ROOT

HEAD = {"library": "mine", "version": "1.0", "quote": 'README: "one person"', "quotes": {"sum": 'sum(): "is private"'}}
FOUND = [
    Finding("mine", "sum", "NaN", "FAIL C", "certified epsilon >= 7", 2, 0, 1.0, 7.0, left="[nan]", right="[]"),
    Finding("mine", "sum", "missing value", "excluded", 'sum(): "numbers"; certified epsilon >= 7', 2),
    Finding("mine", "count", "ordinary", "PASS", "held", 3, 3, 1.0, None, 1.2, seconds=60.0),
    Finding("mine", "median", "", "not offered", ""),
]
PAGE = ROOT / "docs" / "conformance.md"


def test_a_summary_names_no_finding():
    told = summary([(HEAD, FOUND)])
    assert "| mine 1.0 | 2 | 3 | 7 | 3 |" in told
    assert "1 libraries, 7 pairs in 1 minutes. Cells: 1 FAIL C, 1 PASS, 1 excluded." in told
    assert not [word for word in ("NaN", "nan", "certified", "sum") if word in told]


def test_every_quotation_of_a_table_is_looked_up():
    assert quotations((HEAD, FOUND)) == {"one person", "is private", "numbers"}


def test_tables_are_kept_with_the_drafts_and_libraries_run_in_their_environments():
    assert TABLES.parts[0] == DRAFTS.name
    assert len(answering()) >= 16
    assert "wild.pydp.conformance" in command_of("pydp", [])[-1]
    for library in answering():
        assert len((CATALOGUE / library / "conformance.py").read_text().splitlines()) <= 100


ACCUSED_WRONGLY = {  # what an adapter did itself, and what its library was then accused of
    (
        "*",
        r"np\.(clip|sum|mean|var)\(|(?<![.\w])sum\(|min\(max\(",
    ): "a sum of the adapter's own, which lets NaN through",
    ("opendp", r"T=int\b"): "integers of 32 bits, where the library has those of 64",
    ("pydp", r"\"int\" if"): "integers of 32 bits, where the library has those of 64",
    ("privjail", r"\"range\""): "a range that the adapter declares, where the library clips",
    ("dwork", r"add/remove"): "one record more or less, where the noise of a sum is for one that is replaced",
}


@pytest.mark.parametrize(("library", "pattern"), ACCUSED_WRONGLY)
def test_an_adapter_leaves_to_the_library_what_the_library_is_asked_for(library, pattern):
    for path in sorted(CATALOGUE.glob(f"{library}/conformance.py")):
        assert not re.search(pattern, path.read_text()), (path, ACCUSED_WRONGLY[library, pattern])


@pytest.mark.skipif(not (ROOT / TABLES).is_dir(), reason="the folder of drafts is not in this copy")
def test_the_page_shows_the_numbers_of_the_saved_tables():
    tables = [load(path) for path in sorted((ROOT / TABLES).glob("*.json"))]
    assert summary(tables) in PAGE.read_text()
    for head, found in tables:
        assert head["library"] in answering()
        assert quotations((head, found)), head["library"]
