"""Keep the time limit of a check: it ends the drawing, and says whose time it was.

In the process of a check an alarm raises `TimedOut` in the call that is under way. Where there is no alarm (another
thread, a system without one, a subject that has taken it) the time is looked at before each call, and a call that never
returns is ended by the supervisor, with all that was drawn.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_EARLY = 0.05  # seconds by which an alarm may come before its time


class TimedOut(BaseException):
    """The time limit ends the drawing. Code under audit seldom catches what is not an `Exception`."""


@dataclass
class Clock:
    """Measure the time of one check, in this process."""

    seconds: float = math.inf  # until the drawing ends
    started: float = field(default_factory=time.monotonic)
    called: float = 0.0  # seconds in calls of the code under audit
    drawn: float = 0.0  # seconds of drawing that came to its end
    outputs: int = 0  # that it brought
    planned: int = 0  # outputs that the check wants, with those that may confirm it
    depth: int = 0  # of drawing within drawing

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.elapsed

    @property
    def pace(self) -> float:
        """Seconds for an output, of those that were drawn."""
        return self.drawn / self.outputs if self.outputs else 0.0


_clock = Clock()


def clock() -> Clock:
    """Return the clock of the check that runs in this process; without a limit, one that never ends."""
    return _clock


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Let drawing end after some seconds; for the process of a check."""
    global _clock
    before, _clock = _clock, Clock(math.inf if seconds is None else seconds)
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


@contextmanager
def drawing(outputs: int, *, is_elsewhere: bool = False) -> Iterator[None]:
    """Draw some outputs, within the limit; where it is done by other processes, all of the time is that of calls."""
    now, began, called = _clock, time.perf_counter(), _clock.called
    if now.left <= 0:
        raise TimedOut
    now.depth += 1
    try:
        yield
        if now.depth == 1:
            now.drawn, now.outputs = now.drawn + time.perf_counter() - began, now.outputs + outputs
    finally:
        now.depth -= 1
        if is_elsewhere:
            now.called = called + time.perf_counter() - began


@contextmanager
def calling() -> Iterator[None]:
    """Count the time of a call of the code under audit."""
    now, began = _clock, time.perf_counter()
    try:
        yield
    finally:
        now.called += time.perf_counter() - began
