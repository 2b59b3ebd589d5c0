"""Quotations and caveats: what the texts of a distribution hold, what was recorded of them, and what notes may say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.offenders import for_each
from wild.audited import jobs_of
from wild.environments import CATALOGUE, HOME, Pin, libraries, pin_of
from wild.findings import DOCUMENTED, all_findings
from wild.texts import QUOTATIONS, caveats, place_of, quotations, recorded, site_of, texts_of

ROOT = Path(__file__).resolve().parents[2]
README = """Metadata-Version: 2.1
Name: fakelib
Version: 1.0

# fakelib

Simple means. This release is intended for *research*
and [education](https://example.org/production) only. Fast.
"""
CODE = '''"""Means."""


def mean(values):
    r"""Return the mean; experimental.

    Epsilon is :math:`\\epsilon`, used
    once.
    """
'''


@pytest.fixture
def site(tmp_path):
    """A folder of packages that holds one distribution."""
    info = tmp_path / "fakelib-1.0.dist-info"
    info.mkdir()
    (tmp_path / "fakelib.py").write_text(CODE)
    (info / "METADATA").write_text(README)
    (info / "RECORD").write_text("fakelib.py,,\nfakelib-1.0.dist-info/METADATA,,\n")
    return tmp_path


def test_caveats_are_found_in_readme_and_docstrings(site):
    found = caveats(texts_of(Pin("fakelib", "1.0"), site))
    assert [(each["place"], each["word"]) for each in found] == [
        ("METADATA", "intended"),
        ("fakelib.py", "experimental"),
    ]
    assert "intended for *research* and" in found[0]["quote"]


def test_a_quotation_has_a_place_whatever_its_markup(site):
    texts = texts_of(Pin("fakelib", "1.0"), site)
    assert place_of("intended for research and education only", texts) == "METADATA"
    assert place_of("Epsilon is ε, used once", texts) == "fakelib.py"
    assert place_of("for production", texts) is None


@for_each(libraries())
def test_every_quotation_of_a_claim_was_found_in_the_audited_release(library):
    """`python -m wild.texts` looks again; where the library is installed, the places are looked up here too."""
    record = recorded(library)
    assert record["release"] == str(pin_of(library))
    places = dict(record["quotations"])
    for job in jobs_of(library):
        file = ROOT / job.finding.folder / QUOTATIONS if job.finding else None
        places |= json.loads(file.read_text())["quotations"] if file is not None and file.is_file() else {}
        for quotation in quotations(job.checks):
            assert places.get(quotation), quotation
    if (HOME / library / "installed.txt").is_file():  # an environment that was made in this working folder
        texts = texts_of(pin_of(library), site_of(library))
        assert not [quotation for quotation in places if place_of(quotation, texts) is None]


@for_each(all_findings())
def test_nobody_says_that_there_is_no_caveat(finding):
    """The caveats are quoted on the page of the release; a sentence that denies them would have to be looked up."""
    assert not re.search(r"\bno (such )?caveats?\b|without (a )?caveats?", finding.cause)


def test_no_note_says_that_there_is_no_caveat():
    for path in CATALOGUE.glob("*/*.py"):
        assert "no caveat" not in path.read_text(), path


@for_each([finding for finding in all_findings() if finding.letter != DOCUMENTED])
def test_upstream_was_searched_for_every_finding(finding):
    assert finding.searches
    for search in finding.searches:
        assert search.where
        assert search.query
        assert 0 <= len(search.relevant) <= search.hits
        assert all(address.startswith("https://") for address in search.relevant)
