"""Calls on any `concurrent.futures.Executor`, each isolated in a process beside the worker that runs it."""

from __future__ import annotations

import os
import pickle
import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

from audit.base.errors import Unreachable
from audit.subjects.workers.place import Place
from audit.subjects.workers.process import Setting, call_isolated, end_session

T = TypeVar("T")

_AHEAD = 8  # items under way for each worker in `Pool.map`: a slow worker does not hold up the others


class Pool:
    """Calls under way on an executor that belongs to somebody else.

    Parameters
    ----------
    place : Place
        Says which code workers must have.
    executor : concurrent.futures.Executor
        Its workers start the processes in which the calls run.
    width : int >= 1
        How many calls are worth having under way at a time.
    run : callable
        Runs a pickled call on a worker, as `call_isolated` does.
    """

    def __init__(self, place: Place, executor: Executor, width: int, run: Callable[..., bytes] = call_isolated) -> None:
        self.width, self._place, self._executor, self._run = width, place, executor, run
        self._session = uuid.uuid4().hex
        self._setting = Setting(os.getcwd(), tuple(map(os.path.abspath, sys.path)), place.code)
        self._last: tuple[Any, Any] = None, None
        self._under_way: dict[Future[Any], Future[bytes]] = {}
        self._loss: str | None = None

    def call(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> T:
        """Run `function(*arguments)` and return its value; raise as the future of `submit` does."""
        return self.submit(function, *arguments, timeout=timeout).result()

    def submit(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> Future[T]:
        """Have `function(*arguments)` run; may be called from several threads.

        Parameters
        ----------
        function, *arguments
            Whatever cloudpickle can send.
        timeout : float > 0, optional
            Seconds that the call may take once a worker has begun it.

        Returns
        -------
        Future
            Of the value, or of what the function raised; `TimeoutError` when it took longer than `timeout`,
            `ChildProcessError` when it killed its process, `Unreachable` when nobody is left to run it, `OtherCode`
            when the worker has other code.
        """
        import cloudpickle

        work, packed = self._packed(function), cloudpickle.dumps(arguments)
        answer: Future[T] = Future()
        try:
            task = self._executor.submit(self._run, work, packed, self._session, timeout)
        except Exception as error:  # it was shut down, is broken or lost
            raise Unreachable(self._loss or f"the executor takes no more work: {error}") from error
        self._under_way[answer] = task
        task.add_done_callback(partial(self._answer, answer))
        if self._loss is not None:
            self.give_up(self._loss)
        return answer

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """Yield the values in order; the first item in order that fails is the one that raises.

        Items are taken as workers become free, so memory does not grow with their number.
        """
        under_way: deque[Future[T]] = deque()
        for item in items:
            under_way.append(self.submit(function, item))
            if len(under_way) > _AHEAD * self.width:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    def for_blocks(self, checks: int) -> Place | None:
        """Return where each of some checks, run side by side, may have its blocks drawn; None if only by itself."""
        return None

    def give_up(self, reason: str) -> None:
        """Answer every call that is under way or yet to come with `Unreachable`."""
        self._loss = self._loss or reason
        for answer, task in tuple(self._under_way.items()):
            with suppress(InvalidStateError):
                answer.set_exception(Unreachable(self._loss))
            task.cancel()

    def close(self) -> None:
        """Give up what is under way, and kill the processes that were started from this process."""
        self.give_up("the pool is closed")
        end_session(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _packed(self, function: Callable[..., Any]) -> Any:
        """Return the pickled function. The last one is kept: calls in a row are often of one function."""
        import cloudpickle

        kept, packed = self._last
        if kept is not function:
            packed = pickle.dumps((self._setting, cloudpickle.dumps(function)))
            self._last = function, packed
        return packed

    def _answer(self, answer: Future[T], task: Future[bytes]) -> None:
        """Pass on what became of a task."""
        try:
            kind, found = pickle.loads(task.result())
        except BaseException as error:
            kind, found = "error", self._failure(error)
        self._under_way.pop(answer, None)
        with suppress(InvalidStateError):  # it was given up
            answer.set_result(found) if kind == "value" else answer.set_exception(found)

    def _failure(self, error: BaseException) -> Exception:
        """Return what a call raises whose task brought no outcome."""
        if isinstance(error, ChildProcessError):
            return ChildProcessError(str(error))
        return Unreachable(self._loss or f"a worker cannot do what it is sent: {error!r}")


class LocalProcesses(Pool):
    """Processes of this machine, each started when there is something to do for it."""

    def for_blocks(self, checks: int) -> Place | None:
        share = self.width // checks
        return replace(self._place, workers=share) if share > 1 else None

    def close(self) -> None:
        super().close()
        self._executor.shutdown(wait=False, cancel_futures=True)


class ThisProcess(Pool):
    """This process: a call runs at once in the thread that makes it, and no limit of time is kept."""

    def submit(self, function: Callable[..., T], *arguments: Any, timeout: float | None = None) -> Future[T]:
        answer: Future[T] = Future()
        try:
            answer.set_result(function(*arguments))
        except Exception as error:
            answer.set_exception(error)
        return answer
