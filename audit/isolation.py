"""Checks in processes of their own: a subject that hangs or dies takes its worker along, and nothing else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool, TerminatedWorkerError

from audit.contract import Check
from audit.errors import AuditError
from audit.kinds import examine, kind_of
from audit.sampling import Stream

_START = 120.0  # seconds for a new worker to import the package
_WATCH = 1.0  # seconds between two looks of a worker at whether its parent is alive


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
                self._executor = ProcessPoolExecutor(1, initializer=_end_with, initargs=(os.getpid(),))
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
    check: Check,
    budget: int,
    significance: float,
    stream: Stream,
    timeout: float,
    worker: Worker | None = None,
) -> Any:
    """Run one check in a process of its own; INCONCLUSIVE with the cause when it hangs, dies or cannot be sent.

    Returns
    -------
    Result
        Of the kind that belongs to the check.

    Raises
    ------
    AuditError
        When the check itself raises one.
    """
    kind = kind_of(check)
    own = worker is None
    worker = worker or Worker()

    def failed(cause: str, reason: str, seconds: float = 0.0) -> Any:
        return kind.failed(check, budget, significance, cause, reason, seconds)

    try:
        result = worker.call(examine, check, budget, significance, stream, timeout=timeout)
        return kind.returned(result, check)
    except AuditError:
        raise
    except TimeoutError as error:
        return failed("hung", f"{kind.subject} {error}", timeout)
    except ChildProcessError as error:
        return failed("died", f"{kind.subject} {error}")
    except Exception as error:
        return failed("error", f"{type(error).__name__}: {error}")
    finally:
        if own:
            worker.close()


def _ready() -> bool:
    return True


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it has gone, however that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
