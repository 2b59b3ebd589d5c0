"""A certificate where an extension is not installed: its checks are listed as not verified, the rest is verified."""

import os
import shutil
from pathlib import Path

import pytest

import audit
from audit.certificate.document import load_certificate, write_text
from tests.extensions.enumeration.test_proofs import flipped
from tests.processes import run_python

ROOT = Path(__file__).resolve().parents[2]
SAVED = ROOT / "tests" / "extensions" / "utility" / "certificate.json"


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Return the command line of a copy of the package in which an extension is missing."""

    def make(extension):
        folder = tmp_path_factory.mktemp(f"without-{extension}")
        shutil.copytree(ROOT / "audit", folder / "audit", ignore=shutil.ignore_patterns("__pycache__", extension))

        def call(*arguments):
            code = "import sys; from audit.cli import main; main(sys.argv[1:])"
            environment = {**os.environ, "PYTHONPATH": str(folder)}
            return run_python("-c", code, *arguments, cwd=folder, env=environment)

        return call

    return make


@pytest.fixture(scope="module")
def no_utility(without):
    return without("utility")


def not_verified(extension, certificate):
    kinds = certificate["extensions"][extension]["kinds"]
    names = [check["name"] for check in certificate["checks"] if check["kind"] in kinds]
    return [f"{name}: not verified: needs the extension {extension}" for name in names]


@pytest.mark.parametrize("command", ["verify", "report", "diff"])
def test_checks_of_an_absent_extension_are_listed_and_the_rest_is_verified(no_utility, tmp_path, command):
    shutil.copy(SAVED, tmp_path)
    due = not_verified("utility", load_certificate(SAVED))
    assert 0 < len(due) < 21
    done = no_utility(command, tmp_path, *([tmp_path] if command == "diff" else []))
    assert done.returncode == 69, done.stderr
    assert set(due) <= set(done.stdout.splitlines())
    assert "contradicts" not in done.stderr
    assert "not verified: install the extension" in done.stderr
    if command == "verify":
        assert "seal: " in done.stdout
    if command == "report":
        assert (tmp_path / "certificate.html").exists()


def edit_known(certificate):
    check = next(check for check in certificate["checks"] if check["kind"] == "privacy")
    check["reason"] = "edited"


def edit_absent(certificate):
    check = next(check for check in certificate["checks"] if check["kind"] == "guarantee")
    check["reason"] = "edited"


def blame_another(certificate):
    certificate["extensions"]["elsewhere"] = certificate["extensions"].pop("utility")
    certificate["extensions"]["elsewhere"]["kinds"].append("privacy")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (edit_known, "reason is 'edited', the evidence gives"),
        (edit_absent, "seal: the document is not the one that was sealed"),
        (edit_absent, "chain: broken at"),
    ],
)
def test_edits_are_seen_all_the_same(no_utility, tmp_path, edit, says):
    certificate = load_certificate(SAVED)
    edit(certificate)
    (tmp_path / "certificate.json").write_text(write_text(certificate))
    done = no_utility("verify", tmp_path)
    assert done.returncode == 65
    assert says in done.stdout


def test_an_extension_that_is_installed_is_not_taken_for_an_absent_one(tmp_path):
    certificate = load_certificate(SAVED)
    blame_another(certificate)
    (tmp_path / "certificate.json").write_text(write_text(certificate))
    said = audit.verify(tmp_path)
    assert "extensions: not those that the checks need" in said
    assert not [line for line in said if "not verified" in line]


def test_evidence_and_a_method_of_an_absent_extension(without, tmp_path):
    claim = audit.PrivacyClaim(1.2, relation=audit.Local())
    settings = {"mechanism": audit.per_call(flipped), "claim": claim, "pairs": [(False, True)]}
    checks = [
        audit.PrivacyCheck(name="proved", method="enumerate", **settings),
        audit.PrivacyCheck(name="drawn", budget=2_000, **settings),
    ]
    audit.run(checks, workers=0, directory=tmp_path)
    stated = load_certificate(tmp_path)["extensions"]["enumeration"]
    assert (stated["kinds"], stated["evidence"], stated["methods"]) == ([], ["enumeration"], ["enumerate"])
    absent = without("enumeration")
    for command in ("verify", "report"):
        done = absent(command, tmp_path)
        assert done.returncode == 69, done.stderr
        assert "proved: not verified: needs the extension enumeration" in done.stdout
        assert "drawn: not verified" not in done.stdout
