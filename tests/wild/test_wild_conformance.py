"""What the tables of libraries say in public: numbers, no finding; and words that occur in the distributions.

A letter is beside each cause that is a draft; what is public has its releases, and a record of a common format.
"""

import json
import re
from datetime import date

import jsonschema
import pytest

from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.findings import Finding
from audit.extensions.conformance.queries import QUERIES
from tests.wild.test_wild_disclosure import plain, published
from wild import osv
from wild.causes import TABLES, CauseMissing, accused, causes, letter, letters, tables
from wild.conformance import PUBLIC, answering, command_of, quotations
from wild.environments import CATALOGUE, HOME, environment_of
from wild.findings import DRAFTS, ROOT
from wild.matrix import page, public_data, totals
from wild.releases import failing_cells, older_releases, over_releases, since, until
from wild.scripts import LONGEST, lines_of

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


def test_releases_are_shown_of_what_is_public_alone():
    told = {("mine", "somewhere"): {"0.9": "PASS", "1.0": "FAIL C"}}
    hidden = public_data([(HEAD, FOUND)], [DRAFT], told)
    assert hidden["releases"] == []
    public = public_data([(HEAD, FOUND)], [{**DRAFT, "address": "https://example.org/1"}], told)
    shown = "| mine | <https://example.org/1> | 1.0 | 0.9 PASS, 1.0 FAIL C |"
    assert shown in page(public, ["sum"], 41)
    assert "0.9" not in page(hidden, ["sum"], 41)


def test_since_is_the_first_release_of_those_that_fail_up_to_the_newest():
    told = {"0.7": "FAIL D", "0.8": "PASS", "0.9": "FAIL D", "1.0": "FAIL C"}
    assert since(told) == "0.9"
    assert since({**told, "0.8": "FAIL D"}) == "0.7 or before"
    assert since({**told, "0.8": "raises on both"}) == "0.9 or before"  # which is no answer
    assert older_releases("opendp")[-1] == "0.15.1"
    assert (until(told), until({**told, "1.0": "does not show"}), until({"1.0": "PASS"})) == ("", "0.9", "")
    assert since({"0.9": "shows", "1.0": "PASS"}) == "0.9 or before"
    assert since({"1.0": "PASS"}) == ""


def test_another_release_has_an_environment_of_its_own(tmp_path, monkeypatch):
    """A release that a folder of the catalogue pins is found there; any other is installed with the same packages."""
    prepared = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("wild.environments.prepare", lambda *asked: prepared.append(asked))
    assert environment_of("opendp", "0.15.1") == "opendp_0_15"
    assert environment_of("opendp", "0.15.0") == "opendp==0.15.0"
    assert prepared == [("opendp_0_15",), ("opendp==0.15.0", HOME / "releases")]
    lines = (HOME / "releases" / "opendp==0.15.0" / "requirements.txt").read_text().splitlines()
    assert lines[0] == "opendp==0.15.0"
    assert {"numpy", "scikit-learn"} <= set(lines[1:])


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
    releases = over_releases(accused(tables(), causes()))
    assert public_data(tables(), causes(), releases) == json.loads((ROOT / PUBLIC).read_text())
    for head, found in tables():
        assert head["library"] in answering()
        assert quotations((head, found)), head["library"]
    for cause in causes():
        assert cause["read"]
        assert "finding" not in cause or (ROOT / DRAFTS / cause["finding"]).is_dir(), cause


@pytest.mark.skipif(not (ROOT / TABLES).is_dir(), reason="the folder of drafts is not in this copy")
def test_a_letter_with_a_short_script_is_beside_each_cause_that_is_not_public():
    everybody = accused(tables(), causes())
    written = letters(everybody)
    for each in everybody:
        if "finding" in each.cause:
            folder = ROOT / DRAFTS / each.cause["finding"]
            script, text = next(folder.glob("script.*")), (folder / "letter.md").read_text()
        elif "address" not in each.cause:
            script = ROOT / each.script
            text = (ROOT / each.script.with_suffix(".md")).read_text()
            assert text == written[each.script.with_suffix(".md")]
            assert not [name for name, said in published().items() if plain(each.cause["read"]) in said]
        else:
            continue
        assert 3 <= len(lines_of(script)) <= LONGEST
        assert script.read_text().rstrip() in text
        assert not re.search(r"^(from|import) (audit|wild)\b", script.read_text(), re.MULTILINE)
        assert re.search(r"^\s*(assert|raise) ", script.read_text(), re.MULTILINE)  # where nothing shows


def test_a_letter_says_what_where_and_how_much():
    cause = {**DRAFT, "read": "it is added as it is", "where": {"pydp": "pydp/sums.py:7: total = sum(x)"}}
    cell = FOUND[0]._replace(library="pydp", reason="certified epsilon >= 7, claimed 1")
    (each,) = accused(
        [({**HEAD, "library": "pydp"}, [cell])], [{**cause, "libraries": ["pydp"], "name": "rounded sums"}]
    )
    assert each.script == TABLES / "pydp" / "rounded_sums.py"
    told = letter(each._replace(cause={**each.cause, "name": "noise that vanishes"}))
    said = (
        "python-dp 1.0",
        "`pydp/sums.py`, line 7: `total = sum(x)`",
        "added as it is",
        "e^1",
        "epsilon >= 7",
        "[nan]",
    )
    assert not [part for part in said if part not in told]


RECORD = {  # of the Open Source Vulnerability format what records here use; https://ossf.github.io/osv-schema
    "type": "object",
    "required": ["schema_version", "id", "modified", "summary", "details", "affected", "references"],
    "additionalProperties": False,
    "properties": {
        "schema_version": {"const": "1.6.0"},
        "id": {"type": "string", "pattern": "^DPAUDIT-[a-z0-9-]+$"},
        "modified": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "summary": {"type": "string", "maxLength": 120},
        "details": {"type": "string", "minLength": 40},
        "affected": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["package", "versions"],
                "additionalProperties": False,
                "properties": {
                    "package": {
                        "type": "object",
                        "required": ["ecosystem", "name"],
                        "properties": {"ecosystem": {"enum": ["PyPI", "npm"]}, "name": {"type": "string"}},
                    },
                    "versions": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}},
                },
            },
        },
        "references": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "url"],
                "properties": {
                    "type": {"enum": ["ADVISORY", "ARTICLE", "REPORT", "FIX", "PACKAGE", "EVIDENCE", "WEB"]},
                    "url": {"type": "string", "pattern": "^https://"},
                },
            },
        },
        "database_specific": {"type": "object"},
    },
}


def test_every_record_is_valid_and_of_something_public():
    found = [json.loads(path.read_text()) for path in sorted((ROOT / osv.FOLDER).glob("*.json"))]
    assert len(found) >= 10
    for record in found:
        jsonschema.validate(record, RECORD)
        assert set(record["database_specific"]["classes"]) <= set("ABCD")
        date.fromisoformat(record["modified"][:10])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**found[0], "affected": []}, RECORD)


@pytest.mark.skipif(not (ROOT / TABLES).is_dir(), reason="the folder of drafts is not in this copy")
def test_older_releases_are_asked_for_a_cell_of_each_cause(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert ["--query", "variance", "--case", "offset column"] in failing_cells("opendp")
    worst = [each.worst for each in accused(tables(), causes()) if each.library == "diffprivlib"]
    asked = failing_cells("diffprivlib")
    assert sorted(options[1] for options in asked) == sorted({cell.query for cell in worst})
    assert sum(options.count("--case") for options in asked) == len(worst)


@pytest.mark.skipif(not (ROOT / TABLES).is_dir(), reason="the folder of drafts is not in this copy")
def test_records_are_what_the_command_writes(monkeypatch):
    monkeypatch.chdir(ROOT)
    written = {path.stem: json.loads(path.read_text()) for path in (ROOT / osv.FOLDER).glob("*.json")}
    assert osv.records() == written
