"""Run one check: here, or where a mechanism that hangs or dies takes nothing else along."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from audit.base.errors import AuditError
from audit.checks.base import Allowance, Check
from audit.subjects.describe import name_of
from audit.subjects.workers import HERE, Place, Pool, open_pool


def run_check(
    check: Check,
    allowance: Allowance,
    timeout: float | None = None,
    pool: Pool | None = None,
    blocks: Place | None = None,
) -> Any:
    """Gather and judge the evidence of one check; the check's own budget, if it has one, replaces the allowance's.

    Parameters
    ----------
    timeout : float > 0, optional
        Seconds that it may take, away from this process; None runs it in this process, without a limit.
    pool : Pool, optional
        Where it runs under a limit: in a process of its own unless given.
    blocks : Place, optional
        Where its blocks are drawn when they take long; where it runs unless given.

    Returns
    -------
    Result
        Of the check's `result_type`; under a limit it is INCONCLUSIVE with the cause when the check hangs, dies or
        cannot be sent.

    Raises
    ------
    AuditError
        If the check itself raises one.
    Unreachable
        If no worker is left.
    """
    allowance = replace(allowance, budget=check.budget or allowance.budget)
    if timeout is None:
        return _gather_and_judge(check, allowance)
    if pool is None:
        with open_pool(Place(workers=1)) as own:
            return run_check(check, allowance, timeout, own, blocks)
    try:
        there = replace(allowance, place=HERE if blocks is None else blocks)
        return pool.call(_gather_and_judge, check, there, timeout=timeout).of(check)
    except AuditError:
        raise
    except TimeoutError:
        return failed_check(check, allowance, "hung", f"{check.noun} took longer than {timeout:g} s", timeout)
    except ChildProcessError as error:
        return failed_check(check, allowance, "died", f"{check.noun} {error}")
    except Exception as error:
        return failed_check(check, allowance, "error", f"{type(error).__name__}: {error}")


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Any:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    allowance = replace(allowance, budget=check.budget or allowance.budget)
    return _judged(check, allowance, check.nothing(reason, cause), seconds)


def checked(check_type: type[Check], arguments: Mapping[str, Any]) -> Any:
    """Run the check that the arguments of a function `check_...` describe, and return its result.

    Parameters
    ----------
    check_type : type
    arguments : mapping
        The `locals()` of the function: `budget`, `significance`, `seed` and, where it has them, `workers`; the rest are
        fields of the check. Unless `name` is given, the first callable lends its name.
    """
    fields = dict(arguments)
    allowance = {name: fields.pop(name) for name in ("budget", "significance", "seed", "workers") if name in fields}
    fields["name"] = fields["name"] or name_of(next(filter(callable, fields.values()), None))
    check = check_type(**fields)
    return run_check(check, Allowance.of(**allowance), check.timeout)


def _gather_and_judge(check: Check, allowance: Allowance) -> Any:
    started = time.perf_counter()
    evidence = check.gather(allowance)
    return _judged(check, allowance, evidence, time.perf_counter() - started)


def _judged(check: Check, allowance: Allowance, evidence: Any, seconds: float) -> Any:
    significance = allowance.significance
    judgment = check.judge(check.terms(), evidence, significance)
    return check.result_type(check.completed(evidence), allowance.budget, significance, evidence, judgment, seconds)
