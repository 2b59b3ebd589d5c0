"""A kind of check is its file and its line in a plugin: that of tests/core/kinds.py goes through all views."""

import inspect

import pytest

import audit
from audit import Verdict, plugins
from audit.auditor import Auditor
from audit.certificate.verify import judge_record, list_problems
from audit.defaults import Options, Settings
from audit.errors import InvalidCertificate
from tests.core import kinds
from tests.core.kinds import DivisibleCheck

CHECKS = [
    DivisibleCheck(name="six", function=lambda: 6, by=3, source="Euclid"),
    DivisibleCheck(name="seven", function=lambda: 7, by=3, statement="Seven is a multiple."),
]


@pytest.fixture
def listed():
    with kinds.listed():
        yield


def test_exports_and_fixture_follow_from_the_list():
    auditor = Auditor(Options(0.05, 100, 0), "test_it", Settings())
    assert "privacy" in plugins.list_keys("kinds")
    for kind in plugins.list_keys("kinds"):
        name, check = kind.replace("-", "_"), plugins.find_check(kind)
        assert kind == check.kind
        assert {f"check_{name}", check.__name__, check.result_type.__name__} <= set(audit.__all__)
        (called,) = getattr(auditor, name).args
        assert inspect.unwrap(called) is inspect.unwrap(getattr(audit, f"check_{name}"))
        assert name in dir(auditor)
    with pytest.raises(AttributeError, match="has no method 'nothing': it is one of privacy"):
        _ = auditor.nothing


def test_a_test_audits_it_by_a_method_of_the_fixture(listed):
    auditor = Auditor(Options(0.05, 100, 0), "test_it", Settings())
    assert auditor.divisible(lambda: 9, by=3).verdict is Verdict.PASS
    with pytest.raises(pytest.fail.Exception, match="1 is left"):
        auditor.divisible(lambda: 7, 3)
    assert [result.name for result in auditor.results] == ["test_it", "test_it[2]"]


def test_a_kind_that_is_not_listed_is_not_verified():
    report = audit.run(CHECKS, workers=0)
    assert [result.verdict for result in report.results] == [Verdict.PASS, Verdict.FAIL]
    assert any("a check of kind 'divisible' is not known" in line for line in list_problems(report.certificate))
    with pytest.raises(InvalidCertificate, match="a check of kind 'divisible' is not known"):
        judge_record(report.certificate["checks"][0])
