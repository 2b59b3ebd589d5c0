"""Where work is done, as people type it: `executor=` and `workers=`."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from urllib.parse import urlsplit

from audit.base.arguments import integer
from audit.base.defaults import DEFAULT_EXECUTOR
from audit.base.errors import InvalidArgument

_RULE = "be one of 'serial', 'processes', 'dask://scheduler:port', or a concurrent.futures.Executor"


@dataclass(frozen=True)
class Place:
    """Where work is done. It can be sent to other processes unless it holds an executor object.

    Parameters
    ----------
    executor : {"processes", "serial", "dask://scheduler:port"} or concurrent.futures.Executor
        Processes of this machine, this process, a Dask cluster, or an executor that its owner shuts down.
    workers : int >= 0, optional
        How many calls run at a time: by default one for each available core, or for each worker of an executor object.
        0 means this process. A cluster has its own number.
    code : mapping of str to str, optional
        The code that workers must have, from `code_of`.

    Raises
    ------
    InvalidArgument
        For another executor, or a number of workers where there is none to choose.
    """

    executor: str | Executor = DEFAULT_EXECUTOR
    workers: int | None = None
    code: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        local = self.executor in (DEFAULT_EXECUTOR, "serial")
        if not (local or self.is_cluster or isinstance(self.executor, Executor)):
            raise InvalidArgument.of("executor", _RULE, self.executor)
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
        """True when work is done in this process."""
        return self.executor == "serial"

    @property
    def is_cluster(self) -> bool:
        """True for dask://host:port and tcp://host:port."""
        try:
            parts = urlsplit(self.executor if isinstance(self.executor, str) else "")
            return parts.scheme in ("dask", "tcp") and None not in (parts.hostname, parts.port) and not parts.path
        except ValueError:
            return False


HERE = Place("serial")
