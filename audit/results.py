"""Define the base class of results and reports, and note which of them a test has read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from audit.errors import MisreadVerdict

# the same whatever the verdict is; and `str` and `repr` are for people, so that no test is asserted by a print
_SETTINGS = frozenset(["budget", "confirmation", "name", "seconds", "seed", "significance"])


@dataclass(frozen=True)
class CheckCall:
    """A result, and the line of the user's code that made it."""

    result: Any  # held, so that no other object has its `id`
    function: str
    place: str


_unread: dict[int, CheckCall] | None = None  # by `id`, while a test is watched


@contextmanager
def watched() -> Iterator[dict[int, CheckCall]]:
    """Yield the calls whose results the user's code has not read; they are kept up to date while the context lasts."""
    global _unread
    around, _unread = _unread, {}
    try:
        yield _unread
    finally:
        _unread = around


def note_made(result: Any) -> None:
    """Note a result, if a file of the user's called `audit.check_...` or `audit.run` for it.

    A doctest, or what `exec` runs, is in no file: whoever runs it compares what it prints.
    """
    if _unread is None:
        return
    called, caller = sys._getframe(1), sys._getframe(1).f_back
    while caller is not None and _is_ours(caller):
        called, caller = caller, caller.f_back
    function, file = called.f_code.co_name, caller.f_code.co_filename if caller else "<"
    if caller and file[0] != "<" and (function == "run" or function.startswith("check_")):
        _unread[id(result)] = CheckCall(result, f"audit.{function}", f"{file}:{caller.f_lineno}")


def note_read(result: Any) -> None:
    """Note that somebody read the verdict of a result, or what follows from the same evidence."""
    if _unread:
        _unread.pop(id(result), None)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "audit"


class AnyResult:
    """A result or a report: neither a truth value nor equal to a text, which would be a verdict by accident."""

    if not TYPE_CHECKING:  # to a type checker, a class with this method has every attribute

        def __getattribute__(self, name: str) -> Any:
            tells = name not in _SETTINGS and (name[0] != "_" or name == "__reduce_ex__")  # a pickle is read elsewhere
            if _unread and tells and not _is_ours(sys._getframe(1)):
                note_read(self)
            return super().__getattribute__(name)

    def __bool__(self) -> NoReturn:
        kind = type(self).__name__
        either = ", or `assert result.met` where another verdict is expected" if hasattr(type(self), "met") else ""
        raise MisreadVerdict(f'a {kind} is not a truth value: write `assert result.verdict == "PASS"`{either}')

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool):
            self.__bool__()
        if isinstance(other, str):
            raise MisreadVerdict(f"a {type(self).__name__} is not a text: write `result.verdict == {str(other)!r}`")
        note_read(self)
        return self is other

    __hash__ = object.__hash__
