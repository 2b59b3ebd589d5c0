"""Say where calls are run: in this process, in processes of this machine, on a cluster, or on an executor."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from audit.defaults import DEFAULT_EXECUTOR
from audit.errors import InvalidArgument
from audit.validate import integer

_EXECUTORS = (
    "be one of 'serial', 'processes', 'dask://scheduler:port', 'tls://scheduler:port', or a concurrent.futures.Executor"
)


@dataclass(frozen=True)
class Place:
    """Where work is done. It can be sent to other processes unless it holds an executor object."""

    executor: str | Executor = DEFAULT_EXECUTOR  # or "serial", "dask://host:port", or an executor object
    workers: int | None = None  # calls that run at a time, or None; 0 means this process; a cluster has its own number
    code: Mapping[str, str] | None = None  # what workers must have, from `loaded_code`

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
        try:
            parts = urlsplit(self.executor if isinstance(self.executor, str) else "")
            return (
                parts.scheme in ("dask", "tcp", "tls") and None not in (parts.hostname, parts.port) and not parts.path
            )
        except ValueError:
            return False

    def share(self, checks: int, width: int) -> Place | None:
        """Return where each of some checks, run side by side, may have its blocks drawn; None if only by itself."""
        if self.is_cluster:
            return self  # the scheduler shares it out
        is_divisible = self.executor == DEFAULT_EXECUTOR and width >= 2 * checks
        return replace(self, workers=width // checks) if is_divisible else None


HERE = Place("serial")
