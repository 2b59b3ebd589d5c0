"""The pytest plugin, driven by a pytest of its own."""

import json
import shlex
from types import SimpleNamespace

import pytest
from _pytest.pytester import LineMatcher

from audit import Verdict
from audit.auditor import summarize
from tests.processes import popen_of, run_python

pytest_plugins = ["pytester"]


@pytest.fixture
def pytester(pytester):
    pytester.popen = popen_of(pytester)
    return pytester


HEAD = """
import numpy as np
import pytest
from audit import PrivacyClaim, Verdict

PAIRS = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]

def noisy_count(data, size, rng):
    return data.sum() + rng.laplace(size=size)
"""
SUITE = f"""{HEAD}
def test_holds(dp_audit):
    result = dp_audit.privacy(noisy_count, PrivacyClaim(1.5), PAIRS)
    assert result.verdict is Verdict.PASS

def test_leaks(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(0.5), PAIRS)

def test_vague(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(1.0), PAIRS, budget=50, method="fixed")

def test_known_leak(dp_audit):
    dp_audit.privacy(noisy_count, PrivacyClaim(0.5), PAIRS, expected=Verdict.FAIL)
    dp_audit.privacy(noisy_count, PrivacyClaim(0.4), PAIRS, expected=Verdict.FAIL)
"""


REVERSED = "def pytest_collection_modifyitems(items): items.reverse()"


def run(pytester, *arguments):
    pytester.makepyfile(test_mine=SUITE)
    return pytester.runpytest_subprocess("--dp-budget", "1e5", *arguments)


def certificate_of(pytester, folder):
    return json.loads((pytester.path / folder / "certificate.json").read_text())


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """One session with a seed and a significance of its own: what it printed, and its certificate."""
    folder = tmp_path_factory.mktemp("session")
    (folder / "test_mine.py").write_text(SUITE.strip())  # as `pytester` writes it: records name lines
    options = ["--dp-budget", "1e5", "--dp-seed", "3", "--dp-significance", "0.04", "--dp-report", "out"]
    done = run_python("-m", "pytest", *options, cwd=folder)
    return LineMatcher(done.stdout.splitlines()), json.loads((folder / "out" / "certificate.json").read_text())


def test_only_a_pass_passes(session):
    printed, _ = session
    printed.fnmatch_lines(["*FAIL: (0.5, 0)-DP under substitution*", "*guesses were right*", "*event: output*"])
    printed.fnmatch_lines(["*INCONCLUSIVE: (1, 0)-DP*", "*too few outputs to tell*"])
    printed.fnmatch_lines(["*differential-privacy audits*", "PASS * test_mine.py::test_holds: *"])
    printed.fnmatch_lines(["*= 2 failed, 2 passed in *"])


def test_one_significance_is_shared_and_the_report_says_so(session):
    _, certificate = session
    shares = {entry["check"].split("::")[1]: entry["allotted"] for entry in certificate["significance_spent"]}
    assert shares["test_holds"] == 0.04 / 4 / 2
    assert shares["test_known_leak[2]"] == pytest.approx(0.04 / 4 / 6)
    assert sum(shares.values()) <= 0.04
    assert (certificate["settings"]["significance"], certificate["settings"]["confirmation"]) == (0.04, 1e-6)


def test_a_failing_audit_says_how_to_repeat_it_alone(session, pytester):
    """The printed command gives the same evidence, with the same share of the significance."""
    printed, certificate = session
    lines = [line.strip() for line in printed.lines]
    command = next(line for line in lines if line.startswith("pytest ") and "test_leaks" in line)
    run(pytester, *shlex.split(command)[1:], "--dp-report", "alone")
    (alone,) = certificate_of(pytester, "alone")["checks"]
    assert alone == next(check for check in certificate["checks"] if check["name"] == "test_mine.py::test_leaks")


def test_neither_order_nor_processes_nor_a_selection_changes_the_evidence(session, pytester):
    """In reverse and on two xdist workers: the same records in the same order. A part of it: the same outputs."""
    pytest.importorskip("xdist")
    _, plain = session
    options = ["--dp-seed", "3", "--dp-significance", "0.04", "--dp-report"]
    run(pytester, *options, "spread", "-n", "2").assert_outcomes(passed=2, failed=2)
    pytester.makeconftest(REVERSED)
    run(pytester, *options, "reversed")
    run(pytester, *options, "part", "-k", "leaks")
    spread, reverse, part = (certificate_of(pytester, folder) for folder in ("spread", "reversed", "part"))
    assert len(plain["checks"]) == 5
    assert plain["checks"] == spread["checks"] == reverse["checks"]
    assert plain["significance_spent"] == spread["significance_spent"]
    leaks = next(check for check in plain["checks"] if check["name"].endswith("test_leaks"))
    assert part["checks"][0]["evidence"]["samples"] == leaks["evidence"]["samples"]


@pytest.mark.parametrize("option", ["--dp-significance=2", "--dp-budget=1", "--dp-seed=-1"])
def test_impossible_options_are_refused(pytester, option):
    pytester.makepyfile("def test_x(): pass")
    outcome = pytester.runpytest_inprocess(option)
    assert outcome.ret == 4
    outcome.stderr.fnmatch_lines([f"*{option.split('=')[0]}*must*"])


def test_a_report_that_cannot_be_written_ends_the_session_in_words(pytester):
    pytester.makefile("", taken="a file where the folder should be")
    outcome = pytester.runpytest_subprocess("--dp-report", "taken", "--dp-budget", "2e4", pytester.makepyfile(SUITE))
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["Exit: --dp-report: taken cannot be written: *choose another folder*"])
    outcome.stdout.no_fnmatch_line("*INTERNALERROR*")
    outcome.stdout.fnmatch_lines(["FAILED *test_leaks*"])


MARKED = f"""{HEAD}
pytestmark = pytest.mark.dp_audit(budget="quick", seed=7)

@pytest.mark.dp_audit(audits=2)
def test_two(dp_audit):
    for _ in range(2):
        dp_audit.privacy(noisy_count, PrivacyClaim(0.2), PAIRS, expected=Verdict.FAIL)

@pytest.mark.dp_audit(audits=1, budget=5_000)
def test_one_too_many(dp_audit):
    for _ in range(2):
        dp_audit.privacy(noisy_count, PrivacyClaim(0.2), PAIRS, expected=Verdict.FAIL)

def test_other():
    pass
"""


def test_the_marker_sets_budget_seed_and_equal_shares(pytester):
    pytester.makepyfile(test_marked=MARKED)
    outcome = pytester.runpytest_subprocess("--dp-report", "out", "-m", "dp_audit", "--strict-markers")
    outcome.assert_outcomes(passed=2, failed=1)
    outcome.stdout.fnmatch_lines(["*the marker says audits=1, and this is one more*"])
    checks = {check["name"]: check["settings"] for check in certificate_of(pytester, "out")["checks"]}
    first, second = (checks[f"test_marked.py::test_two{suffix}"] for suffix in ("", "[2]"))
    assert first["tolerance"] == second["tolerance"] == 0.1  # twice the usual one
    assert first["significance"] == second["significance"] == 0.05 / 2 / 2
    assert checks["test_marked.py::test_one_too_many"]["budget"] == 5_000


def test_the_worst_evidence_comes_first():
    """What is not as expected, by its verdict, then by the share of the claimed epsilon that was certified."""

    def result(name, verdict, bound, claimed=1.0, expected=Verdict.PASS):
        record = {"reason": "", "claim": {"epsilon": claimed}, "epsilon_lower_bound": bound}
        about = {"verdict": verdict, "outcome": verdict, "met": verdict is expected, "significance": 0.01}
        return SimpleNamespace(name=name, record=lambda: record, **about)

    results = [
        result("passed", Verdict.PASS, 0.9),
        result("open", Verdict.INCONCLUSIVE, 3.0),
        result("by little", Verdict.FAIL, 3.0, claimed=2.0),
        result("by far", Verdict.FAIL, 2.0),
        result("a fault", Verdict.FAIL, 9.0, expected=Verdict.FAIL),
    ]
    *lines, spent = summarize(results, 0.05)
    assert [line[15:].partition(":")[0] for line in lines] == ["by far", "by little", "open", "a fault", "passed"]
    assert spent == "significance 0.05 of 0.05 used by 5 audits"


def test_an_audit_that_an_expected_failure_expects_is_shown_so(pytester):
    pytester.makepyfile(test_mine=SUITE.replace("def test_leaks", "@pytest.mark.xfail(strict=True)\ndef test_leaks"))
    result = pytester.runpytest_subprocess("--dp-budget", "1e5", "-k", "test_leaks")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["FAIL, expected*test_leaks*"])
