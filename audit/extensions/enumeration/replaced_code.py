"""Give functions other code while a law is enumerated, and their own code back afterwards."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from itertools import chain
from types import CodeType, FunctionType
from typing import Any, TypeVar

from audit.extensions.enumeration.following import Restart
from audit.extensions.enumeration.identities import identity

T = TypeVar("T")
_COMPENSATES = sys.version_info >= (3, 12)  # `sum` makes up for the rounding of floats since then
_SUM = builtins.sum
_own_codes: dict[int, tuple[CodeType, CodeType]] = {}  # by the identity of code that takes its place for a time


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


def with_restarts(work: Callable[[], T]) -> T:
    """Return the result of work; it begins again whenever functions get other code."""
    undo: list[Callable[[], None]] = []
    try:
        while True:
            try:
                return work()
            except Restart as restart:
                undo += restart.change()
    finally:
        for each in reversed(undo):
            each()


def own_code(function: FunctionType) -> CodeType:
    """Return the code of a function, also while other code takes its place."""
    code = function.__code__
    return found[1] if (found := _own_codes.get(identity(code))) is not None else code


def set_code(function: FunctionType, code: CodeType) -> Callable[[], None]:
    """Put code in the place of a function's own; return the undo function."""
    own = function.__code__
    _own_codes[identity(code)] = code, own
    function.__code__ = code

    def undo() -> None:
        function.__code__ = own
        _own_codes.pop(identity(code), None)

    return undo
