"""Find laws again in fresh processes with other hash seeds: the order of sets and hashes of texts are others there.

One interpreter for each seed is started at its first use, and forks a process for each request, so that the code is
imported anew each time; what this package is made of is imported once. What cannot be sent there is not tested, and the
law says so.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from audit.api import Child, Line, fork, pack, start
from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw, Table, contradicted

DIFFERS = "the order of hashes: the law is another one under another hash seed"
SEEDS = ("1", "20")
_COARSE = 2.0**-24  # residual of a law that is found again: it is compared, and proves nothing by itself
_TESTING = {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "hypothesis"}  # a test imports them
_OURS = {"audit", "numpy", "scipy", *_TESTING, *sys.stdlib_module_names}  # not under audit, and sound in forks


class SeededLaw(NamedTuple):
    """Hold a law as plain data."""

    texts: Mapping[str, Fraction]
    residual: Fraction
    behind: tuple[str, ...]


def confirmed(
    laws: Sequence[EnumeratedLaw], mechanism: Any, datasets: Sequence[Any], settings: Mapping[str, Any]
) -> list[EnumeratedLaw]:
    """Return laws that say whether they are the same under other hash seeds, each the law of a dataset."""
    try:
        content = pack((mechanism, list(datasets), dict(settings)))
    except Exception:  # a mechanism may refuse to be sent in its own way
        return list(laws)
    places, request = [_place_of(seed) for seed in SEEDS], pickle.dumps((os.getcwd(), sys.path, content))
    for place in places:
        with suppress(EOFError, OSError):
            place.line.send(request)
    answers = [_answer_of(place) for place in places]
    found = list(laws)
    for answer in answers:
        if answer is None:
            return list(laws)
        for number, other in enumerate(answer):
            law = found[number]
            behind = {*law.behind, *other.behind} | ({DIFFERS} if differ(law, other) else set())
            found[number] = replace(law, behind=tuple(sorted(behind)))
    return [replace(law, assumed=tuple(said for said in law.assumed if said != HASHES_ASSUMED)) for law in found]


def differ(one: EnumeratedLaw, other: SeededLaw) -> bool:
    """Test whether two brackets of a law exclude one another."""
    return any(contradicted(Table(one.texts, one.residual), Table(other.texts, other.residual)))


_places: dict[tuple[int, str], Child] = {}  # by process and seed


def _place_of(seed: str) -> Child:
    """Return the interpreter of a seed; a forked process has its own ones."""
    key = os.getpid(), seed
    if key not in _places or _places[key].wait(0.0) is not None:
        _places[key] = start(serve, prints=False, PYTHONHASHSEED=seed)
    return _places[key]


def _answer_of(place: Child) -> list[SeededLaw] | None:
    try:
        content = place.line.receive()
    except (EOFError, OSError):
        return None
    found: list[SeededLaw] | None = pickle.loads(content) if content else None
    return found


def serve(line: Line) -> None:
    """Answer requests until there are none; each in a process of its own."""
    import audit.extensions.enumeration.enumerate  # noqa: F401  once, for all requests

    while True:
        request = line.receive()
        gc.freeze()  # a collection would write to, and so copy, the memory that a fork shares
        child = fork(partial(_answer, request))
        found, imported = b"", list[str]()
        with suppress(EOFError):
            found, imported = pickle.loads(child.line.receive())
        child.kill()
        line.send(found)
        for name in (name for name in imported if name.partition(".")[0] in _OURS):
            with suppress(Exception):
                importlib.import_module(name)


def _answer(request: bytes, line: Line) -> None:
    """Send the laws of a request, and which modules it imported; nothing where it cannot be read here."""
    from audit.extensions.enumeration.enumerate import enumerate_law

    known = len(sys.modules)
    folder, path, content = pickle.loads(request)
    os.chdir(folder)
    sys.path[:] = path
    mechanism, datasets, settings = pickle.loads(content)
    settings["residual"] = max(settings["residual"], _COARSE)
    laws = [enumerate_law(mechanism, dataset, **settings) for dataset in datasets]
    found = [SeededLaw(dict(law.texts), law.residual, law.behind) for law in laws]
    line.send(pickle.dumps((pickle.dumps(found), list(sys.modules)[known:])))
