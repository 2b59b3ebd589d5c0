"""Connect to a Dask cluster, and run calls on its workers."""

from __future__ import annotations

import concurrent.futures
import logging
import warnings
from collections.abc import Callable
from typing import Any

from audit.errors import MissingExtra, Unreachable

ANSWER = 15.0  # seconds for a scheduler to answer


def call_on_worker(run: Callable[..., Any], *arguments: Any) -> Any:
    """Run a call isolated on a Dask worker, until its client is gone or gives it up."""
    from distributed import get_worker

    worker = get_worker()
    tasks, key = worker.state.tasks, worker.get_current_task()

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return run(*arguments, is_wanted=is_wanted, attempts=1)


def cancellations() -> tuple[type[BaseException], ...]:
    """Return what a future raises that is cancelled; only clusters import asyncio."""
    import asyncio

    return asyncio.CancelledError, concurrent.futures.CancelledError


def connect(address: str) -> tuple[Any, type[Exception]]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra.of("distributed", "dask") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it says of a loss is said here
    warnings.filterwarnings("ignore", message="Sending large graph", module="distributed")  # datasets may be large
    if address.startswith("tls:"):
        _require_certificates(distributed.Security())
    try:
        return distributed.Client(address, timeout=ANSWER, set_as_default=False), distributed.scheduler.KilledWorker
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
