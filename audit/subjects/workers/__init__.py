"""Where work is done: in this process, in local processes, or on a cluster.

An executor takes one piece of work after the other, from any number of threads, and knows neither checks nor seeds.
Another executor needs a file with its class, and a line in `EXECUTORS`.
"""

from __future__ import annotations

from audit.base.errors import InvalidArgument
from audit.subjects.workers.dask import Dask
from audit.subjects.workers.executor import Executor, Unreachable
from audit.subjects.workers.processes import Processes
from audit.subjects.workers.serial import Serial

__all__ = ["DEFAULT_EXECUTOR", "EXECUTORS", "Executor", "Unreachable", "open_executor", "require_executor"]

EXECUTORS: tuple[type[Executor], ...] = (Serial, Processes, Dask)
DEFAULT_EXECUTOR = Processes.forms[0]


def open_executor(executor: str, workers: int | None = None) -> Executor:
    """The executor of that name or address, ready to work; to be used in a `with` statement.

    Parameters
    ----------
    executor : str
        "serial", "processes" or "dask://scheduler:port".
    workers : int >= 1, optional
        Local processes; only for "processes", where None means 2.

    Raises
    ------
    AuditError
        For another text, workers where there is none to choose, a missing extra, or a cluster that does not answer.
    """
    return require_executor(executor, workers)(executor, workers)


def require_executor(executor: str, workers: int | None = None) -> type[Executor]:
    """The class behind a name or an address; raises as `open_executor` does, and starts nothing."""
    for known in EXECUTORS:
        if isinstance(executor, str) and known.is_meant(executor):
            known.require_workers(executor, workers)
            return known
    forms = ", ".join(f"'{known.forms[0]}'" for known in EXECUTORS)
    raise InvalidArgument.of("executor", f"be one of {forms}", executor)
