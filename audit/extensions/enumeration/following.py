"""Follow one run of the code under audit: repeat the choices of a script, then choose, and remember every fork.

A fork is a place where the code chooses at random. It is a node of a graph, with a probability for each branch. A run
is a path through the graph. The code is called again for each run, and a script says which branches to take, so that
nothing of the code needs to be copied. A fork that is met again must be the same, or the code draws on something
else.

A run that is not followed names a remedy: the nearest form that is followed. A row of `REMEDIES` is a
part of the message and the remedy; the first row that fits is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

_KNOWN_LAWS = "draw `random`, `integers`, `binomial`, `geometric` or `poisson`"
_NOISE = "follow the noise, by `audit.extensions.following.follow`"
REMEDIES: tuple[tuple[str, str], ...] = (
    ("for comparison with another draw", "compare integers of `rng.geometric`"),
    ("for conversion to float", "leave the number as it is: it is a float"),
    ("possible values was fixed, for the output", "return a comparison or `int(x * 2**k)` with k at most 12"),
    ("possible values was fixed", "draw `integers(n)` with n at most 4096, or compare the number"),
    ("integer parts was made an integer", "clip it first: `int(np.clip(x, low, high))`"),
    ("np.", "use +, -, *, /, comparisons, `np.log`, `np.exp`, `np.sqrt`, `np.floor` or `np.clip`"),
    ("binomial with n", "add binomials of at most 1,024"),
    ("random into an array", "call `random(n)`"),
    ("choice without replacement, with p", "choose one index at a time, and scale the weights that are left"),
    ("in NumPy's own order", "leave out `shuffle=False`"),
    ("bytes of another number", "ask for 0 bytes or more, by an integer"),
    ("along another axis", "shuffle indices, and apply them along the axis"),
    ("source was seeded", "draw from the generator that is given"),
    ("state of the source", "draw from the generator that is given"),
    ("read of the whole stream", "read as many bytes as are needed: `read(n)`"),
    *((f".{law}", _NOISE) for law in ("laplace", "normal", "gumbel", "logistic", "exponential", "standard_normal")),
    ("Generator.", _KNOWN_LAWS),
    ("RandomState.", _KNOWN_LAWS),
)


def remedy_for(reason: str) -> str:
    """Return the remedy, as an addition to a message; nothing where there is no rule.

    Examples
    --------
    >>> from audit.extensions.enumeration.following import remedy_for
    >>> remedy_for("Generator.wald (sample, line 3)")
    '; instead: draw `random`, `integers`, `binomial`, `geometric` or `poisson`'
    """
    return next((f"; instead: {remedy}" for part, remedy in REMEDIES if part in reason), "")


_HERE = str(Path(__file__).parent)
_RUNS = ("call_once", "_output")  # the functions of this package that call the code


class EndOfRun(BaseException):
    """Ends a run early; nothing of the code under audit should catch it."""


class NotFollowed(EndOfRun):
    """Says why a run cannot be followed further."""


class Differs(EndOfRun):
    """Says that the same choices led to another fork than before."""


class Restart(EndOfRun):
    """Says that the enumeration begins again, after functions were given other code, which can be undone."""

    def __init__(self, change: Callable[[], list[Callable[[], None]]]) -> None:
        super().__init__("functions get other code")
        self.change = change


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
    ways: list[Any] = field(default_factory=list)  # per branch: the step before it, in the run that found its end

    @property
    def way(self) -> Step | None:
        """The step by which it was first reached."""
        return None if self.parent is None else (self.parent, self.branch)


@dataclass(frozen=True, slots=True)
class Output:
    """A run ended with this output."""

    text: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A run was not followed to its end."""

    reason: str


Step = tuple[Node, int]


class KnownRun(NamedTuple):
    """A run whose numbers are known when they are drawn."""

    script: list[Step]  # the choices that are made at once
    numbers: tuple[Any, ...]
    entered: list[bool]  # for each call that may be one draw: whether it was


class Follower:
    """Hand branches to the stand-ins for randomness, first by the script, then as they are met."""

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.position = 0
        self.stopped: EndOfRun | None = None  # set for good when a run has ended, whatever the code catches
        self.on_script_end: Callable[[], None] = lambda: None
        self.on_new_fork: Callable[[tuple[Any, ...], Callable[[], Branches]], Step] | None = None
        self.draws = 0
        self.is_replay = False  # whether a run must end where its script does
        self.drawn: list[Any] = []  # the numbers of the run that were not known at once, in their order
        self.known: Iterator[Any] | None = None  # the numbers themselves, in a run that confirms another one
        self.entered: list[bool] = []  # for each call that may be one draw: whether it was
        self.entered_before: Iterator[bool] = iter(())  # the same, of the run that is confirmed
        self.branches: dict[tuple[Any, ...], Branches] = {}  # of draws, by the question about them
        self.compound = 0  # above 0 while a stand-in makes several choices, and remembers those it has made

    def begin(self, script: list[Step]) -> None:
        """Begin a run."""
        self.script, self.position, self.stopped, self.compound = script, 0, None, 0
        self.drawn, self.known, self.entered = [], None, []
        if not script:
            self.on_script_end()

    def make_known(self, values: Callable[[Any, int], list[Any]]) -> list[KnownRun]:
        """Return runs like the one that has ended, with known numbers; a function gives those of each draw."""
        numbers = list(zip(*(values(draw, number) for number, draw in enumerate(self.drawn)), strict=True)) or [()] * 4
        at_once = [step for step in self.script if type(step[0].signature[-1]) is not range]
        return [KnownRun(at_once, known, list(self.entered)) for known in numbers]

    def begin_known(self, run: KnownRun) -> None:
        """Begin a run again, with numbers that are known when they are drawn."""
        self.script, self.position, self.stopped, self.compound = list(run.script), 0, None, 0
        self.drawn, self.known, self.entered_before = [], iter(run.numbers), iter(run.entered)

    def is_used_up(self) -> bool:
        """Test whether a run has made all choices of its script, and drawn all numbers."""
        return self.position == len(self.script) and (self.known is None or next(self.known, None) is None)

    def next_known(self) -> Any:
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
        self.draws += 1
        return node.branches.data[branch]

    @contextmanager
    def in_parts(self) -> Iterator[None]:
        """Mark the draws in it as parts of a larger draw, so that frames do not hold the whole state."""
        self.compound += 1
        yield
        self.compound -= 1

    def stopping(self, reason: EndOfRun) -> EndOfRun:
        """Return the exception that ends the run."""
        self.stopped = reason
        return reason

    def stop(self, reason: EndOfRun) -> None:
        """End the run."""
        raise self.stopping(reason)

    def not_followed(self, reason: str) -> None:
        """End the run, since it cannot be followed; name the line of the code, and the remedy."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = None if frame.f_code.co_name in _RUNS else frame.f_back
        where = f" ({frame.f_code.co_name}, line {frame.f_lineno})" if frame is not None else ""
        self.stop(NotFollowed(reason + where + remedy_for(reason)))


def path_to(node: Node, branch: int) -> list[Step]:
    """Return the branches that lead to one of a node, and it."""
    steps: list[Step] = [(node, branch)]
    while node.parent is not None:
        steps.append((node.parent, node.branch))
        node = node.parent
    return steps[::-1]
