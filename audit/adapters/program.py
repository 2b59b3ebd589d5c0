"""A program in any language as a mechanism: requests go to its standard input, outputs come from its standard output.

The protocol, version 1 (`docs/programs.md`), is one JSON request per line and one answer to each, in order:

    {"protocol": 1, "request": 7, "dataset": [1, 0], "size": 1000, "seed": 42}
    {"request": 7, "outputs": [0.3, ...]}

An answer of many numbers may come as bytes: a line `{"request": 7, "shape": [1000, 2]}`, then as many little-endian
float64. A program that dies, hangs, or breaks the protocol ends its check as INCONCLUSIVE: none of this is an output.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.adapters.process import Process, ProcessFailed
from audit.base.arguments import positive
from audit.base.errors import InvalidArgument
from audit.claims import Labeled
from audit.subjects import SubjectFailed

PROTOCOL = 1
_SEEDS = 2**53  # every language reads integers below this exactly
_LONGEST_LINE = 1 << 28
_MOST_RUNNING = 4  # programs that one thread keeps: a worker ends those of past checks

_running: dict[tuple[int, int, Program], Process] = {}  # by process and thread: a forked worker starts others


@dataclass(frozen=True)
class Program:
    """A mechanism that asks a program for its outputs.

    The program is started on first use in every worker process, answers any number of requests, and should end when
    its input does. When it fails, or its worker ends, it is killed with all that it started.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; not a shell line.
    timeout : float > 0, default 60
        Seconds that one answer may take.
    own_randomness : bool, default False
        Whether the program ignores the seed that it is sent; an audit of it cannot be repeated.

    Raises
    ------
    InvalidArgument
        If the command is empty or its program is not found; at a call, if JSON cannot hold the dataset.
    SubjectFailed
        At a call, if the program dies, hangs, or breaks the protocol.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from audit.adapters import Program
    >>> code = "import json, sys\\nfor line in sys.stdin:\\n r = json.loads(line)\\n "
    >>> code += "print(json.dumps({'request': r['request'], 'outputs': [0.5] * r['size']}), flush=True)"
    >>> program = Program((sys.executable, "-c", code))
    >>> program([1, 0], 3, np.random.default_rng(0))
    [0.5, 0.5, 0.5]
    >>> program.close()
    """

    command: tuple[str, ...]
    timeout: float = 60.0
    own_randomness: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.command, str) or not self.command:
            raise InvalidArgument.of("command", "be a sequence of the program and its arguments", self.command)
        object.__setattr__(self, "command", tuple(map(str, self.command)))
        if shutil.which(self.command[0]) is None:
            raise InvalidArgument.of("command", "start with a program that can be run", self.command[0])
        positive(self.timeout, "timeout")

    @property
    def __name__(self) -> str:
        return " ".join(os.path.basename(part) for part in self.command)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Ask for `size` outputs; shape (size,) or (size, d), or a list of whatever JSON holds."""
        process = self._process()
        number = process.next_number()
        request = {
            "protocol": PROTOCOL,
            "request": number,
            "dataset": to_json(dataset),
            "size": size,
            "seed": int(rng.integers(_SEEDS)),
        }
        try:
            process.send(json.dumps(request).encode() + b"\n", self.timeout)
            outputs = _read_answer(process, number, self.timeout)
            if len(outputs) != size:
                raise ProcessFailed("wrong count", f"answered with {len(outputs)} outputs where {size} were asked for")
            return outputs
        except ProcessFailed as failure:
            self.close()
            raise SubjectFailed(failure.kind, str(failure)) from None

    def close(self) -> None:
        """End the program of this thread, if it runs; the next call starts another."""
        process = _running.pop(self._key, None)
        if process is not None:
            process.kill()

    @property
    def _key(self) -> tuple[int, int, Program]:
        return os.getpid(), threading.get_ident(), self

    def _process(self) -> Process:
        process = _running.pop(self._key, None)
        if process is None or not process.runs:
            if process is not None:
                process.kill()
            _end_the_oldest(self._key[:2])
            process = Process(self.command)
        _running[self._key] = process  # the latest one is last
        return process


def _end_the_oldest(of: tuple[int, int]) -> None:
    """Make room for one more program of a thread."""
    own = [key for key in _running if key[:2] == of]
    for key in own[: max(0, len(own) - _MOST_RUNNING + 1)]:
        _running.pop(key).kill()


def to_json(dataset: Any) -> Any:
    """Return a dataset as JSON holds it: arrays as nested lists, labeled data as {"X": ..., "y": ...}.

    Raises
    ------
    InvalidArgument
        For values that JSON does not hold, such as NaN and infinities.
    """
    if isinstance(dataset, Labeled):
        return {"X": to_json(dataset.X), "y": to_json(dataset.y)}
    if isinstance(dataset, (np.ndarray, np.generic)):
        return to_json(dataset.tolist())
    if isinstance(dataset, (list, tuple)):
        return [to_json(entry) for entry in dataset]
    if isinstance(dataset, Mapping):
        return {str(key): to_json(value) for key, value in dataset.items()}
    if isinstance(dataset, float) and not math.isfinite(dataset):
        raise InvalidArgument.of("dataset", "be finite to be sent to a program", dataset)
    if dataset is None or isinstance(dataset, (bool, int, float, str)):
        return dataset
    raise InvalidArgument.of("dataset", "be made of numbers, text, lists and mappings to be sent to a program", dataset)


def _read_answer(process: Process, number: int, timeout: float) -> Any:
    line = process.read_line(timeout, _LONGEST_LINE)
    answer = _parsed(line)
    if answer.get("request") != number:
        raise ProcessFailed("broke the protocol", f"answered request {answer.get('request')!r} instead of {number}")
    if "error" in answer:
        raise ProcessFailed("refused", f"refused the request: {str(answer['error'])[:200]}")
    if isinstance(answer.get("outputs"), list):
        return answer["outputs"]
    shape = _shape(answer.get("shape"))
    payload = process.read_bytes(8 * math.prod(shape), timeout)
    return np.frombuffer(payload, dtype="<f8").reshape(shape)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        raise ProcessFailed("broke the protocol", f"wrote a line that is not JSON: {line[:80]!r}") from None
    if not isinstance(answer, dict):
        raise ProcessFailed("broke the protocol", f"wrote a line that is not a JSON object: {line[:80]!r}")
    return answer


def _shape(shape: Any) -> tuple[int, ...]:
    fits = isinstance(shape, list) and len(shape) in (1, 2) and all(type(n) is int and 0 <= n < 2**31 for n in shape)
    if not fits:
        raise ProcessFailed("broke the protocol", f"answered with neither outputs nor a shape, but {shape!r}")
    return tuple(shape)
