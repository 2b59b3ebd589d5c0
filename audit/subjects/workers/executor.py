"""What an executor is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from audit.base.errors import AuditError, InvalidArgument


class Unreachable(AuditError):
    """The workers cannot be reached, or no longer: what they were to do is undone, and says nothing about a claim."""


class Executor(ABC):
    """Runs functions somewhere, each as if it were called here.

    Parameters
    ----------
    address : str
        A name or an address of one of the `forms`.
    workers : int or None
        As `require_workers` admits it.
    """

    forms: ClassVar[tuple[str, ...]]
    """The names or addresses that mean this executor, as people type them."""

    width: int
    """How many calls are worth having under way at a time."""

    @abstractmethod
    def __init__(self, address: str, workers: int | None) -> None: ...

    @abstractmethod
    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None) -> Any:
        """Run `function(*arguments)`; the arguments, and what is returned or raised, can be pickled by cloudpickle.

        May be called from several threads; those beyond `width` wait for their turn.

        Raises
        ------
        TimeoutError
            When it takes longer than `timeout` seconds, counted from its turn.
        ChildProcessError
            When it killed the process that ran it.
        Unreachable
            When nobody is left to run it.
        """

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """What `function(*arguments)` gives on every worker that may have other code than this process, by address."""
        return {}

    def crew_of_each(self, checks: int) -> Callable[[], Executor] | None:
        """What each of some checks, examined side by side, may open for its blocks; None when it is better alone.

        It can be pickled, and opens an executor of its own, in whatever process of this machine.
        """
        return None

    def close(self) -> None:  # noqa: B027 - there may be nothing to stop
        """Stop all that is under way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @classmethod
    def is_meant(cls, address: str) -> bool:
        """Whether a text has one of the forms."""
        return address in cls.forms

    @classmethod
    def require_workers(cls, address: str, workers: int | None) -> None:
        """Refuse a number of workers that this executor cannot choose."""
        if workers is not None:
            raise InvalidArgument(f"`workers` is for the executor 'processes': {address!r} has its own, got {workers}")


def has_host_and_port(address: str, schemes: tuple[str, ...]) -> bool:
    """Whether a text is scheme://host:port, with one of the schemes."""
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port is not None and not parts.path
    except ValueError:
        return False
