"""The statement of a certificate: its subject is what was audited, its result is that of the checks."""

import hashlib
import json

import click
import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict, per_call
from audit.cli import main
from audit.errors import InvalidCertificate
from audit.extensions.certificates.statement import make_statement
from audit.mechanism.provenance import describe_distribution

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


def released(data):
    return click.style(str(int(data.sum())))


def noisy(data, size, rng):
    return data.sum() + rng.laplace(size=size)


CLAIM = PrivacyClaim(1.0)
LEAK = {"mechanism": per_call(released), "claim": CLAIM, "pairs": [PAIR]}
CHECKS = [
    PrivacyCheck(name="leak", **LEAK),
    PrivacyCheck(name="open", mechanism=noisy, claim=CLAIM, pairs=[PAIR], budget=50, method="fixed"),
    PrivacyCheck(name="caught", **LEAK, expected=Verdict.FAIL),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("attested")
    audit.run(CHECKS, budget=1_000, workers=0).save(found)
    return found


def printed(capsys, folder):
    with pytest.raises(SystemExit) as ended:
        main(["attest", str(folder)])
    said = capsys.readouterr()
    return ended.value.code, said


def test_the_subject_is_what_was_audited(folder, capsys):
    status, said = printed(capsys, folder)
    assert status == 0
    found = json.loads(said.out)
    library = describe_distribution("click")
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in found["subject"]}
    assert subjects[f"click {library['version']}"] == library["subject"]
    # the file of the mechanism, or the distribution of this checkout where it is installed to be edited
    assert any(name.endswith("test_attestation.py") or name.startswith("dp-audit") for name in subjects)


def test_the_result_is_that_of_the_checks(folder, capsys):
    found = json.loads(printed(capsys, folder)[1].out)
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    predicate, path = found["predicate"], folder / "certificate.json"
    assert predicate["result"] == "FAILED"
    lists = (predicate["passedTests"], predicate["warnedTests"], predicate["failedTests"])
    assert lists == (["caught"], ["open"], ["leak"])
    certificate, plan = predicate["configuration"]
    assert certificate == {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    assert plan["digest"]["sha256"] == json.loads(path.read_text())["chain"]["start"]


def test_a_certificate_that_contradicts_itself_is_not_attested(folder, tmp_path, capsys):
    data = json.loads((folder / "certificate.json").read_text())
    data["verdict"] = "PASS"
    (tmp_path / "certificate.json").write_text(json.dumps(data))
    status, said = printed(capsys, tmp_path)
    assert status == 65
    assert "_type" not in said.out


def test_a_certificate_without_a_digest_has_no_subject(folder):
    path = folder / "certificate.json"
    data = json.loads(path.read_text())
    data["sources"] = {name: {} for name in data["sources"]}
    with pytest.raises(InvalidCertificate, match="needs a subject"):
        make_statement(data, path)
