"""Utility checks in a run, in a certificate, in a replay, on the command line and in pytest."""

import json

import numpy as np
import pytest

import audit
from audit import ConsistencyCheck, GuaranteeCheck, InequalityCheck, PrivacyCheck, PrivacyClaim, RateCheck, Verdict
from audit.certificate.verify import replay
from audit.errors import InvalidCertificate

SIZES = (64, 128, 256, 512, 1024)


def laplace(data, size, rng):
    return data[0] + rng.laplace(size=size)


def losses(n, replicates, rng):
    return rng.random(replicates) * n**-0.5


def support(n):
    return 0.0, n**-0.5


CHECKS = [
    PrivacyCheck(name="privacy", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[([0.0], [1.0])], tolerance=2.0),
    RateCheck(name="rate", losses=losses, support=support, sizes=SIZES, exponent=0.5, margin=0.1, source="Theorem 1"),
    RateCheck(name="exact rate", evaluator=lambda n: n**-0.5, sizes=SIZES, exponent=0.5, horizon=4096),
    RateCheck(name="wrong", evaluator=lambda n: n**-0.5, sizes=SIZES, exponent=0.9, expected=Verdict.FAIL),
    InequalityCheck(name="values", values=lambda: [("a|b", 1.0, 2.0), ("inf", 1.0, np.inf)], statement="It *holds*."),
    InequalityCheck(name="mean", losses=lambda r, rng: rng.random(r), bound=0.6),
    GuaranteeCheck(name="guarantee", trials=lambda r, rng: rng.random(r) > 0.01, beta=0.05),
    ConsistencyCheck(name="consistency", losses=losses, sizes=SIZES, bayes_risk=0.0, tolerance=0.1),
    ConsistencyCheck(name="raises", losses=lambda n, r, rng: 1 / 0, sizes=SIZES),
]


@pytest.fixture(scope="module")
def report():
    return audit.run(CHECKS, budget=40_000, significance=1e-5, workers=0)


@pytest.fixture
def certificate(report):
    return json.loads(json.dumps(report.certificate))


def test_a_run_mixes_kinds(report):
    verdicts = {result.name: result.verdict.value for result in report.results}
    assert verdicts.pop("wrong") == "FAIL"
    assert verdicts.pop("raises") == "INCONCLUSIVE"
    assert set(verdicts.values()) == {"PASS"}, [result.reason for result in report.results]
    assert report["wrong"].met
    assert report.verdict is Verdict.INCONCLUSIVE


def test_the_certificate_is_valid_and_replays(certificate):
    outcome = replay(certificate)
    assert outcome.differences == ()
    assert outcome.verdicts["wrong"] is Verdict.FAIL


def test_the_significance_is_shared_and_accounted_for(certificate):
    spent = {entry["check"]: entry for entry in certificate["significance_spent"]}
    assert sum(entry["allotted"] for entry in spent.values()) == pytest.approx(1e-5)
    assert spent["rate"] == {"check": "rate", "allotted": pytest.approx(1e-5 / len(CHECKS)), "tests": ["simulation"]}
    assert spent["exact rate"]["tests"] == spent["values"]["tests"] == []


def spoil(record, path, value):
    *way, last = path
    for key in way:
        record = record[key]
    record[last] = value


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("rate", ("evidence", "points", 4, "sample", "mean"), None),
        ("rate", ("evidence", "points", 4, "sample", "above_low", "growth"), [1e4] * 10),
        ("rate", ("claim", "terms", "exponent"), 0.9),
        ("exact rate", ("evidence", "points", 4, "exact"), 0.5),
        ("wrong", ("claim", "terms", "exponent"), 0.5),
        ("values", ("evidence", "cases", 0, "quantity"), 3.0),
        ("mean", ("claim", "terms", "bound"), 0.4),
        ("guarantee", ("evidence", "looks", 0, "failures"), 60),
        ("consistency", ("evidence", "points", 4, "sample", "count"), 40),
        ("rate", ("kind",), "consistency"),
        ("rate", ("claim", "terms", "extra"), 1.0),
        ("guarantee", ("evidence", "looks", 0, "trials"), "many"),
    ],
)
def test_a_change_of_claim_evidence_or_verdict_is_noticed(certificate, name, path, value):
    record = next(check for check in certificate["checks"] if check["name"] == name)
    spoil(record, path, value)
    try:
        assert replay(certificate).differences
    except InvalidCertificate as error:
        assert str(error)  # noqa: PT017  # refused: noticed as well
