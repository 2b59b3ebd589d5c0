"""Enumerate in a process of its own, in which nothing is asked or drawn unseen.

The process is forked, so that it has all objects of the code. Its system calls go past this process, which notes those
that ask for entropy, time or the outside while the code runs; hooks of the interpreter name what Python does itself.
What the code changes goes with the process. Where there is no such watch, the law says so.
"""

from __future__ import annotations

import gc
import itertools
import mmap
import os
import pickle
import random
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cloudpickle
import numpy as np

from audit.api import Line, fork
from audit.extensions.enumeration import system_calls
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw

UNSEEN = "nothing is drawn, read or asked below Python: this platform shows no system calls"
_PATIENCE = 20  # seconds of the wall, by seconds of the processor, after which the process is killed
_GRACE = 30.0
_EVENTS = ("open", "os.", "socket.", "subprocess.", "ctypes.dlopen", "ctypes.dlsym", "mmap.", "shutil.", "sqlite3.")
_HARMLESS_EVENTS = ("os.putenv", "os.unsetenv", "os.chdir")


class WatchState:
    """Say whether the code runs, to who watches the process; and whether the limit of time is over."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 1)
        self._is_over = False
        self._until: float | None = None
        self.named: set[str] = set()
        self.generators: list[Any] = []  # of random numbers, as they were before the fork

    @property
    def is_open(self) -> bool:
        """True while the code runs: what the process asks for then is asked by the code."""
        return self._shared[0] == 1

    def open(self) -> None:
        """Say that the code runs."""
        self._shared[0] = 1

    def close(self) -> None:
        """Say that it does not."""
        self._shared[0] = 0

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let modules be found and read, which the code does not do itself."""
        was, profile = self.is_open, sys.getprofile()
        self.close()
        sys.setprofile(None)
        try:
            yield
        finally:
            sys.setprofile(profile)
            if was:
                self.open()

    def begin(self, seconds: float) -> None:
        """Prepare a process that was forked: its hooks, and its limit of time."""
        sys.addaudithook(self._on_event)
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

    def _on_event(self, event: str, arguments: Any) -> None:
        if self._shared[0] and event.startswith(_EVENTS) and event not in _HARMLESS_EVENTS:
            self.named.add(event)


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
    """Return the law that a function finds in a forked process, with all that the process was seen to ask for."""
    gate = WatchState()
    gate.generators = generators()
    here, there = socket.socketpair()
    child = fork(lambda line: _serve(enumerate_, gate, there, line, seconds))
    there.close()
    try:
        content, called = _watched(here, child.line, gate, _PATIENCE * seconds + _GRACE)
    finally:
        status = child.kill()
        here.close()
    if not content:
        ended = signal.Signals(-status).name if status is not None and status < 0 else "no output"
        said = f"something that ends its process ({ended})"
        return replace(_NO_LAW, behind=tuple(sorted({said, *called})))
    kind, found = pickle.loads(content)
    if kind == "error":
        raise found
    return replace(found, behind=tuple(sorted({*found.behind, *called})))


def generators() -> list[Any]:
    """Return the generators of random numbers that this process made; in a fork, those that it made itself."""
    kinds, found = set[type](), [np.random.BitGenerator, np.random.RandomState, np.random.Generator, random.Random]
    while found:
        kinds.add(kind := found.pop())
        found += type.__subclasses__(kind)
    objects = gc.get_objects()
    return list(itertools.compress(objects, map(kinds.__contains__, map(type, objects))))


def _serve(
    find: Callable[[WatchState], EnumeratedLaw], gate: WatchState, there: socket.socket, line: Line, seconds: float
) -> None:
    """Enumerate in this process, and send the outcome."""
    gc.freeze()  # to look at objects that the fork shares would copy the memory that they are in
    sys.settrace(None)  # what a debugger or a measurement of coverage asks for is not asked by the code
    listener = system_calls.listen()
    socket.send_fds(there, [b"1" if listener is not None else b"0"], [] if listener is None else [listener])
    if listener is not None:
        os.close(listener)
    gate.begin(seconds)
    try:
        law = find(gate)
        assumed = law.assumed if listener is not None else tuple(sorted({*law.assumed, UNSEEN}))
        outcome: Any = "law", replace(law, behind=tuple(sorted({*law.behind, *gate.named})), assumed=assumed)
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


def _watched(here: socket.socket, line: Line, gate: WatchState, seconds: float) -> tuple[bytes, set[str]]:
    """Return what a process sends, nothing if it ends without, and the names of the system calls of its code."""
    _, listeners, _, _ = socket.recv_fds(here, 1, 1)
    waiting, called = [line.fileno(), *listeners], set[str]()
    until = time.monotonic() + seconds
    while not line.is_whole and (left := until - time.monotonic()) > 0:
        for descriptor, event in system_calls.ready(waiting, left).items():
            if descriptor == line.fileno():
                if not line.fill():
                    until = 0.0
            elif event & (select.POLLHUP | select.POLLERR) and not event & select.POLLIN:
                waiting.remove(descriptor)
            else:
                by_code = gate.is_open
                name = system_calls.let_go_on(descriptor)
                if name is not None and by_code:
                    called.add(f"a system call ({name})")
    for listener in listeners:
        os.close(listener)
    return line.receive() if line.is_whole else b"", called
