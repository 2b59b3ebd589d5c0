"""Objects that a local variable can hold, each with a coin in it, and small programs whose law follows by replay.

`LOCALS` is a table: how an object is made from a coin, and how the coin is read from it. `FLOWS` are programs of a few
draws; their law is found by calling them with every result of every draw.
"""

from __future__ import annotations

import array
import bisect
import collections
import contextlib
import contextvars
import copy
import csv
import dataclasses
import datetime
import decimal
import enum
import functools
import heapq
import io
import itertools
import json
import math
import operator
import pathlib
import pickle
import queue
import random
import re
import struct
import types
import weakref
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np


class Cell:
    """An object with an attribute."""

    def __init__(self, kept: bool) -> None:
        self.kept = kept

    @property
    def double(self) -> int:
        """Twice the coin."""
        return 2 * self.kept

    def read(self) -> bool:
        """Return the coin."""
        return self.kept

    def __contains__(self, value: Any) -> bool:
        return bool(value == self.kept)

    def __call__(self) -> bool:
        return self.kept


class Slotted:
    """An object with a slot."""

    __slots__ = ("kept",)

    def __init__(self, kept: bool) -> None:
        self.kept = kept


class Other(Cell):
    """Another class with the same attributes."""


class Listed(list):  # type: ignore[type-arg]
    """A list with an attribute."""


class Number(int):
    """An integer with an attribute."""


class Color(enum.Enum):
    """Two members."""

    RED, BLUE = 0, 1


@dataclasses.dataclass
class Row:
    """Two fields."""

    first: int
    kept: bool


Pair = collections.namedtuple("Pair", ("first", "kept"))
_NAME = 0


def _with(thing: Any, name: str, value: Any) -> Any:
    setattr(thing, name, value)
    return thing


def _generate(kept: bool) -> Iterator[Any]:
    yield None
    yield kept


def _start(generator: Any) -> Any:
    next(generator)
    return generator


def _advance(iterator: Any, steps: int) -> Any:
    for _ in range(steps):
        next(iterator)
    return iterator


def _close_over(kept: bool) -> Callable[[], bool]:
    return lambda: kept


def _default(kept: bool) -> Callable[..., bool]:
    def function(value: bool = kept, *, named: bool = kept) -> bool:
        return value and named

    return function


def _raised(kept: bool) -> Exception:
    try:
        raise KeyError(kept)
    except KeyError as error:
        return error


def _view(kept: bool) -> Any:
    return np.array([0, int(kept), 0])[1:2]


def _stream(kept: bool) -> io.StringIO:
    found = io.StringIO("ab")
    found.seek(int(kept))
    return found


def _queue(kept: bool) -> queue.Queue[bool]:
    found: queue.Queue[bool] = queue.Queue()
    found.put(kept)
    return found


def _itself(kept: bool) -> list[Any]:
    found: list[Any] = [kept]
    found.append(found)
    return found


def _context(kept: bool) -> Any:
    variable = contextvars.ContextVar("kept", default=False)
    context = contextvars.copy_context()
    context.run(variable.set, kept)
    return variable, context


def _coroutine(kept: bool) -> Any:
    async def wait() -> bool:
        return kept

    return wait()


def _run(coroutine: Any) -> Any:
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def _cached(kept: bool) -> Any:
    found = functools.lru_cache(lambda key: kept)
    found(0)
    return found


LOCALS: dict[str, tuple[Callable[[bool], Any], Callable[[Any], Any]]] = {
    "bool": (bool, lambda x: x),
    "integer": (int, bool),
    "large integer": (lambda v: 10**30 + v, lambda x: x > 10**30),
    "one or True": (lambda v: True if v else 1, lambda x: type(x) is bool),
    "float": (float, bool),
    "sign of zero": (lambda v: -0.0 if v else 0.0, lambda x: math.copysign(1, x) < 0),
    "sign of NaN": (lambda v: -math.nan if v else math.nan, lambda x: math.copysign(1, x) < 0),
    "float or integer": (lambda v: 1.0 if v else 1, lambda x: type(x) is float),
    "complex": (lambda v: complex(0, v), lambda x: x.imag > 0),
    "Fraction": (lambda v: Fraction(1 + v, 3), lambda x: x > Fraction(1, 2)),
    "Decimal": (lambda v: decimal.Decimal("1.0" if v else "1.00"), lambda x: str(x) == "1.0"),
    "text": (str, lambda x: x == "True"),
    "bytes": (lambda v: bytes([v]), lambda x: x == b"\1"),
    "bytearray": (lambda v: bytearray([v]), lambda x: x[0] == 1),
    "memoryview": (lambda v: memoryview(bytearray([v])), lambda x: x[0] == 1),
    "tuple": (lambda v: (0, v), lambda x: x[1]),
    "nested tuple": (lambda v: ((0, (v,)),), lambda x: x[0][1][0]),
    "list": (lambda v: [v], lambda x: x[0]),
    "list that holds itself": (_itself, lambda x: x[1][1][0]),
    "shared lists": (lambda v: [box := [0], box if v else [0]], lambda x: x[0] is x[1]),
    "dictionary": (lambda v: {"k": v}, lambda x: x["k"]),
    "order of a dictionary": (lambda v: {"a": 0, "b": 0} if v else {"b": 0, "a": 0}, lambda x: next(iter(x)) == "a"),
    "keys of a dictionary": (lambda v: {v: 0}, lambda x: True in x),
    "view of keys": (lambda v: {v: 0}.keys(), lambda x: True in x),
    "set": (lambda v: {int(v)}, lambda x: 1 in x),
    "frozenset": (lambda v: frozenset({int(v)}), lambda x: 1 in x),
    "deque": (lambda v: collections.deque([v]), lambda x: x[0]),
    "length of a deque": (lambda v: collections.deque([0, 0], maxlen=2 + v), lambda x: x.maxlen == 3),
    "Counter": (lambda v: collections.Counter({"k": int(v)}), lambda x: x["k"] == 1),
    "defaultdict": (lambda v: collections.defaultdict(list if v else dict), lambda x: x["k"] == []),
    "OrderedDict": (lambda v: collections.OrderedDict(k=v), lambda x: x["k"]),
    "ChainMap": (lambda v: collections.ChainMap({}, {"k": v}), lambda x: x["k"]),
    "namedtuple": (lambda v: Pair(0, v), lambda x: x.kept),
    "dataclass": (lambda v: Row(0, v), lambda x: x.kept),
    "enum": (lambda v: Color.BLUE if v else Color.RED, lambda x: x is Color.BLUE),
    "attribute": (Cell, lambda x: x.kept),
    "property": (Cell, lambda x: x.double == 2),
    "membership": (Cell, lambda x: True in x),
    "call": (Cell, lambda x: x()),
    "bound method": (lambda v: Cell(v).read, lambda x: x()),
    "slot": (Slotted, lambda x: x.kept),
    "class of an object": (lambda v: (Other if v else Cell)(False), lambda x: type(x) is Other),
    "class that is kept": (lambda v: Other if v else Cell, lambda x: x is Other),
    "class that is made": (lambda v: type("Made", (), {"kept": v}), lambda x: x.kept),
    "attribute of a list": (lambda v: _with(Listed(), "kept", v), lambda x: x.kept),
    "attribute of an integer": (lambda v: _with(Number(3), "kept", v), lambda x: x.kept),
    "SimpleNamespace": (lambda v: types.SimpleNamespace(kept=v), lambda x: x.kept),
    "mapping proxy": (lambda v: types.MappingProxyType({"k": v}), lambda x: x["k"]),
    "module": (lambda v: _with(types.ModuleType("made"), "kept", v), lambda x: x.kept),
    "weak reference": (lambda v: (kept := Cell(v), weakref.ref(kept)), lambda x: x[1]().kept),
    "closure": (_close_over, lambda x: x()),
    "default arguments": (_default, lambda x: x()),
    "attribute of a function": (lambda v: _with(_close_over(False), "kept", v), lambda x: x.kept),
    "text of a function": (lambda v: _with(_close_over(False), "__doc__", str(v)), lambda x: x.__doc__ == "True"),
    "code of a function": (lambda v: (lambda: True) if v else (lambda: False), lambda x: x()),
    "partial": (lambda v: functools.partial(bool, v), lambda x: x()),
    "keywords of a partial": (lambda v: functools.partial(dict, k=v), lambda x: x()["k"]),
    "cache": (_cached, lambda x: x(0)),
    "generator": (lambda v: _start(_generate(v)), next),
    "generator expression": (lambda v: (v for _ in range(2)), next),
    "coroutine": (_coroutine, _run),
    "iterator over a list": (lambda v: _advance(iter([0, 1, 2]), v), lambda x: next(x) == 1),
    "iterator over a range": (lambda v: _advance(iter(range(3)), v), lambda x: next(x) == 1),
    "iterator over a text": (lambda v: _advance(iter("abc"), v), lambda x: next(x) == "b"),
    "iterator over a dictionary": (lambda v: _advance(iter({0: 0, 1: 0, 2: 0}), v), lambda x: next(x) == 1),
    "reversed": (lambda v: _advance(reversed([1, 0]), v), lambda x: next(x) == 1),
    "enumerate": (lambda v: enumerate("ab", int(v)), lambda x: next(x)[0] == 1),
    "zip": (lambda v: zip([v], [0], strict=True), lambda x: next(x)[0]),
    "map": (lambda v: map(bool, [v]), next),
    "filter": (lambda v: filter(None, [v, 2]), lambda x: next(x) is True),
    "count": (lambda v: itertools.count(int(v)), lambda x: next(x) == 1),
    "cycle": (lambda v: _advance(itertools.cycle([0, 1]), v), lambda x: next(x) == 1),
    "chain": (lambda v: itertools.chain([v]), next),
    "islice": (lambda v: itertools.islice([0, 1, 2], int(v), None), lambda x: next(x) == 1),
    "accumulate": (lambda v: _advance(itertools.accumulate([v, 1]), 1), lambda x: next(x) == 2),
    "repeat": (lambda v: itertools.repeat(v, 2), next),
    "tee": (lambda v: itertools.tee(iter([v])), lambda x: next(x[1])),
    "permutations": (lambda v: _advance(itertools.permutations(range(2)), v), lambda x: next(x) == (1, 0)),
    "array of the library": (lambda v: array.array("i", [v]), lambda x: x[0] == 1),
    "array": (lambda v: np.array([int(v)]), lambda x: int(x[0]) == 1),
    "array that views": (_view, lambda x: int(x[0]) == 1),
    "array of objects": (lambda v: np.array([v, None], dtype=object), lambda x: bool(x[0])),
    "list in an array": (lambda v: np.array([[v], None], dtype=object), lambda x: x[0][0]),
    "shape of an array": (lambda v: np.zeros((1, 2) if v else (2, 1)), lambda x: x.shape == (1, 2)),
    "dtype of an array": (lambda v: np.zeros(2, "i4" if v else "f4"), lambda x: x.dtype.kind == "i"),
    "writeable flag": (lambda v: (kept := np.zeros(1), kept.setflags(write=not v))[0], lambda x: not x.flags.writeable),
    "masked array": (lambda v: np.ma.array([0], mask=[v]), lambda x: bool(x.mask[0])),
    "structured array": (lambda v: np.array([(v,)], dtype=[("a", "?")]), lambda x: bool(x["a"][0])),
    "names of a dtype": (lambda v: np.zeros(1, [("a" if v else "b", "i4")]), lambda x: x.dtype.names == ("a",)),
    "record": (lambda v: np.array([(v,)], dtype=[("a", "?")])[0], lambda x: bool(x["a"])),
    "float64": (np.float64, bool),
    "float32 or float64": (lambda v: np.float32(1) if v else np.float64(1), lambda x: x.dtype == np.float32),
    "datetime64": (lambda v: np.datetime64(f"{2000 + v}", "Y"), lambda x: str(x) == "2001"),
    "kept dtype": (lambda v: np.dtype("i4" if v else "f4"), lambda x: x.kind == "i"),
    "generator of NumPy": (lambda v: np.random.default_rng(int(v)), lambda x: x.random() < 0.52),
    "generator of Python": (lambda v: random.Random(int(v)), lambda x: x.random() < 0.5),
    "place in a stream": (_stream, lambda x: x.read(1) == "b"),
    "contents of a stream": (lambda v: io.BytesIO(bytes([v])), lambda x: x.getvalue() == b"\1"),
    "match": (lambda v: re.match("(a)|(b)", "a" if v else "b"), lambda x: x.lastindex == 1),
    "pattern": (lambda v: re.compile("a" if v else "b"), lambda x: x.match("a") is not None),
    "exception": (lambda v: KeyError(v), lambda x: x.args[0]),
    "raised exception": (_raised, lambda x: x.args[0]),
    "notes of an exception": (
        lambda v: (kept := KeyError(), kept.add_note(str(v)))[0],
        lambda x: "True" in x.__notes__,
    ),
    "context": (_context, lambda x: x[1][x[0]]),
    "stack of exits": (lambda v: contextlib.ExitStack().enter_context(contextlib.nullcontext(v)), lambda x: x),
    "queue": (_queue, lambda x: x.get()),
    "date": (lambda v: datetime.date(2000, 1, 1 + v), lambda x: x.day == 2),
    "zone of a time": (lambda v: datetime.timezone(datetime.timedelta(hours=v)), lambda x: str(x) == "UTC+01:00"),
    "path": (lambda v: pathlib.PurePath("a" if v else "b"), lambda x: x.name == "a"),
    "reader of rows": (lambda v: _advance(csv.reader(["a", "b", "c"]), v), lambda x: next(x) == ["b"]),
    "item getter": (lambda v: operator.itemgetter(int(v)), lambda x: x((False, True))),
    "attribute getter": (lambda v: operator.attrgetter("real" if v else "imag"), lambda x: x(1) == 1),
    "method caller": (lambda v: operator.methodcaller("upper" if v else "lower"), lambda x: x("a") == "A"),
    "slice": (lambda v: slice(int(v), None), lambda x: x.start == 1),
    "range": (lambda v: range(int(v), 3), lambda x: x[0] == 1),
    "Struct": (lambda v: struct.Struct("i" if v else "q"), lambda x: x.size == 4),
}


def _late(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda data, rng: function(rng)


def _matched(rng: Any) -> Any:
    match [int(rng.integers(3)), bool(rng.random() < 0.25)]:
        case [0, kept]:
            return "none", kept
        case [1 | 2 as value, True] if rng.random() < 0.5:
            return value
        case _:
            return "other"


def _walrus(rng: Any) -> Any:
    return [y for _ in range(3) if (y := int(rng.integers(2)))], int(rng.integers(2))


def _finally(rng: Any) -> Any:
    try:
        return int(rng.integers(2)), "returned"
    finally:
        if rng.random() < 0.25:
            return "replaced"  # noqa: B012


def _caught(rng: Any) -> Any:
    try:
        if rng.random() < 0.25:
            raise ValueError(int(rng.integers(2)))
        return 1 // int(rng.integers(2))
    except ZeroDivisionError:
        return "zero", int(rng.integers(2))
    except ValueError as error:
        return error.args


def _managed(rng: Any) -> Any:
    found = []

    @contextlib.contextmanager
    def outer() -> Iterator[int]:
        found.append(int(rng.integers(2)))
        yield int(rng.integers(2))
        found.append(int(rng.integers(2)))

    with outer() as given:
        found.append(given)
    return tuple(found)


def _recursive(rng: Any, depth: int = 0) -> int:
    return depth if depth == 4 or rng.integers(2) == 0 else _recursive(rng, depth + 1)


def _delegated(rng: Any) -> Any:
    def inner() -> Iterator[int]:
        yield int(rng.integers(2))
        return int(rng.integers(2))

    def outer() -> Iterator[int]:
        found = yield from inner()
        yield 10 * found

    return sum(outer())


def _sent(rng: Any) -> Any:
    def total() -> Iterator[int]:
        found = 0
        while True:
            found += (yield found) or 0

    adding: Any = total()
    next(adding)
    return [adding.send(int(rng.integers(2))) for _ in range(3)]


def _heap(rng: Any) -> Any:
    found: list[int] = []
    for _ in range(3):
        heapq.heappush(found, int(rng.integers(3)))
    return heapq.heappop(found), len(found)


def _best(rng: Any) -> Any:
    best = None
    for index in range(4):
        if best is None or rng.integers(index + 1) == 0:
            best = index
    return best


def _reservoir(rng: Any) -> Any:
    kept = [0, 1]
    for item in range(2, 4):
        place = int(rng.integers(item + 1))
        if place < 2:
            kept[place] = item
    return tuple(kept)


def _rejected(rng: Any) -> Any:
    for _ in range(3):
        if (value := int(rng.integers(4))) < 3:
            return value
    return None


def _chinese_restaurant(rng: Any) -> Any:
    tables: list[int] = []
    for guest in range(4):
        place = int(rng.integers(guest + 1))
        chosen = next((at for at, end in enumerate(itertools.accumulate(tables)) if place < end), None)
        if chosen is None:
            tables.append(1)
        else:
            tables[chosen] += 1
    return tuple(tables)


def _matrix(rng: Any) -> Any:
    table = np.zeros((2, 2), dtype=int)
    for _ in range(2):
        table[int(rng.integers(2)), int(rng.integers(2))] += 1
    return table.trace(), int(table.max())


def _in_place(rng: Any) -> Any:
    values = np.array([1, 2, 3])
    rng.shuffle(values)
    values += 1
    return int(values[0]), int(values[:2].sum())


def _counted(rng: Any) -> Any:
    counts = collections.Counter("ab"[int(rng.integers(2))] for _ in range(3))
    return counts.most_common(1)[0]


def _text(rng: Any) -> Any:
    return "".join(f"{int(rng.integers(2)):02d}" for _ in range(3))


def _copied(rng: Any) -> Any:
    first = [[int(rng.integers(2))]]
    second, third = copy.copy(first), copy.deepcopy(first)
    first[0].append(int(rng.integers(2)))
    return len(second[0]), len(third[0]), first


def _packed(rng: Any) -> Any:
    return json.loads(json.dumps({"k": int(rng.integers(2))})), pickle.loads(pickle.dumps([int(rng.integers(2))]))


def _evaluated(rng: Any) -> Any:
    space = {"rng": rng}
    exec("found = int(rng.integers(3))", space)
    return eval("found + int(rng.integers(2))", space)


def _stopped(rng: Any) -> Any:
    found = 0
    for _ in range(2):
        if rng.integers(4) == 0:
            break
        if rng.integers(2) == 0:
            continue
        found += 1
        if rng.integers(2) == 0:
            return "returned", found
    else:
        return "ended", found
    return "broken", found


def _urn(rng: Any) -> Any:
    red, blue = 1, 1
    for _ in range(4):
        if int(rng.integers(red + blue)) < red:
            red += 1
        else:
            blue += 1
    return red


def _bisected(rng: Any) -> Any:
    return bisect.bisect([1, 3, 4, 8], int(rng.integers(8))), bisect.insort([0, 1], int(rng.integers(2)))


def _nested(rng: Any) -> Any:
    def outer() -> Callable[[], int]:
        count = int(rng.integers(2))

        def inner() -> int:
            nonlocal count
            count += int(rng.integers(2))
            return count

        return inner

    step = outer()
    return step(), step()


def _held_row(rng: Any) -> Any:
    row = [0, 0]
    left = iter(row if rng.integers(2) else [0, 0])
    next(left)
    again = int(rng.integers(2))
    row[1] = 1
    return next(left), again


@functools.cache
def _remember(source: Any) -> int:
    return int(source.integers(2))


def _cache(rng: Any) -> Any:
    _remember(rng)
    found = int(rng.integers(2)), _remember(rng)
    _remember.cache_clear()
    return found


def _global_name(rng: Any) -> Any:
    global _NAME
    _NAME = int(rng.integers(2))
    again = int(rng.integers(2))
    found, _NAME = (_NAME, again), 0
    return found


class Drawn:
    """A threshold that is drawn when a number is compared with it."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def __gt__(self, other: Any) -> bool:
        return bool(self.rng.integers(2))


FLOWS: dict[str, Callable[[Any, Any], Any]] = {
    function.__name__.strip("_"): _late(function)
    for function in (
        *(_matched, _walrus, _finally, _caught, _managed, _recursive, _delegated, _sent, _heap, _best, _reservoir),
        *(_rejected, _chinese_restaurant, _matrix, _in_place, _counted, _text, _copied, _packed, _evaluated),
        *(_stopped, _urn, _bisected, _nested, _held_row, _cache, _global_name),
    )
} | {
    name: _late(function)
    for name, function in {
        "arguments with a star": lambda rng: max(*(int(rng.integers(3)) for _ in range(3))),
        "keywords": lambda rng: dict(a=int(rng.integers(2)), b=int(rng.integers(2))),
        "sorted by a draw": lambda rng: sorted("abc", key=lambda _: int(rng.integers(3))),
        "minimum by a draw": lambda rng: min("abc", key=lambda _: int(rng.integers(3))),
        "mapped draws": lambda rng: tuple(map(lambda k: int(rng.integers(k)), (2, 3, 2))),  # noqa: C417
        "any of three": lambda rng: any(rng.random() < 0.25 for _ in range(3)),
        "all of three": lambda rng: all(rng.random() < 0.75 for _ in range(3)),
        "reduced": lambda rng: functools.reduce(lambda a, b: 2 * a + b, (int(rng.integers(2)) for _ in range(3))),
        "product": lambda rng: math.prod(int(rng.integers(3)) for _ in range(3)),
        "sum from a start": lambda rng: sum((int(rng.integers(2)) for _ in range(3)), 10),
        "sum of floats": lambda rng: sum([0.1] * 3 + [float(rng.integers(2))]),
        "short circuit": lambda rng: (rng.random() < 0.5 and rng.random() < 0.25) or bool(rng.random() < 0.125),
        "chained comparison": lambda rng: bool(0.25 < rng.random() < 0.75),
        "two bounds of one number": lambda rng: (lambda u: (bool(u < 0.25), bool(u < 0.5), bool(u >= 0.75)))(
            rng.random()
        ),
        "one minus": lambda rng: bool(1 - rng.random() <= 0.25),
        "scaled": lambda rng: int(rng.random() * 8),
        "scaled and moved": lambda rng: math.floor(4 * rng.random() - 2),
        "halved": lambda rng: round(rng.random() * 4),
        "absolute": lambda rng: bool(abs(rng.random() - 0.5) < 0.25),
        "negative": lambda rng: bool(-rng.random() < -0.75),
        "threshold that is drawn": lambda rng: int(rng.integers(2)) + 2 * (rng.random() < Drawn(rng)),
        "division": lambda rng: bool(rng.random() / 2 < 0.125),
        "bits of an integer": lambda rng: (int(rng.integers(8)) & 3, int(rng.integers(8)) >> 1),
        "numpy integer that wraps": lambda rng: int(rng.integers(4, dtype=np.uint8) - np.uint8(2)),
        "numpy integer in arithmetic": lambda rng: int(rng.integers(4) * 2 + 1),
        "comparison of numpy integers": lambda rng: bool(rng.integers(8) < 3),
        "cumulative sum": lambda rng: np.cumsum(rng.integers(2, size=3)).tolist(),
        "argmax": lambda rng: int(np.argmax(rng.integers(3, size=3))),
        "unique": lambda rng: np.unique(rng.integers(3, size=3)).tolist(),
        "mask": lambda rng: np.arange(3)[rng.random(3) < 0.5].tolist(),
        "where": lambda rng: np.where(rng.random(3) < 0.25, 1, 0).tolist(),
        "vector of thresholds": lambda rng: (rng.random(3) < np.array([0.25, 0.5, 0.75])).tolist(),
        "one number, three thresholds": lambda rng: (rng.random() < np.array([0.25, 0.5, 0.75])).tolist(),
        "searched": lambda rng: int(np.searchsorted([0.25, 0.5, 1.0], rng.random(), side="right")),
        "searched by a method": lambda rng: int(np.array([0.25, 0.5, 1.0]).searchsorted(rng.random(), "left")),
        "searched from the left": lambda rng: int(np.searchsorted([0.25, 0.5, 1.0], rng.random(), side="left")),
        "frame of a generator": lambda rng: sum(2 * kept + int(rng.integers(2)) for kept in [int(rng.integers(2))]),
        "ragged list": lambda rng: [int(rng.integers(2)) for _ in range(int(rng.integers(4)))],
        "filtered list": lambda rng: [k for k in range(4) if rng.random() < 0.25],
        "set of draws": lambda rng: sorted({int(rng.integers(3)) for _ in range(3)}),
        "dictionary of draws": lambda rng: {int(rng.integers(2)): k for k in range(3)},
        "permutation": lambda rng: rng.permutation(3).tolist(),
        "uniform between": lambda rng: bool(rng.uniform(-1, 1) < 0.5),
        "joined": lambda rng: ",".join("ab"[int(rng.integers(2))] for _ in range(3)),
        "replaced": lambda rng: re.sub("a", lambda _: "bc"[int(rng.integers(2))], "aaa"),
        "zipped": lambda rng: [a * b for a, b in zip(range(3), (int(rng.integers(2)) for _ in range(3)), strict=True)],
        "accumulated": lambda rng: list(itertools.accumulate(int(rng.integers(2)) for _ in range(3))),
        "grouped": lambda rng: [len([*g]) for _, g in itertools.groupby(int(rng.integers(2)) for _ in range(4))],
        "divided with a rest": lambda rng: divmod(int(rng.integers(8)), 3),
        "formatted": lambda rng: f"{int(rng.integers(2))!r:>3}{int(rng.integers(3)):b}",
        "fraction of draws": lambda rng: Fraction(int(rng.integers(3)), 1 + int(rng.integers(3))),
        "power": lambda rng: int(rng.integers(3)) ** int(rng.integers(3)),
        "type of a number": lambda rng: bool(rng.random() < (0.25 if type(rng.random()) is float else 0.75)),
        "instance of float": lambda rng: bool(rng.random() < (0.25 if isinstance(rng.random(), float) else 0.75)),
        "comparison with None": lambda rng: (rng.random() == None, bool(rng.random() < 0.5)),  # noqa: E711
        "equal to itself": lambda rng: (lambda u: (u == u, bool(u < 0.5)))(rng.random()),
        "truth of a number": lambda rng: [bool(rng.integers(3)), bool(rng.integers(2))],
    }.items()
}


class Scripted:
    """A generator whose results follow a script; a uniform is one of 8 numbers, each in the middle of its cell."""

    CELLS = 8

    def __init__(self, script: tuple[int, ...]) -> None:
        self.script, self.taken, self.mass = script, [], Fraction(1)
        self.sizes: list[int] = []

    def _next(self, options: int) -> int:
        place = len(self.taken)
        self.taken.append(self.script[place] if place < len(self.script) else 0)
        self.sizes.append(options)
        self.mass /= options
        return self.taken[-1]

    def _filled(self, make: Callable[[], Any], size: Any, dtype: Any) -> Any:
        return make() if size is None else np.array([make() for _ in range(size)], dtype=dtype)

    def random(self, size: Any = None) -> Any:
        """Return a uniform number, or several."""
        return self._filled(lambda: (self._next(self.CELLS) + 0.5) / self.CELLS, size, float)

    def uniform(self, low: float, high: float) -> Any:
        """Return a uniform number."""
        return low + (high - low) * self.random()

    def integers(self, high: int, size: Any = None, dtype: Any = np.int64) -> Any:
        """Return an integer, or several."""
        return self._filled(lambda: dtype(self._next(high)), size, dtype)

    def permutation(self, size: int) -> Any:
        """Return a permutation."""
        orders = list(itertools.permutations(range(size)))
        return np.array(orders[self._next(len(orders))])

    def shuffle(self, values: Any) -> None:
        """Shuffle an array."""
        values[:] = values[self.permutation(len(values))]


def find_law_by_replay(program: Callable[[Any, Any], Any], name: Callable[[Any], str]) -> dict[str, Fraction]:
    """Return the law of a program, by every script, under the names of its outputs."""
    law: dict[str, Fraction] = collections.defaultdict(Fraction)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        rng = Scripted(waiting.pop())
        law[name(program(0, rng))] += rng.mass
        for place in range(len(rng.script), len(rng.taken)):
            waiting += [(*rng.taken[:place], other) for other in range(1, rng.sizes[place])]
    return dict(law)
