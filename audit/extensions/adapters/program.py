"""A program in any language as a mechanism: requests go to its standard input, outputs come from its standard output.

The protocol, version 1 (`docs/programs.md`), is one JSON request per line and one answer to each, in order:

    {"protocol": 1, "request": 7, "dataset": [1, 0], "size": 1000, "seed": 42}
    {"request": 7, "outputs": [0.3, ...]}

An answer of many numbers may come as bytes: a line `{"request": 7, "shape": [1000, 2]}`, then as many little-endian
float64. A program that dies, hangs, or breaks the protocol ends its check as INCONCLUSIVE: none of this is an output.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import shutil
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from audit import Labeled, SubjectFailed
from audit.api import InvalidArgument, sandbox, validate

PROTOCOL = 1
_SEEDS = 2**53  # every language reads integers below this exactly
_LONGEST_LINE = 1 << 28
_MOST_RUNNING = 4  # programs that one thread keeps: a worker ends those of past checks
_MOMENT = 1.0  # seconds for a program that has closed its output to end
_STDERR_SHOWN = 300
_ANSWERING = str(Path(__file__).with_name("answering.py"))

_numbers = itertools.count(1)
_running: dict[tuple[int, int, Program], _Process] = {}  # by process and thread: a forked worker starts others


@dataclass(frozen=True)
class Program:
    """A mechanism that asks a program for its outputs.

    The program is started on first use in every worker process, answers any number of requests, and should end when
    its input does. When it fails, or its worker ends, it is killed with all that it started; one that refuses a request
    goes on. One that was built again meanwhile starts anew after `close`; a function of `python` does so by itself.

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
        If the command is empty or its program does not exist; at a call, if JSON cannot hold the dataset.
    SubjectFailed
        At a call, if the program refuses the request, dies, hangs, or breaks the protocol.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from audit.extensions.adapters import Program
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
    _number: int = field(default=0, repr=False)  # of two with one command, each starts its own if these differ

    is_process: ClassVar[bool] = True  # each process of the audit starts a program of its own

    def __post_init__(self) -> None:
        if isinstance(self.command, str) or not self.command:
            raise InvalidArgument.of("command", "be a sequence of the program and its arguments", self.command)
        object.__setattr__(self, "command", tuple(map(str, self.command)))
        if shutil.which(self.command[0]) is None:
            raise InvalidArgument.of("command", "start with a program that can be run", self.command[0])
        validate.positive(self.timeout, "timeout")

    @classmethod
    def once(cls, command: Sequence[str], timeout: float = 60.0) -> Program:
        """Return a mechanism that runs a command for each output.

        The command reads the dataset as JSON from its standard input, and prints one output: JSON, or text.

        Parameters
        ----------
        command : sequence of str
            The program and its arguments; not a shell line.
        timeout : float > 0, default 60
            Seconds that the outputs of one call may take together.

        Examples
        --------
        >>> import sys
        >>> import numpy as np
        >>> from audit.extensions.adapters import Program
        >>> code = "import json, sys; print(sum(json.load(sys.stdin)) + 0.5)"
        >>> program = Program.once((sys.executable, "-c", code))
        >>> program([1, 0], 2, np.random.default_rng(0))
        [1.5, 1.5]
        >>> program.close()
        """
        whole = cls(tuple(command), timeout)  # checks the command
        return cls((sys.executable, _ANSWERING, "once", *whole.command), timeout, own_randomness=True)

    @classmethod
    def python(cls, environment: str | os.PathLike[str], function: str, timeout: float = 60.0) -> Program:
        """Return a mechanism that calls a function in another Python environment.

        That environment does not need this package; it needs NumPy if the function takes a generator.

        Parameters
        ----------
        environment : path
            A virtual environment, or the Python interpreter in it.
        function : str
            "module:function", as Python imports it from the current folder. It takes `dataset` and returns one output;
            one that takes `size` as well returns so many; one that takes `seed`, too, gets an integer. One that takes
            `rng` gets a generator of NumPy.
        timeout : float > 0, default 60
            Seconds that one answer may take.

        Raises
        ------
        InvalidArgument
            If there is no interpreter, or `function` does not name one.

        Examples
        --------
        >>> import sys
        >>> import numpy as np
        >>> from audit.extensions.adapters import Program
        >>> program = Program.python(sys.executable, "statistics:median")
        >>> program([1, 4, 2], 3, np.random.default_rng(0))
        [2, 2, 2]
        >>> program.close()
        """
        path = os.fspath(environment)
        if os.path.isdir(path):
            path = os.path.join(path, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
        if shutil.which(path) is None:
            raise InvalidArgument.of("environment", "be a virtual environment or a Python interpreter", environment)
        if ":" not in function:
            raise InvalidArgument.of("function", 'be "module:function"', function)
        # code may be edited in between: another object is answered by another process
        return cls((path, _ANSWERING, "call", function), timeout, own_randomness=True, _number=next(_numbers))

    @property
    def audited(self) -> Mapping[str, Any] | None:
        """Distribution that the program has said it audits; None while it does not run, or if it said nothing."""
        process = _running.get(self._key)
        return None if process is None else process.audited

    @property
    def __name__(self) -> str:
        return " ".join(os.path.basename(part) for part in self.command)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Ask for `size` outputs; shape (size,) or (size, d), or a list of any JSON."""
        process = self._process()
        try:
            return process.outputs(to_json(dataset), size, int(rng.integers(_SEEDS)), self.timeout)
        except SubjectFailed as failure:
            if failure.kind != "refused":  # a refusal is an orderly answer: the program awaits the next request
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
        key = self._key
        if key in _running and _running[key].child.wait(0.0) is not None:
            self.close()
        process = _running.pop(key, None)
        if process is None:
            own = [other for other in _running if other[:2] == key[:2]]
            for other in own[: max(0, len(own) - _MOST_RUNNING + 1)]:  # make room: the oldest come first
                _running.pop(other).kill()
            process = _Process(self.command)
        _running[key] = process  # the latest one is last
        return process


def to_json(dataset: Any) -> Any:
    """Return a dataset as JSON holds it: arrays as nested lists, labeled data as {"X": ..., "y": ...}."""
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


class _Process:
    """A program on two pipes: every exchange has a deadline, and nothing that was started outlives its parent."""

    def __init__(self, command: Sequence[str]) -> None:
        # a file: a pipe that nobody reads fills up and blocks
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._errors.close)  # at exit at the latest
        try:
            self.child = sandbox.start_program(command, self._errors)
        except OSError as error:
            raise SubjectFailed("did not start", f"did not start: {error}") from None
        self.kill, self._line, self._numbers = self.child.kill, self.child.line, itertools.count(1)
        self.audited: Mapping[str, Any] | None = None
        self._has_answered = False

    def outputs(self, dataset: Any, size: int, seed: int, timeout: float) -> Any:
        """Send a request and return the `size` outputs of its answer."""
        until = time.monotonic() + timeout
        request = {"protocol": PROTOCOL, "request": next(self._numbers), "dataset": dataset, "size": size, "seed": seed}
        try:
            outputs = self._answer(request, until)
        except TimeoutError:
            raise SubjectFailed("hung", f"did not answer within {timeout:g} s{self._hint()}") from None
        except OverflowError:
            raise _broken(f"wrote more than {_LONGEST_LINE} bytes without ending the line") from None
        except (EOFError, ConnectionError):
            raise self._death() from None
        if len(outputs) != size:
            raise SubjectFailed("wrong count", f"answered with {len(outputs)} outputs, expected {size}")
        return outputs

    def _answer(self, request: Mapping[str, Any], until: float) -> Any:
        self._line.write(json.dumps(request).encode() + b"\n", until)
        line, answer = self._line.read_line(_LONGEST_LINE, until), None
        with contextlib.suppress(ValueError):
            answer = json.loads(line)
        if not isinstance(answer, dict):
            raise _broken(f"wrote a line that is not a JSON object: {line[:80]!r}")
        if answer.get("request") != request["request"]:
            raise _broken(f"answered request {answer.get('request')!r} instead of {request['request']}")
        self._has_answered = True
        if "error" in answer:
            raise SubjectFailed("refused", f"refused the request: {str(answer['error'])[:200]}")
        if isinstance(answer.get("audited"), dict):
            self.audited = answer["audited"]
        outputs = answer.get("outputs")
        if not isinstance(outputs, list):
            outputs = self._array(answer.get("shape"), until)
        return outputs

    def _array(self, shape: Any, until: float) -> np.ndarray:
        is_shape = isinstance(shape, list) and len(shape) in (1, 2)
        if not (is_shape and all(type(size) is int and 0 <= size < 2**31 for size in shape)):
            raise _broken(f"answered with neither outputs nor a shape, but {shape!r}")
        return np.frombuffer(self._line.read(8 * math.prod(shape), until), dtype="<f8").reshape(shape)

    def _death(self) -> SubjectFailed:
        status = self.child.wait(_MOMENT)
        how = "closed its output" if status is None else f"ended with status {status}"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _STDERR_SHOWN))
        said = self._errors.read().decode(errors="replace").strip()
        saying = f", saying: {said}" if said else ""
        return SubjectFailed("died", f"{how} in the middle of a request{saying}{self._hint() if status == 0 else ''}")

    def _hint(self) -> str:
        """Return advice for a program that has answered no request at all: it may run once for each output."""
        if self._has_answered:
            return ""
        once = "Program.once(command)"
        return f"; it must answer requests on its standard input (docs/programs.md); for one output a run: {once}"


def _broken(how: str) -> SubjectFailed:
    return SubjectFailed("broke the protocol", how)
