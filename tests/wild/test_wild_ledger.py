"""The run and its ledger: FAILs are repeated, what repeats is listed with its pair and explanation, the rest beside it.

The library is written here and runs under this Python. Its mechanisms are all but deterministic: the leaking ones give
perfect separation on 2,000 outputs per dataset, so both runs refute them (probability of a miss below 1e-100), and the
keeping one adds Laplace noise of scale 1 to a count and FAILs at epsilon = 1 with probability at most its significance.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from audit import AddRemove, PrivacyCheck, PrivacyClaim, RandomnessCheck, Verdict, run
from audit.certificate.document import load_certificate
from audit.certificate.verify import problems_of
from wild import __main__ as command
from wild import audited, mechanism, register
from wild.audited import AGAIN, Audited, Run
from wild.audits import Audits
from wild.environments import CATALOGUE, Pin
from wild.findings import Finding
from wild.markdown import short_code
from wild.mechanism import Served
from wild.register import pages

SERVED = """
import numpy as np

MECHANISMS = {
    "leaks": lambda dataset, size, rng: len(dataset) + 0.1 * rng.random(size),
    "keeps": lambda dataset, size, rng: len(dataset) + rng.laplace(size=size),
    "repeats": lambda dataset, size, rng: np.random.default_rng(7).random(size),
}
"""
WHY = "`fakelib/leaks.py: leaks` adds next to no noise."


def check(name, budget=2_000, **settings):
    return PrivacyCheck(
        name=f"fake/{name}",
        mechanism=Served("fake", name),
        claim=PrivacyClaim(1.0, 0.0, AddRemove(), 'fakelib 1.0: "private | for sure"'),
        pairs=[([], [0])],
        budget=budget,
        tolerance=5.0,
        **settings,
    )


LEAKS, KEEPS = check("leaks", expected=Verdict.FAIL), check("keeps", budget=20_000)
WHERE = "https://example.org/fakelib/issues/1"
PUBLIC = Finding(Path("wild/fake/findings/leak"), "a small leak", "A", "public", WHY, ("fake",), address=WHERE)
DRAFT = replace(PUBLIC, folder=Path("drafts/fake/leak"), status="draft", address="")


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A catalogue with one library and a public finding about what leaks, in an empty working folder."""
    folder = tmp_path / "catalogue" / "fake"
    folder.mkdir(parents=True)
    (folder / "served.py").write_text(SERVED)
    (folder.parent / "serve.py").write_text((CATALOGUE / "serve.py").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mechanism, "CATALOGUE", folder.parent)
    monkeypatch.setattr(mechanism, "_python", lambda library: sys.executable)
    for module in (command, audited):
        monkeypatch.setattr(module, "libraries", lambda: ["fake"])
        monkeypatch.setattr(module, "pin_of", lambda library: Pin("fakelib", "1.0"))
    monkeypatch.setattr(command, "prepare", lambda library: False)
    audits = type(sys)("fake")
    audits.CHECKS, audits.FINDINGS = [KEEPS], [PUBLIC]
    monkeypatch.setattr(audited, "audits_of", lambda library: Audits(audits.CHECKS))
    for module in (register, audited):
        monkeypatch.setattr(module, "all_findings", lambda: audits.FINDINGS)
        monkeypatch.setattr(module, "WITHHELD", tmp_path / "withheld.json")
    monkeypatch.setattr(Finding, "own_checks", property(lambda finding: [LEAKS]))
    yield audits
    for name in ("leaks", "keeps", "repeats"):
        Served("fake", name).program.close()


def wild(*arguments):
    return CliRunner().invoke(command.main, [*arguments, "--workers", "0"])


def test_certificates_and_ledger(fake):
    done = wild()
    assert done.exit_code == 0, done.output
    first, again = (load_certificate(PUBLIC.folder / "fake" / folder) for folder in ("", "again"))
    assert [record["verdict"] for record in load_certificate(Path("reports/wild/fake"))["checks"]] == ["PASS"]
    assert [record["verdict"] for record in first["checks"]] == ["FAIL"]
    assert [record["name"] for record in again["checks"]] == ["fake/leaks"]
    assert again["checks"][0]["settings"]["significance"] == pytest.approx(AGAIN)
    assert again["settings"]["seed"] == first["settings"]["seed"] + 1
    found, page = Path("docs/found.md").read_text(), Path("docs/register/fake.md").read_text()
    assert "1 distinct causes in 1 packages, 1 of them of class A or B. 0 more are not public yet." in found
    assert "| [fakelib 1.0](register/fake.md) | 2 | 1 | 0 | 1 |" in found
    assert "| A | [a small leak](register/fake.md#a-a-small-leak) | fakelib 1.0 |" in found
    assert "### A: a small leak" in page
    assert "python -m wild --library fake --select 'fake/leaks'" in page
    assert WHY in page
    assert f"public: {WHERE}" in page
    assert "Any output tells which of the two datasets it is from" in page
    assert first["seal"] in page
    assert "| fake/keeps | (1, 0) add/remove | PASS |" in page


def test_of_a_draft_the_pages_show_the_number_alone(fake):
    fake.FINDINGS = [DRAFT]
    assert wild().exit_code == 0
    shown = {path: path.read_text() for path in Path("docs").rglob("*.*")}
    assert not [path for path, text in shown.items() if WHY in text or "fake/leaks" in text or DRAFT.title in text]
    assert (
        "0 distinct causes in 0 packages, 0 of them of class A or B. 1 more are not public yet."
        in shown[Path("docs/found.md")]
    )
    assert "1 of this release are not public yet" in shown[Path("docs/register/fake.md")]
    assert "1 of 1 passed, 1 not public" in shown[Path("docs/register/fake.svg")]
    letter = Path("drafts/fake/leak/letter.md").read_text()
    assert WHY in letter
    assert "left = []\nright = [0]" in letter
    assert WHY in Path("drafts/fake/leak/page.md").read_text()


def test_a_copy_without_the_drafts_shows_the_same_number(fake):
    fake.FINDINGS = [DRAFT]
    wild()
    pages = {path: path.read_text() for path in Path("docs").rglob("*.*")}
    shutil.rmtree("drafts")
    fake.FINDINGS = []
    register.write_pages()
    assert pages == {path: path.read_text() for path in Path("docs").rglob("*.*")}


def test_a_run_that_refutes_what_no_finding_is_about_goes_to_the_drafts(fake):
    fake.CHECKS, fake.FINDINGS = [KEEPS, LEAKS], []
    done = wild()
    assert "refuted, and no finding is about it: fake/leaks; see drafts/fake/unexplained/fake" in done.output
    certificate = load_certificate(Path("drafts/fake/unexplained/fake"))
    assert [record["name"] for record in certificate["checks"]] == ["fake/keeps", "fake/leaks"]
    assert not problems_of(certificate)
    assert not Path("reports/wild/fake").exists()
    assert not [path for path in Path("docs").rglob("*.*") if "leaks" in path.read_text()]


def test_the_pair_of_a_finding_can_be_pasted(fake):
    wild()
    code = Path("docs/register/fake.md").read_text().split("```python\n")[1].split("```")[0]
    pasted: dict[str, object] = {}
    exec(code, pasted)
    assert [pasted["left"], pasted["right"]] == [[], [0]]


def test_a_selection_is_shown_and_not_written(fake):
    done = wild("--select", "*keeps")
    assert done.exit_code == 0, done.output
    assert "fake/keeps" in done.output
    assert "fake/leaks" not in done.output
    assert not Path("reports").exists()
    assert not Path("docs").exists()


def test_a_resumed_run_leaves_out_what_is_finished(fake):
    wild()
    certificate = Path("reports/wild/fake/certificate.json")
    finished = certificate.read_bytes()
    assert wild("--resume").exit_code == 0
    assert certificate.read_bytes() == finished
    fake.CHECKS = [KEEPS, replace(KEEPS, name="fake/keeps again")]
    assert wild("--resume").exit_code == 0
    assert len(load_certificate(certificate.parent)["checks"]) == 2


def test_an_unexpected_fail_is_a_fail_of_the_run(fake):
    fake.CHECKS, fake.FINDINGS = [check("leaks")], []
    assert wild().exit_code == 1


def test_an_unknown_library_is_wrong_usage(fake):
    done = wild("--library", "flake")
    assert done.exit_code == 64
    assert "no library 'flake'; there are fake" in done.output


def test_a_pattern_without_a_check_is_wrong_usage(fake):
    done = wild("--select", "*absent*")
    assert done.exit_code == 64
    assert "no check matches '*absent*'" in done.output


def page_of(certificate, again=None, finding=None):
    """The page of a release with these certificates."""
    each = Audited("fake", Pin("fakelib", "1.0"), (Run(Path("fake"), certificate, again, finding),))
    return pages([each])[Path("docs/register/fake.md")]


def test_a_fail_that_does_not_repeat_is_not_listed(fake):
    """The repetition is of a mechanism that keeps its claim, under the name of the one that failed."""
    first = run([LEAKS], workers=0).certificate
    again = run([replace(KEEPS, name=LEAKS.name)], workers=0)
    for repetition in (again.certificate, None):
        page = page_of(first, repetition, PUBLIC)
        assert "### A" not in page
        assert "INCONCLUSIVE (did not repeat)" in page


def test_a_fail_of_randomness_is_listed_with_its_dataset(fake):
    """Every call repeats the noise of the first, so that all comparisons between calls are won."""
    served = Served("fake", "repeats")
    repeats = RandomnessCheck(name="fake/repeats", mechanism=served, dataset=[0], source="fakelib 1.0")
    certificate = run([repeats], workers=0).certificate
    page = page_of(certificate, certificate, replace(PUBLIC, title="repeats"))
    assert "### A: repeats" in page
    assert "```python\ndataset = [0]\n```" in page
    assert "Noise repeats between calls" in page


def test_text_from_a_library_is_shown_as_it_is(fake):
    name = "fake/a|b <script> [x](y) `c`\nd"
    certificate = run([replace(KEEPS, name=name)], workers=0).certificate
    page = page_of(certificate)
    assert r"fake/a\|b \<script\> \[x\](y) \`c\` d" in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("code", "short"),
    [
        ("[0.0, 0.0, 0.0, 0.0, 1.0]", "[0.0] * 4 + [1.0]"),
        ("[0, 1]", "[0, 1]"),
        ("[]", "[]"),
        ("[[1, 0], [1, 0], [1, 0]]", "[[1, 0]] * 3"),
        ("np.array([0, 0, 0, 0, 0, 0])", "np.array([0, 0, 0, 0, 0, 0])"),
        ("array of shape (9,): [0 ...", "array of shape (9,): [0 ..."),
    ],
)
def test_runs_of_equal_entries_are_shown_as_products(code, short):
    assert short_code(code) == short
