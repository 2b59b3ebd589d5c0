"""Explore the graph of the forks of code, the likeliest runs first, and solve it for the output law."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from audit.enumeration.absorbing_chain import EXACT, FLOATING, Arithmetic, components, expected_visits, rounded_down
from audit.enumeration.answers import with_known
from audit.enumeration.following import (
    Branches,
    Differs,
    EndOfRun,
    Follower,
    Lost,
    Node,
    NotFollowed,
    Output,
    Step,
    script_to,
    steps_of,
)
from audit.enumeration.lazy_calls import LazyCalls
from audit.enumeration.outputs import known_output
from audit.enumeration.states import State, StateReader, subject_frames
from audit.enumeration.watching import Watch
from audit.subjects.identity import CannotKeep, Raised, identify
from audit.subjects.keeper import is_of_subject

_FIRST_CUTOFF = 2.0**-10  # probability below which runs wait for the next round
_UNCONFIRMED = "the code tells numbers that are not known yet from known ones"
_FINER = 1 / 32  # by which the cutoff falls from round to round, at most
_BITS = 256  # probabilities that cannot be exact are rounded down to multiples of 2^-256
_EXACT_STATES, _EXACT_COMPONENT = 4000, 60  # beyond, fractions grow too long
_OFTEN = 4  # calls in one state, after which their law is found
_FEW, _MORE_ROUNDS = 32, 8  # branches within the residual that are followed all the same, to leave nothing
_REPEATED = 12  # runs that are repeated at the end, and must give the same outputs


class Limits(NamedTuple):
    """Say when to stop: at this residual, after these seconds, or at this number of states."""

    residual: float
    states: int
    deadline: float  # by the monotonic clock


@dataclass
class Calls:
    """Remember the laws of calls, by the state of their frames when they first draw."""

    known: dict[int, Branches | None] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    wanted: list[tuple[int, list[Step], int]] = field(default_factory=list)  # state, the choices before, frame


@dataclass
class Explorer:
    """Run code along the paths of its forks, and keep the graph."""

    call: Callable[[], Any]
    follower: Follower
    limits: Limits
    reader: StateReader
    watch: Watch
    lazy: LazyCalls
    calls: Calls = field(default_factory=Calls)
    nodes: list[Node] = field(default_factory=list)
    known: dict[Hashable, Node] = field(default_factory=dict)
    waiting: list[tuple[float, int, Node, int]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # an output of each text
    root: Any = None  # what the code does first
    at: Step | None = None  # the branch that the run is on
    runs: int = 0
    stopped_by: str = ""
    more: int = _MORE_ROUNDS
    previous: list[Any] = field(default_factory=list)  # frames of the code at the fork before
    on_wanted: Callable[[Explorer], None] = lambda explorer: None
    ticket: Any = field(default_factory=count)

    def explore(self) -> None:
        """Follow runs until the residual or a limit is reached."""
        self.follower.on_new_fork = self._on_new_fork
        self.follower.on_script_end = self._on_script_end
        self.watch.on_time = self._on_time
        self._run([])
        cutoff = _FIRST_CUTOFF
        while self.waiting and not self.stopped_by:
            while self.waiting and -self.waiting[0][0] >= cutoff and not self.stopped_by:
                _, _, node, branch = heapq.heappop(self.waiting)
                if node.ends[branch] is None:
                    self._run(script_to(node, branch), (node, branch))
            if self.waiting and not self.stopped_by:
                cutoff = self._next_round(cutoff)
        self._end_what_waits()

    def _end_what_waits(self) -> None:
        """Where the states are used up, follow what waits for as long as it needs no other ones."""
        for mass, _, node, branch in sorted(self.waiting) if self.stopped_by == "states" else ():
            if self.stopped_by != "states" or -mass * len(self.waiting) < self.limits.residual:
                break
            if node.ends[branch] is None:
                self._run(script_to(node, branch), (node, branch))

    def _next_round(self, cutoff: float) -> float:
        """Weigh all waiting branches anew; return the next cutoff, or 0 when what waits is within the residual."""
        visits = expected_visits(edges_of(self.nodes), FLOATING)
        for node, mass in zip(self.nodes, visits, strict=True):
            node.mass = mass
        self.waiting = [(-mass, next(self.ticket), *step) for mass, *step in self._pending()]
        heapq.heapify(self.waiting)
        left, negligible = 0.0, 0.0
        for mass in sorted(-entry[0] for entry in self.waiting):
            left += mass
            if left <= self.limits.residual / 2:
                negligible = mass
        if left <= self.limits.residual * 0.999:
            self.more -= 1
            if len(self.waiting) > _FEW or self.more < 0:
                self.stopped_by = "residual"
                return cutoff
            return min(-entry[0] for entry in self.waiting)  # few are left: they may be all
        return min(-self.waiting[0][0], max(negligible * (1 + 2.0**-40), cutoff * _FINER))

    def _pending(self) -> list[tuple[float, Node, int]]:
        return [
            (node.mass * weight / node.branches.total, node, branch)
            for node in self.nodes
            for branch, weight in enumerate(node.branches.weights)
            if node.ends[branch] is None
        ]

    def _run(self, script: list[Step], at: Step | None = None) -> None:
        self.runs += 1
        self.at = at
        end: Any = None
        try:
            text, value = self._once(script)
            end = Output(text)
            self.values.setdefault(text, value)
            if not self._is_confirmed(text):
                end = Lost(_UNCONFIRMED)
                if not isinstance(value, Raised):  # else a stand-in may not be able to do what a number can
                    self.watch.behind.add(_UNCONFIRMED)
        except Differs as reason:
            self.watch.behind.add(str(reason))
            end = Lost(str(reason))
        except NotFollowed as reason:
            end = Lost(str(reason))
        except EndOfRun:
            pass
        if end is not None:
            self._arrive(end)
        self.previous = []
        if not self.reader.is_unchanged():
            self.watch.behind.add("a call changes what later calls see")
            self.stopped_by = "state"
        elif self.calls.wanted or self.lazy.wanted:
            self.on_wanted(self)

    def _once(self, script: list[Step]) -> tuple[str, Any]:
        """Run the code by a script, and beyond it; return its output, and a text for it."""
        self.follower.begin(script)
        try:
            value = self._call_once()
            if self.follower.stopped is not None:  # the code has caught what ends a run
                raise self.follower.stopped
            if self.follower.position < len(self.follower.script):
                raise Differs("the same choices did not lead to the same draw")
            return str(value) if isinstance(value, Raised) else identify(value), value
        except CannotKeep as error:
            raise NotFollowed(str(error)) from None
        finally:
            self.watch.stop()

    def _is_confirmed(self, text: Any) -> bool:
        """Run once more with known numbers where there were unknown ones; test whether the output is the same."""
        self.follower.begin_known()
        try:
            value = self._call_once()
            found = str(value) if isinstance(value, Raised) else identify(value)
        except (EndOfRun, CannotKeep):
            return False
        finally:
            self.watch.stop()
        return (
            found in (text, identify(with_known(self.values[text])))
            and self.follower.stopped is None
            and self.follower.is_used_up()
        )

    def _call_once(self) -> Any:
        try:
            return known_output(self.call())
        except EndOfRun:
            raise
        except BaseException as error:
            if not is_of_subject(error):
                raise
            return Raised(error)

    def _on_script_end(self) -> None:
        self.previous = subject_frames()
        self.watch.start()

    def _on_new_fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> list[Step]:
        self.watch.stop()  # of this package there is nothing to be seen
        step = self._fork(signature, compute)
        if len(step) == 1:  # else the choices of a call come first
            self.watch.start()
        return step

    def _key(self, state: State | None) -> int | None:
        return None if state is None else state.number

    def _fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> list[Step]:
        state = self.reader.state(signature)
        key = self._key(state)
        known = None if key is None else self.known.get(key)
        if known is not None:
            self._arrive(known)
            self.follower.stop(EndOfRun())
        if self.stopped_by:
            self.follower.stop(EndOfRun())
        parent, branch = self.at or (None, 0)
        call = self._known_call(state)
        self.previous = subject_frames() if state is None else state.frames
        node = Node(signature, call or compute(), parent, branch, float(parent is None), len(self.nodes), key)
        node.is_call = call is not None
        node.ends = [None] * len(node.branches.data)
        self._arrive(node)
        self.nodes.append(node)
        if key is not None:
            self.known[key] = node
        best = max(range(len(node.ends)), key=node.branches.weights.__getitem__)
        self.at = node, best
        for other in range(len(node.ends)):
            if other != best:
                heapq.heappush(self.waiting, (-self._mass(node, other), next(self.ticket), node, other))
        self._mind_limits(node, best)
        return list(steps_of(node, best))

    def _known_call(self, state: State | None) -> Branches | None:
        """Return the law of the outermost call that has just begun, if it is known; count calls that are not."""
        begun = {id(frame) for frame in self.previous}
        for frame in subject_frames()[1:-1]:
            if id(frame) not in begun:
                self.lazy.begins(frame)
        if state is None:
            return None
        for index in reversed(range(self._outermost(state))):
            part = state.parts[index]
            frame = state.frames[index]
            if part is None or id(frame) in begun or self.lazy.is_in_between(frame):
                continue
            if (law := self.calls.known.get(part)) is not None:
                return law
            if part not in self.calls.known and self.calls.counts[part] < _OFTEN:
                self.calls.counts[part] += 1
                if self.calls.counts[part] == _OFTEN:
                    self.calls.wanted.append((part, list(self.follower.script), index))
        return None

    def _outermost(self, state: State) -> int:
        """Return the number of frames whose calls may be remembered: all but the outermost one."""
        return len(state.frames) - 1

    def _on_time(self) -> None:
        if time.monotonic() > self.limits.deadline:
            self.watch.stop()
            self.stopped_by = "time"
            self.follower.stop(EndOfRun())

    def _mind_limits(self, node: Node, branch: int) -> None:
        if len(self.nodes) >= self.limits.states:
            self.stopped_by = "states"
        elif time.monotonic() > self.limits.deadline:
            self.stopped_by = "time"
        elif self._mass(node, branch) >= self.limits.residual * 2.0**-20:
            return
        heapq.heappush(self.waiting, (-self._mass(node, branch), next(self.ticket), node, branch))
        self.follower.stop(EndOfRun())

    @staticmethod
    def _mass(node: Node, branch: int) -> float:
        return node.mass * node.branches.weights[branch] / node.branches.total

    def _arrive(self, end: Any) -> None:
        """Note where the branch leads on which the run is."""
        if self.at is None:
            self.root = end
            return
        node, branch = self.at
        node.ends[branch] = end
        if type(end) is Node and end.parent is not None:
            end.mass += self._mass(node, branch)

    def repeat(self) -> None:
        """Repeat runs of some outputs, from different parts of the graph: they must end as before."""
        done = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if type(end) is Output]
        for node, branch in done[:: max(1, len(done) // _REPEATED)]:
            try:
                text, _ = self._once(script_to(node, branch))
            except EndOfRun as reason:
                text = f"{type(reason).__name__}: {reason}"
            if text != node.ends[branch].text:
                self.watch.behind.add("the same choices did not lead to the same output")


def edges_of(nodes: list[Node]) -> list[list[tuple[int, int, int]]]:
    """Return the moves between forks."""
    return [
        [
            (end.number, weight, node.branches.total)
            for end, weight in zip(node.ends, node.branches.weights, strict=True)
            if type(end) is Node
        ]
        for node in nodes
    ]


def arithmetic_for(nodes: list[Node]) -> Arithmetic:
    """Return exact arithmetic for a small graph that was followed to all of its ends; else one that rounds down."""
    is_closed = all(
        None not in node.ends
        and not any(type(end) is Lost for end in node.ends)
        and sum(node.branches.weights) == node.branches.total
        for node in nodes
    )
    if is_closed and len(nodes) <= _EXACT_STATES:
        largest = max(map(len, components(edges_of(nodes))))
        if largest <= _EXACT_COMPONENT:
            return EXACT
    return rounded_down(_BITS)
