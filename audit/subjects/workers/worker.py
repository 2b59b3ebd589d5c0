"""One process of its own: whatever hangs or dies in it takes this process along, and nothing else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from loky import ProcessPoolExecutor
from loky.process_executor import BrokenProcessPool, TerminatedWorkerError

_START = 120.0  # seconds for a new process to import the package
_IDLE = 60.0  # seconds after which a process that has nothing to do ends; the next call starts another
_WATCH = 1.0  # seconds between two looks at whether somebody still waits for the result


class Worker:
    """One process that runs one task at a time, replaced when it hangs or dies."""

    def __init__(self) -> None:
        self._executor: Any = None

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        timeout: float | None,
        is_wanted: Callable[[], bool] | None = None,
    ) -> Any:
        """Run `function(*arguments)` in the process; stop it when `is_wanted`, asked now and then, says no.

        Raises
        ------
        TimeoutError
            When it takes longer than `timeout` seconds.
        ChildProcessError
            When the process died, or was stopped.
        """
        try:
            return _awaited(self._begun().submit(function, *arguments), timeout, is_wanted)
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
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, kill_workers=True)

    def _begun(self) -> Any:
        """The process, up and running, so that a limit of time does not count its start."""
        if self._executor is not None:
            try:
                self._executor.submit(_ready).result(timeout=_START)
                return self._executor
            except (TerminatedWorkerError, BrokenProcessPool):  # it died between two tasks: no fault of the next one
                self.close()
        self._executor = ProcessPoolExecutor(1, timeout=_IDLE, initializer=_end_with, initargs=(os.getpid(),))
        self._executor.submit(_ready).result(timeout=_START)
        return self._executor


def _awaited(future: Any, timeout: float | None, is_wanted: Callable[[], bool] | None) -> Any:
    if is_wanted is None:
        return future.result(timeout=timeout)
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        left = _WATCH if deadline is None else min(_WATCH, deadline - time.monotonic())
        try:
            return future.result(timeout=left)
        except FutureTimeout:
            if future.done() or left < _WATCH:
                raise
            if not is_wanted():
                raise ChildProcessError("was stopped: nobody waits for it") from None


def _ready() -> bool:
    return True


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it has gone, however that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
