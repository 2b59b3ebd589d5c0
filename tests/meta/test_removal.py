"""An extension can be taken off: the rest works in a copy without its folder, and so does the core without all.

A certificate with checks of an absent extension lists them as not verified. `make test-apart` runs the suites in such
copies, once a week.
"""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import audit
from audit import plugins
from audit.certificate.document import load_certificate, write_text
from tests.apart import EXTENSIONS, copy_without, run, suite_of
from tests.extensions.enumeration.test_proofs import flipped
from tests.processes import run_python

AUDITED = """
import audit
import numpy as np

def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)

CLAIM, PAIR = audit.PrivacyClaim(0.5), (np.zeros(3), np.r_[1.0, 0, 0])
CHECKS = [audit.PrivacyCheck(name="sum", mechanism=laplace, claim=CLAIM, pairs=[PAIR], expected=audit.Verdict.FAIL)]

def test_sum(dp_audit):
    dp_audit.privacy(laplace, CLAIM, [PAIR], budget=5_000, expected=audit.Verdict.FAIL)
"""
STEPS = """
import json
import sys
import pytest
import audit
from audit import plugins
from audit.cli import main
from audit.errors import MissingExtension
from audited import CHECKS

KEPT, ABSENT = json.loads(sys.argv[1])
assert audit.__file__.startswith(sys.path[0]), audit.__file__
report = audit.run(CHECKS, budget=5_000, workers=0, directory="out")
assert report["sum"].outcome == "FAIL, expected", report
assert plugins.list_folders() == KEPT
for name, extension in ABSENT.items():
    assert name not in audit.__all__
    with pytest.raises(MissingExtension, match=f"`audit.{name}` needs the extension {extension}, whose folder"):
        getattr(audit, name)
assert pytest.main(["-q", "-p", "no:cacheprovider", "audited.py"]) == 0
main(["verify", "out"])
"""


def use_without(folder, *absent):
    """Import, a run with its certificate, the fixture, the error of an absent name, and `dp-audit verify`."""
    copy_without(folder, set(absent))
    (folder / "audited.py").write_text(AUDITED)
    (folder / "steps.py").write_text(STEPS)
    kept = [name for name in EXTENSIONS if name not in absent]
    listed = {extension: plugins.list_plugins()[extension].names.values() for extension in absent}
    lost = {name: extension for extension, modules in listed.items() for names in modules for name in names}
    done = run(folder, "steps.py", json.dumps([kept, lost]), capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_core_works_alone(tmp_path):
    use_without(tmp_path, *EXTENSIONS)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_what_is_left_of_one_works(tmp_path, extension):
    use_without(tmp_path, extension)


def test_the_core_collects_alone(tmp_path):
    """Without any extension, and so without one of them."""
    copy_without(tmp_path, set(EXTENSIONS))
    arguments = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *suite_of(tmp_path, "core")]
    done = run(tmp_path, *arguments, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout[-3000:]


ROOT = Path(__file__).resolve().parents[2]
SAVED = ROOT / "tests" / "extensions" / "utility" / "certificate.json"


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Call the command line of a copy of the package in which an extension is missing."""

    @functools.cache
    def copy(extension):
        folder = tmp_path_factory.mktemp(f"without-{extension}")
        shutil.copytree(ROOT / "audit", folder / "audit", ignore=shutil.ignore_patterns("__pycache__", extension))
        return folder

    def call(extension, *arguments):
        code = "import sys; from audit.cli import main; main(sys.argv[1:])"
        environment = {**os.environ, "PYTHONPATH": str(copy(extension))}
        return run_python("-c", code, *arguments, cwd=copy(extension), env=environment)

    return call


def not_verified(extension, certificate):
    kinds = certificate["extensions"][extension]["kinds"]
    names = [check["name"] for check in certificate["checks"] if check["kind"] in kinds]
    return [f"{name}: not verified: needs the extension {extension}" for name in names]


@pytest.mark.parametrize("command", ["verify", "report", "diff"])
def test_checks_of_an_absent_extension_are_listed_and_the_rest_is_verified(without, tmp_path, command):
    shutil.copy(SAVED, tmp_path)
    due = not_verified("utility", load_certificate(SAVED))
    assert 0 < len(due) < 21
    done = without("utility", command, tmp_path, *([tmp_path] if command == "diff" else []))
    assert done.returncode == 69, done.stderr
    assert set(due) <= set(done.stdout.splitlines())
    assert "contradicts" not in done.stderr
    assert "not verified: install the extension" in done.stderr
    if command == "verify":
        assert "seal: " in done.stdout
    if command == "report":
        assert (tmp_path / "certificate.html").exists()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("privacy", "reason is 'edited', the evidence gives"),
        ("guarantee", "seal: the document is not the one that was sealed"),
        ("guarantee", "chain: broken at"),
    ],
)
def test_edits_of_known_and_of_absent_kinds_are_seen_all_the_same(without, tmp_path, kind, says):
    certificate = load_certificate(SAVED)
    next(check for check in certificate["checks"] if check["kind"] == kind)["reason"] = "edited"
    (tmp_path / "certificate.json").write_text(write_text(certificate))
    done = without("utility", "verify", tmp_path)
    assert done.returncode == 65
    assert says in done.stdout


def test_an_extension_that_is_installed_is_not_taken_for_an_absent_one(tmp_path):
    certificate = load_certificate(SAVED)
    certificate["extensions"]["elsewhere"] = certificate["extensions"].pop("utility")
    certificate["extensions"]["elsewhere"]["kinds"].append("privacy")
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
    for command in ("verify", "report"):
        done = without("enumeration", command, tmp_path)
        assert done.returncode == 69, done.stderr
        assert "proved: not verified: needs the extension enumeration" in done.stdout
        assert "drawn: not verified" not in done.stdout
