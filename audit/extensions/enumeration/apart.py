"""Enumerate in a process of its own.

The process is forked, so that it has all objects of the code. The changes that the code makes go with it.
"""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cloudpickle

from audit.api import Line, fork
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw

_PATIENCE = 20  # seconds of the wall, by seconds of the processor, after which the process is killed
_GRACE = 30.0


class WatchState:
    """Say whether the code runs, and whether the limit of time is over."""

    def __init__(self) -> None:
        self.is_open = False  # whether the code runs: the process's requests are then the code's
        self._is_over = False
        self._until: float | None = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let Python find and read modules, which the code does not do itself."""
        was, profile = self.is_open, sys.getprofile()
        self.is_open = False
        sys.setprofile(None)
        try:
            yield
        finally:
            self.is_open = was
            sys.setprofile(profile)

    def begin(self, seconds: float) -> None:
        """Prepare a process that was forked: its imports, and its limit of time."""
        _wrap_imports(self)
        signal.signal(signal.SIGPROF, self._on_time)
        signal.setitimer(signal.ITIMER_PROF, seconds)

    def _on_time(self, number: int, frame: Any) -> None:
        self._is_over = True

    @property
    def is_over(self) -> bool:
        """True when the seconds of the processor are used up."""
        return self._is_over if self._until is None else time.process_time() > self._until

    def seconds(self) -> float:
        """Return the seconds of the processor so far, by no clock that may be off."""
        if self._until is not None:
            return time.process_time()
        import resource  # not on every platform

        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    def begin_here(self, seconds: float) -> None:
        """Prepare this process, where none can be forked: only its limit of time."""
        self._until = time.process_time() + seconds


def _wrap_imports(gate: WatchState) -> None:
    """Let modules be imported unwatched."""
    bootstrap: Any = sys.modules["_frozen_importlib"]
    plain = bootstrap._find_and_load

    def find_and_load(*arguments: Any) -> Any:
        with gate.aside():
            return plain(*arguments)

    bootstrap._find_and_load = find_and_load


_NO_LAW = EnumeratedLaw({}, Fraction(1), {}, 0, 0, 0)


def law_apart(enumerate_: Callable[[WatchState], EnumeratedLaw], seconds: float) -> EnumeratedLaw:
    """Return the law that a function finds in a forked process, with all its observed requests."""
    gate = WatchState()
    child = fork(lambda line: _serve(enumerate_, gate, line, seconds))
    content = b""
    try:
        content = child.line.receive(_PATIENCE * seconds + _GRACE)
    except (EOFError, TimeoutError):
        pass
    finally:
        status = child.kill()
    if not content:
        ended = signal.Signals(-status).name if status is not None and status < 0 else "no output"
        return replace(_NO_LAW, behind=(f"something that ends its process ({ended})",))
    kind, found = pickle.loads(content)
    if kind == "error":
        raise found
    law: EnumeratedLaw = found
    return law


def _serve(enumerate_: Callable[[WatchState], EnumeratedLaw], gate: WatchState, line: Line, seconds: float) -> None:
    """Enumerate in this process, and send the outcome."""
    gc.freeze()  # to look at objects that the fork shares would copy the memory that they are in
    sys.settrace(None)  # requests of a debugger or a measurement of coverage are not the code's
    gate.begin(seconds)
    try:
        outcome: Any = "law", enumerate_(gate)
    except Exception as error:
        outcome = "error", error
    line.send(_packed(outcome))


def _packed(outcome: tuple[str, Any]) -> bytes:
    try:
        packed = cloudpickle.dumps(outcome)
        pickle.loads(packed)
    except Exception:
        kind, found = outcome
        plain = replace(found, probabilities=dict(found.texts)) if kind == "law" else RuntimeError(repr(found))
        packed = cloudpickle.dumps((kind, plain))
    return bytes(packed)
