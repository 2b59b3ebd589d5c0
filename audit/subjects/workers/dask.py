"""A Dask cluster: the scheduler at an address, with whatever workers it has.

Tasks go through `distributed.Client.submit`, one for each call. joblib's Dask backend maps one function over one list
and ends all of it with the first task that fails: here checks that have nothing to do with each other are under way,
and one that kills every worker it meets must be one INCONCLUSIVE among many. What joblib gives besides, batches of
small tasks, is not wanted: a task is seconds of work at least.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import hashlib
import logging
import os
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import cloudpickle

from audit.base.errors import MissingExtra
from audit.subjects.workers.executor import Executor, Unreachable, has_host_and_port
from audit.subjects.workers.relay import dismiss, kept, relay

DEATHS = 3  # of the process under a task; then it is the task's own doing
_ANSWER = 15.0  # seconds for the scheduler to answer
_WORKERS = 60.0  # seconds without any worker after which nobody waits longer
_PULSE = 3.0  # seconds between two looks at the scheduler
_LARGE = 2**16  # bytes of a function from which it is sent once, and not with every task
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class Dask(Executor):
    """The workers of a Dask scheduler.

    A worker that dies is the scheduler's business: it runs the task elsewhere, with the same arguments and hence the
    same seeds. A process that dies under a task is tried again, `DEATHS` times in all.
    """

    forms = ("dask://scheduler:port", "tcp://scheduler:port")

    def __init__(self, address: str, workers: int | None = None, session: str | None = None) -> None:
        self._address = address.replace("dask://", "tcp://", 1)
        self._client, self._killed_workers = _connected(self._address)
        self._session, self._owns_session = session or uuid.uuid4().hex, session is None
        self._place = os.getcwd(), [os.path.abspath(entry) for entry in sys.path]
        self._kept: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._lost: str | None = None
        self._closed = threading.Event()
        self._await_workers()
        threading.Thread(target=self._watch, daemon=True).start()

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None) -> Any:
        """Run the function in a process beside some worker."""
        task = self._submitted(function, arguments, timeout)
        try:
            return self._result(task)
        finally:
            with contextlib.suppress(Exception):
                task.release()

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Run the function beside every worker that there is now; one that vanishes meanwhile is left out."""
        tasks = {
            address: self._submitted(function, arguments, _WORKERS, workers=[address], allow_other_workers=False)
            for address in self._workers()
        }
        found = {}
        while tasks:
            done = {address: task for address, task in tasks.items() if task.done()}
            found.update({address: self._result(task) for address, task in done.items()})
            there = self._workers()
            tasks = {address: task for address, task in tasks.items() if address in there and address not in done}
            time.sleep(0.05)
        return found

    def crew_of_each(self, checks: int) -> Callable[[], Executor] | None:
        """The whole cluster: the scheduler shares it out. The processes beside the workers are the same ones."""
        return partial(Dask, self._address, session=self._session)

    def close(self) -> None:
        """Give up all tasks; the processes under them end."""
        if self._closed.is_set():
            return
        self._closed.set()
        with contextlib.suppress(Exception, *_CANCELLED):
            if self._owns_session and self._lost is None:
                self._asked(self._client._run, dismiss, self._session, on_error="ignore")
        self._end()

    @classmethod
    def is_meant(cls, address: str) -> bool:
        """Whether it is dask://host:port, or tcp://host:port."""
        return has_host_and_port(address, ("dask", "tcp"))

    def _submitted(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float | None, **where: Any
    ) -> Any:
        pickled, packed = cloudpickle.dumps(function), cloudpickle.dumps(arguments)
        try:
            sent = self._kept_once(pickled) if len(pickled) > _LARGE else pickled
            rest = (packed, timeout, self._session, self._place)
            key = f"dp-audit-{uuid.uuid4().hex}"
            return self._client.submit(relay, sent, *rest, key=key, pure=False, retries=DEATHS - 1, **where)
        except Exception as error:
            raise Unreachable(self._loss) from error

    def _kept_once(self, pickled: bytes) -> Any:
        """The future of a large function, which workers get from each other; the one last asked for."""
        name = hashlib.sha256(pickled).hexdigest()
        with self._lock:
            if name not in self._kept:
                self._kept = {name: self._client.submit(kept, pickled, key=f"dp-audit-{self._session}-{name}")}
            return self._kept[name]

    def _result(self, task: Any) -> Any:
        try:
            kind, found = cloudpickle.loads(task.result())
        except ChildProcessError:
            raise ChildProcessError("killed its process") from None
        except self._killed_workers as error:
            raise ChildProcessError("killed its process, and the worker beside it") from error
        except _CANCELLED:
            raise Unreachable(self._loss) from None
        except Exception as error:
            raise Unreachable(f"a worker of {self._address} cannot do what it is sent: {error!r}") from error
        if kind == "error":
            raise found
        return found

    def _await_workers(self) -> None:
        deadline = time.monotonic() + _WORKERS
        while not self._workers():
            if time.monotonic() > deadline:
                self._end()
                raise Unreachable(f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s")
            time.sleep(0.2)

    def _workers(self) -> list[str]:
        """The addresses of the workers that there are now; clusters grow and shrink."""
        try:
            threads = self._asked(self._client.scheduler.ncores)
        except (Exception, *_CANCELLED) as error:
            raise Unreachable(f"the scheduler at {self._address} does not answer any more") from error
        self.width = max(1, sum(threads.values()))
        return sorted(threads)

    def _watch(self) -> None:
        """Ask the scheduler now and then; when it is gone, or all workers are, end whoever waits."""
        seen = time.monotonic()
        while not (self._closed.wait(_PULSE) or self._lost):
            try:
                workers = self._workers()
            except Unreachable as error:
                self._lose(str(error))
                continue
            seen = time.monotonic() if workers else seen
            if time.monotonic() - seen > _WORKERS:
                self._lose(f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s")

    def _asked(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return self._client.sync(question, *arguments, callback_timeout=_ANSWER, **named)

    def _lose(self, reason: str) -> None:
        if not self._closed.is_set():
            self._lost = self._lost or reason
            self._end()

    @property
    def _loss(self) -> str:
        return self._lost or f"the connection to the scheduler at {self._address} is lost"

    def _end(self) -> None:
        """Close the client, which cancels every task that somebody waits for."""
        with contextlib.suppress(Exception, *_CANCELLED):
            self._client.close(timeout=2)


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
