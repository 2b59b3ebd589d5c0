"""Run calls in this process, in processes of this machine, on a Dask cluster, or on any `concurrent.futures.Executor`.

A pool wraps an executor. Each call runs isolated, in a process beside the worker that has it; see `process.py`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import logging
import multiprocessing
import os
import pickle
import sys
import threading
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import cloudpickle

from audit.base.arguments import integer
from audit.base.defaults import DEFAULT_EXECUTOR
from audit.base.errors import InvalidArgument, MissingExtra, Unreachable
from audit.subjects.process import call_isolated, end_session

DEATHS = 3  # attempts at a call of a cluster whose process dies; then the call is to blame
_AHEAD = 8  # items under way for each worker in `Pool.map`: a slow worker does not hold up the others
_ANSWER = 15.0  # seconds for a scheduler to answer
_WORKERS = 60.0  # seconds without any worker after which a cluster is given up
_PULSE = 3.0  # seconds between two looks at a scheduler
_LARGE = 2**12  # bytes of a function from which a cluster gets it once, and not with every call
_EXECUTORS = "be one of 'serial', 'processes', 'dask://scheduler:port', or a concurrent.futures.Executor"
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
_LOST = (Exception, asyncio.CancelledError)

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where work is done. It can be sent to other processes unless it holds an executor object."""

    executor: str | Executor = DEFAULT_EXECUTOR  # "processes", "serial", "dask://host:port", or an executor object
    workers: int | None = None  # calls that run at a time, or None; 0 means this process; a cluster has its own number
    code: Mapping[str, str] | None = None  # what workers must have, from `loaded_code`

    def __post_init__(self) -> None:
        local = self.executor in (DEFAULT_EXECUTOR, "serial")
        if not (local or self.is_cluster or isinstance(self.executor, Executor)):
            raise InvalidArgument.of("executor", _EXECUTORS, self.executor)
        if self.workers is None:
            return
        workers = integer(self.workers, "workers", at_least=1 if isinstance(self.executor, Executor) else 0)
        if local and workers == 0:
            object.__setattr__(self, "executor", "serial")
        elif self.executor == "serial" or self.is_cluster:
            raise InvalidArgument(
                f"`workers` is for the executor 'processes': {self.executor!r} has its own, got {workers}"
            )
        object.__setattr__(self, "workers", workers or None)

    @property
    def is_here(self) -> bool:
        return self.executor == "serial"

    @property
    def is_cluster(self) -> bool:
        """True for dask://host:port and tcp://host:port."""
        try:
            parts = urlsplit(self.executor if isinstance(self.executor, str) else "")
            return parts.scheme in ("dask", "tcp") and None not in (parts.hostname, parts.port) and not parts.path
        except ValueError:
            return False

    def share(self, checks: int, width: int) -> Place | None:
        """Return where each of some checks, run side by side, may have its blocks drawn; None if only by itself."""
        if self.is_cluster:
            return self  # the scheduler shares it out
        is_divisible = self.executor == DEFAULT_EXECUTOR and width >= 2 * checks
        return replace(self, workers=width // checks) if is_divisible else None


HERE = Place("serial")


def open_pool(place: Place) -> Pool:
    """Return a pool for use in a `with` statement; raise `Unreachable` if a cluster has no worker."""
    if place.is_here:
        return ThisProcess(ThreadPoolExecutor(1), 1)
    if place.is_cluster:
        return Cluster(str(place.executor), place.code)
    from loky import cpu_count

    if isinstance(place.executor, Executor):
        width = place.workers or getattr(place.executor, "_max_workers", 0) or cpu_count()
        return Pool(place.executor, width, place.code)
    width = place.workers or cpu_count()
    return Pool(ThreadPoolExecutor(width), width, place.code, is_owned=True)


class Pool:
    """Calls under way on an executor, of which `width` at a time are useful; `run` runs a pickled call on a worker."""

    def __init__(
        self,
        executor: Executor,
        width: int,
        code: Mapping[str, str] | None = None,
        run: Callable[..., bytes] = call_isolated,
        is_owned: bool = False,
    ) -> None:
        self.width, self._executor, self._run, self._is_owned = width, executor, run, is_owned
        self._session = uuid.uuid4().hex
        self._setting = os.getcwd(), tuple(map(os.path.abspath, sys.path)), tuple((code or {}).items())
        self._last: tuple[Any, Any] = None, None
        self._under_way: dict[Future[Any], Future[bytes]] = {}
        self._loss: str | None = None

    def submit(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> Future[T]:
        """Return the future of `function(*arguments)`, or of what it raised; may be called from several threads."""
        work, packed = self._packed(function), cloudpickle.dumps(arguments)
        answer: Future[T] = Future()
        try:
            task = self._executor.submit(self._run, work, packed, self._session, timeout)
        except Exception as error:  # it was shut down, is broken or lost
            raise Unreachable(self._loss or f"the executor takes no more work: {error}") from error
        self._under_way[answer] = task
        task.add_done_callback(partial(self._answer, answer))
        if self._loss is not None:
            self.give_up(self._loss)
        return answer

    def call(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> T:
        return self.submit(function, *arguments, timeout=timeout).result()

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
        if self._is_owned:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _packed(self, function: Callable[..., Any]) -> Any:
        """Return the pickled function. The last one is kept: calls in a row are often of one function."""
        kept, packed = self._last
        if kept is not function:
            packed = pickle.dumps((*self._setting, cloudpickle.dumps(function)))
            self._last = function, packed
        return packed

    def _answer(self, answer: Future[T], task: Future[bytes]) -> None:
        try:
            kind, found = pickle.loads(task.result())
        except BaseException as error:
            kind, found = "error", self._failure(error)
        self._under_way.pop(answer, None)
        with suppress(InvalidStateError):  # it was given up
            answer.set_result(found) if kind == "value" else answer.set_exception(found)

    def _failure(self, error: BaseException) -> Exception:
        """Return what a call raises whose task brought no outcome."""
        if isinstance(error, ChildProcessError):
            return ChildProcessError(str(error))
        return Unreachable(self._loss or f"a worker cannot do what it is sent: {error!r}")


class ThisProcess(Pool):
    """This process: a call runs at once in the thread that makes it, and no time limit is kept."""

    def submit(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> Future[T]:
        answer: Future[T] = Future()
        try:
            answer.set_result(function(*arguments))
        except Exception as error:
            answer.set_exception(error)
        return answer


class Cluster(Pool):
    """The workers of a Dask scheduler. Futures of its executor never end when all of them vanish: a thread watches."""

    def __init__(self, address: str, code: Mapping[str, str] | None = None) -> None:
        self._address = address.replace("dask://", "tcp://", 1)
        self._client, self._killed_worker = _connected(self._address)
        self._no_worker = f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s"
        self._closed = threading.Event()
        executor = self._client.get_executor(pure=False, retries=DEATHS - 1)
        super().__init__(executor, self._threads_when_there(), code, _call_on_worker)
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            if self._loss is None:
                with suppress(*_LOST):
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

    def _failure(self, error: BaseException) -> Exception:
        if isinstance(error, self._killed_worker):
            return ChildProcessError("killed its process, and the worker beside it")
        if isinstance(error, _CANCELLED):
            return Unreachable(self._loss or f"the connection to the scheduler at {self._address} is lost")
        return super()._failure(error)

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
        except _LOST as error:
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
        with suppress(*_LOST):
            self._client.close(timeout=2)


def _call_on_worker(function: bytes, arguments: bytes, session: str, timeout: float | None) -> bytes:
    """Run a call isolated on a Dask worker, until its client is gone or gives it up."""
    from distributed import get_worker

    # Dask starts its workers as daemons, which may have no children; ours end when the worker does
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    worker = get_worker()
    tasks, key = worker.state.tasks, worker.get_current_task()

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return call_isolated(function, arguments, session, timeout, is_wanted)


def _connected(address: str) -> tuple[Any, type[Exception]]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra.of("distributed", "dask") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it says of a loss is said here
    warnings.filterwarnings("ignore", message="Sending large graph", module="distributed")  # datasets may be large
    try:
        return distributed.Client(address, timeout=_ANSWER, set_as_default=False), distributed.scheduler.KilledWorker
    except (OSError, TimeoutError) as error:
        raise Unreachable(f"no Dask scheduler answers at {address}") from error
