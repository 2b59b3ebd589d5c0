"""Run code again with known numbers in place of those that were not known yet: it must go the same way.

A number that was split by comparisons is made known at the first point of what is left of its range, at the last one,
in the middle, and at a random one; an answer at small, large and negative integers. Of some runs every instruction is
compared as well: code that asks for the type of a number goes another way there at each of its values, whether or not
the output tells.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from types import CodeType, FrameType
from typing import Any, Protocol

from audit.api import CannotKeep, Raised, identify
from audit.extensions.enumeration.answers import with_known
from audit.extensions.enumeration.deferred import Draw, size_of
from audit.extensions.enumeration.following import EndOfRun, Follower, KnownRun, Step
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

POINTS = ("first", "last", "middle", "random")
ANSWERS = (2**20 + 7, 0, -1, 1, 2**40, -(2**40))
_ALL, _EVERY = 64, 16  # runs whose instructions are compared: the first ones, and one of each group after them
_GOLDEN = 0x9E3779B97F4A7C15  # its multiples are spread evenly
_MOST = 200_000  # instructions of one run
_monitoring: Any = getattr(sys, "monitoring", None)  # where it is there, `settrace` misses the first instructions
_TOOL = 4  # of monitoring: one that no debugger, profiler or measurement of coverage uses


def values_of(draw: Draw, number: int, seed: int) -> list[Any]:
    """Return values that a draw, of this number in the run, may still have; linked ones have theirs together."""
    support = draw.support
    size = size_of(support)
    if size == 1:
        return [draw.value(support[0])] * len(POINTS)
    if draw.group is not None:
        return [draw.group.value(draw, Fraction(share)) for share in (0.0, 1.0, 0.5, random.Random(seed).random())]
    random_ = (seed + number + 1) * _GOLDEN % 2**64 * size >> 64
    return [draw.value(support[at]) for at in (0, size - 1, size // 2, random_)]


def is_compared(count: int) -> bool:
    """Test whether the instructions of the run of this number are compared."""
    return count < _ALL or count % _EVERY == 0


class Instructions:
    """Note each instruction of the code under audit while it runs."""

    def __init__(self, is_of_code: Callable[[FrameType], bool]) -> None:
        self._is_of_frame = is_of_code
        self._is_of_code: dict[int, tuple[CodeType, bool]] = {}  # by identity
        self.made: list[tuple[CodeType, int]] = []
        self._before: Any = None

    def __enter__(self) -> Instructions:
        if _monitoring is not None:
            self._monitor()
        else:
            self._before = sys.gettrace()  # of a debugger, or of a measurement of coverage
            sys.settrace(self._on_call)
        return self

    def __exit__(self, *error: object) -> None:
        if _monitoring is not None:
            _monitoring.set_events(_TOOL, 0)
            _monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(self._before)

    def _monitor(self) -> None:
        events = _monitoring.events
        _monitoring.use_tool_id(_TOOL, __name__)
        _monitoring.register_callback(_TOOL, events.INSTRUCTION, self._on_offset)
        _monitoring.set_events(_TOOL, events.INSTRUCTION)

    def _on_offset(self, code: CodeType, offset: int) -> Any:
        if (found := self._is_of_code.get(identity(code))) is None:
            found = self._is_of_code[identity(code)] = code, self._is_of_frame(sys._getframe(1))
        if not found[1]:
            return _monitoring.DISABLE  # until the next run: this package runs most of the instructions
        if len(self.made) < _MOST:
            self.made.append((code, offset))
        return None

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if (found := self._is_of_code.get(identity(code))) is None:
            found = self._is_of_code[identity(code)] = code, self._is_of_frame(frame)
        if not found[1]:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        made, note = self.made, self.made.append

        def on_instruction(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "opcode" and len(made) < _MOST:
                note((code, frame.f_lasti))
            return on_instruction

        return on_instruction


class RepeatingExplorer(Protocol):
    """Explores the code, and can run it again."""

    follower: Follower
    watch: Watch
    reader: StateReader
    values: dict[str, Any]  # an output of each text
    confirmed: Iterator[int]  # numbers the runs that were confirmed
    has_answer: bool  # whether the dataset is a symbol

    def call_once(self) -> Any:
        """Return the output of the code."""

    def replayed(self, script: list[Step]) -> Any:
        """Return the output of a run by a script alone."""


def unconfirmed(explorer: RepeatingExplorer, text: Any) -> str | None:
    """Run again with known numbers; return where the code parts from the run before, or None if it does not."""
    follower, count = explorer.follower, next(explorer.confirmed)
    if not follower.drawn and not explorer.has_answer:  # all was known in the run itself
        return None
    script = list(follower.script)
    runs = follower.make_known(partial(values_of, seed=1000 * count))
    if not explorer.has_answer and all(run.numbers == runs[0].numbers for run in runs):
        del runs[1:]  # nothing is left of the ranges but these numbers
    before = _instructions(explorer, lambda: explorer.replayed(script)) if is_compared(count) else None
    for number, run in enumerate(runs):
        follower.answer = ANSWERS[(4 * count + number) % len(ANSWERS)]
        is_same: list[bool] = []
        made = None
        if before is None:
            is_same.append(_is_same(explorer, text, run))
        else:
            made = _instructions(explorer, lambda: is_same.append(_is_same(explorer, text, run)))  # noqa: B023
        where = before and made and first_difference(before, made)
        if where or not is_same[0]:
            return f" ({where})" if where else ""
    return None


def _is_same(explorer: RepeatingExplorer, text: Any, run: KnownRun) -> bool:
    """Test whether a run with known numbers draws as the one before it did, and has its output."""
    follower = explorer.follower
    follower.begin_known(run)
    try:
        value = explorer.call_once()
        found = str(value) if isinstance(value, Raised) else identify(value)
    except (EndOfRun, CannotKeep):
        return False
    finally:
        explorer.watch.stop()
    is_text = found == text or found == identify(with_known(explorer.values[text], follower.answer))
    return bool(is_text and follower.stopped is None and follower.is_used_up())


def _instructions(explorer: RepeatingExplorer, run: Callable[[], Any]) -> Instructions:
    watch = explorer.watch
    collects, watch.collects = watch.collects, False
    with Instructions(explorer.reader.is_of_code) as made:
        run()
    watch.collects = collects
    return made


def first_difference(one: Instructions, other: Instructions) -> str | None:
    """Return where two runs part, by name and line; None if they do not."""
    if one.made == other.made:
        return None
    before = None
    for first, second in zip_longest(one.made, other.made):
        if first != second:
            code, offset = before or first or second
            lines = (line for start, end, line in code.co_lines() if start <= offset < end)
            return f"{code.co_name}, line {next(lines, None) or 0}"
        before = first
    return None
