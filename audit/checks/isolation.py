"""Checks away from this process: a subject that hangs or dies takes its worker along, and nothing else."""

from __future__ import annotations

from functools import partial
from typing import Any

from audit.base.errors import AuditError
from audit.checks.contract import Check
from audit.checks.kinds import examine, kind_of
from audit.subjects import Stream
from audit.subjects.workers import Place, Pool, open_pool


def run_isolated(
    check: Check,
    budget: int,
    significance: float,
    stream: Stream,
    timeout: float,
    pool: Pool | None = None,
    blocks: Place | None = None,
) -> Any:
    """Run one check elsewhere; INCONCLUSIVE with the cause when it hangs, dies or cannot be sent.

    Parameters
    ----------
    check, budget, significance, stream
        As for `audit.checks.kinds.examine`.
    timeout : float > 0
        Seconds that it may take.
    pool : Pool, optional
        Where it runs: in a process of its own unless given.
    blocks : Place, optional
        Where its blocks are drawn when they take long; where it runs unless given.

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
    if pool is None:
        with open_pool(Place(workers=1)) as own:
            return run_isolated(check, budget, significance, stream, timeout, own, blocks)
    kind = kind_of(check)
    work = examine if blocks is None else partial(kind.examine, place=blocks)

    def failed(cause: str, reason: str, seconds: float = 0.0) -> Any:
        return kind.failed(check, budget, significance, cause, reason, seconds)

    try:
        result = pool.call(work, check, budget, significance, stream, timeout=timeout)
        return kind.returned(result, check)
    except AuditError:
        raise
    except TimeoutError:
        return failed("hung", f"{kind.subject} took longer than {timeout:g} s", timeout)
    except ChildProcessError as error:
        return failed("died", f"{kind.subject} {error}")
    except Exception as error:
        return failed("error", f"{type(error).__name__}: {error}")

