"""The outputs of a randomness check: many short calls, a long one, and two processes forked at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from audit.subjects import BadLength, Block, Outputs, Stream, Subject, SubjectFailed

CALLS = 64  # short calls: 32 pairs, so that comparisons of whole calls reach a p-value of 2^-32
WORKERS = 2
FEWEST = 1_024  # outputs below which nothing can be said
MOST = 8_192  # outputs that are examined, whatever the budget
_LONG_SHARE, _WORKER_SHARE = 4, 16  # the long call, and each worker, draw this part of the budget
_PATIENCE = 60.0  # seconds that a worker may take
_SHORT, _LONG, _WORKER = 0, 1, 2  # children of the stream


class Undecided(Exception):
    """Why no verdict is possible."""


@dataclass(frozen=True)
class Layout:
    """How many outputs are drawn where.

    Parameters
    ----------
    call, long, worker : int
        Outputs of each short call, of the long call, and of each worker; even numbers.
    """

    call: int
    long: int
    worker: int

    @classmethod
    def of(cls, budget: int) -> Layout:
        """Share out a budget; raises `Undecided` when it is too small."""
        if budget < FEWEST:
            raise Undecided(f"{budget} outputs say nothing: raise the budget to {FEWEST} at least")
        budget = min(budget, MOST)
        long, worker = 2 * (budget // (2 * _LONG_SHARE)), 2 * (budget // (2 * _WORKER_SHARE))
        return cls(2 * ((budget - long - WORKERS * worker) // (2 * CALLS)), long, worker)


class Drawing:
    """Draws one part after the other, and counts the outputs."""

    def __init__(self, subject: Subject, dataset: Any, layout: Layout, stream: Stream) -> None:
        self._subject, self._dataset = subject, dataset
        self._layout, self._stream = layout, stream
        self.samples = 0

    def calls(self) -> list[Outputs]:
        """The short calls, in the order of time."""
        return [self._here(self._layout.call, self._stream.child(_SHORT, call)) for call in range(CALLS)]

    def long_call(self) -> Outputs:
        """One long call."""
        return self._here(self._layout.long, self._stream.child(_LONG))

    def workers(self) -> list[Outputs]:
        """Outputs of two processes forked at the same moment; none where processes cannot be forked.

        A worker gets a generator with a seed of its own, as every call does; a generator that the mechanism keeps is
        copied into both.
        """
        if "fork" not in multiprocessing.get_all_start_methods():
            return []
        streams = [self._stream.child(_WORKER, worker) for worker in range(WORKERS)]
        outputs = _forked(self._subject, self._dataset, self._layout.worker, streams)
        self.samples += self._layout.worker * len(outputs)
        return outputs

    def _here(self, size: int, stream: Stream) -> Outputs:
        outputs = _draw(self._subject, self._dataset, size, stream)
        self.samples += size
        return outputs


def _draw(subject: Subject, dataset: Any, size: int, stream: Stream) -> Outputs:
    outputs, odd = subject.draw(Block(dataset, size, stream.seed()))
    for kind in ("raised", "nan"):
        if odd[kind] == size:
            raise SubjectFailed(kind, "raised in every run" if kind == "raised" else "returned nothing but NaN")
    return outputs


def _forked(subject: Subject, dataset: Any, size: int, streams: Sequence[Stream]) -> list[Outputs]:
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
        raise Undecided(f"a worker process gave no outputs within {_PATIENCE:g} s")
    try:
        answer = pipe.recv()
    except EOFError:
        raise Undecided("a worker process died") from None
    if isinstance(answer, str):
        raise Undecided(f"in a worker process the mechanism {answer}")
    return Outputs(*answer)


def _work(pipe: Connection, subject: Subject, dataset: Any, size: int, stream: Stream) -> None:
    """Draw in a worker and send numbers and symbols, without the raw outputs."""
    try:
        outputs = _draw(subject, dataset, size, stream)
        pipe.send((outputs.numbers, outputs.numbers, outputs.symbols))
    except (SubjectFailed, BadLength) as failure:
        pipe.send(str(failure))
