"""Look in new processes where a value of the outputs on a dataset never varies, before a claim is refuted by that.

It never varies because a cache keeps it, because of a fixed seed, or because there is no noise. The first does not leak
by one release: in new processes, where the cache is empty, the value is another one. Of two different values, that on
the left dataset and that on the right one, P(left gives its own) and P(right gives its own) have the mean theta =
(e^epsilon + delta) / (1 + e^epsilon) at most, if an (epsilon, delta) claim holds: a fair coin is guessed by them. So
both are given in each of n processes with probability theta^n at most.

One interpreter imports the code anew, and forks a process for each look. A mechanism is packed before it is called for
the first time, so that its own state is not sent; caches of `functools` are sent empty. Generators are seeded
anew in each process, since a fork, and one that was sent, would repeat their draws.
"""

from __future__ import annotations

import gc
import json
import math
import os
import pickle
import random
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from audit.claims import Claim
from audit.evidence.base import Case, Finding, Way, leave_open
from audit.evidence.session import Session
from audit.execution.sandbox import ProcessLine, call_in_fork, clock, start
from audit.execution.seeds import Stream, entropy_from
from audit.execution.workers import pack_without_caches
from audit.mechanism.call import Subject
from audit.outputs.encode import Outputs
from audit.text import describe_error
from audit.validate import Count

Value = Callable[[Outputs], np.ndarray]  # importable: a value of each output


def alike_in_new_processes(
    mechanism: bytes | str,
    one_by_one: bool,
    sides: Sequence[tuple[Any, Any]],
    value: Value,
    processes: int,
    stream: Stream,
    seconds: float,
) -> tuple[int, int] | str:
    """Return the new processes that a packed mechanism was called in, and how many gave the values that are known.

    As many are asked as `processes` says, up to the first that differs. Each side is a dataset with its
    value; the text says why none was asked.
    """
    sent = pack_without_caches((list(sides), value))
    for packed in (mechanism, sent):
        if isinstance(packed, str):
            return f"it cannot be sent to a new process ({packed})"
    request = os.getcwd(), sys.path, mechanism, one_by_one, sent, processes, (stream.entropy, stream.key)
    until = time.monotonic() + seconds
    child = start(serve, prints=False)
    try:
        child.line.send(pickle.dumps(request))
        found = json.loads(child.line.receive(until - time.monotonic()))
        return found if isinstance(found, str) else (int(found[0]), int(found[1]))
    except TimeoutError:
        return "new processes took too long"
    except Exception as error:  # nothing can be started, or it ended without an answer
        return f"a new process gave no output ({type(error).__name__}: {describe_error(error)})"
    finally:
        child.kill()


def serve(line: ProcessLine) -> None:
    """Answer one request, in the new interpreter."""
    folder, path, *request = pickle.loads(line.receive())
    os.chdir(folder)
    sys.path[:] = path
    line.send(json.dumps(_alike_in_forks(*request)).encode())


def _alike_in_forks(
    packed: bytes, one_by_one: bool, sent: bytes, processes: int, seeds: tuple[int, tuple[int, ...]]
) -> tuple[int, int] | str:
    try:
        subject, (sides, value) = Subject(pickle.loads(packed), one_by_one), pickle.loads(sent)
    except BaseException as error:  # a module that only the caller has, or what its import raises
        return f"it cannot be made in a new process ({type(error).__name__}: {describe_error(error)})"
    kinds = np.random.BitGenerator, random.Random  # made where the code was imported, or sent with it
    generators = [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]
    gc.freeze()  # a collection would write to, and so copy, the memory that a fork shares
    for number in range(processes):
        stream = Stream(*seeds).child(number)
        is_alike = call_in_fork(partial(_gives, subject, sides, value, stream, generators))
        if is_alike is None:
            return "it gave no output in a new process"
        if not is_alike:
            return number + 1, number
    return processes, processes


def _gives(
    subject: Subject, sides: Sequence[tuple[Any, Any]], value: Value, stream: Stream, generators: Sequence[Any]
) -> bool:
    """Test whether the outputs on each dataset have its value; the code finds generators that are seeded anew."""
    with entropy_from(stream.child(0).rng()):
        for each in generators:
            with suppress(Exception):  # of a kind that has its own way
                if isinstance(each, random.Random):
                    each.seed()
                else:
                    each.state = type(each)().state
        if (torch := sys.modules.get("torch")) is not None:
            torch.seed()
        for side, (dataset, known) in enumerate(sides):
            outputs, _ = subject.draw(dataset, 1, stream.child(1, side).seed())
            if not np.all(value(outputs) == known):
                return False
    return True


_LEVEL = 1e-6  # probability that a cache of a private mechanism is taken for a fixed seed
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
        """True if there were processes, and all gave the same values."""
        return 0 < self.processes == self.alike

    def finding(self, case: Case) -> Finding:
        """Return INCONCLUSIVE unless a fixed seed, or no noise, explains that the outputs never varied."""
        never = f"a value of its output never varied in {self.outputs:,} outputs on each dataset"
        if self.failure:
            said = f"{never}, which a cache would explain, and {self.failure}"
            return Finding(obstacle=leave_open(f"{said}: audit an importable function that empties its cache"))
        if not self.repeat:
            said = f"{never}, but was another one in a new process: a cache keeps it, or its noise is rare"
            return Finding(obstacle=leave_open(f"{said}; empty the cache in each call"))
        return Finding()

    @property
    def cause(self) -> str:
        """The explanation of outputs that never varied."""
        asked = f"{self.processes:,} new processes"
        return f"; a value of its output never varied on either dataset, nor in {asked}: a fixed seed, or no noise"


def processes_due(claim: Claim) -> int:
    """Return the new processes that refute a claim if none of them differs."""
    most = min((1 + at.delta * math.exp(-at.epsilon)) / (1 + math.exp(-at.epsilon)) for at in claim.points)
    return _MOST + 1 if most >= 1 else math.ceil(math.log(_LEVEL) / math.log(most))


def look_elsewhere(session: Session, pair: int, sides: Sequence[Outputs]) -> NewProcesses | None:
    """Call the mechanism in new processes, if a value never varied on both datasets of a pair, and tells them apart."""
    fixed = next(_fixed_values(sides), None)
    if fixed is None:
        return None
    (value, known), drawn = fixed, min(map(len, sides))
    due, found = processes_due(session.terms.claim), _name_held_numbers(session.packed, sides)
    if not found and due > _MOST:
        found = f"{due:,} new processes would be needed to tell that from a fixed seed"
    if found:
        return NewProcesses(drawn, 0, 0, found)
    known_sides, stream = (
        list(zip(session.pairs[pair], known, strict=True)),
        session.allowance.stream.child(Stream.PROBE, 4),
    )
    seconds = min(clock().left, max(_PATIENCE, clock().elapsed))
    asked = session.packed, session.subject.one_by_one, known_sides, value, due, stream, seconds
    answer = alike_in_new_processes(*asked)
    return NewProcesses(drawn, 0, 0, answer) if isinstance(answer, str) else NewProcesses(drawn, *answer)


def _name_held_numbers(packed: bytes | str, sides: Sequence[Outputs]) -> str:
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
