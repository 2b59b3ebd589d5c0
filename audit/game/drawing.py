"""Draw what the stages of an audit ask for, all by one function: a mechanism sees the same callers in every stage.

A stage is a generator. It yields requests, and is suspended while the calls are made, so that it is not on the stack of
the mechanism. What reads the outputs is called after the mechanism has returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from audit.subjects import BLOCK, Block, Calls, Outputs, Subject, map_blocks
from audit.subjects.place import HERE, Place

T = TypeVar("T")
Read = Callable[[list[Outputs]], Any]


@dataclass(frozen=True)
class Request:
    """Name calls, what is read of the outputs of some consecutive ones, and what takes the values, in order."""

    subject: Subject
    calls: Calls
    read: Read
    take: Callable[[Any], None]
    place: Place = HERE


Stage = Generator[Request, Counter[str], T]  # a request is answered by what was odd about its calls


def carry_out(stage: Stage[T]) -> T:
    """Return the result of a stage; what goes wrong in a call is raised where the stage asked for it."""
    try:
        request = next(stage)
        while True:
            try:
                odd = draw(request)
            except Exception as error:
                request = stage.throw(error)
            else:
                request = stage.send(odd)
    except StopIteration as done:
        value: T = done.value
        return value


def draw(request: Request) -> Counter[str]:
    """Make the calls of a request, and return what was odd about them."""
    work, odd = partial(_draw_group, request.subject, request.read), Counter[str]()
    for values, anomalies in map_blocks(work, request.calls, request.place):
        odd.update(anomalies)
        for value in values:
            request.take(value)
    return odd


def _draw_group(subject: Subject, read: Read, group: Iterable[Block]) -> tuple[list[Any], Counter[str]]:
    """Draw consecutive calls, and read about `BLOCK` outputs at once: to read each call by itself would be slow."""
    values, odd = [], Counter[str]()
    drawn: list[Outputs] = []
    waiting = 0
    for block in group:
        outputs, found = subject.draw(block)
        odd.update(found)
        drawn.append(outputs)
        waiting += len(outputs)
        if waiting >= BLOCK:
            values.append(read(drawn))
            drawn, waiting = [], 0
    if drawn:
        values.append(read(drawn))
    return values, odd
