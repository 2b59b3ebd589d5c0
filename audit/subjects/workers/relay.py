"""On a Dask worker: hand a piece of work to a process of its own, so that no subject can harm the worker.

A Dask worker runs tasks in its threads, which nobody can stop: a subject that hangs would keep the thread, and one that
dies would take along the worker with all that it holds. So each thread has a process beside it, which may be killed.
The worker itself never unpickles a subject. Nothing here knows what the work is.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

import cloudpickle

from audit.subjects.workers.worker import Worker

Place = tuple[str, list[str]]  # working folder and import path of the client

_idle: dict[str, list[Worker]] = {}  # by session: code may change between two, and a process has imported it
_lock = threading.Lock()


def relay(function: bytes, arguments: bytes, timeout: float | None, session: str, place: Place) -> bytes:
    """Run a pickled function in a process, and give its outcome, pickled: "value" or "error", and which.

    Raises
    ------
    ChildProcessError
        When the process died. This alone is raised, because this alone is worth another try.
    """
    worker, is_wanted = _taken(session), _is_wanted()
    try:
        return bytes(worker.call(_outcome, function, arguments, place, timeout=timeout, is_wanted=is_wanted))
    except TimeoutError as error:
        return cloudpickle.dumps(("error", error))
    finally:
        _put_back(session, worker)


def kept(function: bytes) -> bytes:
    """A function that many tasks need, as a task: computed again by the scheduler when whoever holds it dies."""
    return function


def dismiss(session: str) -> None:
    """End the processes of a session that have nothing to do."""
    with _lock:
        workers = _idle.pop(session, [])
    for worker in workers:
        worker.close()


def _taken(session: str) -> Worker:
    # Dask starts its workers as daemons, which may have no children; ours end when the worker does
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    with _lock:
        found = _idle.get(session)
        return found.pop() if found else Worker()


def _put_back(session: str, worker: Worker) -> None:
    with _lock:
        _idle.setdefault(session, []).append(worker)


def _is_wanted() -> Callable[[], bool]:
    """Whether the task that this thread runs is still wanted: its client may have gone, or given it up."""
    from distributed import get_worker
    from distributed.worker import thread_state

    tasks, key = get_worker().state.tasks, thread_state.key

    def is_wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state not in ("cancelled", "released", "forgotten")

    return is_wanted


def _outcome(function: bytes, arguments: bytes, place: Place) -> bytes:
    """In the process: the outcome of a pickled call."""
    try:
        _settle(*place)
        outcome = ("value", cloudpickle.loads(function)(*cloudpickle.loads(arguments)))
        return cloudpickle.dumps(outcome)
    except Exception as error:
        return _pickled_error(error)


def _pickled_error(error: Exception) -> bytes:
    with suppress(Exception):
        pickled = cloudpickle.dumps(("error", error))
        cloudpickle.loads(pickled)
        return pickled
    return cloudpickle.dumps(("error", RuntimeError(f"{type(error).__name__}: {error}")))


def _settle(folder: str, path: Iterable[str]) -> None:
    """Work where the client works, and import what it imports, as far as this machine has these folders too."""
    with suppress(OSError):
        os.chdir(folder)
    sys.path += [entry for entry in path if entry not in sys.path and os.path.isdir(entry)]
