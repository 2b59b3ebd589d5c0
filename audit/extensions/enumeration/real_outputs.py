"""Hold an enumerated law to outputs of the code that runs, with its real generator.

They share nothing with the enumeration: no stand-in, no state, no arithmetic. Half of them are drawn in a new
interpreter with one hash seed, and half with another, so that the order of sets and hashes of texts are others there;
one interpreter for each seed is started at its first use, and forks a process for each request, in which the code is
imported anew. Objects that cannot be sent there are used in a fork of this process, and the law says so.

Each output of the law is counted, and all others together. Where the probability of an event lies between two bounds,
its share of n independent outputs is as far beyond one as s with probability e^(-n KL(s, bound)) at most (Chernoff
1952). All bounds hold together with probability 1 - 1e-9.
"""

from __future__ import annotations

import gc
import inspect
import math
import os
import pickle
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any, Literal

import numpy as np

from audit.api import PerCall, entropy_from, pack, sandbox, walk
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw, Table

Source = Literal["numpy", "random", "random_state"]
OUTPUTS = 10_000  # on each dataset
FEWER = f"the code has this law: fewer than {OUTPUTS:,} outputs of it were drawn in time"
LEVEL = 1e-9  # probability that the outputs of a right law are taken for those of another one
OTHERS = ""  # in place of the text of an output that the law does not have
_SEEDS = ("1", "20")  # of hashes
_PATIENCE, _GRACE = 20.0, 5.0  # seconds of the wall by seconds of the processor; and of these, to import the code


def contradiction(law: Table, counts: Mapping[str, int]) -> str | None:
    """Return an event that occurs too often or too seldom in outputs of the code; None if there is none.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from audit.extensions.enumeration.enumerated_law import Table
    >>> coin = Table({"0": Fraction(1, 2), "1": Fraction(1, 2)}, Fraction(0))
    >>> contradiction(coin, {"0": 5100, "1": 4900})
    >>> contradiction(coin, {"0": 5500, "1": 4500})
    '0 has probability 0.5 by the law, and is 5,500 of 10,000 outputs of the code'
    """
    number, left = sum(counts.values()), float(law.residual)
    events = {text: (float(mass), counts.get(text, 0)) for text, mass in law.texts.items() if mass}
    events["any other output"] = 0.0, number - sum(count for _, count in events.values())
    for name, (low, count) in events.items():
        high = min(1.0, low + left)
        if number * _divergence(count / max(number, 1), low, high) > math.log(2 * len(events) / LEVEL):
            said = f"{low:.4g}" if left < 1e-4 else f"{low:.4g} to {high:.4g}"
            return f"{name} has probability {said} by the law, and is {count:,} of {number:,} outputs of the code"
    return None


def _divergence(share: float, low: float, high: float) -> float:
    """Return the least Kullback-Leibler divergence of a coin with this share of heads from one between two others."""
    nearest = min(max(share, low), high)
    parts = ((share, nearest), (1 - share, 1 - nearest))
    return sum(0.0 if one == 0 else math.inf if other <= 0 else one * math.log(one / other) for one, other in parts)


def hold(
    laws: Sequence[EnumeratedLaw],
    mechanism: Any,
    datasets: Sequence[Any],
    time_limit: float,
    rng: str,
    *,
    elsewhere: bool = True,
) -> list[EnumeratedLaw]:
    """Return laws, each of a dataset, with outputs of the code beside them, and with the consequences of these."""
    work = partial(_draw_all, mechanism, list(datasets), time_limit, rng)
    seconds = time_limit * len(datasets) + _GRACE
    drawn = _draw_elsewhere(work, seconds) if elsewhere else None
    assumed = [] if drawn is not None else [HASHES_ASSUMED]
    if drawn is None:
        drawn = _draw_here(work, seconds) if sandbox.FORKS else work()
    return [_hold(law, outputs, assumed) for law, outputs in zip(laws, drawn or [Counter()] * len(laws), strict=True)]


def _hold(law: EnumeratedLaw, drawn: Counter[str], assumed: list[str]) -> EnumeratedLaw:
    counts = Counter[str]()
    for text, count in drawn.items():
        counts[text if text in law.texts else OTHERS] += count
    said = contradiction(Table(law.texts, law.residual), counts)
    behind = {*law.behind, *([said] if said else [])}
    assumed = [*assumed, *([FEWER] if counts.total() < OUTPUTS else [])]
    return replace(law, behind=tuple(sorted(behind)), assumed=tuple(assumed), outputs=dict(counts))


def _draw_elsewhere(work: Callable[..., Any], seconds: float) -> list[Counter[str]] | None:
    """Return the outputs on each dataset, counted, from new interpreters; None where they give none."""
    try:
        content = pack(work)
    except Exception:  # a mechanism may refuse to be sent in its own way
        return None
    places, request = [_place_of(hashes) for hashes in _SEEDS], pickle.dumps((seconds, os.getcwd(), sys.path, content))
    try:
        for place in places:
            place.line.send(request)
        answers = [pickle.loads(place.line.receive()) for place in places]
    except (EOFError, OSError):
        for place in places:  # what is on its line is not to be read as the answer to another request
            place.kill()
        return None
    return [sum(parts, Counter()) for parts in zip(*answers, strict=True)]


def _draw_here(work: Callable[[], Any], seconds: float) -> list[Counter[str]] | None:
    """Return the outputs on each dataset, counted, from a fork of this process; None where it gives none."""
    found: list[Counter[str]] | None = sandbox.call_in_fork(
        partial(_draw_in_silence, work, seconds), _PATIENCE * seconds
    )
    return found


def _draw_in_silence(work: Callable[[], Any], seconds: float) -> Any:
    """Return the outputs; this process ends after some seconds of the processor, whatever it does."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    sys.settrace(None)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  until the process ends
    return work()


def _draw_all(
    mechanism: Any, datasets: Sequence[Any], time_limit: float, rng: str, seed: int = 0, number: int = OUTPUTS
) -> list[Counter[str]]:
    """Return outputs on each dataset as texts, counted, fewer where the seconds are used up."""
    found = [Counter[str]() for _ in datasets]
    for at, (dataset, counts) in enumerate(zip(datasets, found, strict=True)):
        until = process_time() + time_limit
        with entropy_from(np.random.default_rng((seed, at, 1))):
            call = plain_call(mechanism, dataset, _SOURCES[rng](int(np.random.default_rng((seed, at)).integers(2**32))))
            while counts.total() < number and process_time() < until:
                counts[_output(call)] += 1
    return found


def _output(call: Callable[[], Any]) -> str:
    try:
        return walk.identify(call())
    except walk.CannotKeep:
        return OTHERS
    except BaseException as error:
        if not sandbox.is_of_subject(error):
            raise
        return str(walk.Raised(error))


def plain_call(mechanism: Any, dataset: Any, rng: Any) -> Callable[[], Any]:
    """Return a call of a mechanism without arguments, which gives one output."""
    if type(mechanism) is PerCall:  # others call it in ways of their own
        given = (dataset, rng) if mechanism.takes_rng else (dataset,)
        return partial(mechanism.function, *given)
    try:
        needed = [
            parameter
            for parameter in inspect.signature(mechanism).parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            and parameter.default is parameter.empty
        ]
    except (TypeError, ValueError):
        needed = [None] * 3  # type: ignore[list-item]
    if len(needed) >= 3:
        return lambda: mechanism(dataset, 1, rng)[0]
    return partial(mechanism, dataset, rng) if len(needed) == 2 else partial(mechanism, dataset)


_SOURCES: dict[str, Any] = {
    "numpy": np.random.default_rng,
    "random": random.Random,
    "random_state": np.random.RandomState,
}
_places: dict[tuple[int, str], sandbox.Child] = {}  # by process and seed


def _place_of(seed: str) -> sandbox.Child:
    """Return the interpreter of a seed; a forked process has its own ones."""
    key = os.getpid(), seed
    if key not in _places or _places[key].wait(0.0) is not None:
        _places[key] = sandbox.start(serve, prints=False, PYTHONHASHSEED=seed)
    return _places[key]


def serve(line: sandbox.ProcessLine) -> None:
    """Answer requests until there are none; each in a process of its own."""
    while True:
        request = line.receive()
        gc.freeze()  # a collection would write to, and so copy, the memory that a fork shares
        child, found = sandbox.fork(partial(_answer, request)), b""
        with suppress(EOFError, TimeoutError):
            found = child.line.receive(_PATIENCE * pickle.loads(request)[0])
        child.kill()
        line.send(found)


def _answer(request: bytes, line: sandbox.ProcessLine) -> None:
    """Send the outputs of a request; nothing where it cannot be read here."""
    seconds, folder, path, content = pickle.loads(request)
    os.chdir(folder)
    sys.path[:] = path
    own = _SEEDS.index(os.environ["PYTHONHASHSEED"])
    work = partial(pickle.loads(content), own, OUTPUTS // len(_SEEDS))
    line.send(pickle.dumps(_draw_in_silence(work, seconds)))
