"""Text of mechanisms and checks that would command a terminal or a CI system never leaves as it is."""

import io
import re

import pytest
from rich.console import Console

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.auditor import summarize
from audit.certificate.render import RENDERERS, check_fragment, report_fragment
from audit.certificate.terminal import LiveProgress, output_console, print_certificate
from audit.text import printable
from tests.core.mechanisms import PAIR

HOSTILE = (
    "x\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07\r\n::error::forged\n  ::set-output name=a::b\n"
    "##[group]\n##vso[task.complete]\u202eSSAP\u2066\u200b\x9b31m\x00\udc80\u2028end"
)
NAME = "name " + HOSTILE
OBEYED = re.compile(r"::(error|set-output)|##(\[|vso)")


def raises(data, size, rng):
    raise ValueError(HOSTILE)


def harmless(text):
    """Nothing but printable characters and the line feeds of the page itself, and no command to a CI system."""
    odd = {each for each in text if not each.isprintable()} - {"\n", " "}
    return not odd and not OBEYED.search(text)


@pytest.fixture(scope="module")
def report():
    claim = PrivacyClaim(1.0, source=HOSTILE)
    checks = [PrivacyCheck(name=NAME, mechanism=raises, claim=claim, pairs=[PAIR], budget=400)]
    return audit.run(checks, workers=0, targets=[HOSTILE])


def in_terminal(report):
    out = io.StringIO()
    print_certificate(Console(file=out, width=60), report.certificate)
    return out.getvalue()


def in_log(report):
    out = io.StringIO()
    with LiveProgress(1, console=Console(file=out, width=60)) as progress:
        progress.show_start(report.results[0].check)
        progress.show_result(report.results[0])
    return out.getvalue()


PLACES = {
    **{name: lambda report, render=render: render(report.certificate) for name, render in RENDERERS.items()},
    "notebook": lambda report: report_fragment(report.certificate) + check_fragment(report.results[0].record()),
    "terminal": in_terminal,
    "log": in_log,
    "str": lambda report: f"{report}\n{report.results[0]}\n{report.results[0]!r}",
    "pytest": lambda report: "\n".join(summarize(report.results, 0.05)),
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_obeyed_reaches(report, place):
    assert "ValueError" in report.results[0].reason
    assert not harmless(report.results[0].reason)
    text = PLACES[place](report)
    assert harmless(text), sorted({each for each in text if not each.isprintable()})
    assert place == "badge.svg" or "x\\x1b[2J" in "".join(text.split()).replace("\\\\", "\\").replace("\\[", "[")


def test_ordinary_text_stays_as_it_is():
    for text in ("tests/test_a.py::Test::test_error[ε ≥ 1]", "a – b · 2 × 10⁻⁶", "d::errors", ""):
        assert printable(text) == text
    assert printable("a\n::error::b\x1b[0m") == "a\\n\\x3a:error::b\\x1b[0m"
    assert output_console().width
