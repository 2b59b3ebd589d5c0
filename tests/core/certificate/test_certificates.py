"""Certificates: valid by their schema, the same for the same seed, replayed from evidence alone, up to their limits."""

import copy
import json
import math
import subprocess
import sys

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict
from audit.certificate.document import list_versions, load_certificate
from audit.certificate.render import escape_markdown, markdown_of
from audit.errors import InvalidCertificate, MissingCertificate
from audit.validate import Limits
from tests.core.mechanisms import PAIR, laplace


def missing(data, size, rng):
    return None


def broken(data, size, rng):
    raise ValueError("<script>alert(1)</script> | _x_")


CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5, source="by hand"), pairs=[PAIR], tolerance=3),
    PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.5, 1e-3), pairs=[PAIR], expected=Verdict.FAIL),
    PrivacyCheck(name="none", mechanism=missing, claim=PrivacyClaim(1.0), pairs=[PAIR]),
    PrivacyCheck(name="<img src=x onerror=alert(1)>", mechanism=broken, claim=PrivacyClaim(1.0), pairs=[PAIR]),
]


@pytest.fixture(scope="module")
def report():
    return audit.run(CHECKS, budget=8_000, workers=0)


@pytest.fixture
def certificate(report):
    return copy.deepcopy(report.certificate)


def test_verdicts_and_significance(report, certificate):
    assert [r.verdict.value for r in report.results] == ["PASS", "FAIL", "INCONCLUSIVE", "INCONCLUSIVE"]
    assert certificate["counts"] == {"PASS": 1, "FAIL": 1, "INCONCLUSIVE": 2}
    assert certificate["as_expected"] == 2
    assert certificate["verdict"] == "INCONCLUSIVE" == report.verdict.value
    spent = certificate["significance_spent"]
    assert sum(entry["allotted"] for entry in spent) <= certificate["settings"]["significance"] * (1 + 1e-9)
    assert [entry["tests"] for entry in spent] == [["guess game"], ["guess game"], [], []]


def test_replay_imports_and_runs_nothing_of_the_certificate(report, tmp_path):
    report.save(tmp_path)
    code = f"""
import sys
from audit.certificate.document import load_certificate
from audit.certificate.render import RENDERERS
from audit.certificate.verify import replay
before = set(sys.modules)
replay(load_certificate({str(tmp_path)!r}))
new = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(sorted(new & {{"test_certificates", "tests", "mechanisms"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", '{"a": NaN}', '{"a": 1e999}', 100_000 * "[", "[]", "{}", '{"schema_version": "1.0", "checks": []}'),
        *('{"a": 1, "a": 2}', "9" * 10_001, "\udcff"),
    ],
    ids=range(11),
)
def test_what_is_no_certificate_is_refused(tmp_path, content):
    (tmp_path / "certificate.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidCertificate):
        load_certificate(tmp_path)
    with pytest.raises(MissingCertificate):
        load_certificate(tmp_path / "nowhere")


def test_markdown_escapes_what_it_shows(certificate):
    text = markdown_of(certificate)
    assert "<img" not in text.replace("\\<img", "")
    assert "<script" not in text.replace("\\<script", "")
    assert escape_markdown("a|b\n*c*") == "a\\|b \\*c\\*"
    rows = [line for line in text.splitlines() if line.startswith(("| PASS", "| FAIL", "| INCONCLUSIVE"))]
    assert [row.split(" |")[0] for row in rows] == [*2 * ["| INCONCLUSIVE"], "| FAIL, expected", "| PASS"]


def test_the_same_seed_gives_the_same_certificate(report):
    again = audit.run(CHECKS, budget=8_000, workers=2).certificate
    elsewhere = {"timing": 0, "isolation": 0, "printed": 0, "provenance": 0, "seal": 0}
    assert json.dumps({**again, **elsewhere}) == json.dumps({**report.certificate, **elsewhere})
    assert again["chain"] == report.certificate["chain"]


def test_versions_of_libraries_are_recorded():
    found = list_versions()
    assert (found["dp-audit"], found["numpy"]) == (audit.__version__, np.__version__)


@pytest.mark.parametrize(
    ("limits", "admitted", "refused"),
    [
        (Limits(least=0), 0, -1),
        (Limits(most=2), 2, 3),
        (Limits(above=0), 0.1, 0),
        (Limits(below=1), 0.9, 1),
        (Limits(shortest=1), "a", ""),
        (Limits(longest=2), (1, 2), (1, 2, 3)),
        (Limits(pattern="[0-9]+"), "12", "12\n"),
        (Limits(), math.nan, None),
        (Limits(least=0), math.inf, math.nan),
    ],
)
def test_limits_hold_at_their_ends(limits, admitted, refused):
    assert limits.admits(admitted)
    assert refused is None or not limits.admits(refused)
