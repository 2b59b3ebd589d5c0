"""Run code again with known numbers in place of those that were not known yet: it must go the same way.

A number that was split by comparisons is made known at the first point of what is left of its range, at the last one,
in the middle, and at a random one; an answer at small, large and negative integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from audit.api import CannotKeep, Raised, identify
from audit.extensions.enumeration.answers import Answer, Symbol, with_known
from audit.extensions.enumeration.deferred import Deferred, Draw, force, size_of
from audit.extensions.enumeration.following import EndOfRun, Follower, KnownRun
from audit.extensions.enumeration.watching import Watch

POINTS = ("first", "last", "middle", "random")
ANSWERS = (2**20 + 7, 0, -1, 1, 2**40, -(2**40))
_DEEPEST = 50  # containers in an output
_GOLDEN = 0x9E3779B97F4A7C15  # its multiples are spread evenly


def values_of(draw: Draw, number: int, seed: int) -> list[Any]:
    """Return values that a draw, of this number in the run, may still have."""
    support = draw.support
    size = size_of(support)
    if size == 1:
        return [draw.value(support[0])] * len(POINTS)
    random_ = (seed + number + 1) * _GOLDEN % 2**64 * size >> 64
    return [draw.value(support[at]) for at in (0, size - 1, size // 2, random_)]


class RepeatingExplorer(Protocol):
    """What an explorer has for its runs to be made again."""

    follower: Follower
    watch: Watch
    values: dict[str, Any]
    confirmed: Iterator[int]
    has_answer: bool

    def call_once(self) -> Any:
        """Return the output of the code."""


def is_confirmed(explorer: RepeatingExplorer, text: str) -> bool:
    """Run again with known numbers; return whether the code goes the way of the run before."""
    follower, count = explorer.follower, next(explorer.confirmed)
    if not follower.drawn and not explorer.has_answer:  # all was known in the run itself
        return True
    runs = follower.make_known(partial(values_of, seed=1000 * count))
    if not explorer.has_answer and all(run.numbers == runs[0].numbers for run in runs):
        del runs[1:]  # nothing is left of the ranges but these numbers
    for number, run in enumerate(runs):
        follower.answer = ANSWERS[(4 * count + number) % len(ANSWERS)]
        if not _is_same(explorer, text, run):
            return False
    return True


def _is_same(explorer: RepeatingExplorer, text: str, run: KnownRun) -> bool:
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


def known_output(value: Any, depth: int = 0) -> Any:
    """Return an output whose numbers are all known; containers of Python and arrays of objects are looked into."""
    if type(value) is Deferred:
        return force(value, "the output")
    if type(value) is Symbol:
        return Answer(force(value.offset, "the output"))
    if depth > _DEEPEST:
        return value
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(known_output(entry, depth + 1) for entry in value)
    if type(value) is dict:
        return {known_output(key, depth + 1): known_output(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        known = [known_output(entry, depth + 1) for entry in value.ravel()]
        return np.array(known).reshape(value.shape)
    return value
