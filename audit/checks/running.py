"""Run one check: gather its evidence here or in a process of its own, judge it, and return the result."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from audit.base.errors import AuditError
from audit.base.text import described
from audit.checks import confirm
from audit.checks.allowance import Allowance
from audit.checks.base import Check, Result, known_source
from audit.subjects.place import HERE, Place
from audit.subjects.pool import Pool, open_pool
from audit.subjects.supervisor import is_of_subject


def run_check(
    check: Check,
    allowance: Allowance,
    timeout: float | None = None,
    pool: Pool | None = None,
    blocks: Place | None = None,  # where its blocks are drawn when they take long; where it runs unless given
) -> Result:
    """Gather and judge the evidence of one check; the check's own budget, if it has one, replaces the allowance's.

    With a `timeout` in seconds its evidence is gathered in a new process, of `pool` or of this machine, comes back as
    plain data, and is judged here. It is INCONCLUSIVE with the cause when it hangs, dies or cannot be sent. An
    `AuditError` of the check, or `Unreachable`, is raised.
    """
    check, allowance = check.planned(allowance)
    if timeout is not None and allowance.seconds is not None:  # the rest of it is for what is not drawing
        allowance = replace(allowance, seconds=min(allowance.seconds, timeout / 2))
    if timeout is None:
        return _gather_and_judge(check, allowance)
    if pool is None:
        with open_pool(Place(workers=1), [check]) as own:
            return run_check(check, allowance, timeout, own, blocks)
    there, printed = replace(allowance, place=HERE if blocks is None else blocks), list[str]()
    source: dict[str, Any] = {}
    try:
        if pool.is_here:
            ended: Result = pool.call(_gather_and_judge, check, there)
            return ended
        seconds = 0.0

        def gathered(allowed: Allowance) -> Any:
            nonlocal seconds
            evidence, taken, found = pool.call(_gather, check, allowed, timeout=timeout, hear=printed.append)
            source.update(found)
            seconds += float(taken)
            return check.received(evidence)

        evidence, first = confirm.confirmed(  # it is, unless the subject has kept its process from that
            check, gathered(there), there, lambda level: map(gathered, confirm.fresh_allowances(there, level))
        )
        result = _judged(check, allowance, evidence, seconds, first)
    except AuditError:
        raise
    except TimeoutError:
        result = failed_check(check, allowance, "hung", out_of_time(check, timeout), timeout)
    except ChildProcessError as error:
        result = failed_check(check, allowance, "died", f"{check.noun} {error}")
    except BaseException as error:
        if not is_of_subject(error):
            raise
        result = failed_check(check, allowance, "error", f"{type(error).__name__}: {described(error)}")
    isolation = "caller" if pool.is_here else "process"
    return replace(result, isolation=isolation, printed="".join(printed), source=source)


def out_of_time(check: Check, timeout: float) -> str:
    """Return the reason of a check that was stopped at its time limit, in calls of the subject or between them."""
    return f"{check.noun} and its audit took longer than {timeout:g} s: set `timeout` to {2 * timeout:g} or more"


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Result:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    check, allowance = check.planned(allowance)
    return _judged(check, allowance, check.nothing(reason, cause), seconds)


def _gather(check: Check, allowance: Allowance) -> tuple[Any, float, dict[str, Any]]:
    """Return evidence as plain data, its duration, and which code was run.

    It runs in a process of its own, and is judged in another.
    """
    started = time.perf_counter()
    evidence, _ = confirm.gather(check, allowance)
    seconds = time.perf_counter() - started
    return check.sent(evidence), seconds, known_source(check.completed(evidence).subject)


def _gather_and_judge(check: Check, allowance: Allowance) -> Result:
    started = time.perf_counter()
    evidence, first = confirm.gather(check, allowance)
    return _judged(check, allowance, evidence, time.perf_counter() - started, first)


def _judged(check: Check, allowance: Allowance, evidence: Any, seconds: float, first: Any = None) -> Result:
    found, level = check.completed(evidence), allowance.significance
    judgment = confirm.judge(type(check), found.terms(), evidence, level, allowance.confirmation, first)
    return check.result_type(
        found,
        check.granted(evidence, allowance),
        level,
        evidence,
        judgment,
        seconds,
        confirmation=allowance.confirmation,
    )
