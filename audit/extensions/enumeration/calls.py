"""Remember the law of a call: what a function of the code returns, from a given state of its frames.

A call that begins in the same state as one before, and shares nothing that can change with the frames outside, returns
by the same law. That law is found by runs that end when the call returns. Then the call is one fork, whose branches are
the values that it returns; for each, the choices of one call that returns it take the code there. A call that returns
something that can change, or changes its surroundings, is followed as any other code.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from audit.extensions.enumeration.absorbing_chain import expected_visits
from audit.extensions.enumeration.alike import INFERRED
from audit.extensions.enumeration.exploring import Explorer, Limits
from audit.extensions.enumeration.following import Branches, EndOfRun, NotFollowed, Output, Restart, Step, script_to
from audit.extensions.enumeration.graph import arithmetic_for, edges_of
from audit.extensions.enumeration.stated_graph import CallGraph
from audit.extensions.enumeration.states import State, subject_frames

_FINER = 2.0**-14  # residual of a call, by that of the whole: it may be made many times
_FEWEST_TESTS = 24  # of merges in one call: there may be many calls
_LONGEST = 1024  # bits of a common denominator
_LEFT = "what was left over in calls"


class CallExplorer(Explorer):
    """Explore one call: the runs begin with the choices that lead to it, and end when it returns."""

    def begin_at(self, before: list[Step], index: int) -> None:
        """Say after which choices the call makes its first draw, and which frame is its own, from the innermost."""
        self.before, self.index = before, index
        self.is_call, self.is_refused, self.fewest_tests = True, False, _FEWEST_TESTS
        self.value: Any = None

    def _once(self, script: list[Step]) -> tuple[Any, Any]:
        self.value = None
        self.follower.mark, self.follower.on_mark = len(self.before), self._mark
        self.watch.on_return = self._return
        try:
            super()._once([*self.before, *script])
        except (NotFollowed, Restart):
            raise
        except EndOfRun:
            if self.value is None:
                raise
        finally:
            self.follower.mark, self.watch.returning = -1, None
        if self.value is None:
            self.is_refused, self.stopped_by = True, "refusal"
            raise EndOfRun
        return self.value, None

    def _unconfirmed(self, text: Any) -> str | None:
        return None  # the runs of the whole code are confirmed, and they go through the choices of the call

    def _mark(self) -> None:
        self.watch.returning = subject_frames()[1 + self.index]

    def _return(self, value: Any) -> None:
        self.watch.stop()
        self.watch.returning = None
        self.value = self.reader.returned(value)
        if self.value is None:
            self.is_refused, self.stopped_by = True, "refusal"
        self.follower.stop(EndOfRun())

    def _own(self, state: State) -> int | None:
        """Return the number of the frame of the call among those of a state; None if it has returned."""
        return next((at for at, frame in enumerate(state.frames) if frame is self.watch.returning), None)

    def _key(self, state: State | None) -> int | None:
        own = None if state is None else self._own(state)
        if state is None or own is None or state.parts[own] is None:
            self.is_refused, self.stopped_by = True, "refusal"
            self.follower.stop(EndOfRun())
            return None
        return state.parts[own]

    def _key_behind(self, state: State | None) -> int | None:
        own = None if state is None else self._own(state)
        return None if state is None or own is None else state.parts[own]

    def _outermost(self, state: State) -> int:
        return self._own(state) or 0


def remember_calls(explorer: Explorer) -> None:
    """Find the laws of the calls that were made often."""
    calls, lazy = explorer.calls, explorer.lazy
    while calls.wanted:
        part, before, index = calls.wanted.pop()
        if part not in calls.known:
            calls.known[part] = None  # unless it is found
            calls.known[part] = _law_of_call(explorer, before, index)
    while lazy.wanted:
        wanted = lazy.wanted.pop()
        inner = Explorer(wanted.call, *_shared(explorer))
        inner.fewest_tests = _FEWEST_TESTS
        _explore(inner, explorer)
        weights, total, _ = _weights(inner)
        law = [(inner.values[text], text, weight) for text, weight in weights.items()]
        lazy.learn(wanted, law, total, inner.nodes, _LEFT)


def _law_of_call(outer: Explorer, before: list[Step], index: int) -> Branches | None:
    inner = CallExplorer(outer.call, *_shared(outer))
    inner.begin_at(before, index)
    _explore(inner, outer)
    weights, total, choices = ({}, 1, {}) if inner.is_refused else _weights(inner)
    if not weights:
        return None
    graph = CallGraph("", inner.nodes, list(weights), list(weights.values()), total)
    return Branches([choices[text] for text in weights], graph.weights, total, _LEFT, graph)


def _shared(outer: Explorer) -> tuple[Any, ...]:
    limits = Limits(outer.limits.residual * _FINER, outer.limits.states, outer.limits.gate)
    return outer.follower, limits, outer.reader, outer.watch, outer.lazy, outer.calls


def _explore(inner: Explorer, outer: Explorer) -> None:
    """Explore a call between two runs of the whole code."""
    inner.on_wanted = remember_calls
    follower, watch = outer.follower, outer.watch
    kept = follower.on_new_fork, follower.on_script_end, follower.mark
    watched = watch.returning, watch.on_return, watch.on_time
    waiting, outer.calls.wanted = outer.calls.wanted, []
    to_learn, outer.lazy.wanted = outer.lazy.wanted, []
    try:
        inner.explore()
    finally:
        follower.on_new_fork, follower.on_script_end, follower.mark = kept
        watch.returning, watch.on_return, watch.on_time = watched
        outer.calls.wanted, outer.lazy.wanted = waiting, to_learn
        outer.runs += inner.runs


def _weights(inner: Explorer) -> tuple[dict[Any, int], int, dict[Any, list[Step]]]:
    """Return the weight of each value, their total, and the choices of one call that returns it; or no values."""
    if inner.stopped_by not in ("", "residual") or len(inner.nodes) < 2:
        return {}, 1, {}
    numbers = arithmetic_for(inner.nodes)
    sums: dict[Any, Fraction] = {}
    choices: dict[Any, list[Step]] = {}
    for node, visits in zip(inner.nodes, expected_visits(edges_of(inner.nodes), numbers), strict=True):
        for branch, (end, weight) in enumerate(zip(node.ends, node.branches.weights, strict=True)):
            if type(end) is Output:
                mass = numbers.back(numbers.times(visits, numbers.make(weight, node.branches.total)))
                sums[end.text] = sums.get(end.text, Fraction(0)) + mass
                if end.text not in choices and node.ways[branch] is not INFERRED:
                    choices[end.text] = script_to(node, branch)
    total = math.lcm(*(mass.denominator for mass in sums.values()))
    if total.bit_length() > _LONGEST:
        total = 1 << 256
    weights = {text: math.floor(mass * total) for text, mass in sums.items()}
    return {text: weight for text, weight in weights.items() if weight}, total, choices
