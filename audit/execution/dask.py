"""The workers of a Dask cluster. Futures of its executor never end when all of them vanish: a thread watches."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import logging
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from audit.errors import MissingExtra, Unreachable
from audit.execution.sandbox import Outcome

_ANSWER = 15.0  # seconds for a scheduler to answer
_WORKERS = 60.0  # seconds without any worker after which a cluster is given up
_PULSE = 3.0  # seconds between two looks at a scheduler
_LARGE = 2**12  # bytes of a function from which a cluster gets it once, and not with every call
_CANCELLED = asyncio.CancelledError, concurrent.futures.CancelledError
_LOST = Exception, *_CANCELLED  # what a call to a scheduler raises that is gone


class Scheduler:
    """The scheduler at an address, as the process sees it that sends it calls."""

    def __init__(self, address: str) -> None:
        self._address = address.replace("dask://", "tcp://", 1)
        self._client, self._killed_worker = _connected(self._address)
        self._no_worker = f"the scheduler at {self._address} has had no worker for {_WORKERS:g} s"
        self._closed = threading.Event()
        self.width = self._threads_when_there()

    def on_worker(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function for a worker, until the client is gone or gives the call up."""
        return partial(_call_on_worker, run)

    def executor(self, attempts: int) -> Any:
        return self._client.get_executor(pure=False, retries=attempts - 1)

    def watch(self, give_up: Callable[[str], object]) -> None:
        """End all calls when the scheduler is gone, or all workers are."""
        threading.Thread(target=self._watch, args=(give_up,), daemon=True).start()

    def share(self, content: bytes) -> Any:
        """Return the content, or the future of a large one: workers get it from each other."""
        if len(content) <= _LARGE:
            return content  # else a task, since data alone would be lost with the worker that holds them
        return self._client.submit(bytes, content, key=f"dp-audit-{hashlib.sha256(content).hexdigest()}")

    def explain(self, error: BaseException) -> Outcome | None:
        """Return what became of a task that raises an error, if that is of the cluster."""
        if isinstance(error, self._killed_worker):
            return Outcome("died", b"killed its process, and the worker beside it")
        if isinstance(error, _CANCELLED):
            return Outcome("lost", f"the connection to the scheduler at {self._address} is lost".encode())
        return None

    def close(self, end: Callable[[], object] | None) -> bool:
        """Call a function on all workers, if one is given, before the connection ends; return False if it has ended."""
        if self._closed.is_set():
            return False
        self._closed.set()
        if end is not None:
            with suppress(*_LOST):
                self._asked(self._client._run, end, on_error="ignore")
        return True

    def disconnect(self) -> None:
        with suppress(*_LOST):
            self._client.close(timeout=2)

    def _threads_when_there(self) -> int:
        """Return the number of threads of all workers, as soon as there is a worker."""
        deadline = time.monotonic() + _WORKERS
        while not (threads := self._threads()):
            if time.monotonic() > deadline:
                self.disconnect()
                raise Unreachable(self._no_worker)
            time.sleep(0.2)
        return threads

    def _threads(self) -> int:
        try:
            return sum(self._asked(self._client.scheduler.ncores).values())
        except _LOST as error:
            raise Unreachable(f"the scheduler at {self._address} does not answer any more") from error

    def _watch(self, give_up: Callable[[str], object]) -> None:
        seen = time.monotonic()
        while not self._closed.wait(_PULSE):
            try:
                seen = time.monotonic() if self._threads() else seen
            except Unreachable as error:
                give_up(str(error))
                return
            if time.monotonic() - seen > _WORKERS:
                give_up(self._no_worker)
                return

    def _asked(self, question: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return self._client.sync(question, *arguments, callback_timeout=_ANSWER, **named)


def _call_on_worker(run: Callable[..., Any], *arguments: Any) -> Any:
    """Run a call isolated on a Dask worker, until its client is gone or gives it up."""
    from distributed import get_worker

    worker = get_worker()
    tasks, key = worker.state.tasks, worker.get_current_task()

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return run(*arguments, is_wanted=is_wanted, attempts=1)


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
