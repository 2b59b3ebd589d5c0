"""Supervise the processes of calls: fork one for each, watch it, read what it prints, and kill all that it started.

What is here runs in processes beside the one that wants the calls. A fork server is forked from that one, and has its
modules and objects; it forks supervisors. A supervisor without a fork server is an interpreter of its own. Only bytes
go back. A process belongs to one call, unless a supervisor is told to run calls itself, as it does for the blocks of
one check.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

from audit.execution.deadline import TimedOut
from audit.execution.threads import use_one_thread

PRINTED = 4096  # bytes of what a call prints that are kept
OTHER = b"other "  # begins the outcome of a call that this code is not the right one for; no call says so itself
STOP = b"stop"  # sent while a call is under way: kill it
_IDLE = 60.0  # seconds after which an idle supervisor ends; the next call starts another
_PULSE = 0.05  # seconds between two looks at whether a process has ended that did not close its pipe
_LENGTH = 8  # bytes of a length, before the outcome of a call
_CHUNK = 2**16
_ROUNDS = 100  # of killing what escaped, and of reading what was printed
_SUBREAPER = 36  # of Linux's prctl: orphans below this process become its children

is_isolated = False  # whether this process runs code under audit and nothing else: any exception is that code's

Answer = Callable[[bytes], bytes]  # from a request to an outcome; what prepares for it returns none if it may run


def is_of_subject(error: BaseException) -> bool:
    """Test whether an exception from a call is the code's own; in a process with others, some end more than a check."""
    if isinstance(error, TimedOut):
        return False
    if is_isolated or isinstance(error, Exception):
        return True
    is_of_pytest = any(kind.__module__ == "_pytest.outcomes" for kind in type(error).__mro__)
    return not (is_of_pytest or isinstance(error, KeyboardInterrupt))


def serve_forks(requests: socket.socket, answer: Answer, prepare: Answer) -> NoReturn:
    """Fork a supervisor for each connection that is sent; end with the process at the other end."""
    try:
        _begin()
        gc.freeze()  # a collection in a forked process would copy the pages of all objects
        while True:
            message, connections, _, _ = socket.recv_fds(requests, 1, 1)
            if not message:
                break
            with suppress(OSError):  # no process to be had: whoever asked sees the connection closed
                if os.fork() == 0:
                    requests.close()
                    supervise(Connection(connections[0]), answer, prepare)
            os.close(connections[0])
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
        with suppress(ChildProcessError):  # so that the time of all processes is known to the one that wanted them
            while True:
                os.waitpid(-1, 0)
    finally:
        os._exit(0)


def supervise(parent: Connection, answer: Answer, prepare: Answer | None) -> NoReturn:
    """Run calls as they come, each in a new process if there is `prepare`; end with the parent, or when idle."""
    global is_isolated
    try:
        _begin()
        if prepare is not None:
            with suppress(Exception):
                ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        else:
            is_isolated = True
            threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        with suppress(EOFError, OSError):
            while parent.poll(_IDLE):
                request = parent.recv_bytes()
                wrong = b"" if prepare is None else prepare(request)
                if prepare is not None and not wrong:
                    outcome, printed = _forked(request, parent, answer)
                    outcome = b"" if outcome.startswith(OTHER) else outcome
                else:
                    parent.send_bytes(str(os.getpid()).encode())
                    outcome, printed = wrong or answer(request), b""
                parent.send_bytes(outcome)
                parent.send_bytes(printed)
    finally:
        os._exit(0)


def _begin() -> None:
    """Leave the group of the terminal, which sends signals, restore what they do by default, and use one thread."""
    if hasattr(os, "setsid"):
        with suppress(OSError):  # it leads a group already
            os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGCHLD"):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    use_one_thread()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _forked(request: bytes, parent: Connection, answer: Answer) -> tuple[bytes, bytes]:
    """Return the outcome of a call in a forked process, empty if it brought none, and what the process printed."""
    result, result_end = os.pipe()
    output, output_end = os.pipe()
    try:
        if (process := os.fork()) == 0:
            _run_call(request, answer, result_end, output_end, (parent.fileno(), result, output))
    finally:
        os.close(result_end)
        os.close(output_end)
    printed = bytearray()
    try:
        parent.send_bytes(f"{os.getpid()} {process}".encode())
        outcome = _watch(process, result, output, printed, parent)
    finally:
        _kill(process)
        for _ in range(_ROUNDS):
            if not (wait([output], 0) and _read(output, printed, PRINTED)):
                break
        os.close(result)
        os.close(output)
    return outcome, bytes(printed)


def _run_call(request: bytes, answer: Answer, result: int, output: int, foreign: tuple[int, ...]) -> NoReturn:
    """Become the process of one call."""
    global is_isolated
    try:
        is_isolated = True
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in foreign:
            os.close(descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            how = {"mode": "w", "buffering": 1, "errors": "backslashreplace"} if number else {}
            stream = open(number, closefd=False, **how)  # type: ignore[call-overload]  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        faulthandler.enable(sys.stderr)
        if (numpy := sys.modules.get("numpy")) is not None:  # a copy of its state would draw what others draw
            numpy.random.seed()
        outcome = answer(request)
        for stream in (sys.stdout, sys.stderr):
            with suppress(BaseException):
                stream.flush()
        message = memoryview(len(outcome).to_bytes(_LENGTH, "big") + outcome)
        while message:
            message = message[os.write(result, message) :]
    finally:
        os._exit(0)


def _watch(process: int, result: int, output: int, printed: bytearray, parent: Connection) -> bytes:
    """Return the outcome as soon as it is whole; nothing when the process ends without one, or the parent says stop."""
    received, open_ends, has_ended = bytearray(), {result, output}, False
    while not _is_whole(received):
        has_ended = has_ended or os.waitpid(process, os.WNOHANG)[0] == process
        ready: list[Any] = wait([*open_ends, parent], 0 if has_ended else _PULSE)
        if parent in ready or (has_ended and result not in ready):
            return b""
        for end in open_ends & set(ready):
            if not (_read(end, printed, PRINTED) if end == output else _read(end, received)):
                open_ends.remove(end)
    return bytes(received[_LENGTH:])


def _is_whole(received: bytearray) -> bool:
    return len(received) >= _LENGTH and len(received) - _LENGTH >= int.from_bytes(received[:_LENGTH], "big")


def _read(end: int, into: bytearray, most: int | None = None) -> bool:
    """Read a chunk, and keep `most` bytes in all; return False at the end of the file."""
    chunk = os.read(end, _CHUNK)
    into += chunk if most is None else chunk[: max(0, most - len(into))]
    return bool(chunk)


def _kill(process: int) -> None:
    """Kill a process, its group, and whatever below it has left the group, where the system tells."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):
            kill(process, signal.SIGKILL)
    with suppress(OSError):  # it was waited for
        os.waitpid(process, 0)
    children = f"/proc/self/task/{os.getpid()}/children"
    for _ in range(_ROUNDS):
        try:
            with open(children) as file:
                left = [int(number) for number in file.read().split()]
        except OSError:
            return
        if not left:
            return
        for orphan in left:
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)
