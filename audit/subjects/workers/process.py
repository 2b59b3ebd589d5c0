"""A process of its own for every call: a call that hangs or dies takes only its process along.

The thread that makes a call waits for the process and can kill it. This works alike in this process, in the threads of
a Dask worker and in anybody's `concurrent.futures` pool, none of which can stop a call that hangs or survive one that
dies. Arguments and outcomes travel as bytes: only the process unpickles them.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from audit.subjects.workers.code import require_code

_START = 120.0  # seconds for a new process to import the package
_IDLE = 60.0  # seconds after which an idle process ends; the next call starts another
_WATCH = 1.0  # seconds between two looks at whether somebody still waits for the outcome

_idle: dict[str, list[_Process]] = defaultdict(list)  # by session: processes have imported the code of their time
_ended: set[str] = set()  # sessions
_lock = threading.Lock()


@dataclass(frozen=True)
class Setting:
    """Working folder, import path and code of the process that calls are for."""

    folder: str
    path: tuple[str, ...]
    code: Mapping[str, str] | None

    def enter(self) -> None:
        """Use the folder and the path where they exist; raise `OtherCode` where the code differs."""
        with suppress(OSError):
            os.chdir(self.folder)
        sys.path += [entry for entry in self.path if entry not in sys.path and os.path.isdir(entry)]
        require_code(self.code or {})


def call_isolated(
    function: bytes, arguments: bytes, session: str, timeout: float | None, is_wanted: Callable[[], bool] = lambda: True
) -> bytes:
    """Run a call in an idle process of the session, and return its outcome.

    Parameters
    ----------
    function, arguments : bytes
        The pickled pair of a `Setting` and a pickled function; the pickled tuple of its arguments.
    session : str
        Processes are reused within a session, and killed when it ends.
    timeout : float > 0 or None
        Seconds that the call may take; the start of a process does not count.
    is_wanted : callable
        Asked about every second; the process is killed when it returns False.

    Returns
    -------
    bytes
        The pickled pair of "value" and what was returned, or of "error" and what was raised.

    Raises
    ------
    ChildProcessError
        When the process died or was killed.
    """
    with _lock:
        process = _idle[session].pop() if _idle[session] else _Process()
    try:
        return process.call(function, arguments, timeout, lambda: session not in _ended and is_wanted())
    except TimeoutError as error:
        return pickle.dumps(("error", error))
    finally:
        with _lock:
            process.stop() if session in _ended else _idle[session].append(process)


def end_session(session: str) -> None:
    """Kill the processes of a session: the idle ones at once, the others within a second."""
    with _lock:
        _ended.add(session)
        for process in _idle.pop(session, ()):
            process.stop()


class _Process:
    """A process that runs one call at a time, replaced when it hung or died."""

    def __init__(self) -> None:
        self._executor: Any = None

    def call(self, function: bytes, arguments: bytes, timeout: float | None, is_wanted: Callable[[], bool]) -> bytes:
        try:
            return _awaited(self._started().submit(_outcome, function, arguments), timeout, is_wanted)
        except (FutureTimeout, TimeoutError):
            self.stop()
            raise TimeoutError(f"took longer than {timeout:g} s") from None
        except BaseException as error:
            self.stop()
            cause = "killed its process" if isinstance(error, BrokenExecutor) else str(error)
            raise ChildProcessError(cause) from error

    def stop(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, kill_workers=True)

    def _started(self) -> Any:
        """Return the process once it answers. One that died since the last call is no fault of the next one."""
        from loky import ProcessPoolExecutor

        if self._executor is not None:
            with suppress(BrokenExecutor):
                self._executor.submit(_ready).result(timeout=_START)
                return self._executor
            self.stop()
        self._executor = ProcessPoolExecutor(1, timeout=_IDLE, initializer=_end_with, initargs=(os.getpid(),))
        self._executor.submit(_ready).result(timeout=_START)
        return self._executor


def _awaited(future: Any, timeout: float | None, is_wanted: Callable[[], bool]) -> bytes:
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        left = min(_WATCH, deadline - time.monotonic())
        try:
            return bytes(future.result(timeout=left))
        except FutureTimeout:
            if left < _WATCH:
                raise
            if not is_wanted():
                raise ChildProcessError("was stopped: nobody waits for it") from None


def _outcome(function: bytes, arguments: bytes) -> bytes:
    """In the process: run a pickled call, and pickle its outcome."""
    import cloudpickle

    try:
        setting, function = pickle.loads(function)
        setting.enter()
        packed: bytes = cloudpickle.dumps(("value", pickle.loads(function)(*pickle.loads(arguments))))
    except Exception as error:
        packed = cloudpickle.dumps(("error", RuntimeError(f"{type(error).__name__}: {error}")))
        with suppress(Exception):  # many errors can be pickled but not unpickled
            exact = cloudpickle.dumps(("error", error))
            pickle.loads(exact)
            packed = exact
    return packed


def _ready() -> bool:
    return True


def _end_with(parent: int) -> None:
    """In the process: end when the process that started it is gone."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
