"""Run calls in this process, in processes of this machine, on a Dask cluster, or on any `concurrent.futures.Executor`.

A pool wraps an executor. Each call runs isolated, in a process beside the worker that has it; see `process.py`. What
comes back is plain data: nothing of a call is unpickled here, except by a pool that serves the process of one check.
"""

from __future__ import annotations

import builtins
import concurrent.futures
import hashlib
import json
import logging
import os
import pickle
import sys
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from audit import errors
from audit.errors import MissingExtra, OtherCode, Unreachable
from audit.execution.place import Place
from audit.execution.process import (
    DEATHS,
    FORKS,
    ForkServer,
    Outcome,
    Processes,
    call_isolated,
    end_session,
    fresh_supervisor,
    pack,
)
from audit.execution.supervisor import is_of_subject

_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds that a container may compute in each period
_AHEAD = 8  # items under way for each worker in `Pool.map`: a slow worker does not hold up the others
_ANSWER = 15.0  # seconds for a scheduler to answer
_WORKERS = 60.0  # seconds without any worker after which a cluster is given up
_PULSE = 3.0  # seconds between two looks at a scheduler
_LARGE = 2**12  # bytes of a function from which a cluster gets it once, and not with every call
_OF_POOLS = (OtherCode, Unreachable, OSError)  # what a pool says of a call: the call itself cannot

T = TypeVar("T")


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
        try:
            outcome = self._outcome(task)
        except BaseException as error:
            outcome = Outcome("lost", f"a worker cannot do what it is sent: {error!r}".encode())
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
                raise ChildProcessError("sent an outcome that cannot be read") from None
            if kind == "value":
                return found
            raise found if self._shares else _error_of_call(kind, *map(str, found))
        if kind == "other":
            raise OtherCode(json.loads(content))
        if kind == "hung":
            raise TimeoutError(content.decode())
        if kind == "died":
            raise ChildProcessError(content.decode())
        if kind == "lost":
            raise Unreachable(self._loss or content.decode())
        raise ChildProcessError("sent an outcome that cannot be read")  # the code under audit wrote to its pipe

    def _outcome(self, task: Future[Outcome]) -> Outcome:
        try:
            return task.result()
        except ChildProcessError as error:
            return Outcome("died", str(error.args[0]).encode(), *map(str, error.args[1:]))
        except Unreachable as error:
            return Outcome("lost", str(error).encode())


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
        self._fork_server = ForkServer(objects) if FORKS and not shares else None
        start = self._fork_server.supervisor if self._fork_server is not None else partial(fresh_supervisor, False)
        self._inherited = () if self._fork_server is None else objects
        self._processes = Processes(start, shares)
        super().__init__(ThreadPoolExecutor(width), width, code, self._isolated, shares)

    def close(self) -> None:
        super().close()
        self._processes.end()
        self._executor.shutdown(wait=False, cancel_futures=True)
        if self._fork_server is not None:
            self._fork_server.close()

    def _isolated(self, function: bytes, arguments: bytes, session: str, timeout: float | None) -> Outcome:
        return self._processes.call(function, arguments, timeout)


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


class Cluster(Pool):
    """The workers of a Dask scheduler. Futures of its executor never end when all of them vanish: a thread watches."""

    def __init__(self, address: str, code: Mapping[str, str] | None = None, shares: bool = False) -> None:
        self._address = address.replace("dask://", "tcp://", 1)
        self._client, self._killed_worker = _connected(self._address)
        self._no_worker = f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s"
        self._closed = threading.Event()
        executor = self._client.get_executor(pure=False, retries=DEATHS - 1)
        super().__init__(executor, self._threads_when_there(), code, partial(_call_on_worker, shares), shares)
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            if self._loss is None:
                with suppress(*_lost()):
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

    def _outcome(self, task: Future[Outcome]) -> Outcome:
        try:
            return super()._outcome(task)
        except self._killed_worker:
            return Outcome("died", b"killed its process, and the worker beside it")
        except _cancelled():
            return Outcome("lost", f"the connection to the scheduler at {self._address} is lost".encode())

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
        except _lost() as error:
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
        return self._client.sync(question, *arguments, callback_timeout=_ANSWER, **named)

    def _disconnect(self) -> None:
        with suppress(*_lost()):
            self._client.close(timeout=2)


def _call_on_worker(shares: bool, function: bytes, arguments: bytes, session: str, timeout: float | None) -> Outcome:
    """Run a call isolated on a Dask worker, until its client is gone or gives it up."""
    from distributed import get_worker

    worker = get_worker()
    tasks, key = worker.state.tasks, worker.get_current_task()

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return call_isolated(function, arguments, session, timeout, is_wanted, shares, attempts=1)


def _cores() -> int:
    """Return how many cores this process may use: those that it may run on, within the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _QUOTA.read_text(encoding="ascii").split())
    except (OSError, ValueError):  # there is none, or it is "max"
        return cores
    return min(cores, max(1, -(-quota // period)))


def _lost() -> tuple[type[BaseException], ...]:
    """Return what a call to a scheduler raises that is gone; only clusters import asyncio."""
    return Exception, *_cancelled()


def _cancelled() -> tuple[type[BaseException], ...]:
    import asyncio

    return asyncio.CancelledError, concurrent.futures.CancelledError


def _connected(address: str) -> tuple[Any, type[Exception]]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra.of("distributed", "dask") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it says of a loss is said here
    warnings.filterwarnings("ignore", message="Sending large graph", module="distributed")  # datasets may be large
    if address.startswith("tls:"):
        _require_certificates(distributed.Security())
    try:
        return distributed.Client(address, timeout=_ANSWER, set_as_default=False), distributed.scheduler.KilledWorker
    except (OSError, TimeoutError) as error:
        hint = " with these certificates" if address.startswith("tls:") else ""
        raise Unreachable(f"no Dask scheduler answers at {address}{hint}") from error


def _require_certificates(security: Any) -> None:
    """Raise `Unreachable` unless Dask's configuration names an authority, a certificate and a key for clients."""
    try:
        if security.get_connection_args("client")["ssl_context"] is not None:
            return
        fault = "none are configured"
    except (OSError, ValueError) as error:
        fault = str(error)
    keys = "ca-file, client.cert and client.key of distributed.comm.tls"
    raise Unreachable(f"Dask's configuration must hold certificates ({keys}) for an address tls://: {fault}")
