"""Every hostile subject gets its verdict, with the cause, and takes nothing else along."""

import pytest

import audit
from audit import Verdict
from tests.meta.zoo import EXHIBITS


@pytest.fixture(scope="module")
def report():
    return audit.run([exhibit.check() for exhibit in EXHIBITS], budget=40_000, workers=2, timeout=60)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_each_exhibit_gets_its_verdict_and_its_cause(report, exhibit):
    result = report[exhibit.name]
    assert (result.verdict, exhibit.words in result.reason) == (exhibit.verdict, True), result.reason


def test_nothing_is_lost(report):
    assert [result.name for result in report.results] == [exhibit.name for exhibit in EXHIBITS]
    assert report.verdict is Verdict.FAIL


def test_the_zoo_can_be_saved_and_replayed(report, tmp_path):
    from audit.certificate.document import load_certificate
    from audit.certificate.verify import replay

    assert replay(load_certificate(report.save(tmp_path))).differences == ()
