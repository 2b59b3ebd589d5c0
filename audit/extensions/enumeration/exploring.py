"""Explore the graph of the forks of code, the likeliest runs first, and solve it for the output law."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

from audit.api import CannotKeep, Raised, identify, is_of_subject
from audit.extensions.enumeration.absorbing_chain import (
    EXACT,
    FLOATING,
    Arithmetic,
    components,
    expected_visits,
    rounded_down,
)
from audit.extensions.enumeration.apart import WatchState
from audit.extensions.enumeration.following import (
    Branches,
    Differs,
    EndOfRun,
    Follower,
    Lost,
    Node,
    NotFollowed,
    Output,
    Restart,
    Step,
    path_to,
)
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.merges import DIFFER, Merges, is_confirmed, known_output, tested_merges
from audit.extensions.enumeration.states import StateReader, subject_frames
from audit.extensions.enumeration.watching import Watch

_FIRST_CUTOFF = 2.0**-10  # probability below which runs wait for the next round
_UNCONFIRMED = "the code tells numbers that are not known yet from known ones"
_UNREPEATED = "the same choices did not lead to the same output"
_FINER = 1 / 32  # by which the cutoff falls from round to round, at most
_FEW, _MORE_ROUNDS = 32, 8  # branches within the residual that are followed all the same, to leave nothing
_MORE_STATES = 64  # that following them may find, after which they are left
_TRIED = 8  # repetitions of a run that known numbers did not confirm, before they are held to be the cause
_REPEATED = 12  # runs that are repeated at the end, and must give the same outputs

_GRAPH_BITS = 256  # probabilities that cannot be exact are rounded down to multiples of 2^-256
_EXACT_STATES, _EXACT_COMPONENT = 4000, 60  # beyond, fractions grow too long


class Limits(NamedTuple):
    """Say when to stop: at this residual, after these seconds, or at this number of states."""

    residual: float
    states: int
    gate: WatchState  # says when the seconds of the processor are used up


@dataclass
class Explorer:
    """Run code along the paths of its forks, and keep the graph."""

    call: Callable[[], Any]
    follower: Follower
    limits: Limits
    reader: StateReader
    watch: Watch
    nodes: list[Node] = field(default_factory=list)
    known: dict[Hashable, Node] = field(default_factory=dict)
    waiting: list[tuple[float, int, Node, int]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # an output of each text
    root: Any = None  # the first step of the code
    at: Step | None = None  # the branch that the run is on
    way: Step | None = None  # the branch by which the run came to that of `at`
    cutoff: float = _FIRST_CUTOFF
    runs: int = 0
    stopped_by: str = ""
    more: int = _MORE_ROUNDS
    enough: int = 0  # states; when there are more, no branches within the residual are followed
    previous: list[Any] = field(default_factory=list)  # frames of the code at the fork before
    merges: Merges = field(default_factory=lambda: Merges(0, 0))
    confirmed: Iterator[int] = field(default_factory=count)
    fewest_tests: int = 256  # of merges, if there is as much to test
    on_begun: Callable[[FrameType], None] = lambda frame: None  # of each call that draws
    on_end: Callable[[], None] = lambda: None  # of each run
    ticket: Any = field(default_factory=count)

    def explore(self) -> None:
        """Follow runs until the residual or a limit is reached."""
        self.follower.on_new_fork = self._on_new_fork
        self.follower.on_script_end = self._on_script_end
        self.watch.on_time = self._on_time
        self._run([])
        while self.waiting and not self.stopped_by:
            while self.waiting and -self.waiting[0][0] >= self.cutoff and not self.stopped_by:
                _, _, node, branch = heapq.heappop(self.waiting)
                if node.ends[branch] is None:
                    self._run(path_to(node, branch), (node, branch))
            if self.waiting and not self.stopped_by:
                self.cutoff = self._next_round(self.cutoff)
        self._end_what_waits()
        self.test_merges()

    def test_merges(self) -> None:
        """Go through merged states by their other ways, and on to outputs: all must be as the graph says."""
        if self.watch.behind:
            return
        explored = 0 if self.stopped_by == "time" else self.runs
        self.merges, is_alike = tested_merges(self.nodes, self.replayed, self.fewest_tests, explored)
        if not is_alike:
            self.watch.behind.add(DIFFER)

    def replayed(self, script: list[Step]) -> Any:
        """Return the output of a run by a script alone, or why it went another way."""
        # a run that the limit of time cuts short would be taken for one that goes another way
        kept, self.watch.on_time, self.follower.is_replay = self.watch.on_time, lambda: None, True
        try:
            return self._once(script)[0]
        except Restart:
            raise
        except EndOfRun as reason:
            return f"{type(reason).__name__}: {reason}"
        finally:
            self.watch.on_time, self.follower.is_replay = kept, False

    def _end_what_waits(self) -> None:
        """Where the states are used up, follow the waiting branches for as long as they need no other ones."""
        for mass, _, node, branch in sorted(self.waiting) if self.stopped_by == "states" else ():
            if self.stopped_by != "states" or -mass * len(self.waiting) < self.limits.residual:
                break
            if node.ends[branch] is None:
                self._run(path_to(node, branch), (node, branch))

    def _next_round(self, cutoff: float) -> float:
        """Weigh all waiting branches anew; return the next cutoff, or 0 when their mass is within the residual."""
        visits = expected_visits(edges_of(self.nodes), FLOATING)
        for node, mass in zip(self.nodes, visits, strict=True):
            node.mass = mass
        steps = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if end is None]
        self.waiting = [(-self._mass(*step), next(self.ticket), *step) for step in steps]
        heapq.heapify(self.waiting)
        left, negligible = 0.0, 0.0
        for mass in sorted(-entry[0] for entry in self.waiting):
            left += mass
            if left <= self.limits.residual / 2:
                negligible = mass
        if left <= self.limits.residual * 0.999:
            self.more, self.enough = self.more - 1, self.enough or len(self.nodes) + _MORE_STATES
            if len(self.waiting) > _FEW or self.more < 0 or len(self.nodes) > self.enough:
                self.stopped_by = "residual"
                return cutoff
            return min((-entry[0] for entry in self.waiting), default=cutoff)  # few are left: they may be all
        return min(-self.waiting[0][0], max(negligible * (1 + 2.0**-40), cutoff * _FINER))

    def _run(self, script: list[Step], at: Step | None = None) -> None:
        self.runs += 1
        self.at, self.way = at, None if at is None else at[0].way
        end: Any = None
        try:
            text, value = self._once(script)
            end = Output(text)
            self.values.setdefault(text, value)
            made = list(self.follower.script)
            if not is_confirmed(self, text):
                is_repeated = all(self.replayed(made) == text for _ in range(_TRIED))
                said = _UNCONFIRMED if is_repeated else _UNREPEATED
                end = Lost(said)
                if not isinstance(value, Raised):  # else a stand-in may lack an operation of a number
                    self.watch.behind.add(said)
        except Differs as reason:
            self.watch.behind.add(str(reason))
            end = Lost(str(reason))
        except NotFollowed as reason:
            end = Lost(str(reason))
        except Restart:
            raise
        except EndOfRun:
            pass
        if end is not None:
            self._arrive(end)
        self.previous = []
        if not self.reader.around.is_unchanged():
            self.watch.behind.add("a call changes the state of later calls")
            self.stopped_by = "state"
        self.on_end()

    def _once(self, script: list[Step]) -> tuple[str, Any]:
        """Run the code by a script, and beyond it; return its output, and a text for it."""
        self.follower.begin(script)
        try:
            value = self.call_once()
            if self.follower.stopped is not None:  # the code has caught the exception that ends a run
                raise self.follower.stopped
            if self.follower.position < len(self.follower.script):
                raise Differs("the same choices did not lead to the same draw")
            return str(value) if isinstance(value, Raised) else identify(value), value
        except CannotKeep as error:
            raise NotFollowed(str(error)) from None
        finally:
            self.watch.stop()

    def call_once(self) -> Any:
        try:
            return known_output(self.call())
        except EndOfRun:
            raise
        except BaseException as error:
            if not is_of_subject(error):
                raise
            return Raised(error)

    def _on_script_end(self) -> None:
        if not self.follower.is_replay:  # else no fork follows, and nothing new can happen
            self.previous = subject_frames()
            self.watch.start()

    def _on_new_fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Step:
        self.watch.stop()  # this package itself is not watched
        step = self._fork(signature, compute)
        self.watch.start()
        return step

    def _fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Step:
        state = self.reader.state(signature)
        key = None if state is None else state.number
        known = None if key is None else self.known.get(key)
        if known is not None:
            self._arrive(known)
        if self.stopped_by:
            self.follower.stop(EndOfRun())
        frames = subject_frames() if state is None else state.frames
        self._mind_calls(frames)
        if known is not None:
            if (branch := self._open(known)) is None:
                raise self.follower.stopping(EndOfRun())
            return self._take((known, branch))
        parent, branch = self.at or (None, 0)
        node = Node(signature, compute(), parent, branch, float(parent is None), len(self.nodes), key)
        node.ends, node.ways = [None] * len(node.branches.data), [None] * len(node.branches.data)
        self._arrive(node)
        self.nodes.append(node)
        if key is not None:
            self.known[key] = node
        best = max(range(len(node.ends)), key=node.branches.weights.__getitem__)
        for other in (other for other in range(len(node.ends)) if other != best):
            self._wait(node, other)
        self._mind_limits(node, best)
        return self._take((node, best))

    def _open(self, node: Node) -> int | None:
        """Return the likeliest branch of a known state that no run has taken, and that is likely enough."""
        if self.limits.gate.is_over:
            return None
        ends = enumerate(node.ends)
        open_ = [at for at, end in ends if end is None and self._mass(node, at) >= self.cutoff]
        return max(open_, key=node.branches.weights.__getitem__, default=None)

    def _take(self, step: Step) -> Step:
        self.at, self.way = step, self.at
        return step

    def _mind_calls(self, frames: list[FrameType]) -> None:
        """Tell of the calls that were begun since the fork before."""
        begun = {identity(frame) for frame in self.previous}
        for frame in frames[:-1]:  # the outermost one is the mechanism itself
            if identity(frame) not in begun:
                self.on_begun(frame)
        self.previous = frames

    def _on_time(self) -> None:
        if self.limits.gate.is_over:
            self.watch.stop()
            self.stopped_by = "time"
            self.follower.stop(EndOfRun())

    def _mind_limits(self, node: Node, branch: int) -> None:
        if len(self.nodes) >= self.limits.states:
            self.stopped_by = "states"
        elif self.limits.gate.is_over:
            self.stopped_by = "time"
        elif self._mass(node, branch) >= self.limits.residual * 2.0**-20:
            return
        self._wait(node, branch)
        self.follower.stop(EndOfRun())

    def _wait(self, node: Node, branch: int) -> None:
        heapq.heappush(self.waiting, (-self._mass(node, branch), next(self.ticket), node, branch))

    @staticmethod
    def _mass(node: Node, branch: int) -> float:
        return node.mass * node.branches.weights[branch] / node.branches.total

    def _arrive(self, end: Any) -> None:
        """Note where the branch leads on which the run is, and the branch before it in the run that found it."""
        if self.at is None:
            self.root = end
            return
        node, branch = self.at
        known = node.ends[branch]
        if known not in (None, end):
            self.watch.behind.add(DIFFER)
        if known is None or type(end) is not Lost:
            if type(end) is Node and end.parent is not None and known is None:
                end.mass += self._mass(node, branch)
            node.ends[branch], node.ways[branch] = end, self.way

    def repeat(self) -> None:
        """Repeat runs of some outputs, from different parts of the graph: they must end as before."""
        if self.stopped_by == "time":
            return
        done = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if type(end) is Output]
        for node, branch in done[:: max(1, len(done) // _REPEATED)]:
            if self.replayed(path_to(node, branch)) != node.ends[branch].text:
                self.watch.behind.add(_UNREPEATED)

    def solve(self) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
        """Return the probabilities of the outputs, and of the runs not followed, by reason."""
        if type(self.root) is Output:
            return {self.root.text: Fraction(1)}, {}
        if type(self.root) is not Node:
            return {}, {self.root.reason if self.root else "not followed, by the limit of time": Fraction(1)}
        numbers, sums = arithmetic_for(self.nodes), dict[str, Any]()
        lost: dict[str, Fraction] = defaultdict(Fraction)
        for node, visits in zip(self.nodes, expected_visits(edges_of(self.nodes), numbers), strict=True):
            branches = node.branches
            for end, weight in zip(node.ends, branches.weights, strict=True):
                mass = numbers.times(visits, numbers.make(weight, branches.total))
                if type(end) is Output:
                    sums[end.text] = sums[end.text] + mass if end.text in sums else mass
                elif type(end) is not Node:
                    reason = end.reason if type(end) is Lost else f"not followed, by the limit of {self.stopped_by}"
                    lost[reason] += numbers.back(mass)
            if missing := branches.total - sum(branches.weights):
                lost[branches.lost] += numbers.back(numbers.times(visits, numbers.make(missing, branches.total)))
        return {text: numbers.back(mass) for text, mass in sums.items()}, lost


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
    return rounded_down(_GRAPH_BITS)
