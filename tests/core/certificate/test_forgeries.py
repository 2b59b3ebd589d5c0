"""What a forger changes is refused, or the page on threats says that it cannot be, and how it looks to a reader."""

import copy
import json
from pathlib import Path

import pytest

import audit
from audit import Verdict
from audit.certificate.document import digest
from audit.certificate.verify import notes_on, problems_of, require_form
from audit.checks.privacy_record import ways_of
from audit.errors import InvalidCertificate
from tests.core.certificate import (
    forged_evidence,  # noqa: F401 - registers its forgeries
    forged_settings,  # noqa: F401 - as above
)
from tests.core.certificate.forged_documents import MALFORMED
from tests.core.certificate.forging import CHECKS, LEFT_ALONE, REFUSED, Forged, assert_refused, forged, reread

PAGE = (Path(__file__).parents[3] / "docs" / "threat-model.md").read_text()


@pytest.fixture(scope="module")
def written():
    return json.loads(json.dumps(audit.run(CHECKS, budget=20_000, workers=0).certificate))


def test_the_certificate_that_is_forged_is_whole(written, tmp_path):
    assert problems_of(reread(tmp_path, forged(written, lambda c: None))) == []
    assert [check["verdict"] for check in written["checks"]].count("FAIL") >= 3


@pytest.mark.parametrize("name", REFUSED)
def test_refused(written, tmp_path, name):
    assert_refused(written, tmp_path, *REFUSED[name])


@pytest.mark.parametrize("part", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_record_is_refused_by_its_form(written, part):
    certificate = Forged(copy.deepcopy(written))
    check = certificate["checks"][0]
    if isinstance(part, tuple):
        ways_of(check["evidence"])[part[0]].update(part[1])
    certificate["checks"][0] = (
        {**check, **part} if isinstance(part, dict) else check if isinstance(part, tuple) else part
    )
    assert problems_of(certificate)[0].startswith("schema: ")
    with pytest.raises(InvalidCertificate, match="does not have its form"):
        require_form(certificate)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_left_alone_but_for_what_is_kept_elsewhere(written, tmp_path, name):
    """Whole, under another seal; a plan that was changed has another digest as well, which is known before a run."""
    found = reread(tmp_path, forged(written, LEFT_ALONE[name]))
    assert problems_of(found) == []
    assert found["seal"] != written["seal"]
    plans = [digest(each["settings"], each["plan"]) for each in (found, written)]
    assert [each["chain"]["start"] for each in (found, written)] == plans
    assert (plans[0] != plans[1]) == (found["plan"] != written["plan"])


@pytest.mark.parametrize("version", ["1.0", "2.0", "3.1"])
def test_another_version_is_not_read(written, tmp_path, version):
    with pytest.raises(InvalidCertificate, match="not a certificate of schema version 3"):
        reread(tmp_path, json.dumps({**written, "schema_version": version}))


def test_notes_name_what_a_verdict_hides(written):
    certificate = Forged(copy.deepcopy(written))
    assert list(notes_on(certificate)) == []
    certificate.check("leak")["expected"] = Verdict.FAIL.value
    certificate["plan"]["unspent"] = 0.01
    first, second = notes_on(certificate)
    assert "leak" in first
    assert "0.01" in second


def test_the_page_lists_every_forgery():
    assert len(REFUSED) + len(MALFORMED) >= 40
    refused_rows, alone_rows = PAGE.partition("### What cannot be refused")[::2]
    assert [name for name in REFUSED if name not in refused_rows] == []
    assert [name for name in LEFT_ALONE if name not in alone_rows] == []
