"""Draw the outputs of a randomness check: many short calls, a long one, and two processes forked at the same moment."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from audit.subjects import BadLength, Block, Outputs, Stream, Subject, SubjectFailed

CALLS = 64  # short calls: 32 pairs, with which comparisons of whole calls reach a p-value of 2^-32
FEWEST = 1_024  # outputs below which nothing can be said
_MOST = 8_192  # outputs that are drawn, whatever the budget
_WORKERS = 2
_LONG_SHARE, _WORKER_SHARE = 4, 16  # the long call, and each worker, draw this part of the budget
_PATIENCE = 60.0  # seconds that a worker may take
_SHORT, _LONG, _WORKER = 0, 1, 2  # children of the stream


@dataclass
class Drawn:
    """The outputs that were drawn until something failed, in the order of time."""

    # The short calls, all of one size, `CALLS` of them unless one failed
    calls: list[Outputs] = field(default_factory=list)
    long: Outputs | None = None  # the long call; None if it or a short call failed
    # Of processes forked at the same moment; empty if processes cannot be forked, or one failed
    workers: list[Outputs] = field(default_factory=list)
    samples: int = 0  # outputs of all of them
    failure: str | None = None  # what failed


class _WorkerFailed(Exception):
    """A forked process gave no outputs; the text says why."""


def draw_all(mechanism: Any, dataset: Any, budget: int, stream: Stream) -> Drawn:
    """Draw `budget` outputs or fewer; a budget below `FEWEST` is a failure."""
    drawn = Drawn()
    if budget < FEWEST:
        drawn.failure = f"{budget} outputs say nothing: raise the budget to {FEWEST} at least"
        return drawn
    budget, subject = min(budget, _MOST), Subject(mechanism)
    long, worker = 2 * (budget // (2 * _LONG_SHARE)), 2 * (budget // (2 * _WORKER_SHARE))
    call = 2 * ((budget - long - _WORKERS * worker) // (2 * CALLS))
    try:
        for index in range(CALLS):
            drawn.calls.append(_draw(subject, dataset, call, stream.child(_SHORT, index)))
            drawn.samples += call
        drawn.long = _draw(subject, dataset, long, stream.child(_LONG))
        drawn.samples += long
        if "fork" in multiprocessing.get_all_start_methods():
            streams = [stream.child(_WORKER, index) for index in range(_WORKERS)]
            drawn.workers = _forked(subject, dataset, worker, streams)
            drawn.samples += worker * len(drawn.workers)
    except (SubjectFailed, BadLength) as failed:
        drawn.failure = f"the mechanism {failed}"
    except _WorkerFailed as failed:
        drawn.failure = str(failed)
    return drawn


def _draw(subject: Subject, dataset: Any, size: int, stream: Stream) -> Outputs:
    outputs, odd = subject.draw(Block(dataset, size, stream.seed()))
    for kind in ("raised", "nan"):
        if odd[kind] == size:
            raise SubjectFailed(kind, "raised in every run" if kind == "raised" else "returned nothing but NaN")
    return outputs


def _forked(subject: Subject, dataset: Any, size: int, streams: list[Stream]) -> list[Outputs]:
    """Draw in forked processes. Each gets a seed of its own; a generator that the mechanism keeps is copied to all."""
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in streams]
    jobs = [
        context.Process(target=_work, args=(pipe[1], subject, dataset, size, stream), daemon=True)
        for pipe, stream in zip(pipes, streams, strict=True)
    ]
    for job, (_, sender) in zip(jobs, pipes, strict=True):
        job.start()
        sender.close()
    try:
        return [_received(pipe[0]) for pipe in pipes]
    finally:
        for job, (receiver, _) in zip(jobs, pipes, strict=True):
            job.kill()
            job.join()
            receiver.close()


def _received(pipe: Connection) -> Outputs:
    if not pipe.poll(_PATIENCE):
        raise _WorkerFailed(f"a worker process gave no outputs within {_PATIENCE:g} s")
    try:
        answer = pipe.recv()
    except EOFError:
        raise _WorkerFailed("a worker process died") from None
    if isinstance(answer, str):
        raise _WorkerFailed(f"in a worker process the mechanism {answer}")
    return Outputs(*answer)


def _work(pipe: Connection, subject: Subject, dataset: Any, size: int, stream: Stream) -> None:
    """Draw in a worker and send numbers and symbols, without the raw outputs."""
    try:
        outputs = _draw(subject, dataset, size, stream)
        pipe.send((outputs.numbers, outputs.numbers, outputs.symbols))
    except (SubjectFailed, BadLength) as failure:
        pipe.send(str(failure))
