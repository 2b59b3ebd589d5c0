"""Look in new processes where a value of the outputs on a dataset never varies, before a claim is refuted by that.

It never varies because a cache keeps it, because of a fixed seed, or because there is no noise. The first does not leak
by one release: in new processes, where the cache is empty, the value is another one. Of two different values, that on
the left dataset and that on the right one, P(left gives its own) and P(right gives its own) have the mean theta =
(e^epsilon + delta) / (1 + e^epsilon) at most, if an (epsilon, delta) claim holds: a fair coin is guessed by them. So
both are given in one process with probability theta at most. Each process multiplies a wealth of 1: by q / theta if it
gives both, else by (1 - q) / (1 - theta), where 1 - q = (1 - theta) / 20. The mean of the wealth never grows under the
claim, and so it reaches 10^6 with probability 10^-6 at most (Ville 1939). A few may differ: noise may be rare.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audit.claims import Claim, Point
from audit.evidence.base import Case, Finding, Way, undecided
from audit.evidence.new_processes import Value, alike_in_new_processes
from audit.evidence.session import PROBE, Session
from audit.execution.deadline import clock
from audit.outputs.encode import Outputs
from audit.validate import Count

_LEVEL = 1e-6  # probability that a cache of a private mechanism is taken for a fixed seed
_RARER = 20.0  # of another value, in new processes, than a claim demands: the bet
_MOST_DIFFER = 3  # processes; a cache differs in most
_MOST = 16_384  # processes
_PATIENCE = 120.0  # seconds for them, or as long as the check took so far


@dataclass(frozen=True)
class NewProcesses(Way):
    """Hold in how many new processes a mechanism was called that repeats itself, and in how many it did so again."""

    outputs: Count  # on each dataset, that never varied
    processes: Count
    alike: Count  # processes with the same values on both datasets
    failure: str = ""  # why it was called in none

    way: ClassVar[str] = "new processes"

    @property
    def repeat(self) -> bool:
        """True if there were processes, and nearly all gave the same values."""
        return 0 < self.processes <= self.alike + _MOST_DIFFER

    def finding(self, case: Case) -> Finding:
        """Return INCONCLUSIVE unless a fixed seed, or no noise, explains that the outputs never varied."""
        never = f"a value of its output never varied in {self.outputs:,} outputs on each dataset"
        if self.failure:
            said = f"{never}, which a cache would explain, and {self.failure}"
            return Finding(obstacle=undecided(f"{said}: audit an importable function that empties its cache"))
        if not self.repeat:
            said = f"{never}, but was another one in new processes: a cache keeps it, so that runs are not independent"
            return Finding(obstacle=undecided(f"{said}; empty the cache in each call"))
        return Finding()

    @property
    def cause(self) -> str:
        """The explanation of outputs that never varied."""
        asked = f"{self.processes:,} new processes"
        if self.alike == self.processes:
            return f"; a value of its output never varied on either dataset, nor in {asked}: a fixed seed, or no noise"
        return f"; a value of its output never varied on either dataset, and hardly in {asked}: noise that is rare"


def processes_due(claim: Claim) -> tuple[int, ...]:
    """Return the new processes that refute a claim if none of them differs, one does, two do, three do."""
    return min(map(_processes_due, claim.points))


def _processes_due(point: Point) -> tuple[int, ...]:
    most = (1 + point.delta * math.exp(-point.epsilon)) / (1 + math.exp(-point.epsilon))
    if most >= 1:
        return (_MOST + 1,) * (1 + _MOST_DIFFER)
    gain = math.log1p(-(1 - most) / _RARER) - math.log(most)
    prices = [-math.log(_LEVEL) + differ * (math.log(_RARER) + gain) for differ in range(1 + _MOST_DIFFER)]
    return tuple(math.ceil(price / gain) for price in prices)


def look_elsewhere(session: Session, pair: int, sides: Sequence[Outputs]) -> NewProcesses | None:
    """Call the mechanism in new processes, if a value never varied on both datasets of a pair, and tells them apart."""
    fixed = next(_fixed_values(sides), None)
    if fixed is None:
        return None
    (value, known), drawn = fixed, min(map(len, sides))
    due, found = processes_due(session.terms.claim), _kept(session.packed, sides)
    if not found and due[0] > _MOST:
        found = f"{due[0]:,} new processes would be needed to tell that from a fixed seed"
    if found:
        return NewProcesses(drawn, 0, 0, found)
    known_sides, stream = list(zip(session.pairs[pair], known, strict=True)), session.allowance.stream.child(PROBE, 4)
    seconds = min(clock().left, max(_PATIENCE, clock().elapsed))
    asked = session.packed, session.subject.one_by_one, known_sides, value, due, stream, seconds
    answer = alike_in_new_processes(*asked)
    return NewProcesses(drawn, 0, 0, answer) if isinstance(answer, str) else NewProcesses(drawn, *answer)


def _kept(packed: bytes | str, sides: Sequence[Outputs]) -> str:
    """Return which numbers of the outputs a mechanism held before its first call in this check; empty if none."""
    rows = [np.ravel(outputs.numbers[:1]).tolist() for outputs in sides]
    for both in zip(*rows, strict=False):
        if both[0] != both[1] and isinstance(packed, bytes) and all(_holds(packed, number) for number in both):
            return f"it held {both[0]!r} and {both[1]!r} before the check: make it anew"
    return ""


def _holds(packed: bytes, number: float) -> bool:
    """Test whether a number with a fraction is in an array, or by itself; a whole one may be anything."""
    return not number.is_integer() and any(struct.pack(order, number) in packed for order in ("<d", ">d"))


def _fixed_values(sides: Sequence[Outputs]) -> Iterator[tuple[Value, list[Any]]]:
    """Yield what never varies on each of two datasets, and differs between them: all of the output, or one number."""
    columns = range(sides[0].numbers.shape[1] if sides[0].numbers.ndim == 2 else 0)
    values: tuple[Value, ...] = (Outputs.keys, *map(_Column, columns))
    for value in values:
        known = [value(outputs)[0] for outputs in sides]
        if known[0] != known[1] and all(
            bool(np.all(value(outputs) == own)) for outputs, own in zip(sides, known, strict=True)
        ):
            yield value, known


@dataclass(frozen=True)
class _Column:
    column: int

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = outputs.numbers
        known = numbers.ndim == 2 and self.column < numbers.shape[1]
        return np.asarray(numbers[:, self.column] if known else np.full(len(outputs), np.nan))
