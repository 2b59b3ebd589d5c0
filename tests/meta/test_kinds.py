"""No place forgets a registered kind of check, and a new kind needs its file, its registration and the schema only."""

import copy
import json
from dataclasses import dataclass
from typing import ClassVar

import jsonschema
import pytest

import audit
from audit import Verdict
from audit.base.errors import InvalidCertificate
from audit.checks.base import Evidence, Judgment
from audit.checks.stated import StatedCheck
from audit.faces.pytest_plugin.auditor import Auditor
from audit.report import verify
from audit.report.certificate import schema
from audit.report.kind import Kind
from audit.report.kinds import Kinds
from audit.report.records import checks_by_kind, judged_part, listed_kinds
from audit.report.renderers import RENDERERS


def kinds_of_schema():
    """The kinds of check that some definition of the schema admits."""
    named = [part["properties"]["kind"] for name, part in schema()["$defs"].items() if name.endswith("_check")]
    return {kind for one in named for kind in one.get("enum", [one.get("const")])}


@dataclass(frozen=True, kw_only=True)
class ParityCheck(StatedCheck):
    """A dummy kind: the claim that a number is even."""

    value: int

    kind: ClassVar[str] = "parity"
    callables: ClassVar[dict] = {}
    terms_type: ClassVar[type] = dict

    def _validate(self):
        assert isinstance(self.value, int)

    @property
    def subject(self):
        """A function that gives the number."""
        return abs

    @property
    def summary(self):
        """The claim in a few symbols."""
        return "even"

    def terms(self):
        """No terms."""
        return {}

    @classmethod
    def recorded_terms(cls, record):
        """No terms."""
        return {}

    def gather(self, allowance):
        """Record the parity as the number of samples."""
        return Evidence(self.value % 2, uses="evaluator")

    def nothing(self, failure, cause="error"):
        """No evidence."""
        return Evidence(0, uses="evaluator", failure=failure)

    @staticmethod
    def decide(terms, evidence, significance):
        """Judge the parity."""
        return Judgment(Verdict.FAIL if evidence.samples else Verdict.PASS, "exact", "by its last bit")


def test_exports_and_fixture_follow_from_the_list():
    assert len(listed_kinds()) > 10
    assert len(checks_by_kind()) == len(listed_kinds())
    assert checks_by_kind().keys() == kinds_of_schema()
    for name, kind in listed_kinds().items():
        assert {f"check_{name}", kind.check.__name__, kind.check.result_type.__name__} <= set(audit.__all__)
        assert getattr(Auditor, name).__wrapped__ is getattr(audit, f"check_{name}") is kind.function


def test_a_new_kind_needs_its_file_its_registration_and_the_schema(monkeypatch, tmp_path):
    """It runs, is saved in every rendering, verifies and is replayed; without its registration it is not."""
    checks = [ParityCheck(name="two", value=2), ParityCheck(name="three", value=3, source="Euclid")]
    report = audit.run(checks, budget=100, workers=0)
    assert [result.verdict for result in report.results] == [Verdict.PASS, Verdict.FAIL]
    certificate = json.loads(report.save(tmp_path).read_text())
    for name in ("certificate.html", "certificate.md", "junit.xml"):
        assert name in RENDERERS
        assert "three" in (tmp_path / name).read_text()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(certificate, schema())
    with pytest.raises(InvalidCertificate, match="a check of kind 'parity' is not known"):
        judged_part(certificate["checks"][0])

    extended = copy.deepcopy(schema())
    extended["$defs"]["utility_check"]["properties"]["kind"]["enum"].append("parity")
    monkeypatch.setattr(verify, "schema", lambda: extended)
    monkeypatch.setattr(Kinds, "parity", Kind(ParityCheck, ParityCheck), raising=False)
    assert verify.problems_of(certificate) == []
    certificate["checks"][1]["verdict"] = "PASS"
    assert any("three" in line for line in verify.problems_of(certificate))
