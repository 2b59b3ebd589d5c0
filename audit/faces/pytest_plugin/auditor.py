"""The value of the fixture `dp_audit`: audits by one method each, all on the test's share of the significance."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from audit.base.verdict import Verdict
from audit.checks.contract import Result
from audit.checks.isolation import run_isolated
from audit.checks.kinds import examine
from audit.checks.precision import PrecisionCheck
from audit.checks.privacy.check import Method
from audit.checks.privacy.function import check_privacy
from audit.checks.privacy.result import PrivacyResult
from audit.checks.randomness import RandomnessCheck, RandomnessResult
from audit.checks.utility import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    LowerBoundCheck,
    RateCheck,
    UtilityResult,
)
from audit.claims import Claim, claim_record
from audit.faces.pytest_plugin.session import Session, Settings
from audit.faces.pytest_plugin.summary import explain
from audit.subjects import Stream


class Auditor:
    """The fixture's value: audits that fail the test unless they PASS."""

    def __init__(self, session: Session, test: str, settings: Settings) -> None:
        self.results: list[Result] = []
        self._session = session
        self._test = test
        self._settings = settings
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
            budget=self._budget if budget is None else budget,
            significance=share,
            seed=self._seed(name),
            method=method,
            tolerance=tolerance,
            timeout=self._settings.timeout if timeout is None else timeout,
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
        budget, stream = check.budget or self._budget, Stream(self._seed(name))
        timeout = check.timeout or self._settings.timeout
        if timeout is None:
            return self._met(examine(check, budget, share, stream))
        return self._met(run_isolated(check, budget, share, stream, timeout))

    @property
    def _budget(self) -> int:
        return self._settings.budget or self._session.budget

    def _next(self) -> tuple[str, float]:
        """Name and significance of the next audit of this test."""
        __tracebackhide__ = True
        self._audits += 1
        audits = self._settings.audits
        if audits is not None and self._audits > audits:
            pytest.fail(f"the marker says audits={audits}, and this is one more: its share is spent", pytrace=False)
        name = self._test if self._audits == 1 else f"{self._test}[{self._audits}]"
        return name, self._session.share(self._audits, audits)

    def _seed(self, name: str) -> int:
        """Draws of its own for every audit, whatever the order of the tests."""
        seed = self._session.seed if self._settings.seed is None else self._settings.seed
        return seed + zlib.crc32(name.encode(errors="surrogatepass"))

    def _met(self, result: Any) -> Any:
        """Keep the result; fail the test unless the verdict is the expected one."""
        __tracebackhide__ = True
        self.results.append(result)
        if not result.met:
            pytest.fail(explain(result, self._test, self._session), pytrace=False)
        return result
