"""The pytest plugin, driven by a pytest of its own."""

import json

import pytest

pytest_plugins = ["pytester"]

SUITE = """
import numpy as np
import pytest
from audit import PrivacyClaim, Verdict

PAIRS = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]

def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(size=size)

def test_holds(dp_audit):
    result = dp_audit.privacy(noisy_count, PrivacyClaim(1.5), PAIRS)
    assert result.verdict is Verdict.PASS

def test_leaks(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(0.5), PAIRS)

def test_vague(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(1.0), PAIRS, budget=50)

def test_known_leak(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(0.5), PAIRS, expected=Verdict.FAIL)
    dp_audit.privacy(noisy_count, PrivacyClaim(0.4), PAIRS, expected=Verdict.FAIL)
"""


def run(pytester, *arguments):
    pytester.makepyfile(test_mine=SUITE)
    return pytester.runpytest_subprocess("--dp-budget", "1e5", *arguments)


def test_only_a_pass_passes(pytester):
    outcome = run(pytester)
    outcome.assert_outcomes(passed=2, failed=2)
    outcome.stdout.fnmatch_lines(["*FAIL: (0.5, 0)-DP under substitution*", "*guesses were right*", "*event: output*"])
    outcome.stdout.fnmatch_lines(["*INCONCLUSIVE: (1, 0)-DP*", "*too coarse*"])
    outcome.stdout.fnmatch_lines(["*differential-privacy audits*", "PASS * test_mine.py::test_holds: *"])


def test_one_significance_is_shared_and_the_report_says_so(pytester):
    run(pytester, "--dp-report", "out", "--dp-significance", "0.04")
    certificate = json.loads((pytester.path / "out" / "certificate.json").read_text())
    shares = {entry["check"].split("::")[1]: entry["allotted"] for entry in certificate["significance_spent"]}
    assert shares["test_holds"] == 0.04 / 4 / 2
    assert shares["test_known_leak[2]"] == pytest.approx(0.04 / 4 / 6)
    assert sum(shares.values()) <= 0.04


def test_evidence_does_not_depend_on_the_order(pytester):
    run(pytester, "--dp-report", "whole")
    pytester.runpytest_subprocess("--dp-budget", "1e5", "--dp-report", "part", "-k", "leaks")
    whole, part = (json.loads((pytester.path / d / "certificate.json").read_text()) for d in ("whole", "part"))
    chosen = next(check for check in whole["checks"] if check["name"].endswith("test_leaks"))
    assert chosen["evidence"]["samples"] == part["checks"][0]["evidence"]["samples"]


@pytest.mark.parametrize("option", ["--dp-significance=2", "--dp-budget=1", "--dp-seed=-1"])
def test_impossible_options_are_refused(pytester, option):
    pytester.makepyfile("def test_x(): pass")
    outcome = pytester.runpytest_subprocess(option)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([f"*{option.split('=')[0]}*must*"])


def test_a_session_without_audits_says_nothing(pytester):
    pytester.makepyfile("def test_x(): pass")
    assert "differential-privacy" not in pytester.runpytest_subprocess().stdout.str()


BITS_AND_NOISE = """
import numpy as np
from audit import PrivacyClaim, Verdict

PAIRS = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]

def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(size=size)

def same_noise(data, size, rng):
    return data.sum() + np.random.default_rng(1).laplace(size=size)

def test_bits(dp_audit):
    dp_audit.precision(noisy_count, PrivacyClaim(1.0), PAIRS, budget=4_000, expected=Verdict.FAIL)

def test_fresh(dp_audit):
    assert dp_audit.randomness(noisy_count, PAIRS[0][0]).verdict is Verdict.PASS

def test_reused(dp_audit):
    dp_audit.randomness(same_noise, PAIRS[0][0], timeout=60)
"""


def test_bits_and_reused_noise(pytester):
    """Null of the passing one: independence; false alarm 1e-6. Both faults exceed what a FAIL needs many times."""
    pytester.makepyfile(test_mine=BITS_AND_NOISE)
    outcome = pytester.runpytest_subprocess("--dp-significance", "6e-6", "--dp-report", "out")
    outcome.assert_outcomes(passed=2, failed=1)
    outcome.stdout.fnmatch_lines(["*FAIL: independent outputs*", "*different calls give the same outputs*"])
    certificate = json.loads((pytester.path / "out" / "certificate.json").read_text())
    assert [check["kind"] for check in certificate["checks"]] == ["precision", "randomness", "randomness"]
