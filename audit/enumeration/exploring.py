"""Explore the graph of the forks of code, the likeliest runs first, and solve it for the output law."""

from __future__ import annotations

import heapq
from builtins import id  # the code under audit is given another one
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from audit.enumeration import known_numbers
from audit.enumeration.absorbing_chain import FLOATING, expected_visits
from audit.enumeration.answers import with_known
from audit.enumeration.apart import WatchState
from audit.enumeration.following import (
    Branches,
    Differs,
    EndOfRun,
    Follower,
    KnownRun,
    Lost,
    Node,
    NotFollowed,
    Output,
    Restart,
    Step,
    script_to,
    steps_of,
)
from audit.enumeration.graph import edges_of
from audit.enumeration.lazy_calls import Calls, LazyCalls
from audit.enumeration.merges import DIFFER, Merges, Tester
from audit.enumeration.outputs import known_output
from audit.enumeration.states import State, StateReader, is_generator, subject_frames
from audit.enumeration.watching import Watch
from audit.subjects.identity import CannotKeep, Raised, identify
from audit.subjects.supervisor import is_of_subject

_FIRST_CUTOFF = 2.0**-10  # probability below which runs wait for the next round
_UNCONFIRMED = "the code tells numbers that are not known yet from known ones"
_FINER = 1 / 32  # by which the cutoff falls from round to round, at most
_OFTEN = 4  # calls in one state, after which their law is found
_FEW, _MORE_ROUNDS = 32, 8  # branches within the residual that are followed all the same, to leave nothing
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
    cutoff: float = _FIRST_CUTOFF
    runs: int = 0
    stopped_by: str = ""
    more: int = _MORE_ROUNDS
    previous: list[Any] = field(default_factory=list)  # frames of the code at the fork before
    merges: Merges = field(default_factory=lambda: Merges(0, 0))
    is_call: bool = False  # whether it ends with a call, which a profile function sees
    has_answer: bool = False  # whether the dataset is a symbol
    confirmed: Any = field(default_factory=count)
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
        tester = Tester(self.nodes, len(self.nodes))
        for script, end in tester.runs(self.fewest_tests, 0 if self.stopped_by == "time" else self.runs):
            if self._replayed(script) != end.text:
                self.watch.behind.add(DIFFER)
                break
        self.merges = Merges(len(tester.merges), len(tester.tested))

    def _replayed(self, script: list[Step]) -> Any:
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
        self.at, self.way = at, None if at is None else at[0].way
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

    def _begin_anew(self) -> None:
        """Forget a small graph in which calls were followed whose laws are known by now."""
        for found in (self.nodes, self.known, self.waiting, self.values):
            found.clear()
        self.root = None
        self._run([])

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

    def _unconfirmed(self, text: Any) -> str | None:
        """Run again with known numbers; return where the code parts from the run before, or None if it does not."""
        follower, count = self.follower, next(self.confirmed)
        if not follower.drawn and not self.has_answer:  # all was known in the run itself
            return None
        script, is_compared = list(follower.script), known_numbers.is_compared(count)
        runs = [
            follower.make_known(partial(known_numbers.value_of, which=point, seed=1000 * count))
            for point in known_numbers.POINTS
        ]
        if not self.has_answer and all(run.numbers == runs[0].numbers for run in runs):
            del runs[1:]  # nothing is left of the ranges but these numbers
        before = self._instructions(lambda: self._replayed(script)) if is_compared else None
        for number, run in enumerate(runs):
            follower.answer = known_numbers.ANSWERS[(4 * count + number) % len(known_numbers.ANSWERS)]
            if before is None:
                if not self._is_same(text, run):
                    return ""
                continue
            is_same: list[bool] = []
            made = self._instructions(lambda: is_same.append(self._is_same(text, run)))  # noqa: B023
            where = known_numbers.first_difference(before, made)
            if where or not is_same[0]:
                return f" ({where})" if where else ""
        return None

    def _is_same(self, text: Any, run: KnownRun) -> bool:
        """Test whether a run with known numbers draws as the one before it did, and has its output."""
        self.follower.begin_known(run)
        try:
            value = self._call_once()
            found = str(value) if isinstance(value, Raised) else identify(value)
        except (EndOfRun, CannotKeep):
            return False
        finally:
            self.watch.stop()
        return (
            found in (text, identify(with_known(self.values[text], self.follower.answer)))
            and self.follower.stopped is None
            and self.follower.is_used_up()
        )

    def _instructions(self, run: Callable[[], Any]) -> known_numbers.Instructions:
        collects, self.watch.collects = self.watch.collects, False
        with known_numbers.Instructions(self.reader.is_of_code) as made:
            run()
        self.watch.collects = collects
        return made

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
        if not self.follower.is_replay or self.is_call:
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
        self._arrive(node)
        self.nodes.append(node)
        if key is not None:
            self.known[key] = node
        best = max(range(len(node.ends)), key=node.branches.weights.__getitem__)
        self.at, self.way = (node, best), self.at
        for other in range(len(node.ends)):
            if other != best:
                heapq.heappush(self.waiting, (-self._mass(node, other), next(self.ticket), node, other))
        self._mind_limits(node, best)
        return list(steps_of(node, best))

    def _go_on(self, node: Node) -> list[Step]:
        """Take a branch of a known state that no run has taken yet; end the run where there is none of some mass."""
        open_ = [
            branch for branch, end in enumerate(node.ends) if end is None and self._mass(node, branch) >= self.cutoff
        ]
        if not open_ or self.limits.gate.is_over:
            self.follower.stop(EndOfRun())
        best = max(open_, key=node.branches.weights.__getitem__)
        self.at, self.way = (node, best), self.at
        return list(steps_of(node, best))

    def _known_call(self, state: State | None) -> Branches | None:
        """Return the law of the outermost call that has just begun, if it is known; count calls that are not."""
        begun = {id(frame) for frame in self.previous}
        for frame in state.frames[:-1] if state is not None else subject_frames()[1:-1]:
            if id(frame) not in begun:
                self.lazy.begins(frame)
        if state is None:
            return None
        for index in reversed(range(self._outermost(state))):
            part = state.parts[index]
            frame = state.frames[index]
            if part is None or id(frame) in begun or self.lazy.is_in_between(frame) or is_generator(frame):
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
        node.ends[branch], node.ways[branch] = end, self.way
        if type(end) is Node and end.parent is not None:
            end.mass += self._mass(node, branch)

    def repeat(self) -> None:
        """Repeat runs of some outputs, from different parts of the graph: they must end as before."""
        if self.stopped_by == "time":
            return
        done = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if type(end) is Output]
        for node, branch in done[:: max(1, len(done) // _REPEATED)]:
            if self._replayed(script_to(node, branch)) != node.ends[branch].text:
                self.watch.behind.add("the same choices did not lead to the same output")
