"""Call a mechanism whose outputs never vary in new processes: a cached value is another one there.

One interpreter imports the code anew, and forks a process for each look. A mechanism is packed before it is called for
the first time, so that its own state is not sent; caches of `functools` are sent empty. Generators are seeded
anew in each process, since a fork, and one that was sent, would repeat their draws.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from audit.execution.sandbox import Line, fork, start
from audit.execution.seeds import Block, Stream, entropy_from
from audit.execution.workers import pack_without_caches
from audit.mechanism.call import Subject
from audit.outputs.encode import Outputs
from audit.text import describe_error

Value = Callable[[Outputs], np.ndarray]  # importable: a value of each output


def alike_in_new_processes(
    mechanism: bytes | str,
    one_by_one: bool,
    sides: Sequence[tuple[Any, Any]],
    value: Value,
    processes: Sequence[int],
    stream: Stream,
    seconds: float,
) -> tuple[int, int] | str:
    """Return the new processes that a packed mechanism was called in, and how many gave the values that are known.

    As many are asked as `processes` says if none differs, if one does, and so on; one that differs more is the last.
    Each side is a dataset with its value; the text says why none was asked.
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


def serve(line: Line) -> None:
    """Answer one request, in the new interpreter."""
    folder, path, *request = pickle.loads(line.receive())
    os.chdir(folder)
    sys.path[:] = path
    line.send(json.dumps(_alike_in_forks(*request)).encode())


def _alike_in_forks(
    packed: bytes, one_by_one: bool, sent: bytes, processes: Sequence[int], seeds: tuple[int, tuple[int, ...]]
) -> tuple[int, int] | str:
    try:
        subject, (sides, value) = Subject(pickle.loads(packed), one_by_one), pickle.loads(sent)
    except BaseException as error:  # a module that only the caller has, or what its import raises
        return f"it cannot be made in a new process ({type(error).__name__}: {describe_error(error)})"
    generators = _generators()
    gc.freeze()  # a collection would write to, and so copy, the memory that a fork shares
    number = differ = 0
    while differ < len(processes) and number < processes[differ]:
        stream = Stream(*seeds).child(number)
        is_alike = _in_a_fork(lambda stream=stream: _gives(subject, sides, value, stream, generators))  # type: ignore[misc]
        if is_alike is None:
            return "it gave no output in a new process"
        number, differ = number + 1, differ + (not is_alike)
    return number, number - differ


def _in_a_fork(test: Callable[[], bool]) -> bool | None:
    """Return the result of the test in a process of its own; None where it ends without."""
    child = fork(lambda line: line.send(b"yes" if test() else b"no"))
    try:
        return child.line.receive() == b"yes"
    except EOFError:
        return None
    finally:
        child.kill()


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
            outputs, _ = subject.draw(Block(dataset, 1, stream.child(1, side).seed()))
            if not np.all(value(outputs) == known):
                return False
    return True


def _generators() -> list[Any]:
    """Return the generators of this process that the code has made where it was imported, or was sent with."""
    kinds = np.random.BitGenerator, random.Random
    return [thing for thing in gc.get_objects() if issubclass(type(thing), kinds)]
