"""A Dask cluster: `distributed.Client.get_executor()`, and what that executor leaves open.

Its futures never end when the scheduler or all workers vanish, so a thread watches both. It sends a function with
every call, so a large one is sent once. Its tasks go on when their client is gone, so each looks whether it is there.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import logging
import multiprocessing
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from audit.base.errors import MissingExtra, Unreachable
from audit.subjects.workers.place import Place
from audit.subjects.workers.pool import Pool
from audit.subjects.workers.process import call_isolated, end_session

DEATHS = 3  # attempts at a call whose process dies; then the call is to blame
_ANSWER = 15.0  # seconds for the scheduler to answer
_WORKERS = 60.0  # seconds without any worker after which the cluster is given up
_PULSE = 3.0  # seconds between two looks at the scheduler
_LARGE = 2**12  # bytes of a function from which it is sent once, and not with every call
_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
_LOST = (Exception, asyncio.CancelledError)


class Cluster(Pool):
    """The workers of a Dask scheduler.

    A worker that dies is the scheduler's business: it runs the call elsewhere, with the same arguments and hence the
    same seeds. A call whose process dies is tried again, `DEATHS` times in all.
    """

    def __init__(self, place: Place) -> None:
        self._address = str(place.executor).replace("dask://", "tcp://", 1)
        self._client, self._killed_worker = _connected(self._address)
        self._closed = threading.Event()
        executor = self._client.get_executor(pure=False, retries=DEATHS - 1)
        super().__init__(place, executor, self._threads_when_there(), _call_on_worker)
        threading.Thread(target=self._watch, daemon=True).start()

    def for_blocks(self, checks: int) -> Place | None:
        """Return the whole cluster: the scheduler shares it out."""
        return self._place

    def close(self) -> None:
        """Give up all calls; the processes under them end."""
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
        """Give up all calls when the scheduler is gone, or all workers are."""
        seen = time.monotonic()
        while not (self._closed.wait(_PULSE) or self._loss):
            try:
                seen = time.monotonic() if self._threads() else seen
            except Unreachable as error:
                self.give_up(str(error))
            if time.monotonic() - seen > _WORKERS:
                self.give_up(self._no_worker)

    @property
    def _no_worker(self) -> str:
        return f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s"

    def _asked(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return self._client.sync(question, *arguments, callback_timeout=_ANSWER, **named)

    def _disconnect(self) -> None:
        with suppress(*_LOST):
            self._client.close(timeout=2)


def _call_on_worker(function: bytes, arguments: bytes, session: str, timeout: float | None) -> bytes:
    """On a Dask worker: run a call isolated, until its client is gone or gives it up."""
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
        raise MissingExtra.of("distributed") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it says of a loss is said here
    warnings.filterwarnings("ignore", message="Sending large graph", module="distributed")  # datasets may be large
    try:
        return distributed.Client(address, timeout=_ANSWER, set_as_default=False), distributed.scheduler.KilledWorker
    except (OSError, TimeoutError) as error:
        raise Unreachable(f"no Dask scheduler answers at {address}") from error
