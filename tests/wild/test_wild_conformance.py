"""What the tables of libraries say in public: numbers, no finding; and words that occur in the distributions."""

import json
import re

import pytest

from audit.conformance.cases import CASES
from audit.conformance.findings import Finding
from audit.conformance.queries import QUERIES
from wild.conformance import PUBLIC, TABLES, answering, causes, command_of, quotations, tables
from wild.environments import CATALOGUE
from wild.findings import DRAFTS, ROOT
from wild.matrix import CauseMissing, page, public_data, totals

HEAD = {
    "library": "mine",
    "version": "1.0",
    "relation": "add/remove",
    "quote": 'README: "one person"',
    "quotes": {"sum": 'sum(): "is private"'},
}
FOUND = [
    Finding("mine", "sum", "NaN", "FAIL C", "certified epsilon >= 7", 2, 0, 1.0, 7.0, left="[nan]", right="[]"),
    Finding("mine", "sum", "infinity", "screened", "not refuted", 2),
    Finding("mine", "sum", "missing value", "excluded", 'sum(): "numbers"; certified epsilon >= 7', 2),
    Finding("mine", "count", "ordinary", "PASS", "held", 3, 3, 1.0, None, 1.2, seconds=60.0),
    Finding("mine", "median", "", "not offered", ""),
]
DRAFT = {"name": "somewhere", "libraries": ["mine"], "queries": ["sum"], "cases": ["N*"]}


def test_what_is_published_hides_what_is_not_public():
    """A cell that fails without a public thread looks like one that was looked at briefly, in all but the totals."""
    data = public_data([(HEAD, FOUND)], [DRAFT])
    (library,) = data["libraries"]
    assert library["queries"] == {
        "sum": {"open": ["NaN", "infinity"], "excluded": ["missing value"]},
        "count": {"PASS": ["ordinary"], "resolved": 1},
    }
    assert (data["pairs"], data["resolved"], data["drafts"]) == (9, 3, {"cells": 1, "causes": 1})
    told = page(data, ["sum", "count", "median"], 41)
    assert "| sum | 2 open, 1 excluded |\n| count | 1 PASS (1) |\n| median | – |" in told
    assert "1 FAIL C, 1 PASS, 1 screened, 1 excluded" in totals(data)
    assert not [word for word in ("certified", "somewhere", "7.0", "[nan]") if word in told + str(data)]


def test_what_is_public_is_shown_with_its_address():
    data = public_data([(HEAD, FOUND)], [{**DRAFT, "address": "https://example.org/1"}])
    assert data["libraries"][0]["queries"]["sum"]["FAIL C"] == ["NaN"]
    assert data["drafts"] == {"cells": 0, "causes": 0}
    assert "| sum | NaN | FAIL C | 1 | 7 | <https://example.org/1> |" in page(data, ["sum"], 41)


def test_a_failing_cell_needs_a_cause_before_anything_is_published():
    for cause in ({"libraries": ["other"]}, {"queries": ["count"]}, {"cases": ["bounds *"]}):
        with pytest.raises(CauseMissing, match="mine, sum, NaN fails"):
            public_data([(HEAD, FOUND)], [{**DRAFT, **cause}])


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


def test_the_published_tables_name_no_draft_and_make_a_page():
    data = json.loads((ROOT / PUBLIC).read_text())
    assert {each["library"] for each in data["libraries"]} <= set(answering())
    assert sum(len(each["refuted"]) for each in data["libraries"]) + data["drafts"]["cells"] == sum(
        count for status, count in data["counts"].items() if status.startswith("FAIL")
    )
    assert totals(data) in page(data, list(QUERIES), len(CASES))


@pytest.mark.skipif(not (ROOT / TABLES).is_dir(), reason="the folder of drafts is not in this copy")
def test_what_is_published_is_that_of_the_saved_tables():
    assert public_data(tables(), causes()) == json.loads((ROOT / PUBLIC).read_text())
    for head, found in tables():
        assert head["library"] in answering()
        assert quotations((head, found)), head["library"]
    for cause in causes():
        assert cause["read"]
        assert "finding" not in cause or (ROOT / DRAFTS / cause["finding"]).is_dir(), cause
