"""Explore the graph of the forks of code, the likeliest runs first, and solve it for the output law."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from audit.api import CannotKeep, Raised, identify, is_of_subject
from audit.extensions.enumeration import known_numbers
from audit.extensions.enumeration.absorbing_chain import FLOATING, expected_visits
from audit.extensions.enumeration.alike import INFERRED, LikeBranches, goes_on, way_out
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
    script_to,
    steps_of,
)
from audit.extensions.enumeration.graph import edges_of
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.lazy_calls import Calls, LazyCalls
from audit.extensions.enumeration.merges import DIFFER, Merges, tested_merges
from audit.extensions.enumeration.outputs import known_output
from audit.extensions.enumeration.states import State, StateReader, subject_frames
from audit.extensions.enumeration.watching import Watch

_FIRST_CUTOFF = 2.0**-10  # probability below which runs wait for the next round
_UNCONFIRMED = "the code tells numbers that are not known yet from known ones"
_FINER = 1 / 32  # by which the cutoff falls from round to round, at most
_FEW, _MORE_ROUNDS = 32, 8  # branches within the residual that are followed all the same, to leave nothing
_MORE_STATES = 64  # that are found by following them, after which they are left
_EARLY = 500  # states of a graph that is worth little
_SELDOM = 16  # runs from one look at all that a process holds to the next
_REPEATED = 12  # runs that are repeated at the end, and must give the same outputs


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
    lazy: LazyCalls
    calls: Calls = field(default_factory=Calls)
    nodes: list[Node] = field(default_factory=list)
    known: dict[Hashable, Node] = field(default_factory=dict)
    waiting: list[tuple[float, int, Node, int]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # an output of each text
    root: Any = None  # what the code does first
    at: Step | None = None  # the branch that the run is on
    way: Step | None = None  # the branch by which the run came to that of `at`
    path: list[Step] = field(default_factory=list)  # the branches of the run
    alike: LikeBranches = field(default_factory=LikeBranches)
    cutoff: float = _FIRST_CUTOFF
    runs: int = 0
    stopped_by: str = ""
    more: int = _MORE_ROUNDS
    enough: int = 0  # states; when there are more, no branches within the residual are followed
    previous: list[Any] = field(default_factory=list)  # frames of the code at the fork before
    merges: Merges = field(default_factory=lambda: Merges(0, 0))
    is_call: bool = False  # whether it ends with a call, which a profile function sees
    has_answer: bool = False  # whether the dataset is a symbol
    confirmed: Iterator[int] = field(default_factory=count)
    fewest_tests: int = 256  # of merges, if there is as much to test
    on_wanted: Callable[[Explorer], None] = lambda explorer: None
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
                    self._run(script_to(node, branch), (node, branch))
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
        self.waiting = [(-mass, next(self.ticket), *step) for mass, *step in self.alike.pending(self.nodes)]
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
        self.path = [] if at is None else path_to(*at)
        end: Any = None
        try:
            text, value = self._once(script)
            end = Output(text)
            self.values.setdefault(text, value)
            if (where := self._unconfirmed(text)) is not None:
                end = Lost(_UNCONFIRMED)
                if not isinstance(value, Raised):  # else a stand-in may not be able to do what a number can
                    self.watch.behind.add(f"{_UNCONFIRMED}{where}")
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
        self._release(type(end) is Output)
        self.previous = []
        changed = [] if self.runs % _SELDOM else self.reader.around.process.changed()
        if changed or not self.reader.is_unchanged():
            said = f": {', '.join(changed)}" if changed else ""
            self.watch.behind.add(f"a call changes what later calls see{said}")
            self.stopped_by = "state"
        elif self.calls.wanted or self.lazy.wanted:
            learned = self.lazy.learned
            self.on_wanted(self)
            is_early = len(self.nodes) < _EARLY and not (self.stopped_by or self.limits.gate.is_over)
            if self.lazy.learned > learned and is_early and not self.is_call:
                self._begin_anew()

    def _release(self, is_confirmed: bool) -> None:
        """Infer ends of branches at the forks of a run that was confirmed; have them run after one that was not."""
        if is_confirmed:
            way_out(self.path)
        inferred, to_run = self.alike.release(is_confirmed)
        for step in inferred:
            self._note(step, self.alike.end_of(step), INFERRED)
        for step in to_run:
            self._wait(*step)

    def _begin_anew(self) -> None:
        """Forget a small graph in which calls were followed whose laws are known by now."""
        for found in (self.nodes, self.known, self.waiting, self.values):
            found.clear()
        self.root, self.alike = None, LikeBranches()
        self._run([])

    def _once(self, script: list[Step]) -> tuple[str, Any]:
        """Run the code by a script, and beyond it; return its output, and a text for it."""
        self.follower.begin(script)
        try:
            value = self.call_once()
            if self.follower.stopped is not None:  # the code has caught what ends a run
                raise self.follower.stopped
            if self.follower.position < len(self.follower.script):
                raise Differs("the same choices did not lead to the same draw")
            return str(value) if isinstance(value, Raised) else identify(value), value
        except CannotKeep as error:
            raise NotFollowed(str(error)) from None
        finally:
            self.watch.stop()

    def _unconfirmed(self, text: Any) -> str | None:
        return known_numbers.unconfirmed(self, text)

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
        if not self.follower.is_replay or self.is_call:  # else no fork follows, and nothing new is to be seen
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

    def _key_behind(self, state: State | None) -> int | None:
        return self._key(state)

    def _fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> list[Step]:
        state = self.reader.state(signature)
        key = self._key(state)
        if (known := None if key is None else self.known.get(key)) is not None:
            self._arrive(known)
        if self.stopped_by:
            self.follower.stop(EndOfRun())
        if state is not None and known is not None:
            self.previous = state.frames
            return self._go_on(known)
        parent, branch = self.at or (None, 0)
        call = self._known_call(state)
        self.previous = subject_frames() if state is None else state.frames
        node = Node(signature, call or compute(), parent, branch, float(parent is None), len(self.nodes), key)
        node.is_call = call is not None
        node.ends, node.ways = [None] * len(node.branches.data), [None] * len(node.branches.data)
        if state is not None and key is not None and not node.is_call:
            node.after = [self._key_behind(after) for after in self.reader.after(state, node.branches.data)]
        self._arrive(node)
        self.nodes.append(node)
        if key is not None:
            self.known[key] = node
        best = self._best(node)
        self._take((node, best))
        for other in (other for other in range(len(node.ends)) if other != best):
            if self.alike.is_run((node, other)):
                self._wait(node, other)
            else:
                self.alike.held.append((node, other))
        self._mind_limits(node, best)
        return self._onward(node, best)

    def _go_on(self, node: Node) -> list[Step]:
        """Go on from a known state where more is to be found out; else end the run."""
        if (branch := self._next(node)) is None:
            raise self.follower.stopping(EndOfRun())
        self._take((node, branch))
        return self._onward(node, branch)

    def _next(self, node: Node) -> int | None:
        """Return a branch to go on by: one that no run has taken; else, to confirm new forks, one to an output."""
        if self.limits.gate.is_over:
            return None
        open_ = [
            branch
            for branch, end in enumerate(node.ends)
            if end is None and self._mass(node, branch) >= self.cutoff and self.alike.is_run((node, branch))
        ]
        return max(open_, key=node.branches.weights.__getitem__) if open_ else node.out if self.alike.held else None

    def _onward(self, node: Node, branch: int) -> list[Step]:
        """Return the choices of a branch, and of those on from there where the states are known: none is read again."""
        steps = list(steps_of(node, branch))
        while type(end := self.alike.end_of((node, branch))) is Node and (onward := self._next(end)) is not None:
            if node.ends[branch] is None:  # the run goes this way itself, and would differ if it led elsewhere
                self._note((node, branch), end, self.way)
            node, branch = end, onward
            self._take((node, branch))
            steps += steps_of(node, branch)
        return steps

    def _best(self, node: Node) -> int:
        """Return the branch of a new fork to take: the likeliest one, unless more is to be found out by another."""
        likely = sorted(range(len(node.ends)), key=node.branches.weights.__getitem__, reverse=True)
        ends = [self.alike.end_of((node, branch)) for branch in likely]
        if ends[0] is None:
            return likely[0]
        for branch, end in zip(likely, ends, strict=True):
            if (end is None and self._mass(node, branch) >= self.cutoff) or goes_on(end):
                return branch
        return likely[0]

    def _take(self, step: Step) -> None:
        self.at, self.way = step, self.at
        self.path.append(step)

    def _known_call(self, state: State | None) -> Branches | None:
        """Return the law of the outermost call that has just begun, if it is known; count calls that are not."""
        begun = {identity(frame) for frame in self.previous}
        for frame in state.frames[:-1] if state is not None else subject_frames()[1:-1]:
            if identity(frame) not in begun:
                self.lazy.begins(frame)
        if state is None:
            return None
        return self.calls.law_of(state, begun, self._outermost(state), self.lazy, self.follower.script)

    def _outermost(self, state: State) -> int:
        """Return the number of frames whose calls may be remembered: all but the outermost one."""
        return len(state.frames) - 1

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
        """Note where the branch leads on which the run is."""
        if self.at is None:
            self.root = end
            return
        known = self.at[0].ends[self.at[1]]
        others = self.alike.arrived(self.at, end)
        if others is None or known not in (None, end):
            self.watch.behind.add(DIFFER)
        if known is None or type(end) is not Lost:
            self._note(self.at, end, self.way)
        for step in others or ():
            self._note(step, end, INFERRED)

    def _note(self, step: Step, end: Any, way: Any) -> None:
        """Note where a branch leads, and the branch before it in the run that found it."""
        node, branch = step
        if type(end) is Node and end.parent is not None and node.ends[branch] is None:
            end.mass += self._mass(node, branch)
        node.ends[branch], node.ways[branch] = end, way

    def repeat(self) -> None:
        """Repeat runs of some outputs, from different parts of the graph: they must end as before."""
        if self.stopped_by == "time":
            return
        done = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if type(end) is Output]
        for node, branch in done[:: max(1, len(done) // _REPEATED)]:
            if self.replayed(script_to(node, branch)) != node.ends[branch].text:
                self.watch.behind.add("the same choices did not lead to the same output")
