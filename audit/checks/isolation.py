"""Checks away from this process: a subject that hangs or dies takes its worker along, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, Protocol

from audit.base.errors import AuditError
from audit.checks.contract import Check
from audit.checks.kinds import examine, kind_of
from audit.subjects import Stream
from audit.subjects.blocks import helped_by
from audit.subjects.workers import Executor
from audit.subjects.workers.crew import Crew
from audit.subjects.workers.worker import Worker


class Caller(Protocol):
    """Where a check may run: a process, or an executor."""

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None) -> Any:
        """Run `function(*arguments)`; TimeoutError when it hangs, ChildProcessError when it dies."""
        ...


def run_isolated(
    check: Check,
    budget: int,
    significance: float,
    stream: Stream,
    timeout: float,
    worker: Caller | None = None,
    crew: Callable[[], Executor] | None = None,
) -> Any:
    """Run one check elsewhere; INCONCLUSIVE with the cause when it hangs, dies or cannot be sent.

    Parameters
    ----------
    check, budget, significance, stream
        As for `audit.checks.kinds.examine`.
    timeout : float > 0
        Seconds that it may take.
    worker : Caller, optional
        Where it runs: in a process of its own unless given.
    crew : callable, optional
        Opens the executor that draws its blocks, when they take long; where it runs unless given.

    Returns
    -------
    Result
        Of the kind that belongs to the check.

    Raises
    ------
    AuditError
        When the check itself raises one.
    Unreachable
        When there is no worker left.
    """
    if worker is None:
        with closing(Worker()) as own:
            return run_isolated(check, budget, significance, stream, timeout, own, crew)
    kind = kind_of(check)
    work = examine if crew is None else partial(_examine_with_crew, crew, timeout)

    def failed(cause: str, reason: str, seconds: float = 0.0) -> Any:
        return kind.failed(check, budget, significance, cause, reason, seconds)

    try:
        result = worker.call(work, check, budget, significance, stream, timeout=timeout)
        return kind.returned(result, check)
    except AuditError:
        raise
    except TimeoutError:
        return failed("hung", f"{kind.subject} took longer than {timeout:g} s", timeout)
    except ChildProcessError as error:
        return failed("died", f"{kind.subject} {error}")
    except Exception as error:
        return failed("error", f"{type(error).__name__}: {error}")


def _examine_with_crew(crew: Callable[[], Executor], timeout: float, *arguments: Any) -> Any:
    """In the process of a long check: examine it, its blocks drawn by a crew."""
    with Crew(crew, timeout) as workers, helped_by(workers):
        return examine(*arguments)
