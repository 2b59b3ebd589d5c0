"""A child process on two pipes: every wait has a time limit, and nothing that was started outlives its parent."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Sequence

_CHUNK = 1 << 20
_STDERR_SHOWN = 300
_PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent dies


class ProcessFailed(Exception):
    """The process cannot continue; `kind` is the cause in short, the text continues "the mechanism ..."."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Process:
    """A program that answers on its standard output the requests on its standard input.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    """

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
            raise ProcessFailed("did not start", f"did not start: {error}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._buffer = bytearray()
        self._numbers = itertools.count(1)
        self._finalizer = weakref.finalize(self, _kill_group, self._child)
        atexit.register(self._finalizer)

    @property
    def runs(self) -> bool:
        """Whether the process is alive."""
        return self._child.poll() is None

    def next_number(self) -> int:
        """Return a number for the next request."""
        return next(self._numbers)

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
                raise ProcessFailed("broke the protocol", f"wrote more than {longest} bytes without ending the line")
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
            raise ProcessFailed("hung", f"did not answer within {timeout:g} s")
        return events

    def _receive(self) -> None:
        chunk = os.read(self._out, _CHUNK)
        if not chunk:
            raise ProcessFailed("died", self._last_words())
        self._buffer += chunk

    def _write(self, view: memoryview) -> int:
        try:
            return os.write(self._in, view)
        except BrokenPipeError:
            raise ProcessFailed("died", self._last_words()) from None

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
