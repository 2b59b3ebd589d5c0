"""State of a process outside of its objects and frames: contexts, settings and folders that code can change.

One list says how each is read. States are merged only while none of it differs from what it was, and a call that
leaves any of it changed has no law. Modules that were not imported by then hold nothing yet.
"""

from __future__ import annotations

import decimal
import gc
import locale
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.extensions.enumeration.identities import identity


def _of_decimal() -> Any:
    context = decimal.getcontext()  # its flags are left out: all arithmetic raises them
    traps = context.traps.copy()  # a dict, made faster than a tuple of its values
    return context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def _of_loggers() -> Any:
    if (logging := sys.modules.get("logging")) is None:
        return None
    loggers = logging.root.manager.loggerDict.copy().items()
    levels = {name: logger.level for name, logger in loggers if getattr(logger, "level", 0)}
    return logging.root.level, logging.root.manager.disable, levels


def _attribute_of(module: str, name: str) -> Callable[[], Any]:
    def read() -> Any:
        found = getattr(sys.modules.get(module), name, None)
        return found() if callable(found) and name.startswith("get") else found

    return read


# cheap enough to be read at every draw
AT_EACH_DRAW: dict[str, Callable[[], Any]] = {
    "the context of decimal": _of_decimal,
    "how NumPy treats floating-point errors": np.geterr,
    "the function that NumPy calls on errors": np.geterrcall,
    "the filters of warnings": lambda: (identity(warnings.filters), len(warnings.filters), *warnings.filters[:2]),
    "the environment": lambda: os.environ._data,  # type: ignore[attr-defined]
    "the working folder": os.getcwd,
    "the streams of the process": lambda: (identity(sys.stdin), identity(sys.stdout), identity(sys.stderr)),
}
# what few programs change: between two draws of a run it is left to the test of merges
AT_EACH_END: dict[str, Callable[[], Any]] = {
    **AT_EACH_DRAW,
    "how NumPy prints": lambda: repr(np.get_printoptions()),
    "the buffer size of NumPy": np.getbufsize,
    "all filters of warnings": lambda: tuple(warnings.filters),
    "the locale": lambda: locale.setlocale(locale.LC_ALL),
    "the time zone": lambda: (time.tzname, time.timezone),
    "the mask of new files": _umask,
    "the limit of recursion": sys.getrecursionlimit,
    "the limit of digits": lambda: getattr(sys, "get_int_max_str_digits", int)(),
    "the switch interval": sys.getswitchinterval,
    "the import path": lambda: tuple(sys.path),
    "the arguments of the program": lambda: tuple(sys.argv),
    "the thresholds of the collector": gc.get_threshold,
    "handlers of signals": lambda: tuple(map(identity, map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))),
    "the timeout of sockets": _attribute_of("socket", "getdefaulttimeout"),
    "the folder of temporary files": _attribute_of("tempfile", "tempdir"),
    "the levels of loggers": _of_loggers,
    "the hooks of the interpreter": lambda: (identity(sys.excepthook), identity(sys.displayhook)),
    "the seed of Gaussian pairs": lambda: random._inst.gauss_next,  # type: ignore[attr-defined]
}


def _kept(found: Any) -> Any:
    """Return what was read as it is now, though it may be changed in place."""
    return dict(found) if isinstance(found, dict) else found


class ProcessState:
    """Hold what a process had when it was first read."""

    def __init__(self) -> None:
        self._at_draws = [(read, _kept(read())) for read in AT_EACH_DRAW.values()]
        self._at_ends = {name: _kept(read()) for name, read in AT_EACH_END.items()}

    def is_unchanged(self) -> bool:
        """Test whether all that is read at draws is as it was."""
        return all(read() == found for read, found in self._at_draws)

    def changed(self) -> list[str]:
        """Return what is not as it was, by name."""
        return [name for name, found in self._at_ends.items() if AT_EACH_END[name]() != found]
