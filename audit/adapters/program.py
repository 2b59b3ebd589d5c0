"""A program in any language as a mechanism: requests go to its standard input, outputs come from its standard output.

The protocol, version 1 (`docs/programs.md`), is one JSON request per line and one answer to each, in order:

    {"protocol": 1, "request": 7, "dataset": [1, 0], "size": 1000, "seed": 42}
    {"request": 7, "outputs": [0.3, ...]}

An answer of many numbers may come as bytes: a line `{"request": 7, "shape": [1000, 2]}`, then as many little-endian
float64. A program that dies, hangs, or breaks the protocol ends its check as INCONCLUSIVE: none of this is an output.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.base.arguments import positive
from audit.base.errors import InvalidArgument
from audit.claims import Labeled
from audit.subjects import SubjectFailed

PROTOCOL = 1
_SEEDS = 2**53  # every language reads integers below this exactly
_LONGEST_LINE = 1 << 28
_MOST_RUNNING = 4  # programs that one thread keeps: a worker ends those of past checks
_CHUNK = 1 << 20
_STDERR_SHOWN = 300
_PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent dies

_running: dict[tuple[int, int, Program], _Process] = {}  # by process and thread: a forked worker starts others


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
        number = next(process.numbers)
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
                raise SubjectFailed("wrong count", f"answered with {len(outputs)} outputs where {size} were asked for")
            return outputs
        except SubjectFailed:
            self.close()
            raise

    def close(self) -> None:
        """End the program of this thread, if it runs; the next call starts another."""
        process = _running.pop(self._key, None)
        if process is not None:
            process.kill()

    @property
    def _key(self) -> tuple[int, int, Program]:
        return os.getpid(), threading.get_ident(), self

    def _process(self) -> _Process:
        process = _running.pop(self._key, None)
        if process is None or not process.runs:
            if process is not None:
                process.kill()
            own = [key for key in _running if key[:2] == self._key[:2]]
            for key in own[: max(0, len(own) - _MOST_RUNNING + 1)]:  # make room: the oldest come first
                _running.pop(key).kill()
            process = _Process(self.command)
        _running[self._key] = process  # the latest one is last
        return process


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


def _read_answer(process: _Process, number: int, timeout: float) -> Any:
    line = process.read_line(timeout, _LONGEST_LINE)
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise SubjectFailed("broke the protocol", f"wrote a line that is not a JSON object: {line[:80]!r}")
    if answer.get("request") != number:
        raise SubjectFailed("broke the protocol", f"answered request {answer.get('request')!r} instead of {number}")
    if "error" in answer:
        raise SubjectFailed("refused", f"refused the request: {str(answer['error'])[:200]}")
    if isinstance(answer.get("outputs"), list):
        return answer["outputs"]
    shape = answer.get("shape")
    if not (isinstance(shape, list) and len(shape) in (1, 2) and all(type(n) is int and 0 <= n < 2**31 for n in shape)):
        raise SubjectFailed("broke the protocol", f"answered with neither outputs nor a shape, but {shape!r}")
    payload = process.read_bytes(8 * math.prod(shape), timeout)
    return np.frombuffer(payload, dtype="<f8").reshape(shape)


class _Process:
    """A program on two pipes: every wait has a time limit, and nothing that was started outlives its parent."""

    def __init__(self, command: Sequence[str]) -> None:
        # a file: a pipe that nobody reads fills up and blocks
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                start_new_session=True,  # a group of its own, killed as one
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        except OSError as error:
            raise SubjectFailed("did not start", f"did not start: {error}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = bytearray()
        self.numbers = itertools.count(1)
        self._finalizer = weakref.finalize(self, _kill_group, self._child)
        atexit.register(self._finalizer)

    @property
    def runs(self) -> bool:
        """True while the process is alive."""
        return self._child.poll() is None

    def send(self, message: bytes, timeout: float) -> None:
        """Write a message while reading what the process writes: neither waits for the other."""
        view, deadline = memoryview(message), time.monotonic() + timeout
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            ready.register(self._out, selectors.EVENT_READ)
            while view:
                for key, _ in self._wait(ready, deadline, timeout):
                    if key.fd == self._out:
                        self._receive()
                    else:
                        view = view[self._write(view) :]

    def read_line(self, timeout: float, longest: int) -> bytes:
        """Return the next line, without its end."""
        deadline, searched = time.monotonic() + timeout, 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > longest:
                raise SubjectFailed("broke the protocol", f"wrote more than {longest} bytes without ending the line")
            self._fill(deadline, timeout)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def read_bytes(self, size: int, timeout: float) -> bytes:
        """Return the next `size` bytes."""
        deadline = time.monotonic() + timeout
        while len(self._buffer) < size:
            self._fill(deadline, timeout)
        payload = bytes(self._buffer[:size])
        del self._buffer[:size]
        return payload

    def kill(self) -> None:
        """End the process and all that it started, at once."""
        atexit.unregister(self._finalizer)
        self._finalizer()
        self._errors.close()

    def _fill(self, deadline: float, timeout: float) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            self._wait(ready, deadline, timeout)
        self._receive()

    def _wait(
        self, ready: selectors.BaseSelector, deadline: float, timeout: float
    ) -> list[tuple[selectors.SelectorKey, int]]:
        events = ready.select(max(0.0, deadline - time.monotonic()))
        if not events:
            raise SubjectFailed("hung", f"did not answer within {timeout:g} s")
        return events

    def _receive(self) -> None:
        chunk = os.read(self._out, _CHUNK)
        if not chunk:
            raise SubjectFailed("died", self._last_words())
        self._buffer += chunk

    def _write(self, view: memoryview) -> int:
        try:
            return os.write(self._in, view)
        except BrokenPipeError:
            raise SubjectFailed("died", self._last_words()) from None

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=1.0)
        status = self._child.poll()
        how = "closed its output" if status is None else f"ended with status {status}"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _STDERR_SHOWN))
        said = self._errors.read().decode(errors="replace").strip()
        return f"{how} in the middle of a request" + (f", saying: {said}" if said else "")


def _die_with_parent() -> None:
    """Run in the child before the program: the program ends when the worker is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    child.wait()
