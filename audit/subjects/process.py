"""Run every call in a process of its own: a call that hangs or dies ends that process and nothing else.

The thread that makes a call waits for the process and can kill it; an executor can do neither. Arguments and outcomes
are sent as bytes: only the process unpickles them.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
import os
import pickle
import platform
import socket
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, wait
from contextlib import suppress
from importlib import metadata
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import cloudpickle

from audit.base.errors import OtherCode

_START = 120.0  # seconds for a new process to import the package
_IDLE = 60.0  # seconds after which an idle process ends; the next call starts another
_WATCH = 1.0  # seconds between two looks at whether somebody still waits for the outcome
_SHOWN = 3  # differences between two codes that the message names

_idle: dict[str, list[_Process]] = defaultdict(list)  # by session: processes have imported the code of their time
_ended: set[str] = set()  # sessions
_lock = threading.Lock()


def call_isolated(
    function: bytes, arguments: bytes, session: str, timeout: float | None, is_wanted: Callable[[], bool] = lambda: True
) -> bytes:
    """Return the outcome of `run_pickled` in a process of the session, killed once `is_wanted` returns False."""
    with _lock:
        process = _idle[session].pop() if _idle[session] else _Process()
    try:
        return process.call(function, arguments, timeout, lambda: session not in _ended and is_wanted())
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
            outcome = self._started().submit(run_pickled, function, arguments)
            deadline = time.monotonic() + (math.inf if timeout is None else timeout)
            while not wait([outcome], min(_WATCH, max(0.0, deadline - time.monotonic()))).done:
                if time.monotonic() >= deadline:
                    self.stop()
                    return pickle.dumps(("error", TimeoutError(f"took longer than {timeout:g} s")))
                if not is_wanted():
                    raise ChildProcessError("was stopped: nobody waits for it")
            return bytes(outcome.result())
        except BaseException as error:
            self.stop()
            causes = {BrokenExecutor: "killed its process", TimeoutError: f"did not start within {_START:g} s"}
            cause = next((text for kind, text in causes.items() if isinstance(error, kind)), str(error))
            raise ChildProcessError(cause) from error

    def stop(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, kill_workers=True)

    def _started(self) -> Any:
        """Return the process once it answers. The next call is not to blame for one that died before it."""
        from loky import ProcessPoolExecutor

        if self._executor is not None:
            with suppress(BrokenExecutor):
                self._executor.submit(os.getpid).result(timeout=_START)
                return self._executor
            self.stop()
        self._executor = ProcessPoolExecutor(1, timeout=_IDLE, initializer=_end_with, initargs=(os.getpid(),))
        Finalize(None, self.stop, exitpriority=100)  # multiprocessing would wait until the process has been idle
        self._executor.submit(os.getpid).result(timeout=_START)
        return self._executor


def run_pickled(function: bytes, arguments: bytes) -> bytes:
    """Run a pickled call in this process; return a pickled pair, "value" and the value or "error" and the exception."""
    try:
        folder, path, code, function = pickle.loads(function)
        with suppress(OSError):
            os.chdir(folder)
        sys.path += [entry for entry in path if entry not in sys.path and os.path.isdir(entry)]
        _require_code(code)
        packed: bytes = cloudpickle.dumps(("value", pickle.loads(function)(*pickle.loads(arguments))))
    except Exception as error:
        packed = cloudpickle.dumps(("error", RuntimeError(f"{type(error).__name__}: {error}")))
        with suppress(Exception):  # many errors can be pickled but not unpickled
            exact = cloudpickle.dumps(("error", error))
            pickle.loads(exact)
            packed = exact
    return packed


def _end_with(parent: int) -> None:
    """End this process when the one that started it has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def loaded_code(names: Iterable[str]) -> dict[str, str]:
    """Return what this process has of each: "Python", "package NAME" (its version) or "module NAME" (its digest)."""
    return {name: _loaded(*name.split()) for name in names}


def loaded_modules(is_wanted: Callable[[str, str], bool]) -> list[str]:
    """Return "module NAME" for each loaded source file for which `is_wanted(top-level package, file)` holds."""
    files = {name: str(getattr(module, "__file__", None)) for name, module in sorted(sys.modules.items())}
    return [
        f"module {name}"
        for name, file in files.items()
        if file.endswith(".py") and name not in ("__main__", "__mp_main__") and is_wanted(name.partition(".")[0], file)
    ]


@functools.lru_cache(maxsize=2)
def _require_code(expected: tuple[tuple[str, str], ...]) -> None:
    here = loaded_code(name for name, _ in expected)
    differences = [f"{name} ({value} expected)" for name, value in expected if here[name] != value]
    if differences:
        more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
        shown = ", ".join(differences[:_SHOWN])
        raise OtherCode(f"a worker on {socket.gethostname()} has other code: {shown}{more}")


def _loaded(kind: str, name: str = "") -> str:
    try:
        if kind == "package":
            return metadata.version(name)
        if kind == "module":
            loaded = getattr(sys.modules.get(name), "__file__", None)
            file = loaded or getattr(importlib.util.find_spec(name), "origin", None)
            return hashlib.sha256(Path(str(file)).read_bytes()).hexdigest()[:12]
    except (ImportError, OSError, ValueError):  # also a package that is not installed
        return "missing"
    return platform.python_version()
