"""Hold laws of code to its outputs: programs whose state is hidden where frames do not show it, and right samplers.

`python -m benchmarks.enumeration.stress [word ...]` enumerates each program, and compares its law with the true one.
Words select by name. `blind` as the first word switches off all that looks at states outside of frames, so that nothing
but outputs with the real generator can tell.

A coin of 0.6 is put in a place, and is read after one more coin, after eleven heads, or at the end of a loop of 40
rounds that ends early with probability 1/64 in each. Two runs that differ in the coin read alike where the place is
not seen, and are then taken for one. `benchmarks.enumeration.programs` has places in local variables, and programs of a
few draws, whose law follows by replay.
"""

from __future__ import annotations

import array
import collections
import contextlib
import contextvars
import csv
import decimal
import gc
import itertools
import logging
import os
import signal
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

import audit
from audit.api import walk
from audit.extensions.enumeration import exploring
from audit.extensions.enumeration.surroundings import Surroundings
from benchmarks.enumeration.kept import counter
from benchmarks.enumeration.natural import FOLLOWED, SAMPLERS
from benchmarks.enumeration.programs import FLOWS, LOCALS, find_law_by_replay


class Record:
    """A class whose parts are places."""

    kept = False
    __slots__ = ("__weakref__", "flag", "holder")

    def __init__(self) -> None:
        self.flag, self.holder = False, types.SimpleNamespace(flag=False)


class Other(Record):
    """A class that a record can have instead."""

    __slots__ = ()


class Counted(type):
    """A metaclass that keeps something."""

    made = False


class Single(metaclass=Counted):
    """A class of that metaclass."""


def _default(value: Any = None, kept: list[Any] = [False]) -> Any:  # noqa: B006  it is a place
    if value is not None:
        kept[0] = value
    return kept[0]


def _generator() -> Iterator[Any]:
    kept = False
    while True:
        given = yield kept
        kept = kept if given is None else given


def _cell() -> tuple[Callable[[Any], None], Callable[[], Any]]:
    kept = False

    def put(value: Any) -> None:
        nonlocal kept
        kept = value

    return put, lambda: kept


def _put_module(value: bool) -> None:
    from benchmarks.enumeration.kept import counter  # an import inside of a function

    counter.spent = value


def _put_flags(value: bool) -> None:
    decimal.getcontext().clear_flags()
    if value:
        _ = decimal.Decimal(1) / 3


def _put_hidden(place: Any, name: str, value: bool) -> None:
    if value:
        setattr(place, name, True)
    elif hasattr(place, name):
        delattr(place, name)


def _put_handler(value: bool) -> None:
    logging.getLogger("stress").handlers[:] = [logging.NullHandler()] if value else []


def _put_members(place: set[int], value: bool) -> None:
    place.clear()
    place.update({3} if value else ())


def _put_column(value: bool) -> None:
    NAMES.dtype.names = ("b", "a") if value else ("a", "b")


def _hook(kind: Any, value: Any, trace: Any) -> None:
    sys.__excepthook__(kind, value, trace)


RECORD, SINGLE, LOCAL, VARIABLE = Record(), Single(), threading.local(), contextvars.ContextVar("kept", default=False)
LIST, DICTIONARY, SET, ARRAY, BYTES, QUEUE = (
    [False],
    {"k": False},
    set(),
    array.array("i", [0]),
    bytearray(1),
    collections.deque([False]),
)
TABLE, ROW, NAMES = (
    np.zeros(3, dtype=object),
    np.zeros(1, dtype=[("a", "i4")]),
    np.zeros(1, dtype=[("a", "i4"), ("b", "i4")]),
)
NESTED, OBJECTS, NUMBERS = np.zeros((), dtype=[("a", "O")]), types.SimpleNamespace(flag=False), np.zeros(3)
NESTED["a"], KEPT, MODULE = [False], types.MappingProxyType(DICTIONARY), types.ModuleType("kept")
SENT: Any = _generator()
next(SENT)
POINTER, CELL, HEAP = weakref.ref(RECORD), _cell(), collections.Counter()
CHAIN = collections.ChainMap({"k": False})
setattr(_default, "kept", False)  # noqa: B010
LEVEL, LIMIT, DEPTH = np.geterr()["under"], csv.field_size_limit(), sys.getrecursionlimit()

PLACES: dict[str, tuple[Callable[[bool], Any], Callable[[], Any]]] = {
    "attribute of a module that a function imports": (_put_module, lambda: counter.spent),
    "attribute of a module that an object holds": (
        lambda v: setattr(RECORD.holder, "flag", v),
        lambda: RECORD.holder.flag,
    ),
    "new attribute of a module": (lambda v: _put_hidden(MODULE, "temp", v), lambda: hasattr(MODULE, "temp")),
    "flags of decimal": (_put_flags, lambda: bool(decimal.getcontext().flags[decimal.Inexact])),
    "precision of decimal": (
        lambda v: setattr(decimal.getcontext(), "prec", 28 + v),
        lambda: decimal.getcontext().prec > 28,
    ),
    "attribute of a metaclass": (lambda v: setattr(Counted, "made", v), lambda: type(SINGLE).__class__.made),
    "attribute of a class": (lambda v: setattr(Record, "kept", v), lambda: RECORD.kept),
    "class of an object": (
        lambda v: setattr(RECORD, "__class__", Other if v else Record),
        lambda: type(RECORD) is Other,
    ),
    "slot of an object": (lambda v: setattr(RECORD, "flag", v), lambda: RECORD.flag),
    "object behind a weak reference": (lambda v: setattr(RECORD, "flag", v), lambda: POINTER().flag),
    "attribute of a class of the library": (
        lambda v: _put_hidden(Fraction, "zoo", v),
        lambda: hasattr(Fraction, "zoo"),
    ),
    "handlers of a logger": (_put_handler, lambda: bool(logging.getLogger("stress").handlers)),
    "level of a logger": (
        lambda v: logging.getLogger("stress").setLevel(10 * v),
        lambda: logging.getLogger("stress").level > 0,
    ),
    "list in a structured array": (lambda v: NESTED["a"].item().__setitem__(0, v), lambda: NESTED["a"].item()[0]),
    "names of a dtype": (_put_column, lambda: NAMES.dtype.names == ("b", "a")),
    "record of NumPy": (lambda v: ROW[0].__setitem__("a", v), lambda: bool(ROW[0]["a"])),
    "array of objects": (lambda v: TABLE.__setitem__(1, v), lambda: bool(TABLE[1])),
    "array of numbers": (lambda v: NUMBERS.__setitem__(1, v), lambda: bool(NUMBERS[1])),
    "flag of an array": (lambda v: NUMBERS.setflags(write=not v), lambda: not NUMBERS.flags.writeable),
    "field size of csv": (lambda v: csv.field_size_limit(LIMIT + v), lambda: csv.field_size_limit() > LIMIT),
    "collector": (lambda v: gc.disable() if v else gc.enable(), lambda: not gc.isenabled()),
    "handler of a signal": (
        lambda v: signal.signal(signal.SIGUSR1, signal.SIG_IGN if v else signal.SIG_DFL),
        lambda: signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN,
    ),
    "limit of recursion": (lambda v: sys.setrecursionlimit(DEPTH + v), lambda: sys.getrecursionlimit() > DEPTH),
    "hook of the interpreter": (
        lambda v: setattr(sys, "excepthook", _hook if v else sys.__excepthook__),
        lambda: sys.excepthook is _hook,
    ),
    "errors of NumPy": (lambda v: np.seterr(under="raise" if v else LEVEL), lambda: np.geterr()["under"] != LEVEL),
    "printing of NumPy": (
        lambda v: np.set_printoptions(precision=8 + v),
        lambda: np.get_printoptions()["precision"] > 8,
    ),
    "filters of warnings": (
        lambda v: (
            warnings.filters.append(("ignore", None, Warning, None, 7))
            if v
            else [warnings.filters.remove(each) for each in list(warnings.filters) if each[4] == 7]
        ),
        lambda: any(each[4] == 7 for each in warnings.filters),
    ),
    "environment": (lambda v: os.environ.update(STRESS=str(v)), lambda: os.environ["STRESS"] == "True"),
    "import path": (
        lambda v: (
            sys.path.append("/stress") if v else [sys.path.remove(each) for each in list(sys.path) if each == "/stress"]
        ),
        lambda: "/stress" in sys.path,
    ),
    "global list": (lambda v: LIST.__setitem__(0, v), lambda: LIST[0]),
    "global dictionary": (lambda v: DICTIONARY.update(k=v), lambda: DICTIONARY["k"]),
    "view of a dictionary": (lambda v: DICTIONARY.update(k=v), lambda: KEPT["k"]),
    "chain of dictionaries": (lambda v: CHAIN.update(k=v), lambda: CHAIN["k"]),
    "global counter": (lambda v: HEAP.update({"k": v - HEAP["k"]}), lambda: bool(HEAP["k"])),
    "global set": (lambda v: _put_members(SET, v), lambda: 3 in SET),
    "global array": (lambda v: ARRAY.__setitem__(0, v), lambda: bool(ARRAY[0])),
    "global bytes": (lambda v: BYTES.__setitem__(0, v), lambda: bool(BYTES[0])),
    "global queue": (lambda v: QUEUE.__setitem__(0, v), lambda: QUEUE[0]),
    "generator": (lambda v: SENT.send(v), lambda: next(SENT)),
    "closure": (CELL[0], CELL[1]),
    "default argument": (lambda v: _default(v), lambda: _default()),
    "attribute of a function": (lambda v: setattr(_default, "kept", v), lambda: _default.kept),  # type: ignore[attr-defined]
    "text of a function": (lambda v: setattr(_default, "__doc__", str(v)), lambda: _default.__doc__ == "True"),
    "attribute of a thread": (lambda v: setattr(LOCAL, "kept", v), lambda: LOCAL.kept),
    "variable of a context": (VARIABLE.set, VARIABLE.get),
    "entry of the modules": (
        lambda v: sys.modules.update(stress=MODULE) if v else sys.modules.pop("stress", None),
        lambda: "stress" in sys.modules,
    ),
    "name of the builtins": (
        lambda v: _put_hidden(sys.modules["builtins"], "stress", v),
        lambda: hasattr(sys.modules["builtins"], "stress"),
    ),
}


Wait = Callable[[Any], Any]  # draws, and returns `None` where the coin is to be read


def _wait_for_one(rng: Any) -> Any:
    return None if rng.random() < 0.5 else 1


def _wait_for_heads(rng: Any) -> Any:
    for number in range(11):
        if rng.random() < 0.5:
            return number
    return None


def _wait_in_a_loop(rng: Any) -> Any:
    out: Any = None
    for query in range(40):
        if rng.random() < 1 / 64:
            out = query
            break
    return out


def _list_waits() -> dict[str, tuple[Wait, dict[Any, Fraction]]]:
    half, stays = Fraction(1, 2), Fraction(63, 64)
    return {
        "small": (_wait_for_one, {1: half}),
        "rare": (_wait_for_heads, {number: half ** (number + 1) for number in range(11)}),
        "chain": (_wait_in_a_loop, {query: stays**query / 64 for query in range(40)}),
    }


WAITS = _list_waits()


def hiding(name: str, wait: Wait = _wait_in_a_loop) -> Callable[[Any, Any], Any]:
    """Return the program that keeps a coin in a place."""
    put, read = PLACES[name]

    def program(data: Any, rng: Any) -> Any:
        put(bool(rng.random() < 0.6))
        out = wait(rng)
        if out is None:
            out = "kept" if read() else "not kept"
        put(False)
        return out

    return program


def holding(name: str, wait: Wait) -> Callable[[Any, Any], Any]:
    """Return the program that keeps a coin in an object of a local variable."""
    make, read = LOCALS[name]

    def program(data: Any, rng: Any) -> Any:
        thing = make(bool(rng.random() < 0.6))
        out = wait(rng)
        return out if out is not None else "kept" if read(thing) else "not kept"

    return program


def true_law(early: dict[Any, Fraction]) -> dict[str, Fraction]:
    """Return the law of each of these programs, by the names of its outputs."""
    end, kept = 1 - sum(early.values()), Fraction(0.6)
    law = {**early, "kept": end * kept, "not kept": end * (1 - kept)}
    return {walk.identify(output): mass for output, mass in law.items()}


def is_right(law: audit.EnumeratedLaw, truth: dict[str, Fraction]) -> bool:
    """Test whether a law is the true one, up to the points on thresholds."""
    low, most = law.texts, law.residual + Fraction(1, 2**50)
    return all(abs(low.get(each, Fraction(0)) - mass) <= most for each, mass in truth.items())


def is_followed(law: audit.EnumeratedLaw, truth: dict[str, Fraction]) -> bool:
    """Test whether a law is the true one and leaves next to nothing over."""
    return law.residual <= FOLLOWED and is_right(law, truth)


def list_flows() -> Iterator[tuple[str, Callable[[Any, Any], Any], dict[str, Fraction]]]:
    """Yield each program of a few draws with its true law."""
    for name, program in FLOWS.items():
        yield name, program, find_law_by_replay(program, walk.identify)


def list_programs() -> Iterator[tuple[str, Callable[[Any, Any], Any], dict[str, Fraction]]]:
    """Yield each program with its true law."""
    for shape, (wait, early) in WAITS.items():
        truth = true_law(early)
        for name in PLACES:
            yield f"{shape}: {name}", hiding(name, wait), truth
        for name in LOCALS:
            yield f"{shape}, local: {name}", holding(name, wait), truth
    yield from ((f"flow: {name}", *found) for name, *found in list_flows())


@contextmanager
def unguarded() -> Iterator[None]:
    """Let no merge be tested, no run be repeated, and nothing outside of frames be looked at."""
    blind: list[tuple[Any, str, Any]] = [(exploring, "test_merges", lambda *given: (0, 0, True))]
    blind += [(Surroundings, "is_unchanged", lambda self: True), (Surroundings, "values", lambda self, read: [])]
    kept = [(place, name, vars(place).get(name)) for place, name, _ in blind]
    for place, name, value in blind:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, name, value in kept:
            setattr(place, name, value) if value is not None else delattr(place, name)


def main(words: list[str]) -> None:
    """Print a row for each program whose law is not known, and for each sampler that is accused; and the numbers."""
    warnings.simplefilter("ignore")
    is_blind = words[:1] == ["blind"]
    words, counts = words[is_blind:], collections.Counter[str]()
    for name, program, truth in list_programs():
        if words and not any(word in name for word in words):
            continue
        with unguarded() if is_blind else contextlib.nullcontext():
            law = audit.enumerate_law(audit.per_call(program), 0, time_limit=5.0)
        said = "right" if is_right(law, truth) else "WRONG"
        said = "refused" if law.behind else "open" if law.residual > FOLLOWED and said == "right" else said
        counts[said] += 1
        if said != "right":
            print(f"| {name} | {said} | {'; '.join((*law.behind, *law.not_followed))} |", flush=True)
    for each in SAMPLERS if is_blind else ():
        law = audit.enumerate_law(audit.per_call(each.function), each.data, rng=each.rng, time_limit=2.0)  # type: ignore[arg-type]
        counts["samplers: accused" if law.behind else "samplers: not accused"] += 1
        if law.behind:
            print(f"| {each.name} | {law.behind} |", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(list(itertools.islice(sys.argv, 1, None)))
