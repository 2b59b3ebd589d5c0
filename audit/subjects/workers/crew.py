"""A crew: the workers that one long examination calls up for its blocks, and the loop that keeps them busy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from audit.subjects.workers.executor import Executor

T = TypeVar("T")

_WAITING = 8  # values a worker that may wait for an earlier one, so that a slow worker does not hold up the others


class Crew:
    """Workers that are called up when the first work comes.

    Parameters
    ----------
    open : callable
        Opens the executor.
    timeout : float > 0, optional
        Seconds that one piece of work may take.
    """

    def __init__(self, open: Callable[[], Executor], timeout: float | None = None) -> None:
        self._open, self._timeout = open, timeout
        self._executor: Executor | None = None

    def call_up(self) -> int:
        """Open the executor, unless it is; how many pieces of work it takes at a time."""
        self._executor = self._executor or self._open()
        return self._executor.width

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """The function's values, in order; the first item in order that fails is the one that raises.

        Items are taken as workers become free; memory does not grow with their number.
        """
        width = self.call_up()
        executor = self._executor
        assert executor is not None
        under_way: deque[Future[T]] = deque()
        threads = ThreadPoolExecutor(width)
        try:
            for item in items:
                under_way.append(threads.submit(executor.call, function, item, timeout=self._timeout))
                if len(under_way) > _WAITING * width:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Dismiss the workers, whatever they do."""
        if self._executor is not None:
            self._executor.close()
            self._executor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
