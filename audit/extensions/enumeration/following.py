"""Follow one run of the code under audit: repeat the choices of a script, then choose, and remember every fork.

A fork is a place where the code chooses at random. It is a node of a graph, with a probability for each branch. A run
is a path through the graph. The code is called again for each run, and a script says which branches to take, so that
nothing of the code needs to be copied. A fork that is met again must be the same, or the code draws on something
else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

_HERE = str(Path(__file__).parent)
_RUNS = ("call_once", "_output")  # the functions of this package that call the code


class EndOfRun(BaseException):
    """Ends a run early; nothing of the code under audit should catch it."""


class Untraceable(EndOfRun):
    """Says why a run cannot be followed further."""


class Differs(EndOfRun):
    """Says that the same choices led to another fork than before."""


class Branches:
    """The branches of a fork: the data that each needs to go on, and its weight; the rest of `total` is lost."""

    __slots__ = ("data", "lost", "total", "weights")

    def __init__(self, data: Sequence[Any], weights: Sequence[int], total: int, lost: str = "") -> None:
        self.data, self.weights, self.total, self.lost = data, weights, total, lost


@dataclass(eq=False, slots=True)
class Node:
    """A fork of the code, in one state of the code."""

    signature: tuple[Any, ...]
    branches: Branches
    parent: Node | None
    branch: int  # of the parent, by which it was first reached
    mass: float  # estimated probability
    number: int
    key: Any = None  # of the state; None where it cannot be read
    ends: list[Any] = field(default_factory=list)  # per branch: None, another node, or an `Output` or `Lost`


@dataclass(frozen=True, slots=True)
class Output:
    """A run ended with this output."""

    text: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A run was not followed to its end."""

    reason: str


Step = tuple[Node, int]


class Follower:
    """Hand branches to the stand-ins for randomness, first by the script, then as they are met."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.position = 0
        self.stopped: EndOfRun | None = None  # set for good when a run has ended, whatever the code catches
        self.on_script_end: Callable[[], None] = lambda: None
        self.on_new_fork: Callable[[tuple[Any, ...], Callable[[], Branches]], Step] | None = None
        self.is_replay = False  # whether a run must end where its script does
        self.drawn: list[Any] = []  # the numbers of the run that were not known at once, in their order
        self.known: Iterator[Any] | None = None  # the numbers themselves, in a run that confirms another one
        self.branches: dict[tuple[Any, ...], Branches] = {}  # of draws, by the question about them
        self.compound = 0  # above 0 while a stand-in makes several choices, and remembers those it has made

    def begin(self, script: list[Step]) -> None:
        """Begin a run."""
        self.script, self.position, self.stopped, self.compound = script, 0, None, 0
        self.drawn, self.known = [], None
        if not script:
            self.on_script_end()

    def begin_again(self, script: list[Step], numbers: Sequence[Any]) -> None:
        """Begin a run again, with numbers that are known when they are drawn."""
        at_once = [step for step in script if type(step[0].signature[-1]) is not range]
        self.script, self.position, self.stopped, self.compound = at_once, 0, None, 0
        self.drawn, self.known = [], iter(numbers)

    def is_used_up(self) -> bool:
        """Test whether a run with known numbers has made all choices of its script, and drawn all numbers."""
        return self.position == len(self.script) and next(self.known or iter(()), None) is None

    def take_number(self) -> Any:
        """Return the next number, in a run whose numbers are known."""
        assert self.known is not None
        number = next(self.known, None)
        if number is None:
            self.stop(Differs("more numbers are drawn when they are known"))
        return number

    def choose(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Any:
        """Return the data of the branch that the run takes; `compute` is called at forks that are new."""
        if self.stopped is not None:
            raise self.stopped
        at = self.position
        if at < len(self.script):
            node, branch = self.script[at]
            if node.signature != signature:
                self.stop(Differs("the same choices did not lead to the same draw"))
            self.position = at + 1
            if at + 1 == len(self.script) and self.known is None:
                self.on_script_end()
            return node.branches.data[branch]
        if self.known is not None:
            self.stop(Differs("another choice is made when numbers are known"))
        if self.is_replay:
            self.stop(Differs("the same choices did not lead to the same output"))
        assert self.on_new_fork is not None
        node, branch = step = self.on_new_fork(signature, compute)
        self.script.append(step)
        self.position = at + 1
        return node.branches.data[branch]

    @contextmanager
    def in_parts(self) -> Iterator[None]:
        """Mark the draws in it as parts of a larger draw, so that frames do not hold the whole state."""
        self.compound += 1
        yield
        self.compound -= 1

    def stop(self, reason: EndOfRun) -> NoReturn:
        """End the run."""
        self.stopped = reason
        raise reason

    def give_up(self, reason: str) -> NoReturn:
        """End the run, since it cannot be followed; name the line of the code."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = None if frame.f_code.co_name in _RUNS else frame.f_back
        where = f" ({frame.f_code.co_name}, line {frame.f_lineno})" if frame is not None else ""
        self.stop(Untraceable(reason + where))


def path_to(node: Node, branch: int) -> list[Step]:
    """Return the branches that lead to one of a node, and it."""
    steps: list[Step] = [(node, branch)]
    while node.parent is not None:
        steps.append((node.parent, node.branch))
        node = node.parent
    return steps[::-1]
