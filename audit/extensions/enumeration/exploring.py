"""Explore the graph of the forks of code, the likeliest runs first, and solve it for the output law."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from audit.api import sandbox, walk
from audit.extensions.enumeration.absorbing_chain import (
    EXACT,
    Arithmetic,
    expected_visits,
    rounded_down,
)
from audit.extensions.enumeration.apart import Clock
from audit.extensions.enumeration.deferred import Deferred, force
from audit.extensions.enumeration.following import (
    Branches,
    Differs,
    EndOfRun,
    Follower,
    Lost,
    Node,
    Output,
    Step,
    Untraceable,
    path_to,
)
from audit.extensions.enumeration.merges import DIFFER, list_values, test_merges
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

_FIRST_CUTOFF = 2.0**-10  # probability below which runs wait for the next round
_UNREPEATED = "the same choices did not lead to the same output"
_FINER = 1 / 32  # by which the cutoff falls from round to round, at most
_FEW, _MORE_ROUNDS = 32, 8  # branches within the residual that are followed all the same, to leave nothing
_BITS = 256  # probabilities that cannot be exact are rounded down to multiples of 2^-256
_EXACT_STATES = 1000  # beyond, fractions grow too long


@dataclass
class Explorer:
    """Run code along the paths of its forks, and keep the graph."""

    call: Callable[[], Any]
    follower: Follower
    residual: float
    clock: Clock
    reader: StateReader
    watch: Watch
    nodes: list[Node] = field(default_factory=list)
    known: dict[Hashable, Node] = field(default_factory=dict)
    waiting: list[tuple[float, int, Node, int]] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)  # an output of each text
    root: Any = None  # the first step of the code
    at: Step | None = None  # the branch that the run is on
    cutoff: float = _FIRST_CUTOFF
    runs: int = 0
    stopped_by: str = ""
    more: int = _MORE_ROUNDS
    merges: int = 0
    merges_tested: int = 0
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
        if not self.watch.behind:
            explored = 0 if self.stopped_by == "time" else self.runs
            self.merges, self.merges_tested, is_alike = test_merges(self.nodes, self.replay, explored)
            if not is_alike:
                self.watch.behind.add(DIFFER)

    def replay(self, script: list[Step]) -> Any:
        """Return the output of a run by a script alone, or why it went another way."""
        # a run that the limit of time cuts short would be taken for one that goes another way
        kept, self.watch.on_time, self.follower.is_replay = self.watch.on_time, lambda: None, True
        try:
            return self._once(script)[0]
        except EndOfRun as reason:
            return f"{type(reason).__name__}: {reason}"
        finally:
            self.watch.on_time, self.follower.is_replay = kept, False

    def _next_round(self, cutoff: float) -> float:
        """Weigh all waiting branches anew; return the next cutoff, or 0 when their mass is within the residual."""
        numbers = rounded_down(_BITS)
        for node, visits in zip(self.nodes, expected_visits(edges_of(self.nodes), numbers), strict=True):
            node.mass = float(numbers.back(visits))
        steps = [(node, branch) for node in self.nodes for branch, end in enumerate(node.ends) if end is None]
        self.waiting = [(-self._mass(*step), next(self.ticket), *step) for step in steps]
        heapq.heapify(self.waiting)
        left, negligible = 0.0, 0.0
        for mass in sorted(-entry[0] for entry in self.waiting):
            left += mass
            if left <= self.residual / 2:
                negligible = mass
        if left <= self.residual * 0.999:
            self.more -= 1
            if len(self.waiting) > _FEW or self.more < 0:
                self.stopped_by = "residual"
                return cutoff
            return min((-entry[0] for entry in self.waiting), default=cutoff)  # few are left: they may be all
        return min(-self.waiting[0][0], max(negligible * (1 + 2.0**-40), cutoff * _FINER))

    def _run(self, script: list[Step], at: Step | None = None) -> None:
        self.runs, self.at = self.runs + 1, at
        end: Any = None
        try:
            text, value = self._once(script)
            end = Output(text)
            self.values.setdefault(text, value)
            if not self._is_confirmed(text):
                end = Lost(_UNREPEATED)
                if not isinstance(value, walk.Raised):  # else a stand-in may lack an operation of a number
                    self.watch.behind.add(_UNREPEATED)
        except Differs as reason:
            self.watch.behind.add(str(reason))
            end = Lost(str(reason))
        except Untraceable as reason:
            end = Lost(str(reason))
        except EndOfRun:
            pass
        if end is not None:
            self._arrive(end)
        if not self.reader.around.is_unchanged():
            self.watch.behind.add("a call changes the state of later calls")
            self.stopped_by = "state"

    def _is_confirmed(self, text: str) -> bool:
        """Run again with known numbers; return whether the code draws as before, and has the same output."""
        script = list(self.follower.script)
        values = [list_values(draw, 1000 * self.runs + number) for number, draw in enumerate(self.follower.drawn)]
        for numbers in dict.fromkeys(zip(*values, strict=True)) or [()]:
            self.follower.begin_again(script, numbers)
            try:
                value = self.call_once()
                found = str(value) if isinstance(value, walk.Raised) else walk.identify(value)
            except (EndOfRun, walk.CannotKeep):
                return False
            finally:
                self.watch.stop()
            if found != text or self.follower.stopped is not None or not self.follower.is_used_up():
                return False
        return True

    def _once(self, script: list[Step]) -> tuple[str, Any]:
        """Run the code by a script, and beyond it; return its output, and a text for it."""
        self.follower.begin(script)
        try:
            value = self.call_once()
            if self.follower.stopped is not None:  # the code has caught the exception that ends a run
                raise self.follower.stopped
            if self.follower.position < len(self.follower.script):
                raise Differs("the same choices did not lead to the same draw")
            return str(value) if isinstance(value, walk.Raised) else walk.identify(value), value
        except walk.CannotKeep as error:
            raise Untraceable(str(error)) from None
        finally:
            self.watch.stop()

    def call_once(self) -> Any:
        try:
            return known_output(self.call())
        except EndOfRun:
            raise
        except BaseException as error:
            if not sandbox.is_of_subject(error):
                raise
            return walk.Raised(error)

    def _on_script_end(self) -> None:
        if not self.follower.is_replay:  # else no fork follows, and nothing new can happen
            self.watch.start()

    def _on_new_fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Step:
        self.watch.stop()  # this package itself is not watched
        step = self._fork(signature, compute)
        self.watch.start()
        return step

    def _fork(self, signature: tuple[Any, ...], compute: Callable[[], Branches]) -> Step:
        key = self.reader.state(signature)
        known = None if key is None else self.known.get(key)
        if known is not None:
            self._arrive(known)
        if self.stopped_by:
            self.follower.stop(EndOfRun())
        if known is not None:
            if (branch := self._open(known)) is None:
                self.follower.stop(EndOfRun())
            self.at = known, branch
            return self.at
        parent, branch = self.at or (None, 0)
        node = Node(signature, compute(), parent, branch, float(parent is None), len(self.nodes), key)
        node.ends = [None] * len(node.branches.data)
        self._arrive(node)
        self.nodes.append(node)
        if key is not None:
            self.known[key] = node
        best = max(range(len(node.ends)), key=node.branches.weights.__getitem__)
        for branch in range(len(node.ends)):  # a branch that a run has taken is not run again
            heapq.heappush(self.waiting, (-self._mass(node, branch), next(self.ticket), node, branch))
        self._mind_limits(node, best)
        self.at = node, best
        return self.at

    def _open(self, node: Node) -> int | None:
        """Return the likeliest branch of a known state that no run has taken, and that is likely enough."""
        ends = enumerate(node.ends)
        open_ = [at for at, end in ends if end is None and self._mass(node, at) >= self.cutoff]
        return max(open_, key=node.branches.weights.__getitem__, default=None)

    def _on_time(self) -> None:
        if self.clock.is_over:
            self.watch.stop()
            self.stopped_by = "time"
            self.follower.stop(EndOfRun())

    def _mind_limits(self, node: Node, branch: int) -> None:
        if self.clock.is_over:
            self.stopped_by = "time"
        elif self._mass(node, branch) >= self.residual * 2.0**-20:
            return
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
        known = node.ends[branch]
        if known not in (None, end):
            self.watch.behind.add(DIFFER)
        if known is None or type(end) is not Lost:
            if type(end) is Node and end.parent is not None and known is None:
                end.mass += self._mass(node, branch)
            node.ends[branch] = end

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


_DEEPEST = 50  # containers in an output


def known_output(value: Any, depth: int = 0) -> Any:
    """Return an output whose numbers are all known; containers of Python and arrays of objects are looked into."""
    if type(value) is Deferred:
        return force(value, "the output")
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
    return EXACT if is_closed and len(nodes) <= _EXACT_STATES else rounded_down(_BITS)
