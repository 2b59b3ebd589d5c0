"""Find once what follows branches after which the code goes on in equal states.

Behind a comparison the code jumps, and less is live there than before it: where `if u < p: return best` returns, the
list of what was tried is gone. Branches of different forks that lead to equal states have one end. One of them is run;
the end of the others is inferred, once a run that went through their fork was confirmed. Each fork is gone through by a
run of its own, and inferred ends are tested as merges are.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from audit.extensions.enumeration.following import Lost, Node, Step

INFERRED = (None, -1)  # the way by which an end was found that no run has found


@dataclass(slots=True)
class _Group:
    """Branches after which the states are equal."""

    first: Step  # the one that is run
    end: Any = None
    others: list[Step] = field(default_factory=list)


class LikeBranches:
    """Hold branches by the states that follow them, during one exploration."""

    def __init__(self) -> None:
        self._groups: dict[int, _Group] = {}
        self.held: list[Step] = []  # branches of forks that the run has met, which need not be run if it is confirmed

    def _group(self, step: Step) -> _Group | None:
        node, branch = step
        if not node.after or (after := node.after[branch]) is None:
            return None
        if (group := self._groups.get(after)) is None:
            group = self._groups[after] = _Group(step)
        return group

    def is_run(self, step: Step) -> bool:
        """Test whether a branch has to be run itself."""
        group = self._group(step)
        return group is None or group.first == step

    def end_of(self, step: Step) -> Any:
        """Return what a branch leads to, if it is known."""
        group = self._group(step)
        return step[0].ends[step[1]] if group is None else group.end

    def first_of(self, step: Step) -> Step:
        """Return the branch that is run for this one."""
        group = self._group(step)
        return step if group is None else group.first

    def arrived(self, step: Step, end: Any) -> list[Step] | None:
        """Return the branches that lead where a run has arrived by one; None if others like it lead elsewhere."""
        group = self._group(step)
        if group is None:
            return []
        if group.end is None:
            group.end = end
            return group.others
        return [] if group.end == end or Lost in (type(end), type(group.end)) else None

    def pending(self, nodes: list[Node]) -> list[tuple[float, Node, int]]:
        """Return the branches that have to be run, with the probability of what will be known then."""
        masses: dict[Step, float] = defaultdict(float)
        for node in nodes:
            for branch, weight in enumerate(node.branches.weights):
                if node.ends[branch] is None:
                    masses[self.first_of((node, branch))] += node.mass * weight / node.branches.total
        return [(mass, *step) for step, mass in masses.items()]

    def release(self, is_confirmed: bool) -> tuple[list[Step], list[Step]]:
        """Return which branches that were held lead where others do, and which have to be run after all."""
        held, self.held = self.held, []
        if not is_confirmed:
            for node, branch in held:
                node.after[branch] = None
            return [], held
        for step in held:
            self._groups[step[0].after[step[1]]].others.append(step)  # type: ignore[index]
        return [step for step in held if self.end_of(step) is not None], []


def way_out(path: list[Step]) -> None:
    """Note for each fork of a run that has ended with an output by which branch it led there."""
    for node, branch in reversed(path):
        if node.out is None:
            node.out = branch


def goes_on(end: Any) -> bool:
    """Test whether an end is a fork with branches of which nothing is known."""
    return type(end) is Node and None in end.ends
