"""The pytest face: a fixture `dp_audit`, and one significance for the whole session.

The session's significance is shared out equally over the collected tests that use the fixture; within a test the
k-th audit gets 1/(k (k + 1)) of the test's share, so that no number of audits overspends it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from audit.arguments import integer, open_probability
from audit.checks import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE, Method
from audit.claim_kinds import Claim, claim_record
from audit.contract import Result
from audit.describe import code_of
from audit.errors import AuditError
from audit.isolation import run_isolated
from audit.kinds import examine
from audit.precision import PrecisionCheck
from audit.privacy import check_privacy
from audit.randomness import RandomnessCheck, RandomnessResult
from audit.report.certificate import Report
from audit.result import PrivacyResult
from audit.sampling import Stream
from audit.utility import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    LowerBoundCheck,
    RateCheck,
    UtilityResult,
)
from audit.verdict import Verdict


@dataclass
class Session:
    """What the audits of a pytest session share."""

    significance: float
    budget: int
    seed: int
    recorded: bool = False
    tests: int = 1
    results: list[Result] = field(default_factory=list)


_SESSION = pytest.StashKey[Session]()


class Auditor:
    """The fixture's value: audits that fail the test unless they PASS."""

    def __init__(self, session: Session, test: str) -> None:
        self._session = session
        self._test = test
        self._audits = 0

    def privacy(
        self,
        mechanism: Any,
        claim: Claim,
        pairs: Sequence[tuple[Any, Any]] = (),
        *,
        datasets: Any = None,
        budget: int | None = None,
        method: Method = "auto",
        tolerance: float | None = None,
        timeout: float | None = None,
        expected: Verdict = Verdict.PASS,
    ) -> PrivacyResult:
        """Audit a privacy claim; fails the test unless the verdict is the expected one.

        Parameters are those of `audit.check_privacy`; the significance is this test's share of the session's.
        """
        __tracebackhide__ = True
        if self._session.recorded:
            claim_record(claim)  # raises for a claim that no certificate can hold
        name, share = self._next()
        result = check_privacy(
            mechanism,
            claim,
            pairs,
            datasets=datasets,
            budget=self._session.budget if budget is None else budget,
            significance=share,
            seed=self._seed(name),
            method=method,
            tolerance=tolerance,
            timeout=timeout,
            name=name,
        )
        result = replace(result, check=replace(result.check, expected=expected))
        return self._met(result)

    def precision(
        self, mechanism: Any, claim: Claim, pairs: Sequence[tuple[Any, Any]], **parameters: Any
    ) -> PrivacyResult:
        """Audit a privacy claim by the bits of the outputs; parameters are those of `audit.PrecisionCheck`."""
        __tracebackhide__ = True
        if self._session.recorded:
            claim_record(claim)
        result: PrivacyResult = self._run(PrecisionCheck, mechanism=mechanism, claim=claim, pairs=pairs, **parameters)
        return result

    def randomness(self, mechanism: Any, dataset: Any, **parameters: Any) -> RandomnessResult:
        """Audit the independence of outputs; parameters are those of `audit.RandomnessCheck`."""
        __tracebackhide__ = True
        result: RandomnessResult = self._run(RandomnessCheck, mechanism=mechanism, dataset=dataset, **parameters)
        return result

    def inequality(self, values: Any = None, **parameters: Any) -> UtilityResult:
        """Audit a stated inequality; parameters are those of `audit.InequalityCheck`."""
        __tracebackhide__ = True
        return self._proved(InequalityCheck, values=values, **parameters)

    def guarantee(self, trials: Any, beta: float, **parameters: Any) -> UtilityResult:
        """Audit a guarantee of probability 1 - beta; parameters are those of `audit.GuaranteeCheck`."""
        __tracebackhide__ = True
        return self._proved(GuaranteeCheck, trials=trials, beta=beta, **parameters)

    def consistency(self, losses: Any = None, sizes: Sequence[int] = (), **parameters: Any) -> UtilityResult:
        """Audit consistency; parameters are those of `audit.ConsistencyCheck`."""
        __tracebackhide__ = True
        return self._proved(ConsistencyCheck, losses=losses, sizes=sizes, **parameters)

    def rate(self, losses: Any = None, sizes: Sequence[int] = (), **parameters: Any) -> UtilityResult:
        """Audit a rate of decay; parameters are those of `audit.RateCheck`."""
        __tracebackhide__ = True
        return self._proved(RateCheck, losses=losses, sizes=sizes, **parameters)

    def lower_bound(self, losses: Any = None, sizes: Sequence[int] = (), **parameters: Any) -> UtilityResult:
        """Audit a lower bound for private learners; parameters are those of `audit.LowerBoundCheck`."""
        __tracebackhide__ = True
        return self._proved(LowerBoundCheck, losses=losses, sizes=sizes, **parameters)

    def _proved(self, kind: Callable[..., Any], **parameters: Any) -> UtilityResult:
        __tracebackhide__ = True
        result: UtilityResult = self._run(kind, **parameters)
        return result

    def _run(self, kind: Callable[..., Any], **parameters: Any) -> Any:
        """Run a check of any kind with this audit's name, share and seed."""
        __tracebackhide__ = True
        name, share = self._next()
        check = kind(name=name, **parameters)
        budget, stream = check.budget or self._session.budget, Stream(self._seed(name))
        if check.timeout is None:
            return self._met(examine(check, budget, share, stream))
        return self._met(run_isolated(check, budget, share, stream, check.timeout))

    def _next(self) -> tuple[str, float]:
        """Name and significance of the next audit of this test."""
        self._audits += 1
        name = self._test if self._audits == 1 else f"{self._test}[{self._audits}]"
        return name, self._session.significance / self._session.tests / (self._audits * (self._audits + 1))

    def _seed(self, name: str) -> int:
        """Draws of its own for every audit, whatever the order of the tests."""
        return self._session.seed + zlib.crc32(name.encode())

    def _met(self, result: Any) -> Any:
        """Keep the result; fail the test unless the verdict is the expected one."""
        __tracebackhide__ = True
        self._session.results.append(result)
        if not result.met:
            pytest.fail(explain(result), pytrace=False)
        return result


def explain(result: Any) -> str:
    """What a failing test prints."""
    lines = [f"{result.verdict}: {result.check.claim}", f"  {result.reason}"]
    if getattr(result, "witness", None) is not None:
        left, right = result.witness.pair
        lines += [
            f"  left  = {code_of(left)}",
            f"  right = {code_of(right)}",
            f"  event: {result.witness.text}, likelier on {result.witness.direction}",
        ]
    lines.append(f"  {result.samples:,} outputs in {result.seconds:.1f} s")
    return "\n".join(lines)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the command line."""
    group = parser.getgroup("dp-audit", "differential-privacy audits")
    group.addoption(
        "--dp-significance",
        type=float,
        default=DEFAULT_SIGNIFICANCE,
        metavar="A",
        help="probability that any true claim of the session is judged FAIL (default: %(default)s)",
    )
    group.addoption(
        "--dp-budget",
        type=float,
        default=DEFAULT_BUDGET,
        metavar="N",
        help="outputs a side for each audit that states no budget (default: %(default)s)",
    )
    group.addoption("--dp-seed", type=int, default=0, metavar="S", help="seed of all audits (default: %(default)s)")
    group.addoption("--dp-report", type=Path, default=None, metavar="DIR", help="write a certificate to DIR")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse impossible options before anything is collected."""
    try:
        config.stash[_SESSION] = Session(
            open_probability(config.getoption("--dp-significance"), "--dp-significance"),
            integer(config.getoption("--dp-budget"), "--dp-budget", at_least=2),
            integer(config.getoption("--dp-seed"), "--dp-seed", at_least=0),
            recorded=config.getoption("--dp-report") is not None,
        )
    except AuditError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests among which the significance is shared."""
    using = [item for item in session.items if "dp_audit" in getattr(item, "fixturenames", ())]
    session.config.stash[_SESSION].tests = max(1, len(using))


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Auditor:
    """Audits of privacy claims: `dp_audit.privacy(mechanism, claim, pairs)` fails the test unless it PASSes."""
    return Auditor(request.config.stash[_SESSION], request.node.nodeid)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line an audit, and the certificate when a folder was named."""
    session = config.stash[_SESSION]
    if not session.results:
        return
    terminalreporter.section("differential-privacy audits")
    for result in session.results:
        terminalreporter.write_line(f"{result.verdict.value:12} {result.name}: {result.reason}")
    folder = config.getoption("--dp-report")
    if folder is not None:
        report = Report(session.results, session.significance, session.budget, session.seed)
        terminalreporter.write_line(f"certificate: {report.save(folder)}")
