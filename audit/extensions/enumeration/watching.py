"""Watch code under audit for acts behind the back of the stand-ins, and put stand-ins in place of global sources.

A profile function sees calls of C functions from Python code while a run goes where no run went before. Other
generators are compared with their earlier states. Each event bars a proof, by name.
"""

from __future__ import annotations

import _random
import _thread
import builtins
import datetime
import gc
import os
import random
import secrets
import sys
import time
import warnings
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, ModuleType
from typing import Any

import numpy as np

from audit.extensions.enumeration.apart import pause_watch
from audit.extensions.enumeration.following import Follower
from audit.extensions.enumeration.sources import (
    ForkingGenerator,
    ForkingRandom,
    ForkingRandomState,
    below,
    uniform,
)

HERE = str(Path(__file__).parent)
_SYSTEM = ("urandom", "getrandom", "getpid", "getppid", "times", "getloadavg", "cpu_count", "fork")
_OWN_MODULES = {*sys.stdlib_module_names, "numpy", "scipy", "audit", "builtins"}
_ARE_OF_THE_MOMENT = ("now", "today", "utcnow")


def _list_functions() -> dict[int, str]:
    found = {id(function): f"time.{name}" for name, function in vars(time).items() if callable(function)}
    found |= {id(getattr(os, name)): f"os.{name}" for name in _SYSTEM if hasattr(os, name)}
    found |= {id(getattr(builtins, name)): name for name in ("id", "hash", "input", "open")}
    found |= {id(function): f"a thread ({name})" for name, function in vars(_thread).items() if callable(function)}
    return found


_WATCHED = _list_functions()
_HARMLESS_IN_LIBRARIES = {*map(id, (id, hash, _thread.get_ident, _thread.RLock))}


def is_own(module: str | None) -> bool:
    """Test whether a module is one whose code is trusted to keep no state that outputs depend on."""
    return (module or "").partition(".")[0] in _OWN_MODULES


_COMPENSATES = sys.version_info >= (3, 12)  # `sum` makes up for the rounding of floats since then
_SUM = builtins.sum


def add_up(iterable: Any, /, start: Any = 0) -> Any:
    """Add as `sum` does, in a frame that shows the total and the terms to come."""
    if isinstance(start, (str, bytes, bytearray)) or sys._getframe(1).f_globals["__name__"].startswith("audit."):
        return _SUM(iterable, start)
    total, values = start, iter(iterable)
    for value in values:
        if _COMPENSATES and not isinstance(value, int):
            return _SUM(chain((value,), values), total)
        total = total + value  # `sum` does not add in place
    return total


add_up.__code__ = add_up.__code__.replace(co_filename="<in between>", co_name="sum")  # it is read as the code is


class Watch:
    """Watch one enumeration."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.behind: set[str] = set()
        self.on_code: Callable[[FrameType], None] = lambda frame: None
        self.on_time: Callable[[], None] = lambda: None  # called now and then: code may go on without drawing
        self._events = 0
        self._codes: dict[int, CodeType] = {}  # by identity: equal code may have other globals
        self._undo: list[tuple[Any, str, Any]] = []
        self.collects = False

    def __enter__(self) -> Watch:
        self.collects = gc.isenabled()
        gc.disable()  # the finalizers of garbage are not the code's own acts
        follower, plain = self.follower, ForkingRandom(self.follower)
        legacy = ForkingRandomState(follower)
        for name in random.__all__:
            if isinstance(getattr(getattr(random, name), "__self__", None), random.Random):
                self._replace(random, name, getattr(plain, name))
        for name in dir(np.random.mtrand._rand):
            if not name.startswith("_") and name in vars(np.random) and hasattr(legacy, name):
                self._replace(np.random, name, getattr(legacy, name))
        make = np.random.default_rng
        self._replace(
            np.random, "default_rng", lambda seed=None: ForkingGenerator(follower) if seed is None else make(seed)
        )
        self._replace(random.SystemRandom, "random", lambda own: uniform(follower))
        self._replace(random.SystemRandom, "getrandbits", lambda own, k: below(follower, 1 << int(k)))
        self._replace(random.SystemRandom, "_randbelow", lambda own, n: below(follower, n))
        self._replace(builtins, "sum", add_up)
        shown = warnings._showwarnmsg  # type: ignore[attr-defined]

        def show(message: Any) -> None:
            with pause_watch():  # the line of the code is read from its file
                shown(message)

        self._replace(warnings, "_showwarnmsg", show)
        self._replace(secrets, "randbits", lambda k: below(follower, 1 << int(k)))
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        if self.collects:
            gc.enable()
        for place, name, value in reversed(self._undo):
            if value is _MISSING:
                delattr(place, name)
            else:
                setattr(place, name, value)

    def _replace(self, place: Any, name: str, value: Any) -> None:
        self._undo.append((place, name, vars(place).get(name, _MISSING)))
        setattr(place, name, value)

    def start(self) -> None:
        """Watch from here on."""
        sys.setprofile(self._see)

    def stop(self) -> None:
        """Watch no longer."""
        sys.setprofile(None)
        if self.collects and gc.get_count()[0] > _GARBAGE:
            gc.collect(0)  # the older objects are mostly the graph, which grows and stays

    def _see(self, frame: FrameType, event: str, argument: Any) -> None:
        self._events += 1
        if not self._events % _OFTEN:
            self.on_time()
        if event == "c_call":
            self._see_call(frame, argument)
        elif event == "call":
            code = frame.f_code
            if id(code) not in self._codes:
                self._codes[id(code)] = code
                if not code.co_filename.startswith(HERE):
                    self.on_code(frame)

    def _see_call(self, frame: FrameType, function: Any) -> None:
        owner = function.__self__ if type(function) is BuiltinFunctionType else None
        name = _WATCHED.get(id(function)) if owner is None or type(owner) is ModuleType else _of_object(owner, function)
        if name is None or frame.f_code.co_filename.startswith(HERE):
            return
        if id(function) in _HARMLESS_IN_LIBRARIES and is_own(frame.f_globals.get("__name__")):
            return
        self.behind.add(name)


_MISSING = object()
_GARBAGE = 100_000  # new objects that may be garbage
_OFTEN = 4096  # events between two looks at the clock


def _of_object(owner: Any, function: Any) -> str | None:
    """Return a name for a method that reads the clock or another generator."""
    if isinstance(owner, type):
        is_clock = issubclass(owner, datetime.date) and function.__name__ in _ARE_OF_THE_MOMENT
        return f"{owner.__name__}.{function.__name__}" if is_clock else None
    is_other = isinstance(owner, _random.Random) and type(owner) is not ForkingRandom
    return f"another generator ({type(owner).__name__})" if is_other else None
