"""The value of the fixture `dp_audit`: audits by one method each, all on the test's share of the significance."""

from __future__ import annotations

import functools
import inspect
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import pytest

from audit.checks.base import Result
from audit.checks.precision import check_precision
from audit.checks.privacy.check import check_privacy
from audit.checks.randomness import check_randomness
from audit.checks.utility import (
    check_consistency,
    check_guarantee,
    check_inequality,
    check_lower_bound,
    check_packing,
    check_rate,
)
from audit.claims import Claim, claim_record
from audit.faces.pytest_plugin.session import Session, Settings
from audit.faces.pytest_plugin.summary import explain

P = ParamSpec("P")
R = TypeVar("R")
_OWN = ("name", "significance", "seed")  # what the session and the test decide


def _method(check: Callable[P, R]) -> Callable[Concatenate[Auditor, P], R]:
    """Return the method that audits as a function `audit.check_...` does, with its parameters and its documentation."""

    @functools.wraps(check)
    def method(self: Auditor, /, *arguments: P.args, **settings: P.kwargs) -> R:
        __tracebackhide__ = True
        return self._audit(check, arguments, settings)

    return method


class Auditor:
    """The fixture's value: audits that fail the test unless the verdict is the expected one, PASS unless given.

    Every method takes the parameters of the function `audit.check_...` of its name, but `name`, `significance` and
    `seed`; the significance is this test's share of the session's.
    """

    privacy = _method(check_privacy)
    precision = _method(check_precision)
    randomness = _method(check_randomness)
    inequality = _method(check_inequality)
    guarantee = _method(check_guarantee)
    consistency = _method(check_consistency)
    rate = _method(check_rate)
    lower_bound = _method(check_lower_bound)
    packing = _method(check_packing)

    def __init__(self, session: Session, test: str, settings: Settings) -> None:
        self.results: list[Result] = []
        self._session = session
        self._test = test
        self._settings = settings
        self._audits = 0

    def _audit(self, check: Callable[..., R], arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> R:
        """Audit with this test's name, share and seed; keep the result, and fail the test unless it is the expected."""
        __tracebackhide__ = True
        if refused := [name for name in _OWN if name in settings]:
            raise TypeError(f"`{refused[0]}` is set by the fixture: leave it out")
        if self._session.recorded:
            self._require_recordable(check, arguments, settings)
        name, share = self._next()
        given = {key: value for key, value in settings.items() if value is not None}
        default = {"budget": self._budget, "timeout": self._settings.timeout}
        result = check(*arguments, **{**default, **given}, name=name, significance=share, seed=self._seed(name))
        self.results.append(cast(Result, result))
        if not self.results[-1].met:
            pytest.fail(explain(result, self._test, self._session), pytrace=False)
        return result

    @staticmethod
    def _require_recordable(check: Callable[..., Any], arguments: tuple[Any, ...], settings: Mapping[str, Any]) -> None:
        """Raise for a claim that no certificate can hold, before anything is drawn."""
        claim = inspect.signature(check).bind_partial(*arguments, **settings).arguments.get("claim")
        if isinstance(claim, Claim):
            claim_record(claim)

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
