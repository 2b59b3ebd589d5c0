"""Run code again with known numbers in place of those that were not known yet: it must go the same way.

A number that was split by comparisons is made known at the first point of what is left of its range, at the last one,
in the middle, and at a random one; an answer at small, large and negative integers. Of some runs every instruction is
compared as well: code that asks for the type of a number goes another way there at each of its values, whether or not
the output tells.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import zip_longest
from types import CodeType, FrameType
from typing import Any

from audit.enumeration.deferred import Draw, size_of

FIRST, LAST, MIDDLE, RANDOM = "first", "last", "middle", "random"
POINTS = (FIRST, LAST, MIDDLE, RANDOM)
ANSWERS = (2**20 + 7, 0, -1, 1, 2**40, -(2**40))
_ALL, _EVERY = 64, 16  # runs whose instructions are compared: the first ones, and one of each group after them
_GOLDEN = 0x9E3779B97F4A7C15  # its multiples are spread evenly
_MOST = 200_000  # instructions of one run
_monitoring: Any = getattr(sys, "monitoring", None)  # where it is there, `settrace` misses the first instructions
_TOOL = 4  # of monitoring: one that no debugger, profiler or measurement of coverage uses


def value_of(draw: Draw, number: int, which: str, seed: int) -> Any:
    """Return a value that a draw, of this number in the run, may still have; linked ones have theirs together."""
    size = size_of(draw.support)
    if size == 1:
        return draw.value(draw.support[0])
    if draw.group is not None:
        share = {FIRST: 0.0, LAST: 1.0, MIDDLE: 0.5}.get(which, random.Random(seed).random())
        return draw.group.value(draw, Fraction(share))
    middle = (seed + number + 1) * _GOLDEN % 2**64 * size >> 64 if which == RANDOM else size // 2
    return draw.value(draw.support[{FIRST: 0, LAST: size - 1}.get(which, middle)])


def is_compared(count: int) -> bool:
    """Test whether the instructions of the run of this number are compared."""
    return count < _ALL or count % _EVERY == 0


class Instructions:
    """Note each instruction of the code under audit while it runs."""

    def __init__(self, is_of_code: Callable[[FrameType], bool]) -> None:
        self._is_of_frame = is_of_code
        self._is_of_code: dict[CodeType, bool] = {}
        self.made: list[tuple[CodeType, int]] = []
        self._collects = False
        self._before: Any = None

    def __enter__(self) -> Instructions:
        self._collects = gc.isenabled()
        gc.disable()  # what finalizers of garbage do is not what the code does
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
        if self._collects:
            gc.enable()

    def _monitor(self) -> None:
        events = _monitoring.events
        _monitoring.use_tool_id(_TOOL, __name__)
        _monitoring.register_callback(_TOOL, events.INSTRUCTION, self._on_offset)
        _monitoring.set_events(_TOOL, events.INSTRUCTION)

    def _on_offset(self, code: CodeType, offset: int) -> None:
        if len(self.made) < _MOST and self._is_of_frame(sys._getframe(1)):
            self.made.append((code, offset))

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if (is_of_code := self._is_of_code.get(code)) is None:
            is_of_code = self._is_of_code[code] = self._is_of_frame(frame)
        if not is_of_code:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        made, note = self.made, self.made.append

        def on_instruction(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "opcode" and len(made) < _MOST:
                note((code, frame.f_lasti))
            return on_instruction

        return on_instruction


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
