"""Draw outputs in blocks, here, in processes of this machine, on a Dask cluster, or on any executor of Python's.

A block is one call, with a fixed number of outputs and a seed of its own. Neither the number of workers nor the memory
at hand changes which outputs are drawn: the seed of block `i` of a stream follows from the stream and `i`, whoever
draws it and whenever. It is a digest and says nothing about the stage of the audit, and neither does the order of the
calls, which is drawn.

`Place` names where, and a pool wraps an executor there. Each call runs isolated, in a process beside the worker that
has it (`sandbox.py`). Plain data comes back: nothing of a call is unpickled here, except by a pool that serves
the process of one check.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib
import importlib.util
import io
import json
import os
import pickle
import platform
import random
import socket
import sys
import threading
import time
import types
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, Self, TypeVar

import cloudpickle

from audit import errors
from audit.errors import MissingExtra, OtherCode, Unreachable
from audit.execution.sandbox import (
    FORKS,
    OTHER,
    Outcome,
    ProcessLine,
    Supervisor,
    fork_supervisor,
    is_of_subject,
    one_thread,
    start,
    supervise,
)
from audit.execution.seeds import HERE, Block, Calls, Place
from audit.text import describe_error, join_names

DEATHS = 3  # attempts at a call whose supervisor dies, or the worker of a cluster; then the call is to blame
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds that a container may compute in each period
_ANSWER, _WORKERS = 15.0, 60.0  # seconds for a scheduler to answer, and to have a worker
_MOST_BYTES = 2**26  # of a mechanism that is packed without caches, which is kept while it is called
_AHEAD = 8  # items under way for each worker in `Pool.map`: a slow worker does not hold up the others
_OF_POOLS = (OtherCode, Unreachable, OSError)  # raised by a pool about a call: the call itself cannot
_ENDS = {"hung": TimeoutError, "died": ChildProcessError}  # raised for a call that comes to no outcome of its own
_ENVIRONMENT = (ImportError, AttributeError)  # raised by unpickling where a module is missing, or is another one

_brought: dict[str, Processes] = {}  # by session: for calls that another executor has brought to this process
_lock = threading.Lock()

T = TypeVar("T")


class Processes:
    """The supervisors of one session; each runs one call at a time, which is killed with it."""

    def __init__(self, start: Callable[[], Supervisor], shares: bool = False, ready: int = 0) -> None:
        self._start, self._shares = start, shares  # whether a process may run one call after the other
        self._has_ended, self._lock = False, threading.Lock()
        self._busy: set[Supervisor] = set()
        self._idle: list[Supervisor] = []
        with suppress(OSError):
            self._idle += (start() for _ in range(ready))

    def call(self, function: bytes, arguments: bytes, timeout: float | None) -> Outcome:
        """Return the outcome of a call, which is killed when it takes longer, or when the session ends."""
        if self._has_ended:
            raise Unreachable("the session of this call has ended")
        # A supervisor imports the modules of this package once, not each of its processes
        own = [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]
        request, has_begun = pickle.dumps((own, function, arguments)), False
        for _ in range(DEATHS):
            with self._lock:
                one = self._idle.pop() if self._idle else None
            try:
                one = one or self._start()
            except OSError:  # no process is to be had
                continue
            with self._lock:
                self._busy.add(one)
            try:
                one.begin(request)
                ended = one.finish(0.0 if self._has_ended else timeout)
                if ended is not None:
                    return ended
                has_begun = True
            except EOFError:  # it ended before it took the call: no fault of that
                continue
            finally:
                with self._lock:
                    self._busy.discard(one)
                    if one.is_usable and (one.forks or self._shares) and not self._has_ended:
                        self._idle.append(one)
                    else:
                        one.stop()
        if has_begun:
            return Outcome("died", b"killed its process, and the one that watches it")
        raise Unreachable(f"no process can be started on {socket.gethostname()}")

    def end(self) -> None:
        """Kill the processes: the idle ones, and those with a call."""
        with self._lock:
            self._has_ended = True
            for one in self._idle:
                one.stop()
            self._idle.clear()
            busy = list(self._busy)
            for one in busy:
                one.interrupt()
        for one in busy:  # which the threads of their calls stop
            one.wait()


_ENDED = Processes(lambda: start_supervisor())  # of every session that has ended
_ENDED.end()


def start_supervisor(forks: bool = FORKS) -> Supervisor:
    """Return a supervisor in a new interpreter, which forks a process for each call or runs all calls itself."""
    return Supervisor(start(serve_in_forks if forks else serve), forks)


def serve_in_forks(line: ProcessLine) -> None:
    supervise(line, answer, prepare)


def serve(line: ProcessLine) -> None:
    supervise(line, answer)


def call_alone(function: bytes, arguments: bytes, session: str, timeout: float | None, shares: bool = False) -> Outcome:
    """Return the outcome of a call that another executor has brought here."""
    with _lock:
        start = partial(start_supervisor, FORKS and not shares)
        processes = _brought.setdefault(session, Processes(start, shares))
    return processes.call(function, arguments, timeout)


def end_session(session: str) -> None:
    """Kill the processes of a session that other executors have brought here, and refuse its later calls.

    An executor brings the call of a lost worker again, unless it hears first that nobody waits for it.
    """
    with _lock:
        processes = _brought.get(session, _ENDED)
        _brought[session] = _ENDED
    processes.end()


def pack(value: Any, inherited: Sequence[Any] = ()) -> bytes:
    """Return a pickle; objects that forked processes have inherited are in it by number only."""
    file = io.BytesIO()
    Pickler(file, inherited).dump(value)
    return file.getvalue()


class Pickler(cloudpickle.Pickler):
    """Send objects that are there already by number, code with its file, and sources of the system without state."""

    def __init__(self, file: io.BytesIO, inherited: Sequence[Any] = ()) -> None:
        super().__init__(file)
        self._numbers = {id(one): number for number, one in enumerate(inherited)}

    def persistent_id(self, value: Any) -> int | None:
        return self._numbers.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, types.CodeType):  # without its file, nobody could show its lines
            build, parts = self.dispatch_table[types.CodeType](value)
            return _build_code, (value.co_filename, build, parts)
        if isinstance(value, random.SystemRandom):
            return type(value), ()
        reduced = super().reducer_override(value)
        of_script = isinstance(value, type) and (value.__module__, value.__qualname__) == ("__main__", value.__name__)
        return (_build_class, reduced[:2], *reduced[2:]) if of_script and isinstance(reduced, tuple) else reduced


def _build_code(file: str, build: Callable[..., types.CodeType], parts: Sequence[Any]) -> types.CodeType:
    return build(*parts).replace(co_filename=file)


def _build_class(build: Callable[..., type], parts: Sequence[Any]) -> type:
    """Return a class of the caller's script, which is then pickled here as it is there: by its name."""
    made = build(*parts)
    vars(sys.modules["__main__"]).setdefault(made.__name__, made)
    return made


class _UncachedPickler(Pickler):
    """Send caches empty."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, functools._lru_cache_wrapper):
            return _make_cache, (thing.__wrapped__, thing.cache_parameters())
        return super().reducer_override(thing)


class _FewBytes(io.BytesIO):
    def write(self, content: Any) -> int:
        if self.tell() + len(content) > _MOST_BYTES:
            raise ValueError(f"it takes more than {_MOST_BYTES:,} bytes")
        return super().write(content)


def _make_cache(function: Any, parameters: dict[str, Any]) -> Any:
    """Return an empty cache of a function."""
    return functools.lru_cache(**parameters)(function)


def pack_without_caches(thing: Any) -> bytes | str:
    """Return the bytes from which a new process makes the object; as text, why it cannot be sent."""
    file = _FewBytes()
    try:
        _UncachedPickler(file).dump(thing)
    except Exception as error:  # it may refuse in its own way
        return f"{type(error).__name__}: {describe_error(error)}"
    return file.getvalue()


def _unpack(content: bytes, inherited: Sequence[Any]) -> Any:
    unpickler = pickle.Unpickler(io.BytesIO(content))
    unpickler.persistent_load = inherited.__getitem__  # type: ignore[method-assign]
    return unpickler.load()


def prepare(request: bytes) -> bytes:
    """Import the modules of this package that a call needs; return a difference of the code here as an outcome."""
    modules, function, _ = pickle.loads(request)
    _, path, code, *_ = pickle.loads(function)
    _extend_path(path)
    for name in modules:
        with suppress(Exception):  # said by the call
            importlib.import_module(name)
    try:
        _require_code(code)
    except OtherCode as error:
        return OTHER + json.dumps(str(error)).encode()
    return b""


def answer(request: bytes, inherited: Sequence[Any] = ()) -> bytes:
    """Return the outcome of a call."""
    _, function, arguments = pickle.loads(request)
    return run_pickle(function, arguments, inherited)


def _extend_path(path: Iterable[str]) -> None:
    sys.path += [entry for entry in path if entry not in sys.path and os.path.isdir(entry)]


@lru_cache(maxsize=2)
def _require_code(expected: tuple[tuple[str, str], ...]) -> None:
    here = describe_code(name for name, _ in expected)
    differences = [f"{name} ({value} expected)" for name, value in expected if here[name] != value]
    if differences:
        raise OtherCode(f"a worker on {socket.gethostname()} has other code: {join_names(differences, 3)}")


def run_pickle(function: bytes, arguments: bytes, inherited: Sequence[Any] = ()) -> bytes:
    """Run a pickled call in this process; return its kind, a space, and JSON, or a pickle if that was asked for."""
    is_plain = True
    try:
        folder, path, code, is_plain, packed = pickle.loads(function)
        with suppress(OSError):
            os.chdir(folder)
        _extend_path(path)
        _require_code(code)
        work, given = (_unpack(part, inherited) for part in (packed, arguments))
    except BaseException as error:
        is_refused = is_plain and isinstance(error, _ENVIRONMENT)
        return _write_error(error, is_plain, b"refused " if is_refused else b"error ")
    try:
        value = work(*given)
        return b"value " + (json.dumps(value).encode() if is_plain else cloudpickle.dumps(value))
    except BaseException as error:
        return _write_error(error, is_plain)


def _write_error(error: BaseException, is_plain: bool, kind: bytes = b"error ") -> bytes:
    said = describe_error(error)
    if is_plain:
        return kind + json.dumps([type(error).__name__, said]).encode()
    with suppress(BaseException):  # many errors can be pickled but not unpickled
        exact = cloudpickle.dumps(error)
        pickle.loads(exact)
        return kind + bytes(exact)
    return kind + pickle.dumps(RuntimeError(f"{type(error).__name__}: {said}"))


def open_pool(place: Place, objects: Sequence[Any] = (), *, shares: bool = False) -> Pool:
    """Return a pool for use in a `with` statement; raise `Unreachable` if a cluster has no worker.

    Calls may be about `objects`: a process of this machine that is forked has them, whether they can be pickled or not.
    A pool that `shares` runs many calls in one process, and unpickles the answers: for the blocks of one check.
    """
    if place.is_here:
        return ThisProcess(ThreadPoolExecutor(1), 1)
    if place.is_cluster:
        return Cluster(str(place.executor), place.code, shares)
    if isinstance(place.executor, Executor):
        width = place.workers or getattr(place.executor, "_max_workers", 0) or _count_cores()
        return Pool(place.executor, width, place.code, partial(call_alone, shares=shares), shares)
    return ThisMachine(place.workers or _count_cores(), place.code, objects, shares)


class Pool:
    """Calls under way on an executor, of which `width` at a time are useful; `run` runs a pickled call on a worker."""

    is_here = False
    _inherited: Sequence[Any] = ()

    def __init__(
        self,
        executor: Executor,
        width: int,
        code: Mapping[str, str] | None = None,
        run: Callable[..., Outcome] = call_alone,
        shares: bool = False,
    ) -> None:
        self.width, self._executor, self._run, self._shares = width, executor, run, shares
        self._session = uuid.uuid4().hex
        self._setting = os.getcwd(), tuple(map(os.path.abspath, sys.path)), tuple((code or {}).items()), not shares
        self._last: tuple[Any, Any] = None, None
        self._under_way: set[Future[Any]] = set()

    def submit(
        self,
        function: Callable[..., T],
        *arguments: Any,
        timeout: float | None = None,
        hear: Callable[[str], object] | None = None,
    ) -> Future[T]:
        """Return the future of `function(*arguments)`, or of its exception; may be called from several threads.

        The value is plain data unless the pool shares its processes. `hear` is called first, with the prints.
        """
        work, packed = self._pack(function), pack(arguments, self._inherited)
        answer: Future[T] = Future()
        try:
            task = self._executor.submit(self._run, work, packed, self._session, timeout)
        except Exception as error:  # it was shut down, is broken or lost
            raise Unreachable(f"the executor takes no more work: {error}") from error
        self._under_way.add(answer)
        task.add_done_callback(partial(self._answer, answer, hear))
        return answer

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        return self.submit(function, *arguments, **options).result()

    def map(self, function: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        """Yield the values in order, and take items as workers become free; the first in order that fails raises."""
        under_way: deque[Future[T]] = deque()
        for item in items:
            under_way.append(self.submit(function, item))
            if len(under_way) > _AHEAD * self.width:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    def close(self) -> None:
        """Answer calls under way with `Unreachable`, and kill the processes that were started from this process."""
        for answer in tuple(self._under_way):
            with suppress(InvalidStateError):
                answer.set_exception(Unreachable("the pool is closed"))
        end_session(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _pack(self, function: Callable[..., Any]) -> Any:
        """Return the pickled function. The last one is kept: calls in a row are often of one function."""
        kept, packed = self._last
        if kept is not function:
            packed = pickle.dumps((*self._setting, pack(function, self._inherited)))
            self._last = function, packed
        return packed

    def _answer(self, answer: Future[T], hear: Callable[[str], object] | None, task: Future[Outcome]) -> None:
        outcome = self._outcome(task)
        if hear is not None and outcome.printed:
            hear(outcome.printed)
        try:
            found = self._value(outcome)
        except BaseException as error:
            found = error
        self._under_way.discard(answer)
        with suppress(InvalidStateError):  # the pool was closed
            answer.set_exception(found) if isinstance(found, BaseException) else answer.set_result(found)

    def _value(self, outcome: Outcome) -> Any:
        """Return the value of a call; raise what it raised, or what became of it."""
        kind, content, _ = outcome
        if kind in ("value", "error", "refused"):
            try:
                found = pickle.loads(content) if self._shares else json.loads(content)
            except Exception:
                raise _make_unreadable() from None
            if kind == "value":
                return found
            raise found if self._shares else _error_of_call(kind, *map(str, found))
        if kind == "other":
            raise OtherCode(json.loads(content))
        if kind == "lost":
            raise Unreachable(content.decode())
        raise _ENDS[kind](content.decode()) if kind in _ENDS else _make_unreadable()

    def _outcome(self, task: Future[Outcome]) -> Outcome:
        try:
            return task.result()
        except Unreachable as error:
            return Outcome("lost", str(error).encode())
        except CancelledError:
            return Outcome("lost", b"the executor has given up the call: its scheduler was lost, or it was shut down")
        except BaseException as error:  # its worker was lost
            return Outcome("lost", f"a worker cannot read its call: {error!r}".encode())


def _make_unreadable() -> Exception:
    return ChildProcessError("sent an outcome that cannot be read")  # the code under audit wrote to its pipe


def _error_of_call(said: str, name: str = "Exception", text: str = "", *more: str) -> Exception:
    """Return an error of the code under audit, never one that speaks of the machinery; or what could not be loaded."""
    if said == "refused":
        return Unreachable(f"a worker cannot load a check: {name}: {text}")
    kind = getattr(errors, name, None) or getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, _OF_POOLS):
        with suppress(Exception):  # some want other arguments
            return kind(text)
    return RuntimeError(f"{name}: {text}")


def _list_parts(value: Any) -> list[Any]:
    """Return the objects that another one holds, which a copy of it holds as well: a mechanism, a strategy."""
    parts = getattr(value, "__dict__", {}).values()
    return [part for part in parts if type(part).__module__ != "builtins" or callable(part)]


class ThisMachine(Pool):
    """Processes of this machine."""

    def __init__(self, width: int, code: Mapping[str, str] | None, objects: Sequence[Any], shares: bool) -> None:
        start, ready = partial(start_supervisor, False), 0
        if FORKS and not shares:
            self._inherited = [*objects, *(part for each in objects for part in _list_parts(each))]
            start, ready = partial(fork_supervisor, partial(answer, inherited=self._inherited), prepare), width
        self._processes = Processes(start, shares, min(ready, len(objects)))  # copies are made before threads are
        super().__init__(ThreadPoolExecutor(width), width, code, self._call_alone, shares)

    def close(self) -> None:
        super().close()
        self._processes.end()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _call_alone(self, function: bytes, arguments: bytes, session: str, timeout: float | None) -> Outcome:
        return self._processes.call(function, arguments, timeout)


class Cluster(Pool):
    """The workers of a Dask scheduler."""

    def __init__(self, address: str, code: Mapping[str, str] | None = None, shares: bool = False) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtra.of("distributed", "dask") from None
        address = address.replace("dask://", "tcp://", 1)
        try:
            self._client = distributed.Client(address, timeout=_ANSWER, set_as_default=False)
            self._client.wait_for_workers(1, timeout=_WORKERS)
        except (OSError, TimeoutError, ValueError) as error:  # the last one where TLS is not configured
            raise Unreachable(f"no Dask scheduler with a worker answers at {address}: {error}") from error
        width = sum(self._client.ncores().values())
        executor = self._client.get_executor(pure=False, retries=DEATHS - 1)
        super().__init__(executor, width, code, partial(call_alone, shares=shares), shares)

    def close(self) -> None:
        """End the calls on the workers, and leave the scheduler."""
        with suppress(Exception):
            asked = self._client._run, end_session, self._session
            self._client.sync(*asked, on_error="ignore", callback_timeout=_ANSWER)
        super().close()
        with suppress(Exception):
            self._client.close(timeout=2)


class ThisProcess(Pool):
    """This process: a call runs at once in the thread that makes it, and no time limit is kept."""

    is_here = True

    def submit(self, function: Callable[..., T], *arguments: Any, **_: Any) -> Future[T]:
        # a time limit and the capture of prints are for processes
        answer: Future[T] = Future()
        try:
            answer.set_result(function(*arguments))
        except BaseException as error:
            if not is_of_subject(error):
                raise
            answer.set_exception(error)
        return answer


def _count_cores() -> int:
    """Return how many cores this process may use: those that it may run on, within the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _QUOTA.read_text(encoding="ascii").split())
    except (OSError, ValueError):  # there is none, or it is "max"
        return cores
    return min(cores, max(1, -(-quota // period)))


def describe_code(names: Iterable[str]) -> dict[str, str]:
    """Return the version here of each: "Python", "package NAME" (its version) or "code NAME" (its digest).

    The digest is that of all source files of a top-level package, or of the file of a module.
    """
    return {name: _read_version(*name.split()) for name in names}


def _read_version(kind: str, name: str = "") -> str:
    try:
        if kind == "Python":
            return platform.python_version()
        return metadata.version(name) if kind == "package" else _hash_code(name)
    except (ImportError, OSError, ValueError):  # also a package that is not installed
        return "missing"


def _hash_code(name: str) -> str:
    module = sys.modules.get(name)
    folders = getattr(module, "__path__", None)
    file = getattr(module, "__file__", None)
    if module is None and (spec := importlib.util.find_spec(name)) is not None:
        folders, file = spec.submodule_search_locations, spec.origin
    files = sorted(path for folder in folders or () for path in Path(folder).rglob("*.py")) or [Path(str(file))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]


_ALONE = 1.0  # seconds of drawing that are done here before a pool is opened, which takes about as long
_TASK = 300.0  # seconds of work in one call of a pool at most, unless one block takes longer
_MOST = 16_384  # blocks in one call
_CALLS_PER_WORKER = 16  # at least, so that the last ones end at about the same time

Group = tuple[int, int]  # consecutive calls: the first, and the one after the last


def map_blocks(work: Callable[[Iterable[Block]], T], calls: Calls, place: Place = HERE) -> Iterator[T]:
    """Apply `work` to groups of consecutive calls, and yield its values in order.

    Grouping depends on the time that calls take: the values must be joined by a sum, a concatenation, or the like.
    """

    def on_group(group: Group) -> T:
        with one_thread():  # as in other processes: the same sums, and no threads that wait for each other
            return work(map(calls.__getitem__, range(*group)))

    alone = place.is_here or place.workers == 1
    started, limit = time.perf_counter(), float("inf") if alone else _ALONE
    done, step = 0, 1
    while done < len(calls):
        spent, left = time.perf_counter() - started, len(calls) - done
        if done and spent > limit and spent / done * left > limit:
            try:
                cloudpickle.dumps(on_group)
            except Exception:  # a mechanism that holds a lock or an open file, say: it stays here
                limit = float("inf")
            else:
                with open_pool(place, shares=True) as pool:
                    yield from pool.map(
                        on_group, groups_from(len(calls), done, group_size(spent / done, left, pool.width))
                    )
                return
        step = max(1, min(_MOST, 3 * done)) if spent < _ALONE / 8 else step  # as long as calls are fast, groups grow
        end = min(done + step, len(calls))
        yield on_group((done, end))
        done = end


def group_size(seconds: float, left: int, width: int) -> int:
    """Return how many blocks make a call, when a block takes `seconds` and `left` blocks are left."""
    return max(1, min(_MOST, int(_TASK / seconds), left // (_CALLS_PER_WORKER * width)))


def groups_from(count: int, start: int, size: int) -> Iterator[Group]:
    """Yield all groups of `size` calls from number `start` to before `count`."""
    for index in range(start, count, size):
        yield index, min(index + size, count)
