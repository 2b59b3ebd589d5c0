"""Test on the code itself the conclusions of the exploration: equal states, and numbers that were not known yet.

A run that reaches a known state goes on by a branch that no run has taken there, or ends: the exploration concludes
that all ways into a state go on as any of them did. Here a state is entered by each way, and the run goes on to one
output after another by the fewest branches, so that a rare end is reached as well. The draws must be those of the
graph, in its order, and so must the output.

A run is made again with known numbers, and must go the same way. A number that was split by comparisons is made known
at the first point of the rest of its range, at the last one, and at a random one.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from audit.extensions.enumeration.deferred import DeferredDraw, size_of
from audit.extensions.enumeration.following import Node, Output, Step, path_to

DIFFER = "states that read alike do not go on alike"
_FEWEST = 256  # runs through merges; more where the exploration made more
_ENDS = 64  # outputs that these lead to


def test_merges(nodes: list[Node], replayed: Callable[[list[Step]], Any], explored: int) -> tuple[int, int, bool]:
    """Return the number of merges of a graph, of those that runs have gone through, and whether all go on alike."""
    merges, ends, into = list[Step](), defaultdict[str, list[Step]](list), defaultdict[int, list[Step]](list)
    for step in ((node, branch) for node in nodes for branch in range(len(node.ends))):
        end = step[0].ends[step[1]]
        if type(end) is Node:
            into[end.number].append(step)
            merges += [step] if (end.parent, end.branch) != step else []
        elif type(end) is Output:
            ends[end.text].append(step)
    source, tested = random.Random(len(nodes)), set[int]()
    source.shuffle(merges)
    chosen = source.sample(list(ends.values()), min(_ENDS, len(ends))) if merges else []
    nearest = _ways_to(list(chain(*ends.values())), into)
    onward = [_ways_to(end, into) for end in chosen]
    for number, script in islice(_list_scripts(merges, nearest, onward), max(_FEWEST, explored)):
        tested.add(number)
        node, branch = script[-1]
        if replayed(script) != node.ends[branch].text:
            return len(merges), len(tested), False
    return len(merges), len(tested), True


def _ways_to(ends: Sequence[Step], into: Mapping[int, Sequence[Step]]) -> dict[int, int]:
    """Return the branch to take in each state that leads to one of some ends by the fewest branches."""
    found = {node.number: branch for node, branch in ends}
    waiting = deque(found)
    while waiting:
        for node, branch in into.get(waiting.popleft(), ()):
            if node.number not in found:
                found[node.number] = branch
                waiting.append(node.number)
    return found


def _list_scripts(
    merges: Sequence[Step], nearest: Mapping[int, int], onward: Sequence[Mapping[int, int]]
) -> Iterator[tuple[int, list[Step]]]:
    """Yield a way through each merge to its nearest end, then ways through each to one output after another."""
    first = ((number, _way_on(merge, nearest)) for number, merge in enumerate(merges))
    rounds = ((number, (number + shift) % len(onward)) for shift in range(len(onward)) for number in range(len(merges)))
    yield from filter(
        itemgetter(1), chain(first, ((number, _way_on(merges[number], onward[at])) for number, at in rounds))
    )


def _way_on(merge: Step, onward: Mapping[int, int]) -> list[Step]:
    """Return the branches through a merge and on to an end; none where it is not reached."""
    path, end = path_to(*merge), merge[0].ends[merge[1]]
    while type(end) is Node:
        if end.number not in onward:
            return []
        path.append((end, onward[end.number]))
        end = end.ends[onward[end.number]]
    return path


_GOLDEN = 0x9E3779B97F4A7C15  # its multiples are spread evenly


def list_values(draw: DeferredDraw, seed: int) -> tuple[Any, Any, Any]:
    """Return values that a draw may still have."""
    size = size_of(draw.support)
    first, last, any_ = (
        draw.value(draw.support[at]) for at in (0, size - 1, (seed + 1) * _GOLDEN % 2**64 * size >> 64)
    )
    return first, last, any_
