"""The pytest face: a fixture `dp_audit`, a marker of that name, and one significance for the whole session.

The session's significance is shared out equally over the collected tests that use the fixture, in any order
and in any processes, so that a suite of any size stays at the stated false-alarm rate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from audit.defaults import DEFAULT_BUDGET, DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE, FIXTURE, Options, Settings
from audit.errors import AuditError, InvalidArgument
from audit.validate import integer, open_probability, positive, read_budget
from audit.verdict import watch_results

if TYPE_CHECKING:  # every pytest session of an environment loads this file: the rest is imported when a test audits
    from audit.auditor import Auditor


_KEYWORDS: Mapping[str, Callable[[Any], Any]] = {
    "budget": read_budget,
    "audits": lambda value: integer(value, "audits", at_least=1),
    "seed": lambda value: integer(value, "seed", at_least=0),
    "timeout": lambda value: positive(value, "timeout"),
}


_SESSION = pytest.StashKey[Options]()
_AUDITOR = pytest.StashKey["Auditor"]()
_ATTACHED = "dp_audit_results"  # attribute of a test's report, in which results travel between processes

MARKER = (
    "dp_audit(budget, audits, seed, timeout): settings of the test's audits: a budget as in --dp-budget, how many "
    "audits share the test's significance equally, a seed, seconds for each; every test that uses the fixture has "
    "the marker"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dp-audit", "differential-privacy audits")
    group.addoption(
        "--dp-significance",
        type=float,
        default=DEFAULT_SIGNIFICANCE,
        metavar="A",
        help="probability that any true claim of the session is suspected, and tested again (default: %(default)s)",
    )
    group.addoption(
        "--dp-confirmation",
        type=float,
        default=DEFAULT_CONFIRMATION,
        metavar="C",
        help="probability that any true claim of the session is judged FAIL (default: %(default)s)",
    )
    group.addoption(
        "--dp-budget",
        default=DEFAULT_BUDGET,
        metavar="N",
        help="for each audit that states no budget: auto, as many outputs as resolve its claim; quick, at twice the "
        "tolerance and for 10 s at most; deep, at 0.4 of it; or outputs per dataset (default: %(default)s)",
    )
    group.addoption("--dp-seed", type=int, default=0, metavar="S", help="seed of all audits (default: %(default)s)")
    group.addoption(
        "--dp-floats",
        choices=("real", "audit"),
        default="real",
        help="floating-point numbers of privacy audits: real takes them as real ones, audit looks at their bits too "
        "(default: %(default)s)",
    )
    group.addoption("--dp-report", type=Path, default=None, metavar="DIR", help="write a certificate to DIR")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse impossible options before anything is collected."""
    config.addinivalue_line("markers", MARKER)
    try:
        config.stash[_SESSION] = Options(
            open_probability(config.getoption("--dp-significance"), "--dp-significance"),
            read_budget(config.getoption("--dp-budget"), "--dp-budget"),
            integer(config.getoption("--dp-seed"), "--dp-seed", at_least=0),
            recorded=config.getoption("--dp-report") is not None,
            confirmation=open_probability(config.getoption("--dp-confirmation"), "--dp-confirmation"),
            floats=config.getoption("--dp-floats"),
        )
    except AuditError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the fixture, so that `-m dp_audit` selects them."""
    for item in items:
        if _audits(item) and item.get_closest_marker(FIXTURE) is None:
            item.add_marker(FIXTURE)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests among which the significance is shared, and refuse impossible markers."""
    using = [item for item in session.items if _audits(item)]
    session.config.stash[_SESSION].tests = max(1, len(using))
    for item in using:
        _settings(item)


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """Audit privacy and utility claims: `dp_audit.privacy(mechanism, claim, pairs)` fails unless it PASSes."""
    from audit.auditor import Auditor

    node = request.node
    auditor = Auditor(request.config.stash[_SESSION], node.nodeid, _settings(node))
    node.stash[_AUDITOR] = auditor
    return auditor


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that made results and read nothing of one of them: it would be green with any verdict.

    Results of fixtures, which are made before the test begins, are left alone, and so is a test that ends early.
    """
    if not isinstance(item, pytest.Function):  # a doctest compares what it shows
        return (yield)
    with watch_results() as unread:
        done = yield
    if unread:
        calls = [f"{made.place}: nothing of the result of `{made.function}(...)` was read" for made in unread.values()]
        advice = 'the test passes whatever the verdict is: write `assert result.verdict == "PASS"`'
        pytest.fail("\n".join([*calls, advice]), pytrace=False)
    return done


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Attach the audits to the test's report, as text that any process can read."""
    outcome: Any = yield
    auditor = item.stash.get(_AUDITOR, None)
    if call.when == "call" and auditor is not None and auditor.results:
        from audit.auditor import write_result

        report = outcome.get_result()
        found = [write_result(result, auditor.seed) for result in auditor.results]
        if hasattr(report, "wasxfail"):  # the test's author expects the verdict
            found = [{**each, "expected": each["verdict"]} for each in found]
        setattr(report, _ATTACHED, json.dumps(found))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the results that reports bring: this process may not be the one that audited."""
    if (attached := getattr(report, _ATTACHED, None)) is not None:
        from audit.auditor import read_result

        _kept.extend(map(read_result, json.loads(attached)))


_kept: list[Any] = []


def pytest_sessionstart() -> None:
    _kept.clear()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the worst evidence first; write the certificate if a folder was named."""
    if not _kept:
        return
    from audit.auditor import summarize
    from audit.certificate.document import Report

    session, results = config.stash[_SESSION], sorted(_kept, key=lambda result: str(result.name))
    terminalreporter.section("differential-privacy audits")
    for line in summarize(results, session.significance, verbose=config.get_verbosity() > 0):
        terminalreporter.write_line(line)
    folder = config.getoption("--dp-report")
    if folder is not None:
        report = Report(results, session.significance, session.budget, session.seed, confirmation=session.confirmation)
        try:
            terminalreporter.write_line(f"certificate: {report.save(folder)}")
        except AuditError as error:
            pytest.exit(f"--dp-report: {error}", pytest.ExitCode.USAGE_ERROR)


def _audits(item: pytest.Item) -> bool:
    return FIXTURE in getattr(item, "fixturenames", ())


def _settings(node: pytest.Item) -> Settings:
    """Return the settings in the markers of a test; the nearest one wins."""
    marks = list(node.iter_markers(FIXTURE))[::-1]
    if any(mark.args for mark in marks):
        raise pytest.UsageError(f"{node.nodeid}: the marker dp_audit takes keywords only, as in dp_audit(budget=1e6)")
    given = {key: value for mark in marks for key, value in mark.kwargs.items()}
    try:
        for name in given:
            if name not in _KEYWORDS:
                raise InvalidArgument.of(FIXTURE, f"be marked with {', '.join(_KEYWORDS)} only", name)
        return Settings(**{name: _KEYWORDS[name](value) for name, value in given.items()})
    except AuditError as error:
        raise pytest.UsageError(f"{node.nodeid}: {error}") from error
