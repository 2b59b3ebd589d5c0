"""Run every call in a process of its own: a call that hangs or dies ends that process and nothing else.

The thread that makes a call waits for a supervisor (`supervisor.py`), which forks the process, and can kill it.
Arguments and outcomes are bytes: only the process of the call unpickles arguments, and the outcome of a check is JSON.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import json
import math
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, ClassVar, NamedTuple

import cloudpickle

from audit.errors import OtherCode, Unreachable
from audit.execution import supervisor
from audit.execution.threads import with_one_thread
from audit.mechanism.provenance import describe_code
from audit.text import described, printable

DEATHS = 3  # attempts at a call whose supervisor dies, or the worker of a cluster; then the call is to blame
_START = 120.0  # seconds for a new process to import the package
_WATCH = 1.0  # seconds between two looks at whether somebody still waits for the outcome
_GRACE = 5.0  # seconds for a supervisor to kill a call and to say what it has printed
_MOMENT = 0.002  # seconds between two looks at whether a fork server has ended
FORKS = hasattr(os, "fork") and sys.platform != "darwin"  # forked processes of macOS may not use its frameworks
_MOST_SHOWN = 3  # differences between two codes that a message names
_ENVIRONMENT = (ImportError, AttributeError)  # what unpickling raises where a module is missing, or is another one

_inherited: Sequence[Any] = ()  # objects that forked processes have, and that are sent to them by number
not_inherited: set[int] = set()  # file descriptors that forked processes close: the locks of this process
_brought: dict[str, Processes] = {}  # by session: for calls that another executor has brought to this process
_lock = threading.Lock()


class Outcome(NamedTuple):
    """Hold what became of a call, as plain data."""

    kind: str  # "value", "error" of the function, "refused" (cannot be loaded), "other" (code), "hung", "died"
    content: bytes
    printed: str = ""


class _NotStarted(Exception):
    """The process that was to take a call ended before it did."""


class Processes:
    """The supervisors of one session; each runs one call at a time."""

    def __init__(self, start: Callable[[], _Supervisor], shares: bool = False) -> None:
        self._start, self._shares = start, shares  # whether a process may run one call after the other
        self._has_ended, self._lock = False, threading.Lock()
        self._idle: list[_Supervisor] = []
        self._busy: set[_Supervisor] = set()

    def call(
        self,
        function: bytes,
        arguments: bytes,
        timeout: float | None,
        is_wanted: Callable[[], bool] = lambda: True,
        attempts: int = DEATHS,
    ) -> Outcome:
        """Return the outcome of a call, which is killed when it takes longer, or once `is_wanted` returns False."""
        request, has_begun = pickle.dumps((_own_modules(), function, arguments)), False
        for _ in range(attempts):
            with self._lock:
                one = self._idle.pop() if self._idle else None
            one = one or self._start()
            with self._lock:
                self._busy.add(one)
            try:
                outcome = one.call(request, timeout, lambda: not self._has_ended and is_wanted())
                if outcome is not None:
                    return outcome
                has_begun = True
            except _NotStarted:
                continue
            finally:
                with self._lock:
                    self._busy.discard(one)
                    if one.is_usable and (one.forks or self._shares) and not self._has_ended:
                        self._idle.append(one)
                    else:
                        one.stop()
        if has_begun:
            return Outcome("died", b"killed its process, and the one that watches it")
        raise Unreachable(f"no process can be started on {socket.gethostname()}")

    def end(self) -> None:
        """Kill the processes: the idle ones, and those with a call."""
        with self._lock:
            self._has_ended = True
            for one in self._idle:
                one.stop()
            self._idle.clear()
            for one in self._busy:
                one.interrupt()


class _Supervisor:
    """A supervisor, as the process sees it that gives it calls."""

    def __init__(self, connection: Connection, process: Any = None, forks: bool = True) -> None:
        self._connection, self._process, self.forks = connection, process, forks
        self._numbers: list[int] = []  # of the supervisor and of the process of its call
        self.is_usable = True

    def call(self, request: bytes, timeout: float | None, is_wanted: Callable[[], bool]) -> Outcome | None:
        """Return the outcome; None when the supervisor was killed. The next call is not to blame for that."""
        try:
            self._connection.send_bytes(request)
            if not self._connection.poll(_START):
                raise EOFError
            self._numbers = [int(number) for number in self._connection.recv_bytes().split()]
        except (EOFError, OSError) as error:
            self.is_usable = False
            raise _NotStarted from error
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        try:
            while not self._connection.poll(min(_WATCH, max(0.0, deadline - time.monotonic()))):
                if not is_wanted() or time.monotonic() >= deadline:
                    self.interrupt()
                    _, printed = self._received() if self.forks and self._connection.poll(_GRACE) else (b"", "")
                    if is_wanted():
                        return Outcome("hung", f"took longer than {timeout:g} s".encode(), printed)
                    return Outcome("died", b"was stopped: nobody waits for it", printed)
            content, printed = self._received()
        except (EOFError, OSError):
            self.is_usable = False
            return None if self.forks else Outcome("died", b"killed its process")
        if not content:
            return Outcome("died", b"killed its process", printed)
        kind, _, content = content.partition(b" ")
        return Outcome(kind.decode(errors="replace"), content, printed)

    def interrupt(self) -> None:
        """Have the call under way killed; another thread may ask for it."""
        self.is_usable = False
        with suppress(OSError):
            self._connection.send_bytes(supervisor.STOP)
        if not self.forks:
            self._kill()

    def stop(self) -> None:
        """End the supervisor; kill it with its call when it is not to be trusted any more."""
        self._connection.close()
        if not self.is_usable:
            self._kill()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _kill(self) -> None:
        for number in self._numbers:
            for kill in (os.killpg, os.kill):
                with suppress(OSError):
                    kill(number, signal.SIGKILL)

    def _received(self) -> tuple[bytes, str]:
        content, printed = self._connection.recv_bytes(), self._connection.recv_bytes()
        lines = printed.decode(errors="replace").replace("\r\n", "\n").split("\n")
        return content, "\n".join(map(printable, lines))


class ForkServer:
    """A process forked from this one, with its modules and the given objects, that forks supervisors."""

    # Of all fork servers: what one of them inherits while another asks for a supervisor would hide that one's death.
    _lock = threading.Lock()
    _connections: ClassVar[weakref.WeakSet[Connection]] = weakref.WeakSet()  # to supervisors

    def __init__(self, objects: Sequence[Any]) -> None:
        self._objects = objects
        with self._lock:
            self._fork()

    def supervisor(self) -> _Supervisor:
        """Return a new supervisor; a fork server that was killed is forked again."""
        with self._lock:
            while True:
                mine, other = socket.socketpair()
                with other:
                    connection = Connection(mine.detach())
                    try:
                        socket.send_fds(self._requests, [b"1"], [other.fileno()])
                    except OSError:
                        connection.close()
                    else:
                        self._connections.add(connection)
                        return _Supervisor(connection)
                self.close()
                self._fork()

    def close(self) -> None:
        """End the fork server; it waits for its supervisors, which end when their connections are closed."""
        self._requests.close()
        deadline = time.monotonic() + _GRACE
        with suppress(OSError):
            while not os.waitpid(self._number, os.WNOHANG)[0]:
                if time.monotonic() > deadline:
                    os.kill(self._number, signal.SIGKILL)
                    os.waitpid(self._number, 0)
                    break
                time.sleep(_MOMENT)

    def _fork(self) -> None:
        global _inherited
        self._requests, other = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):  # else the processes print what waits in the buffers
            with suppress(Exception):
                stream.flush()
        with warnings.catch_warnings():  # Python 3.12 warns of threads: none of the locks they may hold is used there
            warnings.simplefilter("ignore", DeprecationWarning)
            self._number = os.fork()
        if self._number == 0:
            self._requests.close()
            ForkServer._lock = threading.Lock()  # this one is held
            for descriptor in not_inherited:
                os.close(descriptor)
            for connection in self._connections:
                with suppress(OSError):  # another thread was closing it
                    connection.close()
            _inherited = self._objects
            supervisor.serve_forks(other, answer, prepare)
        other.close()


def fresh_supervisor(forks: bool = FORKS) -> _Supervisor:
    """Return a supervisor in a new interpreter, which forks a process for each call or runs all calls itself."""
    if os.name != "posix":
        context = multiprocessing.get_context("spawn")
        mine, other = context.Pipe()
        process = context.Process(target=supervisor.supervise, args=(other, answer, None), daemon=True)
        process.start()
        return _Supervisor(mine, process, forks=False)
    end, other_end = socket.socketpair()
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from audit.execution import process; "
        f"process.keep_at({other_end.fileno()}, {forks})"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        pass_fds=[other_end.fileno()],
        env=with_one_thread(os.environ),  # read by libraries when they are loaded
    )
    other_end.close()
    return _Supervisor(Connection(end.detach()), started, forks)


def keep_at(descriptor: int, forks: bool) -> None:
    supervisor.supervise(Connection(descriptor), answer, prepare if forks else None)


def call_isolated(
    function: bytes,
    arguments: bytes,
    session: str,
    timeout: float | None,
    is_wanted: Callable[[], bool] = lambda: True,
    shares: bool = False,
    attempts: int = DEATHS,
) -> Outcome:
    """Return the outcome of a call that another executor has brought here; raise `ChildProcessError` if it died."""
    with _lock:
        start = functools.partial(fresh_supervisor, FORKS and not shares)
        processes = _brought.setdefault(session, Processes(start, shares))
    outcome = processes.call(function, arguments, timeout, is_wanted, attempts)
    if outcome.kind == "died":  # executors try again what raises
        raise ChildProcessError(outcome.content.decode(), outcome.printed)
    return outcome


def end_session(session: str) -> None:
    """Kill the processes of a session that other executors have brought here."""
    with _lock:
        processes = _brought.pop(session, None)
    if processes is not None:
        processes.end()


def pack(value: Any, inherited: Sequence[Any] = ()) -> bytes:
    """Return a pickle; objects that forked processes have inherited are in it by number only."""
    file = io.BytesIO()
    _Pickler(file, inherited).dump(value)
    return file.getvalue()


class _Pickler(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO, inherited: Sequence[Any]) -> None:
        super().__init__(file)
        self._numbers = {id(one): number for number, one in enumerate(inherited)}

    def persistent_id(self, value: Any) -> int | None:
        return self._numbers.get(id(value))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, number: Any) -> Any:
        return _inherited[number]


def prepare(request: bytes) -> bytes:
    """Import what a call needs of this package; return what is wrong with the code here, as an outcome."""
    modules, function, _ = pickle.loads(request)
    _, path, code, *_ = pickle.loads(function)
    _extend_path(path)
    for name in modules:
        with suppress(Exception):  # said by the call
            importlib.import_module(name)
    try:
        _require_code(code)
    except OtherCode as error:
        return supervisor.OTHER + json.dumps(str(error)).encode()
    return b""


@lru_cache(maxsize=2)
def _require_code(expected: tuple[tuple[str, str], ...]) -> None:
    here = describe_code(name for name, _ in expected)
    differences = [f"{name} ({value} expected)" for name, value in expected if here[name] != value]
    if differences:
        more = f" and {len(differences) - _MOST_SHOWN} more" if len(differences) > _MOST_SHOWN else ""
        shown = ", ".join(differences[:_MOST_SHOWN])
        raise OtherCode(f"a worker on {socket.gethostname()} has other code: {shown}{more}")


def answer(request: bytes) -> bytes:
    """Return the outcome of a call."""
    _, function, arguments = pickle.loads(request)
    return run_pickled(function, arguments)


def _extend_path(path: Iterable[str]) -> None:
    sys.path += [entry for entry in path if entry not in sys.path and os.path.isdir(entry)]


def run_pickled(function: bytes, arguments: bytes) -> bytes:
    """Run a pickled call in this process; return its kind, a space, and JSON, or a pickle if that was asked for."""
    is_plain = True
    try:
        folder, path, code, is_plain, packed = pickle.loads(function)
        with suppress(OSError):
            os.chdir(folder)
        _extend_path(path)
        _require_code(code)
        work, given = (_Unpickler(io.BytesIO(part)).load() for part in (packed, arguments))
    except BaseException as error:
        is_refused = is_plain and isinstance(error, _ENVIRONMENT)
        return _failed(error, is_plain, b"refused " if is_refused else b"error ")
    try:
        value = work(*given)
        return b"value " + (json.dumps(value).encode() if is_plain else cloudpickle.dumps(value))
    except BaseException as error:
        return _failed(error, is_plain)


def _failed(error: BaseException, is_plain: bool, kind: bytes = b"error ") -> bytes:
    said = described(error)
    if is_plain:
        return kind + json.dumps([type(error).__name__, said]).encode()
    with suppress(BaseException):  # many errors can be pickled but not unpickled
        exact = cloudpickle.dumps(error)
        pickle.loads(exact)
        return kind + bytes(exact)
    return kind + pickle.dumps(RuntimeError(f"{type(error).__name__}: {said}"))


def _own_modules() -> list[str]:
    """Return the modules of this package that are loaded: a supervisor imports them once, not each of its processes."""
    top = __name__.partition(".")[0]
    return [name for name in sys.modules if name.partition(".")[0] == top]
