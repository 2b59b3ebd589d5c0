"""State outside of frames: one coin sets it, a second one is drawn, and the output tells both."""

from __future__ import annotations

import array
import collections
import contextvars
import decimal
import functools
import gc
import io
import itertools
import json.decoder
import locale
import logging
import os
import queue
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import types
import warnings
import weakref
import xml.etree.ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo import holder
from benchmarks.enumeration.zoo.case import Case, coin


def remembered(name: str, on: Callable[[], Any], read: Callable[[], Any], off: Callable[[], Any]) -> Case:
    """Return a program that remembers its first coin somewhere, and clears it before it returns."""

    def program(data: Any, rng: Any) -> Any:
        if coin(rng):
            on()
        second = coin(rng)
        found = read()
        off()
        return second, found

    return Case("outside", name, program)


class Plain:
    """A class whose attributes and instances are written to."""

    flag = 0

    def __init__(self) -> None:
        self.backend = holder
        self.value = 0


class Meta(type):
    """A metaclass that holds state."""

    mark = 0


class Made(metaclass=Meta):
    """Its class holds state."""


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


@functools.lru_cache
def cached(number: int) -> int:
    """Return a number; the cache grows."""
    return number


def function() -> None:
    """Hold attributes."""


THING, SLOTTED = Plain(), Slotted()
LOCAL, VARIABLE = threading.local(), contextvars.ContextVar("variable", default=0)
DEQUE, BYTES, ARRAY, NUMBERS = collections.deque(), bytearray(1), array.array("i", [0]), np.zeros(2)
VIEW, TEXT, BINARY, EVENT, QUEUE = NUMBERS[:1], io.StringIO("ab"), io.BytesIO(b"ab"), threading.Event(), queue.Queue()
COUNTS, ORDERED, SPACE = collections.Counter(), collections.OrderedDict(a=1, b=2), types.SimpleNamespace(value=0)
WEAK, MEMORY, LOGGER = weakref.WeakValueDictionary(), memoryview(BYTES), logging.getLogger("zoo")
ELEMENT, OWN_RANDOM, NESTED = xml.etree.ElementTree.Element("a"), random.Random(1), {"a": [{"b": 0}]}
CYCLE = itertools.cycle([0, 1])
DEFAULTS: dict[str, Any] = collections.defaultdict(int)
FOLDER = os.getcwd()
LOCKED = threading.Lock()
CONTEXT = decimal.getcontext()


def with_default(add: int = 0, kept: list[int] = []) -> int:  # noqa: B006
    """Return how many were added."""
    kept.extend([1] * add)
    found = len(kept)
    if add < 0:
        kept.clear()
    return found


def nonlocal_state() -> tuple[Callable[[], None], Callable[[], int], Callable[[], None]]:
    """Return functions that share a cell."""
    state = 0

    def on() -> None:
        nonlocal state
        state = 1

    def off() -> None:
        nonlocal state
        state = 0

    return on, lambda: state, off


def _set_global(value: int) -> None:
    global FLAG
    FLAG = value


FLAG = 0


def _set(place: Any, name: str, on: Any, off: Any) -> tuple[Any, Any, Any]:
    return (lambda: setattr(place, name, on)), (lambda: getattr(place, name) == on), (lambda: setattr(place, name, off))


def _with_prec(number: int) -> None:
    decimal.getcontext().prec = number


def _with_rounding(name: str) -> None:
    decimal.getcontext().rounding = name


def _module(name: str, value: int) -> None:
    holder.inner.x = value


def _third() -> str:
    return str(decimal.Decimal(1) / decimal.Decimal(3))


def _half() -> str:
    return str(decimal.Decimal("0.5").quantize(decimal.Decimal(1)))


def _warn() -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn("again", stacklevel=1)
    return len(caught)


def _float_error() -> str:
    return np.geterr()["divide"]


def _attribute(place: Any, name: str) -> tuple[Any, Any, Any]:
    def on() -> None:
        place.__dict__[name] = 1

    return on, (lambda: place.__dict__.get(name, 0)), (lambda: place.__dict__.pop(name, None))


_STEPS: dict[str, tuple[Any, Any, Any]] = {
    "global": (lambda: _set_global(1), lambda: FLAG, lambda: _set_global(0)),
    "cell": nonlocal_state(),
    "mutable default": (lambda: with_default(1), lambda: with_default(0), lambda: with_default(-1)),
    "function attribute": _attribute(function, "mark"),
    "class attribute": _set(Plain, "flag", 1, 0),
    "metaclass attribute": _set(Meta, "mark", 1, 0),
    "instance attribute": _set(THING, "value", 1, 0),
    "slot": _set(SLOTTED, "value", 1, 0),
    "attribute of a submodule": (lambda: _module("x", 1), lambda: holder.inner.x, lambda: _module("x", 0)),
    "list of a submodule": (
        lambda: holder.inner.LOG.append(1),
        lambda: len(holder.inner.LOG),
        lambda: holder.inner.LOG.clear(),
    ),
    "submodule by its parts": (
        lambda: setattr(holder.inner.deeper, "y", 1),
        lambda: holder.inner.deeper.y,
        lambda: setattr(holder.inner.deeper, "y", 0),
    ),
    "module that an object holds": (
        lambda: setattr(THING.backend, "x", 1),
        lambda: THING.backend.x,
        lambda: setattr(THING.backend, "x", 0),
    ),
    "module in a dictionary": (
        lambda: setattr(sys.modules[holder.__name__], "z", 1),
        lambda: getattr(holder, "z", 0),
        lambda: setattr(holder, "z", 0),
    ),
    "attribute of a module of the library": (
        lambda: setattr(json.decoder, "zoo", 1),
        lambda: getattr(json.decoder, "zoo", 0),
        lambda: setattr(json.decoder, "zoo", 0),
    ),
    "attribute of numpy": (lambda: setattr(np, "zoo", 1), lambda: getattr(np, "zoo", 0), lambda: setattr(np, "zoo", 0)),
    "decimal precision": (lambda: _with_prec(5), _third, lambda: _with_prec(28)),
    "decimal rounding": (lambda: _with_rounding("ROUND_UP"), _half, lambda: _with_rounding("ROUND_HALF_EVEN")),
    "decimal flags": (
        lambda: decimal.Decimal(1) / decimal.Decimal(3),
        lambda: decimal.getcontext().flags[decimal.Inexact],
        lambda: decimal.getcontext().clear_flags(),
    ),
    "decimal context held": (lambda: setattr(CONTEXT, "prec", 6), _third, lambda: setattr(CONTEXT, "prec", 28)),
    "decimal context in a thread": (
        lambda: decimal.setcontext(decimal.Context(prec=4)),
        _third,
        lambda: decimal.setcontext(decimal.Context(prec=28)),
    ),
    "numpy seterr": (lambda: np.seterr(divide="ignore"), _float_error, lambda: np.seterr(divide="warn")),
    "numpy seterrcall": (lambda: np.seterrcall(print), lambda: np.geterrcall() is None, lambda: np.seterrcall(None)),
    "numpy print options": (
        lambda: np.set_printoptions(precision=2),
        lambda: str(np.array([1 / 3])),
        lambda: np.set_printoptions(precision=8),
    ),
    "numpy buffer size": (lambda: np.setbufsize(16384), np.getbufsize, lambda: np.setbufsize(8192)),
    "warning filters": (
        lambda: warnings.simplefilter("ignore"),
        lambda: warnings.filters[0][0] == "ignore",
        warnings.resetwarnings,
    ),
    "warned once": (
        lambda: warnings.warn("zoo", stacklevel=1),
        lambda: bool(globals().get("__warningregistry__")),
        lambda: globals().pop("__warningregistry__", None),
    ),
    "environment": (
        lambda: os.environ.update(ZOO="1"),
        lambda: os.environ.get("ZOO"),
        lambda: os.environ.pop("ZOO", None),
    ),
    "environment by putenv": (
        lambda: os.environ.__setitem__("ZOO", "1"),
        lambda: os.getenv("ZOO"),
        lambda: os.environ.pop("ZOO", None),
    ),
    "working folder": (lambda: os.chdir("/"), lambda: os.getcwd() == "/", lambda: os.chdir(FOLDER)),
    "file mask": (lambda: os.umask(0o077), lambda: _umask(), lambda: os.umask(0o022)),
    "locale": (
        lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
        lambda: locale.setlocale(locale.LC_NUMERIC),
        lambda: locale.setlocale(locale.LC_NUMERIC, "C"),
    ),
    "time zone": (
        lambda: (os.environ.update(TZ="EST+05"), time.tzset()),
        lambda: time.tzname[0],
        lambda: (os.environ.pop("TZ"), time.tzset()),
    ),
    "recursion limit": (
        lambda: sys.setrecursionlimit(2000),
        sys.getrecursionlimit,
        lambda: sys.setrecursionlimit(1000),
    ),
    "digits of integers": (
        lambda: sys.set_int_max_str_digits(5000),
        sys.get_int_max_str_digits,
        lambda: sys.set_int_max_str_digits(4300),
    ),
    "import path": (
        lambda: sys.path.append("zoo"),
        lambda: "zoo" in sys.path,
        lambda: sys.path.remove("zoo") if "zoo" in sys.path else None,
    ),
    "arguments of the program": (
        lambda: sys.argv.append("zoo"),
        lambda: "zoo" in sys.argv,
        lambda: sys.argv.remove("zoo") if "zoo" in sys.argv else None,
    ),
    "switch interval": (
        lambda: sys.setswitchinterval(0.1),
        lambda: sys.getswitchinterval() > 0.05,
        lambda: sys.setswitchinterval(0.005),
    ),
    "collector": (lambda: gc.set_threshold(500), lambda: gc.get_threshold()[0], lambda: gc.set_threshold(700)),
    "signal handler": (
        lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
        lambda: signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN,
        lambda: signal.signal(signal.SIGUSR1, signal.SIG_DFL),
    ),
    "socket timeout": (
        lambda: socket.setdefaulttimeout(9),
        socket.getdefaulttimeout,
        lambda: socket.setdefaulttimeout(None),
    ),
    "folder of temporary files": (
        lambda: setattr(tempfile, "tempdir", "/zoo"),
        lambda: tempfile.tempdir == "/zoo",
        lambda: setattr(tempfile, "tempdir", None),
    ),
    "level of a logger": (lambda: LOGGER.setLevel(10), lambda: LOGGER.level, lambda: LOGGER.setLevel(0)),
    "logging disabled": (lambda: logging.disable(50), lambda: logging.root.manager.disable, lambda: logging.disable(0)),
    "output replaced": (
        lambda: setattr(sys, "stdout", TEXT),
        lambda: sys.stdout is TEXT,
        lambda: setattr(sys, "stdout", sys.__stdout__),
    ),
    "thread local": (lambda: setattr(LOCAL, "x", 1), lambda: getattr(LOCAL, "x", 0), lambda: LOCAL.__dict__.clear()),
    "context variable": (lambda: VARIABLE.set(1), VARIABLE.get, lambda: VARIABLE.set(0)),
    "cache": (lambda: cached(1), lambda: cached.cache_info().currsize, cached.cache_clear),
    "deque": (lambda: DEQUE.append(1), lambda: len(DEQUE), DEQUE.clear),
    "bytearray": (lambda: BYTES.__setitem__(0, 1), lambda: BYTES[0], lambda: BYTES.__setitem__(0, 0)),
    "memory": (lambda: MEMORY.__setitem__(0, 1), lambda: MEMORY[0], lambda: MEMORY.__setitem__(0, 0)),
    "array": (lambda: ARRAY.__setitem__(0, 1), lambda: ARRAY[0], lambda: ARRAY.__setitem__(0, 0)),
    "numpy array": (lambda: NUMBERS.__setitem__(1, 1), lambda: float(NUMBERS[1]), lambda: NUMBERS.fill(0)),
    "view of an array": (lambda: VIEW.fill(1), lambda: float(NUMBERS[0]), lambda: VIEW.fill(0)),
    "flags of an array": (
        lambda: setattr(NUMBERS.flags, "writeable", False),
        lambda: NUMBERS.flags.writeable,
        lambda: setattr(NUMBERS.flags, "writeable", True),
    ),
    "text stream": (lambda: TEXT.read(1), TEXT.tell, lambda: TEXT.seek(0)),
    "binary stream": (lambda: BINARY.read(1), BINARY.tell, lambda: BINARY.seek(0)),
    "event": (EVENT.set, EVENT.is_set, EVENT.clear),
    "lock": (lambda: LOCKED.acquire(False), LOCKED.locked, lambda: LOCKED.release() if LOCKED.locked() else None),
    "queue": (lambda: QUEUE.put(1), QUEUE.qsize, lambda: QUEUE.get() if QUEUE.qsize() else None),
    "counter": (lambda: COUNTS.update("a"), lambda: COUNTS["a"], COUNTS.clear),
    "order of a dictionary": (
        lambda: ORDERED.move_to_end("a"),
        lambda: next(iter(ORDERED)),
        lambda: ORDERED.move_to_end("b"),
    ),
    "default dictionary": (lambda: DEFAULTS["a"], lambda: len(DEFAULTS), DEFAULTS.clear),
    "namespace": _set(SPACE, "value", 1, 0),
    "weak dictionary": (lambda: WEAK.__setitem__("a", THING), lambda: len(WEAK), lambda: WEAK.pop("a", None)),
    "nested containers": (
        lambda: NESTED["a"][0].update(b=1),
        lambda: NESTED["a"][0]["b"],
        lambda: NESTED["a"][0].update(b=0),
    ),
    "element of a tree": (lambda: ELEMENT.set("a", "1"), lambda: ELEMENT.get("a"), lambda: ELEMENT.attrib.clear()),
    "own generator seeded": (
        lambda: OWN_RANDOM.seed(2),
        lambda: OWN_RANDOM.getstate()[1][0] % 7,
        lambda: OWN_RANDOM.seed(1),
    ),
    "iterator": (lambda: next(CYCLE), lambda: CYCLE.__reduce__()[1][1], lambda: next(CYCLE)),
    "function of a module replaced": (
        lambda: setattr(holder, "answer", lambda: 1),
        lambda: holder.answer(),
        lambda: setattr(holder, "answer", holder.zero),
    ),
    "builtin added": (
        lambda: setattr(sys.modules["builtins"], "zoo", 1),
        lambda: getattr(sys.modules["builtins"], "zoo", 0),
        lambda: setattr(sys.modules["builtins"], "zoo", 0),
    ),
}


def _umask() -> int:
    found = os.umask(0o022)
    os.umask(found)
    return found


CASES = [remembered(name, *steps) for name, steps in _STEPS.items()]
