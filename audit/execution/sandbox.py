"""Hold the code under audit within limits: of its time, its threads and its exceptions, and in other processes.

A time limit ends the drawing, and says whose time it was. In the process of a check an alarm raises `TimedOut` in the
call that is under way. Where there is no alarm (another thread, a system without one, a subject that has taken it) the
time is checked before each call, and a call that never returns is ended by the supervisor, with all that was drawn.
The outputs that a run has drawn are counted, in this process and in all that were forked from it.

`fork` and `start` return a `Child` of this process, with its `ProcessLine`, for bytes: a copy, with its modules and
objects, or a new interpreter. A `Supervisor` is either; it runs calls of code that may be hostile, each in a fork of
its own: it watches the fork, reads its output, and kills all that it started. Only bytes come back from calls: which
bytes a call is, is not known here.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import importlib
import math
import mmap
import os
import pickle
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import RawIOBase
from time import monotonic, perf_counter  # kept, where code under audit replaces those of the module
from typing import IO, Any, NamedTuple, NoReturn

from threadpoolctl import ThreadpoolController

from audit.text import printable

is_isolated = False  # whether this process runs code under audit and nothing else: any exception is that code's
_UNCOLLECTED = 10_000  # new objects between two collections, which go through all outputs that a block holds. TIME
_EARLY = 0.05  # seconds by which an alarm may come before its time


class TimedOut(BaseException):
    """The time limit ends the drawing. Code under audit seldom catches other classes than `Exception`."""


@dataclass
class Stopwatch:
    """Measure the time of one check, in this process."""

    seconds: float = math.inf  # until the drawing ends
    started: float = field(default_factory=monotonic)
    called: float = 0.0  # seconds in calls of the code under audit
    drawn: float = 0.0  # seconds of drawing that came to its end
    outputs: int = 0  # that it brought
    planned: int = 0  # outputs that the check wants, with those that may confirm it
    depth: int = 0  # of drawing within drawing

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.elapsed

    @property
    def pace(self) -> float:
        """Seconds for an output, of those that were drawn."""
        return self.drawn / self.outputs if self.outputs else 0.0


_clock = Stopwatch()


def clock() -> Stopwatch:
    """Return the clock of the check that runs in this process; without a limit, one that never ends."""
    return _clock


@contextmanager
def limit_time(seconds: float | None) -> Iterator[None]:
    """Let drawing end after some seconds; for the process of a check."""
    global _clock
    before, _clock = _clock, Stopwatch(math.inf if seconds is None else seconds)
    rings = seconds is not None and hasattr(signal, "setitimer")
    rings = rings and threading.current_thread() is threading.main_thread()
    if rings:
        usual = signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, _clock.seconds)
    try:
        yield
    finally:
        if rings:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, usual)
        _clock = before


def _ring(*_: object) -> None:
    if _clock.left > _EARLY:  # an alarm of the code under audit: it does what it does without this one
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGALRM)
    elif _clock.depth:  # else the next drawing raises
        raise TimedOut


class Drawing:
    """Draw some outputs, within the limit; where it is done by other processes, all of the time is that of calls."""

    def __init__(self, outputs: int = 0, *, is_elsewhere: bool = False) -> None:
        self._outputs, self._is_elsewhere = outputs, is_elsewhere

    def __enter__(self) -> Stopwatch:
        self._now, self._began, self._called = _clock, perf_counter(), _clock.called
        if self._now.left <= 0:
            raise TimedOut
        self._collected = gc.get_threshold()
        if self._collected[0]:  # else the user has switched it off
            gc.set_threshold(max(self._collected[0], _UNCOLLECTED), *self._collected[1:])
        self._now.depth += 1
        return self._now

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        now, seconds = self._now, perf_counter() - self._began
        gc.set_threshold(*self._collected)
        now.depth -= 1
        if kind is None and now.depth == 0:
            now.drawn, now.outputs = now.drawn + seconds, now.outputs + self._outputs
        if self._is_elsewhere:
            now.called = self._called + seconds


def is_of_subject(error: BaseException) -> bool:
    """Test whether an exception from a call is the code's own; in a process with others, some end more than a check."""
    if isinstance(error, TimedOut):
        return False
    if is_isolated or isinstance(error, Exception):
        return True
    is_of_pytest = any(kind.__module__ == "_pytest.outcomes" for kind in type(error).__mro__)
    return not (is_of_pytest or isinstance(error, KeyboardInterrupt))


# Threads of BLAS that outnumber the cores wait for each other in loops that burn CPU time, and sums that are taken in
# another order are others in the last digits. A user's own choice is kept.
_FOR_ALL = "OMP_NUM_THREADS"  # read by all libraries
_limited = threading.local()  # of a thread within `one_thread`: the modules that were loaded, with their libraries
_THREADS = (_FOR_ALL, "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def with_one_thread(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a worker process: one thread for each library, unless the user chose a number."""
    return dict(environment) if _FOR_ALL in environment else {**dict.fromkeys(_THREADS, "1"), **environment}


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread within, unless the user chose a number."""
    before, modules = getattr(_limited, "modules", 0), len(sys.modules)
    if before == modules or not os.environ.keys().isdisjoint(_THREADS):
        yield
        return
    _limited.modules = modules
    try:
        with _libraries(modules).limit(limits=1, user_api="blas"):
            yield
    finally:
        _limited.modules = before


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let the garbage collector look at all objects a tenth as often: outputs that are objects fill whole blocks."""
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, 10 * old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)


def one_thread_of_openmp() -> AbstractContextManager[object]:
    """Have trees use one thread, whatever the user chose: sums in another order would give another model."""
    return _libraries(len(sys.modules)).limit(limits=1, user_api="openmp")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """Return what is loaded; libraries that are loaded later come with further `modules`."""
    return ThreadpoolController()


def use_one_thread() -> None:
    """Do so in this process: limit the libraries that are loaded, and set the environment of those to come.

    OpenMP has no choice where this process was forked: GNU's library hangs if it had several threads before the fork.
    """
    for library in ThreadpoolController().lib_controllers:
        chosen = {f"{library.internal_api.upper()}_NUM_THREADS", _FOR_ALL} & os.environ.keys()
        if library.internal_api == "openmp" or not chosen:
            library.set_num_threads(1)
    os.environ.update(with_one_thread(os.environ))


SLOTS = 4096
DRAWN = memoryview(mmap.mmap(-1, 8 * SLOTS)).cast("q")  # outputs, one slot a process, shared with those it forks


FORKS = hasattr(os, "fork") and sys.platform != "darwin"  # forked processes of macOS may not use its frameworks
PRINTED = 4096  # bytes of the prints of a call that are kept
OTHER = b"other "  # begins the outcome of a call that this code is not the right one for; no call says so itself
_STOP = b"stop"  # sent while a call is under way: kill it
_START = 120.0  # seconds for a new process to import the package
_GRACE = 5.0  # seconds for a supervisor to kill a call and to say what it has printed
_IDLE = 60.0  # seconds after which an idle supervisor ends; the next call starts another
_PULSE = 0.05  # seconds between two looks at whether a process has ended that did not close its pipe
_MOMENT = 0.002  # seconds between two looks at whether a process has ended
_LENGTH = 8  # bytes of the length of a message
_CHUNK = 2**16
_ROUNDS = 100  # of killing what escaped, and of reading what was printed
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # of Linux's prctl: adopt orphans below this process; get a signal with the parent
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)  # the one that opens no file


Answer = Callable[[bytes], bytes]  # from a request to an outcome; a preparation returns none if the call may run


def wait_for(ends: Iterable[Any], seconds: float, sending: Any = None) -> set[Any]:
    """Return the ends that can be read, or written to, within some seconds."""
    with _Selector() as ready:
        for end in ends:
            ready.register(end, selectors.EVENT_READ)
        if sending is not None:
            ready.register(sending, selectors.EVENT_WRITE)
        return {key.fileobj for key, _ in ready.select(None if seconds == math.inf else max(0.0, seconds))}


class ProcessLine:
    """Bytes from and to another process; a message is its length in 8 bytes, and its content.

    Waiting raises `TimeoutError` when its time is over, and `EOFError` where the other process has ended or closed
    its end. The bytes received by then are kept.
    """

    def __init__(self, reading: RawIOBase, writing: RawIOBase | None = None, most: int = sys.maxsize) -> None:
        self._reading, self._writing, self._most = reading, writing, most  # bytes that are kept
        self._received = bytearray()

    @classmethod
    def of_socket(cls, end: socket.socket) -> ProcessLine:
        with end:
            file = end.makefile("rwb", buffering=0)
        return cls(file, file)

    def fileno(self) -> int:
        return self._reading.fileno()

    def close(self) -> None:
        for end in (self._reading, self._writing):
            with suppress(OSError):
                if end is not None:
                    end.close()

    def send(self, message: bytes) -> None:
        """Send a message; raise an `OSError` where nobody can receive it."""
        self._write(len(message).to_bytes(_LENGTH, "big") + message)

    @property
    def is_whole(self) -> bool:
        """True once a whole message is here."""
        return len(self._received) - _LENGTH >= int.from_bytes(self._received[:_LENGTH], "big")

    def receive(self, seconds: float = math.inf) -> bytes:
        """Return the next message."""
        until = time.monotonic() + seconds
        while not self.is_whole:
            self.exchange(until)
        return self.read(int.from_bytes(self.read(_LENGTH, until), "big"), until)

    @property
    def rest(self) -> bytes:
        """The bytes that were received and not read."""
        return bytes(self._received)

    def fill(self) -> bool:
        """Receive the bytes that are there; return False at the end."""
        chunk = None
        with suppress(ConnectionError):
            chunk = self._reading.read(_CHUNK)
        self._received += (chunk or b"")[: max(0, self._most - len(self._received))]
        return bool(chunk)

    def exchange(self, until: float, unsent: bytes | memoryview = b"") -> bytes | memoryview:
        """Receive, or send a part, whatever is possible first; return the rest to be sent."""
        possible = wait_for([self], until - time.monotonic(), self._writing if unsent else None)
        if not possible:
            raise TimeoutError
        if self in possible and not self.fill():
            raise EOFError
        if self._writing in possible:
            self._write(unsent[: select.PIPE_BUF])  # which a pipe takes at once
            unsent = unsent[select.PIPE_BUF :]
        return unsent

    def write(self, content: bytes, until: float) -> None:
        """Send bytes that are no message to a pipe, and receive meanwhile."""
        unsent: bytes | memoryview = memoryview(content)
        while unsent:
            unsent = self.exchange(until, unsent)

    def read(self, length: int, until: float) -> bytes:
        """Return some bytes that are no message."""
        while len(self._received) < length:
            self.exchange(until)
        taken = bytes(self._received[:length])
        del self._received[:length]
        return taken

    def read_line(self, longest: int, until: float) -> bytes:
        """Return bytes up to the end of a line; raise `OverflowError` where it is too long."""
        searched = 0
        while (end := self._received.find(b"\n", searched)) < 0:
            if (searched := len(self._received)) > longest:
                raise OverflowError
            self.exchange(until)
        return self.read(end + 1, until)[:-1]

    def _write(self, content: bytes | memoryview) -> None:
        assert self._writing is not None
        unsent = memoryview(content)
        while unsent:
            unsent = unsent[self._writing.write(unsent) or 0 :]


# A copy of this process that keeps an end of a line to another child would hide the end of either
_forking = threading.Lock()  # while both ends of a new line are open
_lines: weakref.WeakSet[ProcessLine] = weakref.WeakSet()  # to the children of this process


class Child:
    """A process of this one. `kill` ends it with its group, at the latest when nobody holds it any more."""

    def __init__(self, number: int, line: ProcessLine, process: subprocess.Popen[bytes] | None = None) -> None:
        self.number, self.line, self.process = number, line, process
        _lines.add(line)
        self.kill = weakref.finalize(self, _end_child, number, line, process, os.getpid())  # returns its status

    def wait(self, seconds: float) -> int | None:
        """Return the status of the process if it ends within some seconds: minus the signal that ended it."""
        until = time.monotonic() + seconds
        with suppress(ChildProcessError):
            while (ended := os.waitid(os.P_PID, self.number, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
                if time.monotonic() >= until:
                    return None
                time.sleep(_MOMENT)
            return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        return -1  # somebody else has waited for it


def _end_child(number: int, line: ProcessLine, process: subprocess.Popen[bytes] | None, owner: int) -> int | None:
    is_mine = os.getpid() == owner  # a fork of the owner has a copy
    if is_mine:
        kill(number)
    line.close()
    with suppress(ChildProcessError):  # somebody else waited for it
        if is_mine:
            return process.wait() if process is not None else os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
    return None


def kill(*numbers: int) -> None:
    """Kill processes with their groups."""
    for number in numbers:
        for end in (getattr(os, "killpg", os.kill), os.kill):
            with suppress(OSError):
                end(number, _KILL)


def _open_pipe() -> tuple[RawIOBase, RawIOBase]:
    reading, writing = os.pipe()
    return open(reading, "rb", buffering=0), open(writing, "wb", buffering=0)


def fork(work: Callable[[ProcessLine], object], *, lasts: bool = False) -> Child:
    """Run `work` in a copy of this process, in a group of its own; return it, with the line that `work` has.

    The process ends when `work` does, whatever that raises, and with the thread that forks it unless it `lasts`.
    """
    parent = os.getpid()
    with _forking:
        mine, other = map(ProcessLine.of_socket, socket.socketpair())
        with warnings.catch_warnings():  # Python 3.12 and Polars warn of threads: none of their locks is used there
            warnings.simplefilter("ignore")
            number = os.fork()
        if number:
            other.close()
            return Child(number, mine)
    try:
        os.setsid()
        if not lasts and sys.platform == "linux":
            _die_with_parent()
            if os.getppid() != parent:
                os._exit(0)
        for line in (mine, *_lines):
            line.close()
        work(other)
    finally:
        os._exit(0)


def call_in_fork(work: Callable[[], Any], seconds: float = math.inf) -> Any:
    """Return the result of `work` in a copy of this process; None where there is none within some seconds."""
    if not hasattr(os, "fork"):
        return None
    child = fork(lambda line: line.send(pickle.dumps(work())))
    try:
        return pickle.loads(child.line.receive(seconds))
    except (EOFError, TimeoutError):
        return None
    finally:
        child.kill()


def start(serve: Callable[[ProcessLine], object], *, prints: bool = True, **variables: str) -> Child:
    """Start a new interpreter with the path of this one, which calls an importable function with its line."""
    mine, other = socket.socketpair()
    is_posix, output = os.name == "posix", None if prints else subprocess.DEVNULL
    end = other.fileno() if is_posix else None
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import join; "
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}join({serve.__module__!r}, {serve.__qualname__!r}, {end})"],
        stdin=subprocess.DEVNULL if is_posix else subprocess.PIPE,
        stdout=output,
        stderr=output,
        pass_fds=() if end is None else (end,),
        env={**with_one_thread(os.environ), **variables},  # read by libraries when they are loaded
        start_new_session=is_posix,
    )
    with other:
        if process.stdin is not None:
            process.stdin.write(other.share(process.pid))  # type: ignore[attr-defined]
            process.stdin.close()
    return Child(process.pid, ProcessLine.of_socket(mine), process)


def join(module: str, name: str, end: int | None) -> None:
    """Serve at the other end of a line, in the new interpreter."""
    joined = socket.fromshare(sys.stdin.buffer.read()) if end is None else socket.socket(fileno=end)  # type: ignore[attr-defined]
    with suppress(EOFError):
        getattr(importlib.import_module(module), name)(ProcessLine.of_socket(joined))


def start_program(command: Sequence[str], errors: IO[bytes]) -> Child:
    """Start a program on two pipes, which ends with the thread that starts it."""
    pipes: dict[str, Any] = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0)
    dies = _die_with_parent if sys.platform == "linux" else None
    process = subprocess.Popen(list(command), start_new_session=True, preexec_fn=dies, **pipes)
    return Child(process.pid, ProcessLine(process.stdout, process.stdin), process)  # type: ignore[arg-type]


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)


class Outcome(NamedTuple):
    """Hold the outcome of a call, as plain data."""

    kind: str  # "value", "error" of the function, "refused" (cannot be loaded), "other" (code), "hung", "died", "lost"
    content: bytes
    printed: str = ""

    @classmethod
    def of_message(cls, message: bytes, printed: bytes) -> Outcome:
        kind, _, content = (message or b"died killed its process").partition(b" ")
        return cls(kind.decode(errors="replace"), content, _readable(printed))


def _readable(printed: bytes) -> str:
    return "\n".join(map(printable, printed.decode(errors="replace").replace("\r\n", "\n").split("\n")))


class Supervisor:
    """A supervisor, as the process sees it that gives it calls."""

    def __init__(self, child: Child, forks: bool = True) -> None:
        self._child, self._line, self.forks = child, child.line, forks
        self._numbers: list[int] = []  # of the supervisor and of the process of its call
        self.is_usable = True

    def begin(self, request: bytes) -> None:
        """Send a call; raise `EOFError` if the process has ended before it took it."""
        try:
            self._line.send(request)
            self._numbers = [int(number) for number in self._line.receive(_START).split()]
        except (EOFError, OSError) as error:
            self.is_usable = False
            raise EOFError from error

    def finish(self, timeout: float | None) -> Outcome | None:
        """Return the outcome of the call; None if the supervisor was killed."""
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        try:
            try:
                message = self._line.receive(deadline - time.monotonic())
                return Outcome.of_message(message, self._line.receive())
            except TimeoutError:
                self.interrupt()
                printed = b""
                with suppress(TimeoutError):
                    printed = [self._line.receive(_GRACE) for _ in range(2)][1] if self.forks else b""
                return Outcome("hung", f"took longer than {timeout:g} s".encode(), _readable(printed))
        except (EOFError, OSError):
            self.is_usable = False
            return None if self.forks else Outcome.of_message(b"", b"")

    def interrupt(self) -> None:
        """Have the call under way killed; another thread may ask for it."""
        self.is_usable = False
        with suppress(EOFError, OSError):
            self._line.send(_STOP)
        if not self.forks:
            kill(*self._numbers)

    def stop(self) -> None:
        """End the supervisor; kill it with its call when it is not to be trusted any more."""
        self._line.close()
        if not self.is_usable:
            kill(*self._numbers)
        self.wait()
        self._child.kill()

    def wait(self) -> None:
        """Wait until it has ended, and with it all that its call has started; one that forks does so in time."""
        if self.forks:
            self._child.wait(_GRACE)


def fork_supervisor(answer: Answer, prepare: Answer) -> Supervisor:
    """Return a supervisor that is a copy of this process, below another copy: a call may kill its grandparent."""
    for stream in (sys.stdout, sys.stderr):  # else the processes print what waits in the buffers
        with suppress(Exception):
            stream.flush()

    def shield(line: ProcessLine) -> None:
        below = fork(lambda _: supervise(line, answer, prepare))
        line.close()
        os.waitpid(below.number, 0)

    return Supervisor(fork(shield, lasts=True))


def supervise(parent: ProcessLine, answer: Answer, prepare: Answer | None = None) -> NoReturn:
    """Run calls as they come, each in a fork if there is `prepare`; end with the parent, or when idle."""
    global is_isolated
    try:
        _leave_terminal()
        if prepare is not None:
            gc.freeze()  # a collection in a forked process would copy the pages of all objects
            with suppress(Exception):
                ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        else:
            is_isolated = True
            threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        with suppress(EOFError, OSError):
            while True:
                request = parent.receive(_IDLE)
                wrong, printed = b"" if prepare is None else prepare(request), b""
                if prepare is not None and not wrong:
                    outcome, printed = _run_forked(request, parent, answer)
                    outcome = b"" if outcome.startswith(OTHER) else outcome
                else:
                    parent.send(str(os.getpid()).encode())
                    outcome = wrong or answer(request)
                parent.send(outcome)
                parent.send(printed)
    finally:
        os._exit(0)


def _leave_terminal() -> None:
    """Leave the group of the terminal, which sends signals, restore what they do by default, and use one thread."""
    if hasattr(os, "setsid"):
        with suppress(OSError):  # it leads a group already
            os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, getattr(signal, "SIGCHLD", signal.SIGTERM)):
        signal.signal(number, signal.SIG_DFL)
    use_one_thread()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _run_forked(request: bytes, parent: ProcessLine, answer: Answer) -> tuple[bytes, bytes]:
    """Return the outcome of a call in a fork, empty if it brought none, and the prints of the fork.

    The call waits until its parent knows of it: it may stop this process at once.
    """
    (reading, writing), (held, release) = _open_pipe(), _open_pipe()
    output = ProcessLine(reading, most=PRINTED)
    with reading, release:
        with writing, held:
            ends = writing.fileno(), held, (parent, output, release)
            child = fork(lambda line: _run_call(request, answer, line, *ends))
        try:
            parent.send(f"{os.getpid()} {child.number}".encode())
            with suppress(BrokenPipeError):  # it is gone
                release.write(b"1")
            outcome = _watch(child, output, parent)
        finally:
            child.kill()
            _kill_orphans()
            for _ in range(_ROUNDS):
                if not (wait_for([output], 0) and output.fill()):
                    break
    return outcome, output.rest


def _run_call(
    request: bytes,
    answer: Answer,
    line: ProcessLine,
    output: int,
    held: RawIOBase,
    foreign: tuple[ProcessLine | RawIOBase, ...],
) -> None:
    """Run a call in its own process, when it is released."""
    global is_isolated
    is_isolated = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for end in foreign:
        end.close()
    with held:
        if not held.read(1):
            return
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
    line.send(outcome)


def _watch(child: Child, output: ProcessLine, parent: ProcessLine) -> bytes:
    """Return the outcome as soon as it is whole; nothing when the process ends without one, or the parent says stop."""
    open_ends, has_ended = {child.line, output}, False
    while not child.line.is_whole:
        has_ended = has_ended or child.wait(0.0) is not None
        ready = wait_for([parent, *open_ends], 0 if has_ended else _PULSE)
        if parent in ready or (has_ended and child.line not in ready):
            return b""
        open_ends -= {end for end in open_ends & ready if not end.fill()}
    return child.line.receive()


def _kill_orphans() -> None:
    """Kill whatever a killed call has left that had left its group, where the system tells."""
    for _ in range(_ROUNDS):
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                left = [int(number) for number in file.read().split()]
        except OSError:
            return
        for orphan in left:
            os.kill(orphan, signal.SIGKILL)
            os.waitpid(orphan, 0)
        if not left:
            return
