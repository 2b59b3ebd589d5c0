"""Local worker processes."""

from __future__ import annotations

import queue
from collections.abc import Callable
from functools import partial
from typing import Any

from audit.base.arguments import integer
from audit.subjects.workers.executor import Executor
from audit.subjects.workers.worker import Worker

DEFAULT_WORKERS = 2


class Processes(Executor):
    """Processes on this machine, each started when there is something to do for it."""

    forms = ("processes",)

    def __init__(self, address: str = forms[0], workers: int | None = None) -> None:
        self.width = DEFAULT_WORKERS if workers is None else workers
        self._workers = [Worker() for _ in range(self.width)]
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()  # the last one used is the one that has been started
        for worker in self._workers:
            self._idle.put(worker)

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None) -> Any:
        """Run the function in the next process that is idle."""
        worker = self._idle.get()
        try:
            return worker.call(function, *arguments, timeout=timeout)
        finally:
            self._idle.put(worker)

    def crew_of_each(self, checks: int) -> Callable[[], Executor] | None:
        """As many processes as is fair."""
        share = self.width // checks
        return partial(Processes, workers=share) if share > 1 else None

    def close(self) -> None:
        """Kill the processes."""
        for worker in self._workers:
            worker.close()

    @classmethod
    def require_workers(cls, address: str, workers: int | None) -> None:
        """At least one."""
        if workers is not None:
            integer(workers, "workers", at_least=1)
