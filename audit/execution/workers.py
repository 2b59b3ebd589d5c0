"""Run calls here, in processes of this machine, on a Dask cluster, or on any `concurrent.futures.Executor`.

`Place` names where, and a pool wraps an executor there. Each call runs isolated, in a process beside the worker that
has it (`sandbox.py`). What comes back is plain data: nothing of a call is unpickled here, except by a pool that serves
the process of one check.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import io
import json
import os
import pickle
import random
import re
import socket
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self, TypeVar

import cloudpickle

from audit import errors
from audit.defaults import DEFAULT_EXECUTOR
from audit.errors import InvalidArgument, OtherCode, Unreachable
from audit.execution import dask
from audit.execution.sandbox import FORKS, OTHER, ForkServer, Line, Outcome, Supervisor, is_of_subject, start, supervise
from audit.mechanism.provenance import describe_code
from audit.text import described
from audit.validate import integer

DEATHS = 3  # attempts at a call whose supervisor dies, or the worker of a cluster; then the call is to blame
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds that a container may compute in each period
_WORKERS = 60.0  # seconds without any worker after which a cluster is given up
_PULSE = 3.0  # seconds between two looks at a scheduler
_LARGE = 2**12  # bytes of a function from which a cluster gets it once, and not with every call
_AHEAD = 8  # items under way for each worker in `Pool.map`: a slow worker does not hold up the others
_MOST_SHOWN = 3  # differences between two codes that a message names
_OF_POOLS = (OtherCode, Unreachable, OSError)  # what a pool says of a call: the call itself cannot
_ENDS = {"hung": TimeoutError, "died": ChildProcessError}  # what a call raises that comes to no outcome of its own
_ENVIRONMENT = (ImportError, AttributeError)  # what unpickling raises where a module is missing, or is another one

_brought: dict[str, Processes] = {}  # by session: for calls that another executor has brought to this process
_lock = threading.Lock()

T = TypeVar("T")
_ADDRESS = re.compile(r"(dask|tcp|tls)://(\[[^\[\]/]+\]|[^\[\]:/]+):[0-9]{1,5}")
_EXECUTORS = (
    "be one of 'serial', 'processes', 'dask://scheduler:port', 'tls://scheduler:port', or a concurrent.futures.Executor"
)


@dataclass(frozen=True)
class Place:
    """Where work is done. It can be sent to other processes unless it holds an executor object."""

    executor: str | Executor = DEFAULT_EXECUTOR  # or "serial", "dask://host:port", or an executor object
    workers: int | None = None  # calls that run at a time, or None; 0 means this process; a cluster has its own number
    code: Mapping[str, str] | None = None  # what workers must have, from `describe_code`

    def __post_init__(self) -> None:
        local = self.is_local
        if not (local or self.is_cluster or isinstance(self.executor, Executor)):
            raise InvalidArgument.of("executor", _EXECUTORS, self.executor)
        if self.workers is None:
            return
        workers = integer(self.workers, "workers", at_least=1 if isinstance(self.executor, Executor) else 0)
        if local and workers == 0:
            object.__setattr__(self, "executor", "serial")
        elif self.executor == "serial" or self.is_cluster:
            raise InvalidArgument(
                f"executor={self.executor!r} has its own workers, got workers={workers}: leave `workers` out"
            )
        object.__setattr__(self, "workers", workers or None)

    @property
    def is_here(self) -> bool:
        return self.executor == "serial"

    @property
    def is_local(self) -> bool:
        """True unless calls go to a cluster, or to the executor of somebody else."""
        return self.executor in (DEFAULT_EXECUTOR, "serial")

    @property
    def is_cluster(self) -> bool:
        """True for host:port after dask://, tcp:// or tls://."""
        return isinstance(self.executor, str) and _ADDRESS.fullmatch(self.executor) is not None

    def share(self, checks: int, width: int) -> Place | None:
        """Return where each of some checks, run side by side, may have its blocks drawn; None if only by itself."""
        if self.is_cluster:
            return self  # the scheduler shares it out
        is_divisible = self.executor == DEFAULT_EXECUTOR and width >= 2 * checks
        return replace(self, workers=width // checks) if is_divisible else None


HERE = Place("serial")


class Processes:
    """The supervisors of one session; each runs one call at a time, which is killed with it."""

    def __init__(self, start: Callable[[], Supervisor], shares: bool = False) -> None:
        self._start, self._shares = start, shares  # whether a process may run one call after the other
        self._has_ended, self._lock = False, threading.Lock()
        self._idle: list[Supervisor] = []
        self._busy: set[Supervisor] = set()

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
                one.begin(request)
                ended = one.finish(timeout, lambda: not self._has_ended and is_wanted())
                if ended is not None:
                    return ended
                has_begun = True
            except EOFError:  # it ended before it took the call: no fault of that
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


def start_supervisor(forks: bool = FORKS) -> Supervisor:
    """Return a supervisor in a new interpreter, which forks a process for each call or runs all calls itself."""
    child = start(serve_in_forks if forks else serve)
    return Supervisor(child.line, child, forks)


def serve_in_forks(line: Line) -> None:
    supervise(line, answer, prepare)


def serve(line: Line) -> None:
    supervise(line, answer)


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
        start = partial(start_supervisor, FORKS and not shares)
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
    Pickler(file, inherited).dump(value)
    return file.getvalue()


class Pickler(cloudpickle.Pickler):
    """Send objects that are there already by number, and sources of the system, which have no state."""

    def __init__(self, file: io.BytesIO, inherited: Sequence[Any] = ()) -> None:
        super().__init__(file)
        self._numbers = {id(one): number for number, one in enumerate(inherited)}

    def persistent_id(self, value: Any) -> int | None:
        return self._numbers.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        return (type(value), ()) if isinstance(value, random.SystemRandom) else super().reducer_override(value)


def _unpack(content: bytes, inherited: Sequence[Any]) -> Any:
    unpickler = pickle.Unpickler(io.BytesIO(content))
    unpickler.persistent_load = inherited.__getitem__  # type: ignore[method-assign]
    return unpickler.load()


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
        return OTHER + json.dumps(str(error)).encode()
    return b""


def answer(request: bytes, inherited: Sequence[Any] = ()) -> bytes:
    """Return the outcome of a call."""
    _, function, arguments = pickle.loads(request)
    return run_pickled(function, arguments, inherited)


def _extend_path(path: Iterable[str]) -> None:
    sys.path += [entry for entry in path if entry not in sys.path and os.path.isdir(entry)]


@lru_cache(maxsize=2)
def _require_code(expected: tuple[tuple[str, str], ...]) -> None:
    here = describe_code(name for name, _ in expected)
    differences = [f"{name} ({value} expected)" for name, value in expected if here[name] != value]
    if differences:
        more = f" and {len(differences) - _MOST_SHOWN} more" if len(differences) > _MOST_SHOWN else ""
        shown = ", ".join(differences[:_MOST_SHOWN])
        raise OtherCode(f"a worker on {socket.gethostname()} has other code: {shown}{more}")


def run_pickled(function: bytes, arguments: bytes, inherited: Sequence[Any] = ()) -> bytes:
    """Run a pickled call in this process; return its kind, a space, and JSON, or a pickle if that was asked for."""
    is_plain = True
    try:
        folder, path, code, is_plain, packed = pickle.loads(function)
        with suppress(OSError):
            os.chdir(folder)
        _extend_path(path)
        _require_code(code)
        work, given = (_unpack(part, inherited) for part in (packed, arguments))
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


def open_pool(place: Place, objects: Sequence[Any] = (), *, shares: bool = False) -> Pool:
    """Return a pool for use in a `with` statement; raise `Unreachable` if a cluster has no worker.

    Calls may be about `objects`: a process of this machine that is forked has them, whether they can be pickled or not.
    A pool that `shares` runs many calls in one process, and unpickles what comes back: for the blocks of one check.
    """
    if place.is_here:
        return ThisProcess(ThreadPoolExecutor(1), 1)
    if place.is_cluster:
        return Cluster(str(place.executor), place.code, shares)
    if isinstance(place.executor, Executor):
        width = place.workers or getattr(place.executor, "_max_workers", 0) or _cores()
        return Pool(place.executor, width, place.code, partial(call_isolated, shares=shares), shares)
    return ThisMachine(place.workers or _cores(), place.code, objects, shares)


class Pool:
    """Calls under way on an executor, of which `width` at a time are useful; `run` runs a pickled call on a worker."""

    is_here = False
    _inherited: Sequence[Any] = ()

    def __init__(
        self,
        executor: Executor,
        width: int,
        code: Mapping[str, str] | None = None,
        run: Callable[..., Outcome] = call_isolated,
        shares: bool = False,
    ) -> None:
        self.width, self._executor, self._run, self._shares = width, executor, run, shares
        self._session = uuid.uuid4().hex
        self._setting = os.getcwd(), tuple(map(os.path.abspath, sys.path)), tuple((code or {}).items()), not shares
        self._last: tuple[Any, Any] = None, None
        self._under_way: dict[Future[Any], Future[Outcome]] = {}
        self._loss: str | None = None

    def submit(
        self,
        function: Callable[..., T],
        *arguments: Any,
        timeout: float | None = None,
        hear: Callable[[str], object] | None = None,
    ) -> Future[T]:
        """Return the future of `function(*arguments)`, or of what it raised; may be called from several threads.

        The value is plain data unless the pool shares its processes. `hear` is called first, with what was printed.
        """
        work, packed = self._packed(function), pack(arguments, self._inherited)
        answer: Future[T] = Future()
        try:
            task = self._executor.submit(self._run, work, packed, self._session, timeout)
        except Exception as error:  # it was shut down, is broken or lost
            raise Unreachable(self._loss or f"the executor takes no more work: {error}") from error
        self._under_way[answer] = task
        task.add_done_callback(partial(self._answer, answer, hear))
        if self._loss is not None:
            self.give_up(self._loss)
        return answer

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        return self.submit(function, *arguments, **options).result()

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """Yield the values in order, and take items as workers become free; the first in order that fails raises."""
        under_way: deque[Future[T]] = deque()
        for item in items:
            under_way.append(self.submit(function, item))
            if len(under_way) > _AHEAD * self.width:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    def give_up(self, reason: str) -> None:
        """Answer every call that is under way or yet to come with `Unreachable`."""
        self._loss = self._loss or reason
        for answer, task in tuple(self._under_way.items()):
            with suppress(InvalidStateError):
                answer.set_exception(Unreachable(self._loss))
            task.cancel()

    def close(self) -> None:
        """End what is under way, and kill the processes that were started from this process."""
        self.give_up("the pool is closed")
        end_session(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _packed(self, function: Callable[..., Any]) -> Any:
        """Return the pickled function. The last one is kept: calls in a row are often of one function."""
        kept, packed = self._last
        if kept is not function:
            packed = pickle.dumps((*self._setting, pack(function, self._inherited)))
            self._last = function, packed
        return packed

    def _answer(self, answer: Future[T], hear: Callable[[str], object] | None, task: Future[Outcome]) -> None:
        outcome = self._outcome(task)
        if hear is not None and outcome.printed:
            hear(outcome.printed)
        try:
            found = self._value(outcome)
        except BaseException as error:
            found = error
        self._under_way.pop(answer, None)
        with suppress(InvalidStateError):  # it was given up
            answer.set_exception(found) if isinstance(found, BaseException) else answer.set_result(found)

    def _value(self, outcome: Outcome) -> Any:
        """Return the value of a call; raise what it raised, or what became of it."""
        kind, content, _ = outcome
        if kind in ("value", "error", "refused"):
            try:
                found = pickle.loads(content) if self._shares else json.loads(content)
            except Exception:
                raise _unreadable() from None
            if kind == "value":
                return found
            raise found if self._shares else _error_of_call(kind, *map(str, found))
        if kind == "other":
            raise OtherCode(json.loads(content))
        if kind == "lost":
            raise Unreachable(self._loss or content.decode())
        raise _ENDS[kind](content.decode()) if kind in _ENDS else _unreadable()

    def _outcome(self, task: Future[Outcome]) -> Outcome:
        try:
            return task.result()
        except ChildProcessError as error:
            return Outcome("died", str(error.args[0]).encode(), *map(str, error.args[1:]))
        except Unreachable as error:
            return Outcome("lost", str(error).encode())
        except BaseException as error:
            return self._explained(error)

    def _explained(self, error: BaseException) -> Outcome:
        return Outcome("lost", f"a worker cannot do what it is sent: {error!r}".encode())


def _unreadable() -> Exception:
    return ChildProcessError("sent an outcome that cannot be read")  # the code under audit wrote to its pipe


def _error_of_call(said: str, name: str = "Exception", text: str = "", *more: str) -> Exception:
    """Return an error of the code under audit, never one that speaks of the machinery; or what could not be loaded."""
    if said == "refused":
        return Unreachable(f"a worker cannot load a check: {name}: {text}")
    kind = getattr(errors, name, None) or getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, _OF_POOLS):
        with suppress(Exception):  # some want other arguments
            return kind(text)
    return RuntimeError(f"{name}: {text}")


class ThisMachine(Pool):
    """Processes of this machine."""

    def __init__(self, width: int, code: Mapping[str, str] | None, objects: Sequence[Any], shares: bool) -> None:
        self._fork_server = None
        if FORKS and not shares:
            self._inherited, self._fork_server = objects, ForkServer(partial(answer, inherited=objects), prepare)
        server = self._fork_server
        self._processes = Processes(server.supervisor if server else partial(start_supervisor, False), shares)
        super().__init__(ThreadPoolExecutor(width), width, code, self._isolated, shares)

    def close(self) -> None:
        super().close()
        self._processes.end()
        self._executor.shutdown(wait=False, cancel_futures=True)
        if self._fork_server is not None:
            self._fork_server.close()

    def _isolated(self, function: bytes, arguments: bytes, session: str, timeout: float | None) -> Outcome:
        return self._processes.call(function, arguments, timeout)


class Cluster(Pool):
    """The workers of a Dask scheduler. Futures of its executor never end when all of them vanish: a thread watches."""

    def __init__(self, address: str, code: Mapping[str, str] | None = None, shares: bool = False) -> None:
        self._address = address.replace("dask://", "tcp://", 1)
        self._client, self._killed_worker = dask.connect(self._address)
        self._cancelled = dask.cancellations()
        self._lost: tuple[type[BaseException], ...] = (Exception, *self._cancelled)  # raised where it is gone
        self._no_worker = f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s"
        self._closed = threading.Event()
        executor = self._client.get_executor(pure=False, retries=DEATHS - 1)
        run = partial(dask.call_on_worker, partial(call_isolated, shares=shares))
        super().__init__(executor, self._threads_when_there(), code, run, shares)
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            if self._loss is None:
                with suppress(*self._lost):
                    self._asked(self._client._run, end_session, self._session, on_error="ignore")
            super().close()
            self._disconnect()

    def _packed(self, function: Callable[..., Any]) -> Any:
        """Return the pickled function, or the future of a large one: workers get it from each other."""
        kept, sent = self._last
        if kept is not function:
            sent = super()._packed(function)
            if len(sent) > _LARGE:  # a task, since data alone would be lost with the worker that holds them
                sent = self._client.submit(bytes, sent, key=f"dp-audit-{hashlib.sha256(sent).hexdigest()}")
            self._last = function, sent
        return sent

    def _explained(self, error: BaseException) -> Outcome:
        if isinstance(error, self._killed_worker):
            return Outcome("died", b"killed its process, and the worker beside it")
        if isinstance(error, self._cancelled):
            return Outcome("lost", f"the connection to the scheduler at {self._address} is lost".encode())
        return super()._explained(error)

    def _threads_when_there(self) -> int:
        """Return the number of threads of all workers, as soon as there is a worker."""
        deadline = time.monotonic() + _WORKERS
        while not (threads := self._threads()):
            if time.monotonic() > deadline:
                self._disconnect()
                raise Unreachable(self._no_worker)
            time.sleep(0.2)
        return threads

    def _threads(self) -> int:
        try:
            return sum(self._asked(self._client.scheduler.ncores).values())
        except self._lost as error:
            raise Unreachable(f"the scheduler at {self._address} does not answer any more") from error

    def _watch(self) -> None:
        """End all calls when the scheduler is gone, or all workers are."""
        seen = time.monotonic()
        while not (self._closed.wait(_PULSE) or self._loss):
            try:
                seen = time.monotonic() if self._threads() else seen
            except Unreachable as error:
                self.give_up(str(error))
            if time.monotonic() - seen > _WORKERS:
                self.give_up(self._no_worker)

    def _asked(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return self._client.sync(question, *arguments, callback_timeout=dask.ANSWER, **named)

    def _disconnect(self) -> None:
        with suppress(*self._lost):
            self._client.close(timeout=2)


class ThisProcess(Pool):
    """This process: a call runs at once in the thread that makes it, and no time limit is kept."""

    is_here = True

    def submit(self, function: Callable[..., T], *arguments: Any, **_: Any) -> Future[T]:
        # a time limit, and what is printed, are for processes
        answer: Future[T] = Future()
        try:
            answer.set_result(function(*arguments))
        except BaseException as error:
            if not is_of_subject(error):
                raise
            answer.set_exception(error)
        return answer


def _cores() -> int:
    """Return how many cores this process may use: those that it may run on, within the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _QUOTA.read_text(encoding="ascii").split())
    except (OSError, ValueError):  # there is none, or it is "max"
        return cores
    return min(cores, max(1, -(-quota // period)))
