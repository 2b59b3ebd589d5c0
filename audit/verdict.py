"""The three verdicts, the base class of results, and the refusal of all that would decide by accident."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from audit.errors import MisreadVerdict


class Verdict(StrEnum):
    """Name the verdict of a check, a text: "PASS", "FAIL" or "INCONCLUSIVE".

    Compare it with one of these words, as in `assert result.verdict == "PASS"`. Any other text or a truth value raises
    `MisreadVerdict`, and so do `bool(verdict)` and `<`: each of them would let a test pass by accident. The order is
    that of `severity`.

    Examples
    --------
    >>> from audit import Verdict
    >>> Verdict.FAIL == "FAIL"
    True
    >>> print(max([Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE], key=lambda verdict: verdict.severity))
    FAIL
    >>> Verdict.FAIL == "failed"
    Traceback (most recent call last):
    ...
    audit.errors.MisreadVerdict: a verdict is "PASS", "INCONCLUSIVE" or "FAIL", compared with 'failed'
    """

    PASS = "PASS"
    INCONCLUSIVE = "INCONCLUSIVE"
    FAIL = "FAIL"

    @property
    def severity(self) -> int:
        """The position in the order: 0 for PASS, 1 for INCONCLUSIVE, 2 for FAIL."""
        return list(Verdict).index(self)

    @property
    def exit_status(self) -> int:
        """The exit status of a command that ends with this verdict: 0 PASS, 1 FAIL, 2 INCONCLUSIVE."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 2}[self]

    def __eq__(self, other: object) -> bool:
        require_word(other)
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        require_word(other)
        return str.__ne__(self, other) if isinstance(other, str) else NotImplemented

    __hash__ = str.__hash__  # a dict or a set finds it by its text

    def __bool__(self) -> NoReturn:
        raise MisreadVerdict(
            'a verdict is not a truth value: write `verdict == "PASS"`, or `str(verdict)` for its text'
        )

    def __lt__(self, other: Any) -> NoReturn:
        raise MisreadVerdict("verdicts have no order as texts: compare `verdict.severity`, or sort `str(verdict)`")

    __le__ = __gt__ = __ge__ = __lt__


def require_word(other: object) -> None:
    """Raise for a text that is none of the three words, and for a truth value: no verdict equals either."""
    if isinstance(other, bool) or (isinstance(other, str) and str(other) not in _WORDS):
        said = " or ".join(f'"{word}"' for word in _WORDS).replace(" or ", ", ", 1)
        raise MisreadVerdict(f"a verdict is {said}, compared with {other!r}")


_WORDS = tuple(verdict.value for verdict in Verdict)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts; INCONCLUSIVE when there is none, since nothing was examined."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.INCONCLUSIVE)


def standing(verdict: Verdict, expected: Verdict) -> Verdict:
    """Return the contribution of a check to the verdict of its run, given the verdict that its author expects.

    A check that is expected to PASS counts as it came out. One that is expected to FAIL (a fault, a statement known
    to be false) counts as PASS once it is refuted, and as INCONCLUSIVE as long as it is not.
    """
    if verdict is expected:
        return Verdict.PASS
    return verdict if verdict is Verdict.FAIL else Verdict.INCONCLUSIVE


BASES = {  # grounds of a verdict, the strongest first
    "proof": "every random choice of the code was followed, and nothing about the code was assumed",
    "computed": "computed without noise, from the code or from values, under the assumptions that are listed",
    "law": "a stated law, which outputs of the code were tested against",
    "noise followed": "the noise of runs of the code was followed from the generator to the output",
    "outputs": "drawn outputs, or losses of them, by bounds that hold in finite samples",
    "none": "nothing decided",
}


def outcome(verdict: Verdict, expected: Verdict) -> str:
    """Return the verdict as it is shown beside the expected one: "PASS", "FAIL, expected" or "PASS, expected FAIL"."""
    if expected is Verdict.PASS:
        return verdict.value
    return f"{verdict}, expected" if verdict is expected else f"{verdict}, expected {expected}"


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
def watch_results() -> Iterator[dict[int, CheckCall]]:
    """Yield the calls whose results the user's code has not read; they are kept up to date while the context lasts."""
    global _unread
    around, _unread = _unread, {}
    try:
        yield _unread
    finally:
        _unread = around


def note_result(result: Any) -> None:
    """Note a result if a file of the user called `audit.check_...` or `audit.run` for it.

    A doctest, or code run by `exec`, is in no file: its runner compares the printed text.
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
    """Note that somebody read the verdict of a result, or a property that follows from the same evidence."""
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
