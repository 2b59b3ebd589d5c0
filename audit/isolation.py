"""Checks in processes of their own: a subject that hangs or dies takes its worker along, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from typing import Any

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool, TerminatedWorkerError

from audit.checks import PrivacyCheck
from audit.errors import AuditError
from audit.evidence import Evidence
from audit.examination import run_check
from audit.judge import judge
from audit.result import PrivacyResult
from audit.sampling import Stream

_START = 120.0  # seconds for a new worker to import the package


class Worker:
    """One process that runs one task at a time, replaced when it hangs or dies."""

    def __init__(self) -> None:
        self._executor: Any = None

    def call(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:
        """Run `function(*args)` in the process.

        Raises
        ------
        TimeoutError
            When it takes longer than `timeout` seconds.
        ChildProcessError
            When the process died.
        """
        try:
            if self._executor is None:
                self._executor = ProcessPoolExecutor(max_workers=1)
                self._executor.submit(_ready).result(timeout=_START)
            return self._executor.submit(function, *args).result(timeout=timeout)
        except (FutureTimeout, TimeoutError) as error:
            self.close()
            raise TimeoutError(f"took longer than {timeout:g} s") from error
        except (TerminatedWorkerError, BrokenProcessPool) as error:
            self.close()
            raise ChildProcessError("killed its process") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the process, at once."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, kill_workers=True)
            self._executor = None


def run_isolated(
    check: PrivacyCheck,
    budget: int,
    significance: float,
    stream: Stream,
    timeout: float,
    worker: Worker | None = None,
) -> PrivacyResult:
    """Run one check in a process of its own; INCONCLUSIVE with the cause when it hangs, dies or cannot be sent.

    Raises
    ------
    AuditError
        When the check itself raises one.
    """
    own = worker is None
    worker = worker or Worker()
    try:
        result = worker.call(run_check, check, budget, significance, stream, timeout=timeout)
        return replace(result, check=replace(check, pairs=result.check.pairs, datasets=None))
    except AuditError:
        raise
    except TimeoutError as error:
        return failed(check, budget, significance, "hung", f"the mechanism {error}", timeout)
    except ChildProcessError as error:
        return failed(check, budget, significance, "died", f"the mechanism {error}", 0.0)
    except Exception as error:
        return failed(check, budget, significance, "error", f"{type(error).__name__}: {error}", 0.0)
    finally:
        if own:
            worker.close()


def failed(
    check: PrivacyCheck, budget: int, significance: float, kind: str, reason: str, seconds: float
) -> PrivacyResult:
    """The result of a check that brought no evidence."""
    evidence = Evidence(0, oddities={kind: 1}, failure=reason)
    judgement = judge(check.claim, evidence, significance, check.tolerance)
    return PrivacyResult(check, check.budget or budget, significance, evidence, judgement, seconds)


def _ready() -> bool:
    return True
