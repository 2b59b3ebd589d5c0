"""One run of hostile subjects with innocents between them: each is blamed for what it did, and nobody else."""

import subprocess

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict
from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems
from tests.meta.hostile import SUBJECTS, honest, poisons_the_judge

PAIR = (np.zeros(5), np.r_[1.0, np.zeros(4)])
SHORT = 1.0  # seconds for a subject that hangs
EVERY = 6  # hostile subjects between two innocents


def check(name, mechanism, **more):
    claim = PrivacyClaim(1.0)  # which the honest mechanism keeps exactly
    return PrivacyCheck(name=name, mechanism=mechanism, claim=claim, pairs=[PAIR], tolerance=1.0, **more)


def hostile_checks():
    for number, (name, (mechanism, words)) in enumerate(SUBJECTS.items()):
        timeout = SHORT if words == "took longer" else None
        yield check(name, mechanism, timeout=timeout)
        if number % EVERY == 0:
            yield check(f"innocent {number}", honest, budget=20_000)


@pytest.fixture(scope="module")
def report():
    """What hostile subjects do shows in few outputs; an innocent one FAILs with probability 0.003 at most."""
    checks = [*hostile_checks(), check("poison", poisons_the_judge), check("after poison", lambda data, size, rng: 1.0)]
    return audit.run(checks, budget=400, significance=0.01, workers=3, timeout=60)


@pytest.mark.parametrize("name", SUBJECTS)
def test_each_is_blamed_for_what_it_did(report, name):
    result = report[name]
    assert result.verdict is Verdict.INCONCLUSIVE, result.reason
    assert SUBJECTS[name][1] in result.reason, result.reason
    assert result.isolation == "process"


@pytest.mark.false_alarm(0.003, seeded=True)
def test_innocents_between_them_pass(report):
    innocents = [result for result in report.results if result.name.startswith("innocent")]
    assert innocents
    assert {(result.verdict, result.printed) for result in innocents} == {(Verdict.PASS, "")}


def test_none_of_them_costs_the_run_its_certificate(report, tmp_path):
    report.save(tmp_path)
    assert list_problems(load_certificate(tmp_path)) == []


def test_a_poisoned_judge_judges_nobody(report):
    assert report["poison"].verdict is not Verdict.PASS
    assert "forged" not in report["poison"].reason
    assert report["after poison"].verdict is Verdict.INCONCLUSIVE


def test_what_is_printed_is_kept_bounded_and_does_nothing_to_a_terminal(report):
    printed = report["prints_and_raises"].printed
    assert printed.startswith("\\x1b[2J\\x3a:error::forged\\x07\nfrom a child\nfrom C\ufffd\n")
    assert report["prints_without_end"].printed.startswith("\\x3a:error::\\x1b[2J")
    assert all(len(result.printed) < 4 * 4096 for result in report.results)
    text = str(report)
    assert "\x1b" not in text
    assert not any(line.startswith("::") for line in text.splitlines())


def test_nothing_outlives_its_check(report):
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not {"sleep 1234", "sleep 1235"} & set(listed.splitlines())
