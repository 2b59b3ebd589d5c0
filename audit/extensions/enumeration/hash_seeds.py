"""Find laws again in fresh processes with other hash seeds: the order of sets and hashes of texts are others there.

One interpreter for each seed is started at its first use, and forks a process for each request, so that the code is
imported anew each time; what this package is made of is imported once. What cannot be sent there is not tested, and the
law says so.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import IO, Any, NamedTuple

import cloudpickle

from audit.extensions.enumeration.enumerated_law import HASHES_ASSUMED, EnumeratedLaw, Table, contradicted

DIFFERS = "the order of hashes: the law is another one under another hash seed"
SEEDS = ("1", "20")
_COARSE = 2.0**-24  # residual of a law that is found again: it is compared, and proves nothing by itself
_START = "from audit.extensions.enumeration.hash_seeds import serve; serve()"
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
        request = _packed((mechanism, list(datasets), dict(settings)))
    except Exception:  # a mechanism may refuse to be sent in its own way
        return list(laws)
    places = [_place_of(seed) for seed in SEEDS]
    for place in places:
        place.send(request)
    answers = [place.receive() for place in places]
    found = list(laws)
    for answer in answers:
        if answer is None:
            return list(laws)
        for number, other in enumerate(answer):
            law = found[number]
            behind = {*law.behind, *other.behind} | ({DIFFERS} if differ(law, other) else set())
            found[number] = replace(law, behind=tuple(sorted(behind)))
    return [replace(law, assumed=tuple(said for said in law.assumed if said != HASHES_ASSUMED)) for law in found]


class _Pickler(cloudpickle.Pickler):
    """Send generators of the system as well: they have no state, and refuse to be asked for it."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, random.SystemRandom):
            return type(thing), ()
        return super().reducer_override(thing)


def _packed(thing: Any) -> bytes:
    file = io.BytesIO()
    _Pickler(file).dump(thing)
    return file.getvalue()


def differ(one: EnumeratedLaw, other: SeededLaw) -> bool:
    """Test whether two brackets of a law exclude one another."""
    return any(contradicted(Table(one.texts, one.residual), Table(other.texts, other.residual)))


class _Place:
    """An interpreter with a hash seed."""

    def __init__(self, seed: str) -> None:
        variables = {**os.environ, "PYTHONHASHSEED": seed}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables
        )
        weakref.finalize(self, _end, self._process, os.getpid())

    def send(self, request: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            _write(self._process.stdin, pickle.dumps((os.getcwd(), sys.path, request)))

    def receive(self) -> list[SeededLaw] | None:
        assert self._process.stdout is not None
        content = _read(self._process.stdout)
        found: list[SeededLaw] | None = pickle.loads(content) if content else None
        return found


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End an interpreter with the process that started it; a forked one may hold its pipes open for longer."""
    if os.getpid() == owner:
        process.kill()
        process.communicate()


_places: dict[tuple[int, str], _Place] = {}


def _place_of(seed: str) -> _Place:
    """Return the interpreter of a seed; a forked process has its own ones."""
    key = os.getpid(), seed
    if key not in _places or _places[key]._process.poll() is not None:
        _places[key] = _Place(seed)
    return _places[key]


def _write(file: IO[bytes], content: bytes) -> None:
    file.write(struct.pack("Q", len(content)) + content)
    file.flush()


def _read(file: IO[bytes]) -> bytes:
    """Return what was written at once; nothing at the end."""
    head = file.read(8)
    return file.read(*struct.unpack("Q", head)) if len(head) == 8 else b""


def serve() -> None:
    """Answer requests until there are none; each in a process of its own."""
    import audit.extensions.enumeration.enumerate  # noqa: F401  once, for all requests

    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answers:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1):
            os.dup2(nothing, descriptor)
        while request := _read(requests):
            gc.freeze()  # a collection would write to, and so copy, the memory that a fork shares
            reading, writing = os.pipe()
            if (process := os.fork()) == 0:
                os.close(reading)
                _answer(request, writing)
            os.close(writing)
            with os.fdopen(reading, "rb") as file:
                content = file.read()
            found, imported = pickle.loads(content) if content else (b"", [])
            _write(answers, found)
            os.waitpid(process, 0)
            for name in (name for name in imported if name.partition(".")[0] in _OURS):
                with suppress(Exception):
                    importlib.import_module(name)


def _answer(request: bytes, writing: int) -> None:
    """Write the laws of a request, and which modules it imported, and end; nothing where it cannot be read here."""
    from audit.extensions.enumeration.enumerate import enumerate_law

    known = len(sys.modules)
    try:
        folder, path, content = pickle.loads(request)
        os.chdir(folder)
        sys.path[:] = path
        mechanism, datasets, settings = pickle.loads(content)
        settings["residual"] = max(settings["residual"], _COARSE)
        laws = [enumerate_law(mechanism, dataset, **settings) for dataset in datasets]
        found = [SeededLaw(dict(law.texts), law.residual, law.behind) for law in laws]
        imported = list(sys.modules)[known:]
        with os.fdopen(writing, "wb") as file:
            file.write(pickle.dumps((pickle.dumps(found), imported)))
    finally:
        os._exit(0)
