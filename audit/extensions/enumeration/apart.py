"""Enumerate in a process of its own.

The process is forked, so that it has all objects of the code. The changes that the code makes go with it.
"""

from __future__ import annotations

import gc
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from time import process_time
from typing import Any

import cloudpickle

from audit.api import sandbox
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw

_PATIENCE = 20  # seconds of the wall, by seconds of the processor, after which the process is killed
_GRACE = 30.0


class Clock:
    """Measure the seconds of the processor, and say whether they are used up."""

    def __init__(self, seconds: float) -> None:
        self._start, self._limit = process_time(), seconds

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return process_time() - self._start

    @property
    def is_over(self) -> bool:
        """True when the seconds are used up."""
        return self.seconds > self._limit


@contextmanager
def pause_watch() -> Iterator[None]:
    """Let Python find and read modules and lines of code, which the code does not do itself."""
    profile = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(profile)


def _wrap_imports() -> None:
    """Let modules be imported unwatched."""
    bootstrap: Any = sys.modules["_frozen_importlib"]
    plain = bootstrap._find_and_load

    def find_and_load(*arguments: Any) -> Any:
        with pause_watch():
            return plain(*arguments)

    bootstrap._find_and_load = find_and_load


_NO_LAW = EnumeratedLaw({}, Fraction(1), {}, 0, 0)


def law_apart(enumerate_: Callable[[Clock], EnumeratedLaw], seconds: float) -> EnumeratedLaw:
    """Return the law that a function finds in a forked process, if processes can be forked."""
    if not sandbox.FORKS:
        return enumerate_(Clock(seconds))
    child = sandbox.fork(lambda line: _serve(enumerate_, line, seconds))
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


def _serve(enumerate_: Callable[[Clock], EnumeratedLaw], line: sandbox.ProcessLine, seconds: float) -> None:
    """Enumerate in this process, and send the outcome."""
    gc.freeze()  # to look at objects that the fork shares would copy the memory that they are in
    sys.settrace(None)  # requests of a debugger or a measurement of coverage are not the code's
    _wrap_imports()
    try:
        outcome: Any = "law", enumerate_(Clock(seconds))
    except Exception as error:
        outcome = "error", error
    line.send(_pack(outcome))


def _pack(outcome: tuple[str, Any]) -> bytes:
    try:
        packed = cloudpickle.dumps(outcome)
        pickle.loads(packed)
    except Exception:
        kind, found = outcome
        plain = replace(found, probabilities=dict(found.texts)) if kind == "law" else RuntimeError(repr(found))
        packed = cloudpickle.dumps((kind, plain))
    return bytes(packed)
