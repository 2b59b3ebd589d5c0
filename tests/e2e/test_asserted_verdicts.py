"""A test of a refuted claim is red, however it asserts; and one that reads nothing of a result is red, whatever it is.

Every way of writing a test is run on a claim that holds and on one that the mechanism breaks twofold, in one session.
"""

import pytest

import audit
from audit.verdict import watch_results
from tests.processes import run_python

pytest_plugins = ["pytester"]

AUDITED = """
import json
import threading
import unittest

import audit
import numpy as np
import pytest
from audit import Verdict
from audit.laws import Laplace

PAIRS = [([0.0], [1.0])]

def noisy(data, size, rng):
    return data[0] + rng.laplace(size=size)

noisy.law = lambda data: Laplace(data[0], 1.0)  # which decides: it takes fewer outputs

def check(epsilon, **settings):
    claim, pairs = audit.PrivacyClaim(epsilon), [([0.0], [1.0])]
    return audit.check_privacy(noisy, claim, pairs, budget=2_000, tolerance=1.5, workers=0, confirmation=1e-8,
                               **settings)
"""

# what stands in a test that has `epsilon`, with its outcomes for the claims 1.5 and 0.5 of a 1-DP mechanism
SOUND, REFUSED = ("passed", "failed"), ("failed", "failed")
WAYS = {
    "the word": ('assert check(epsilon).verdict == "PASS"', SOUND),
    "the member": ("assert check(epsilon).verdict is Verdict.PASS", SOUND),
    "met": ("assert check(epsilon).met", SOUND),
    "a branch": ('if check(epsilon).verdict == "FAIL": raise SystemExit', SOUND),
    "unequal": ('assert check(epsilon).verdict != "FAIL"', SOUND),
    "a record": ('assert json.loads(json.dumps(check(epsilon).record()))["verdict"] == "PASS"', SOUND),
    "a number": ("assert check(epsilon).epsilon_lower_bound <= epsilon", SOUND),
    "a report": (
        'checks = [audit.PrivacyCheck(name="n", mechanism=noisy, claim=audit.PrivacyClaim(epsilon), tolerance=1.5,'
        " pairs=[([0.0], [1.0])])]\n    report = audit.run(checks, budget=2_000, workers=0, confirmation=1e-8)\n"
        '    assert report.verdict == "PASS"',
        SOUND,
    ),
    "truth": ("assert check(epsilon)", REFUSED),
    "an order": ('assert check(epsilon).verdict >= "PASS"', REFUSED),
    "nothing": ("check(epsilon)", REFUSED),
    "not None": ("assert check(epsilon) is not None", REFUSED),
    "one of two": ("check(epsilon)\n    assert check(epsilon).met", REFUSED),
    "a thread": ("one = threading.Thread(target=check, args=(epsilon,)); one.start(); one.join()", REFUSED),
    "a report unread": (
        'checks = [audit.PrivacyCheck(name="n", mechanism=noisy, claim=audit.PrivacyClaim(epsilon), pairs=PAIRS)]\n'
        "    print(audit.run(checks, workers=0))",
        REFUSED,
    ),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcomes of the two tests of each way, and what the session printed."""
    folder = tmp_path_factory.mktemp("ways")
    tests = [
        f'@pytest.mark.parametrize("epsilon", [1.5, 0.5])\ndef test_{place}(epsilon):\n    {way}\n'
        for place, (way, _) in enumerate(WAYS.values())
    ]
    (folder / "test_ways.py").write_text("\n".join([AUDITED, *tests]))
    done = run_python("-m", "pytest", "-rA", "-p", "no:cacheprovider", "--tb=short", cwd=folder)
    return done.stdout


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.false_alarm(1e-8)
def test_a_refuted_claim_is_red(outcomes, name):
    number = list(WAYS).index(name)
    found = tuple(
        "passed" if f"PASSED test_ways.py::test_{number}[{epsilon}]" in outcomes else "failed" for epsilon in (1.5, 0.5)
    )
    assert found == WAYS[name][1]
    assert outcomes.count(f"test_ways.py::test_{number}[") == 2


SESSION = """
@pytest.fixture(scope="module")
def shared():
    return check(0.5)

@pytest.fixture
def own():
    return check(0.5)

def test_passed_shared(shared):
    pass

def test_passed_own(own):
    pass

def test_passed_raises():
    with pytest.raises(audit.AuditError):
        audit.check_privacy(noisy, None, [])

def test_passed_fixture(dp_audit):
    dp_audit.privacy(noisy, audit.PrivacyClaim(0.5), [([0.0], [1.0])], budget=2_000, expected=Verdict.FAIL)

def test_passed_outside(tmp_path):
    claim, pairs = audit.PrivacyClaim(1.5), [([0.0], [1.0])]
    checks = [audit.PrivacyCheck(name="n", mechanism=noisy, claim=claim, pairs=pairs, tolerance=1.5)]
    audit.run(checks, budget=2_000, workers=0, directory=tmp_path)
    assert json.loads((tmp_path / "certificate.json").read_text())["verdict"] == "PASS"

def test_skipped():
    check(0.5)
    pytest.skip("later")

@pytest.mark.xfail(strict=True)
def test_xfailed():
    check(0.5)

def test_failed_for_its_own_reason():
    check(0.5)
    assert "its own" == "reason"

class TestCase(unittest.TestCase):
    def test_passed_case(self):
        self.assertEqual(check(0.5).verdict, "FAIL")

    def test_failed_case(self):
        check(0.5)

def test_failed_unread():
    for epsilon in (0.5, 0.6):
        audit.check_privacy(
            noisy, audit.PrivacyClaim(epsilon), PAIRS, budget=2_000)
"""


def test_only_a_test_that_ends_well_and_made_its_results_itself_is_failed(tmp_path):
    (tmp_path / "test_session.py").write_text(AUDITED + SESSION)
    printed = run_python("-m", "pytest", "-rA", "-p", "no:cacheprovider", cwd=tmp_path).stdout
    summary = printed[printed.index("short test summary") :]
    for line in summary.splitlines():
        word, _, test = line.partition(" test_session.py::")
        if test:
            assert word.lower() in test.partition(" - ")[0].replace("TestCase::", ""), line
    assert "assert 'its own' == 'reason'" in printed


def test_the_message_names_function_line_and_what_to_write(pytester):
    path = pytester.makepyfile(AUDITED + SESSION)
    printed = pytester.runpytest_subprocess("-k", "test_failed_unread", "-rN").stdout.str()
    line = path.read_text().splitlines().index("        audit.check_privacy(") + 1
    assert printed.count(f"{path}:{line}: nothing of the result of `audit.check_privacy(...)` was read") == 2
    assert 'write `assert result.verdict == "PASS"`' in printed


def test_a_session_inside_a_test_watches_its_own_results(pytester):
    """And gives the watch back: what this test made before and after it is still noted."""
    pytester.makepyfile(AUDITED + "def test_one():\n    check(0.5)\n\ndef test_two():\n    assert check(1.5).met\n")
    with watch_results() as unread:
        made = audit.check_privacy(
            lambda data, size, rng: [1.0] * size, audit.PrivacyClaim(1.0), [([0.0], [1.0])], budget=100
        )
        pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)
        (call,) = unread.values()
        assert call.result is made
        assert not made.met
        assert not unread
