"""Limit the calls of the code under audit: their time, their threads, and the reach of their exceptions.

A time limit ends the drawing, and says whose time it was. The outputs that a run has drawn are counted, in this process
and in all that were forked from it.

In the process of a check an alarm raises `TimedOut` in the call that is under way. Where there is no alarm (another
thread, a system without one, a subject that has taken it) the time is checked before each call, and a call that never
returns is ended by the supervisor, with all that was drawn.
"""

from __future__ import annotations

import gc
import math
import mmap
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from time import monotonic, perf_counter  # kept, where code under audit replaces those of the module

from threadpoolctl import ThreadpoolController

is_isolated = False  # whether this process runs code under audit and nothing else: any exception is that code's
_UNCOLLECTED = 10_000  # new objects between two collections, which go through all outputs that a block holds. TIME
_EARLY = 0.05  # seconds by which an alarm may come before its time


class TimedOut(BaseException):
    """The time limit ends the drawing. Code under audit seldom catches other classes than `Exception`."""


@dataclass
class Stopwatch:
    """Measure the time of one check, in this process."""

    seconds: float = math.inf  # until the drawing ends
    started: float = field(default_factory=monotonic)
    called: float = 0.0  # seconds in calls of the code under audit
    drawn: float = 0.0  # seconds of drawing that came to its end
    outputs: int = 0  # that it brought
    planned: int = 0  # outputs that the check wants, with those that may confirm it
    depth: int = 0  # of drawing within drawing

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.elapsed

    @property
    def pace(self) -> float:
        """Seconds for an output, of those that were drawn."""
        return self.drawn / self.outputs if self.outputs else 0.0


_clock = Stopwatch()


def clock() -> Stopwatch:
    """Return the clock of the check that runs in this process; without a limit, one that never ends."""
    return _clock


@contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Let drawing end after some seconds; for the process of a check."""
    global _clock
    before, _clock = _clock, Stopwatch(math.inf if seconds is None else seconds)
    rings = seconds is not None and hasattr(signal, "setitimer")
    rings = rings and threading.current_thread() is threading.main_thread()
    if rings:
        usual = signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, _clock.seconds)
    try:
        yield
    finally:
        if rings:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, usual)
        _clock = before


def _ring(*_: object) -> None:
    if _clock.left > _EARLY:  # an alarm of the code under audit: it does what it does without this one
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGALRM)
    elif _clock.depth:  # else the next drawing raises
        raise TimedOut


class Drawing:
    """Draw some outputs, within the limit; where it is done by other processes, all of the time is that of calls."""

    def __init__(self, outputs: int = 0, *, is_elsewhere: bool = False) -> None:
        self._outputs, self._is_elsewhere = outputs, is_elsewhere

    def __enter__(self) -> Stopwatch:
        self._now, self._began, self._called = _clock, perf_counter(), _clock.called
        if self._now.left <= 0:
            raise TimedOut
        self._collected = gc.get_threshold()
        if self._collected[0]:  # else the user has switched it off
            gc.set_threshold(max(self._collected[0], _UNCOLLECTED), *self._collected[1:])
        self._now.depth += 1
        return self._now

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        now, seconds = self._now, perf_counter() - self._began
        gc.set_threshold(*self._collected)
        now.depth -= 1
        if kind is None and now.depth == 0:
            now.drawn, now.outputs = now.drawn + seconds, now.outputs + self._outputs
        if self._is_elsewhere:
            now.called = self._called + seconds


def is_of_subject(error: BaseException) -> bool:
    """Test whether an exception from a call is the code's own; in a process with others, some end more than a check."""
    if isinstance(error, TimedOut):
        return False
    if is_isolated or isinstance(error, Exception):
        return True
    is_of_pytest = any(kind.__module__ == "_pytest.outcomes" for kind in type(error).__mro__)
    return not (is_of_pytest or isinstance(error, KeyboardInterrupt))


# Threads of BLAS that outnumber the cores wait for each other in loops that burn CPU time, and sums that are taken in
# another order are others in the last digits. A user's own choice is kept.
_FOR_ALL = "OMP_NUM_THREADS"  # read by all libraries
_limited = threading.local()  # of a thread within `one_thread`: the modules that were loaded, with their libraries
_THREADS = (_FOR_ALL, "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def with_one_thread(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker process: one thread for each library, unless the user chose a number."""
    return dict(environment) if _FOR_ALL in environment else {**dict.fromkeys(_THREADS, "1"), **environment}


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread within, unless the user chose a number."""
    before, modules = getattr(_limited, "modules", 0), len(sys.modules)
    if before == modules or not os.environ.keys().isdisjoint(_THREADS):
        yield
        return
    _limited.modules = modules
    try:
        with _libraries(modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        _limited.modules = before


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let the garbage collector look at all objects a tenth as often: outputs that are objects fill whole blocks."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, 10 * old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


def one_thread_of_openmp() -> AbstractContextManager[object]:
    """Have trees use one thread, whatever the user chose: sums in another order would give another model."""
    return _libraries(len(sys.modules)).limit(limits=1, user_api="openmp")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return what is loaded; libraries that are loaded later come with further `modules`."""
    return ThreadpoolController()


def use_one_thread() -> None:
    """Do so in this process: limit the libraries that are loaded, and set the environment of those to come.

    OpenMP has no choice where this process was forked: GNU's library hangs if it had several threads before the fork.
    """
    for library in ThreadpoolController().lib_controllers:
        chosen = {f"{library.internal_api.upper()}_NUM_THREADS", _FOR_ALL} & os.environ.keys()
        if library.internal_api == "openmp" or not chosen:
            library.set_num_threads(1)
    os.environ.update(with_one_thread(os.environ))


SLOTS = 4096
DRAWN = memoryview(mmap.mmap(-1, 8 * SLOTS)).cast("q")  # outputs, one slot a process, shared with those it forks
