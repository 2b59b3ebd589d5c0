"""Solve the graph of the forks for the law of what its runs end with."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from audit.api import identify
from audit.extensions.enumeration import frames
from audit.extensions.enumeration.absorbing_chain import expected_visits
from audit.extensions.enumeration.answers import with_known
from audit.extensions.enumeration.calls import Calls
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw
from audit.extensions.enumeration.exploring import Explorer, Limits, arithmetic_for, edges_of
from audit.extensions.enumeration.following import Follower, Lost, Node, Output
from audit.extensions.enumeration.real_outputs import KNOWN_ANSWER
from audit.extensions.enumeration.states import StateReader
from audit.extensions.enumeration.watching import Watch

NOT_SEEN = (
    "addresses in the texts of objects",
    "entropy, clocks and files that C code asks the system for",
    "clocks that C code reads without a system call",
    "what a C extension keeps for itself between two draws",
)
_NO_STATES = f"equal states: frames of Python {platform.python_version()} are not read, and no states are merged"


def explore(
    call: Callable[[], Any], follower: Follower, limits: Limits, calls: Calls, has_answer: bool = False
) -> EnumeratedLaw:
    """Return the output law of a call that draws from the follower's stand-ins."""
    started = limits.gate.seconds()
    with Watch(follower, limits.gate) as watch:
        reader = StateReader(call, watch)
        explorer = Explorer(call, follower, limits, reader, watch, has_answer=has_answer)
        calls.attend(explorer)
        explorer.explore()
        explorer.repeat()
        seconds = limits.gate.seconds() - started
        solved = _solved(explorer)  # in here no garbage is collected, which would go through the whole graph
    return _law(explorer, *solved, seconds)


def _solved(explorer: Explorer) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return the probabilities of the outputs, and of what was not followed, by its reason."""
    nodes = explorer.nodes
    texts: dict[str, Fraction] = defaultdict(Fraction)
    lost: dict[str, Fraction] = defaultdict(Fraction)
    if type(explorer.root) is Node:
        numbers = arithmetic_for(nodes)
        sums: dict[str, Any] = {}
        for node, visits in zip(nodes, expected_visits(edges_of(nodes), numbers), strict=True):
            for end, weight in zip(node.ends, node.branches.weights, strict=True):
                mass = numbers.times(visits, numbers.make(weight, node.branches.total))
                if type(end) is Output:
                    sums[end.text] = sums[end.text] + mass if end.text in sums else mass
                elif type(end) is not Node:
                    reason = end.reason if type(end) is Lost else f"not followed, by the limit of {explorer.stopped_by}"
                    lost[reason] += numbers.back(mass)
            if missing := node.branches.total - sum(node.branches.weights):
                lost[node.branches.lost] += numbers.back(
                    numbers.times(visits, numbers.make(missing, node.branches.total))
                )
        texts = {text: numbers.back(mass) for text, mass in sums.items()}
    elif type(explorer.root) is Output:
        texts[explorer.root.text] = Fraction(1)
    else:
        lost[explorer.root.reason if explorer.root else "not followed, by the limit of time"] = Fraction(1)
    return texts, lost


def _law(explorer: Explorer, texts: dict[str, Fraction], lost: dict[str, Fraction], seconds: float) -> EnumeratedLaw:
    nodes, watch = explorer.nodes, explorer.watch
    ordered = dict(sorted(texts.items(), key=lambda item: (-item[1], item[0])))
    return EnumeratedLaw(
        _by_value(ordered, explorer.values),
        1 - sum(ordered.values(), Fraction(0)),
        ordered,
        states=len(nodes),
        draws=explorer.follower.draws,
        runs=explorer.runs,
        behind=tuple(sorted(watch.behind)),
        assumed=(HASHES_ASSUMED,),
        not_seen=NOT_SEEN if frames.IS_READABLE else (*NOT_SEEN, _NO_STATES),
        merges=explorer.merges.number,
        merges_tested=explorer.merges.tested,
        not_followed={reason: mass for reason, mass in sorted(lost.items()) if mass},
        notes=tuple(sorted(explorer.reader.notes)),
        seconds=seconds,
        known_texts=_known_texts(explorer) if explorer.has_answer else {},
    )


def _known_texts(explorer: Explorer) -> dict[str, str]:
    """Return the text of each output, by its text at a known answer."""
    return {identify(with_known(value, KNOWN_ANSWER)): text for text, value in explorer.values.items()}


def _by_value(texts: dict[str, Fraction], values: dict[str, Any]) -> dict[Any, Fraction]:
    """Return the law by output, or by text where outputs cannot be keys or are equal to one another."""
    try:
        found = {values[text]: probability for text, probability in texts.items()}
    except TypeError:
        return dict(texts)
    return found if len(found) == len(texts) else dict(texts)
