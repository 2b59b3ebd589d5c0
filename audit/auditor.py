"""The value of the fixture `dp_audit`, and the summary of a session's audits, worst first.

Results travel between processes as plain data in the reports of tests: `write_result` and `read_result`.
"""

from __future__ import annotations

import inspect
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import pytest

import audit
from audit import plugins
from audit.certificate.summary import find_view
from audit.checks.base import Result
from audit.claims import Claim, claim_record
from audit.defaults import FIXTURE, Options, Settings
from audit.errors import AuditError
from audit.execution.seeds import name_key
from audit.lazy import name_keywords
from audit.runner import Recorded
from audit.text import count_of, printable

P = ParamSpec("P")
R = TypeVar("R")
_OWN = ("name", "significance", "confirmation", "seed")  # the session and the test decide these
_SHOWN = 20  # audits that came out as expected


class Auditor:
    """The fixture's value: audits that fail the test unless the verdict is the expected one, PASS unless given.

    Every method takes the parameters of the function `audit.check_...` of its name, but `name`, `significance` and
    `seed`; the significance is this test's share of the session's.
    """

    if TYPE_CHECKING:
        privacy = staticmethod(audit.check_privacy)
        precision = staticmethod(audit.check_precision)
        outputs = staticmethod(audit.check_outputs)
        randomness = staticmethod(audit.check_randomness)
        estimator = staticmethod(audit.check_estimator)
        interactive = staticmethod(audit.check_interactive)
        stability = staticmethod(audit.check_stability)
        inequality = staticmethod(audit.check_inequality)
        guarantee = staticmethod(audit.check_guarantee)
        consistency = staticmethod(audit.check_consistency)
        rate = staticmethod(audit.check_rate)
        canaries = staticmethod(audit.check_canaries)
        accounting = staticmethod(audit.check_accounting)
        training = staticmethod(audit.check_training)
    else:

        def __getattr__(self, name):
            """Return the function `check_<name>` of a plugin as a method."""
            functions = plugins.list_functions()
            if name not in functions:
                raise AttributeError(f"`{FIXTURE}` has no method {name!r}: it is one of {', '.join(functions)}")
            return partial(self.audit, name_keywords(plugins.load(functions[name]), f"{FIXTURE}.{name}"))

        def __dir__(self):
            return [*super().__dir__(), *plugins.list_functions()]

    def __init__(self, session: Options, test: str, settings: Settings) -> None:
        self.results: list[Result] = []
        self._session, self._test, self._settings = session, test, settings
        self.seed = settings.seed  # None: the session's
        self._audits = 0

    def audit(self, function: Callable[P, R], /, *arguments: P.args, **settings: P.kwargs) -> R:
        """Audit with this test's name, share and seed; keep the result, and fail the test if it is not expected."""
        __tracebackhide__ = True
        session, marked = self._session, self._settings
        if refused := [name for name in _OWN if name in settings]:
            raise TypeError(f"`{refused[0]}` is set by the fixture: leave it out")
        if session.recorded:  # a claim that no certificate can hold raises before anything is drawn
            claim = inspect.signature(function).bind_partial(*arguments, **settings).arguments.get("claim")
            if isinstance(claim, Claim):
                claim_record(claim)
        self._audits += 1
        if marked.audits is not None and self._audits > marked.audits:
            pytest.fail(f"the marker says audits={marked.audits}, and this is one more: its share is spent", False)
        name = self._test if self._audits == 1 else f"{self._test}[{self._audits}]"
        seed = session.seed if marked.seed is None else marked.seed
        given = {key: value for key, value in settings.items() if value is not None}
        parts = marked.audits or self._audits * (self._audits + 1)  # 1/(k (k + 1)) adds up to 1, however many
        usual = {"budget": marked.budget or session.budget, "timeout": marked.timeout, "floats": session.floats}
        taken = inspect.signature(function).parameters
        check: Callable[..., R] = function
        result = check(
            *arguments,
            **{name: value for name, value in usual.items() if name in taken and name not in given},
            **given,
            name=name,
            significance=session.significance / session.tests / parts,
            confirmation=session.confirmation and session.confirmation / session.tests / parts,
            seed=seed + name_key(name),  # whatever the order of the tests
        )
        self.results.append(cast(Result, result))
        if not self.results[-1].met:  # the command gives the test the same seeds, budgets and share
            pytest.fail(
                f"{result}; the same audit alone:\n  pytest {shlex.quote(self._test)} "
                f"--dp-significance={session.significance / session.tests!r} "
                f"--dp-confirmation={session.confirmation and session.confirmation / session.tests!r} "
                f"--dp-budget={session.budget} --dp-seed={session.seed}",
                pytrace=False,
            )
        return result


def write_result(result: Result, seed: int | None = None) -> dict[str, Any]:
    """Return a result as plain data for `received`; `seed` is the test's own, if it has one."""
    try:
        document = result.to_dict()
        return document if seed is None else {**document, "settings": {**document["settings"], "seed": seed}}
    except AuditError:  # a claim of the user's own kind, which no certificate can hold; the summary can
        return {
            "name": result.name,
            "verdict": result.verdict.value,
            "reason": result.reason,
            "expected": result.check.expected.value,
            "settings": {"significance": result.significance},
            "evidence": {"samples": result.samples},
            "seconds": result.seconds,
        }


def read_result(record: Mapping[str, Any]) -> Recorded:
    """Return the result that this process or another one has put into the report of a test."""
    document = dict(record)
    apart: dict[str, Any] = {name: document.pop(name) for name in ("isolation", "printed") if name in document}
    apart["source"] = document.pop("sources", {})
    return Recorded.of_record(document, float(document.pop("seconds")), **apart)


def summarize(results: Sequence[Any], significance: float, verbose: bool = False) -> Iterator[str]:
    """Yield one line per audit, the worst evidence first; of those that came out as expected, a few."""
    ordered = sorted(results, key=_standing)
    unmet = sum(not result.met for result in ordered)
    for result in ordered[: unmet + _SHOWN]:
        why = "; ".join([result.reason, *result.scope]) if verbose else find_view(result.record()).reason
        yield printable(f"{result.outcome:14} {result.name}: {why}")
    rest = ordered[unmet + _SHOWN :]
    if rest:
        counts = Counter(result.outcome for result in rest)
        yield f"and {len(rest)} more as expected: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    spent = sum(result.significance for result in results)
    yield f"significance {spent:.3g} of {significance:g} used by {count_of(len(results), 'audit')}"


def _standing(result: Any) -> tuple[bool, int, float, str]:
    """Order unexpected results first, then by verdict, then by the share of the claimed epsilon that was certified."""
    record = result.record()
    bound, claimed = record.get("epsilon_lower_bound"), record.get("claim", {}).get("epsilon")
    known = isinstance(bound, (int, float)) and isinstance(claimed, (int, float)) and claimed > 0
    return result.met, -result.verdict.severity, -bound / claimed if known else 0.0, str(result.name)
