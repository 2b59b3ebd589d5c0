"""Programs whose law depends on the order of hashes or on addresses, so that it is another one in another process."""

from __future__ import annotations

import collections
import enum
from typing import Any

from benchmarks.enumeration.zoo.case import Case, coin

NAMES = {"a", "b", "c", "d"}
FROZEN = frozenset(["north", "south", "east", "west"])
PAIRS = {("a", 1), ("b", 2), ("c", 3)}
BYTES = {b"a", b"b", b"c"}
NUMBERS = {3, 1, 2}
FIRST, SECOND = {"a": 1, "b": 2, "c": 3}, {"c": 1, "a": 2, "b": 0}
COUNTS = collections.Counter("abcd")
OBJECTS = {object() for _ in range(8)}


class Color(enum.Enum):
    """Its members are hashed by their names."""

    RED = 1
    GREEN = 2
    BLUE = 3


COLORS = {Color.RED, Color.GREEN, Color.BLUE}
_WAYS: dict[str, Any] = {
    "first of a global set": lambda: next(iter(NAMES)),
    "list of a global set": lambda: list(NAMES)[0],
    "star of a global set": lambda: [*NAMES][0],
    "loop over a global set": lambda: [name for name in NAMES][0],
    "frozen set": lambda: next(iter(FROZEN)),
    "join of a set": lambda: "".join(NAMES),
    "text of a set": lambda: str(NAMES),
    "unpacked set": lambda: (lambda first, *rest: first)(*NAMES),
    "set of tuples": lambda: next(iter(PAIRS)),
    "set of bytes": lambda: next(iter(BYTES)),
    "set of members": lambda: next(iter(COLORS)).name,
    "intersection of keys": lambda: next(iter(FIRST.keys() & SECOND.keys())),
    "difference of keys": lambda: sorted(FIRST.keys() - {"x"}, key=lambda name: 0)[0],
    "union of sets": lambda: next(iter(NAMES | {"e"})),
    "set pop": lambda: set(NAMES).pop(),
    "copy pop": lambda: NAMES.copy().pop(),
    "set of a text": lambda: next(iter(set("abcdef"))),
    "set comprehension": lambda: next(iter({name + "x" for name in FIRST})),
    "literal set": lambda: max({"p", "q", "r"}, key=lambda name: 0),
    "dictionary from a set": lambda: next(iter(dict.fromkeys(NAMES))),
    "counter of a set": lambda: collections.Counter(NAMES).most_common(1)[0][0],
    "hash of a text": lambda: "a" if "a".__hash__() % 2 else "b",
    "order by hashes": lambda: sorted("abcd", key=str.__hash__)[0],
    "least by hash": lambda: min("abcd", key=hash),
    "hash of a tuple": lambda: "a" if hash(("a", 1)) % 2 else "b",
    "hash of None": lambda: "a" if hash(None) % 32 == 0 else "b",
    "hash of a frozen set": lambda: "a" if hash(FROZEN) % 2 else "b",
    "hash of bytes": lambda: "a" if b"x".__hash__() % 2 else "b",
    "order by address": lambda: "a" if min(OBJECTS, key=id) is next(iter(OBJECTS)) else "b",
    "text of an object": lambda: "a" if ord(repr(object())[-3]) % 2 else "b",
    "set of objects": lambda: "a" if ord(repr(next(iter(OBJECTS)))[-3]) % 2 else "b",
    "hash of a class": lambda: "a" if hash(Color) % 32 == 0 else "b",
}
_DECOYS: dict[str, Any] = {
    "set of integers": lambda: sorted(NUMBERS)[0],
    "sorted set": lambda: sorted(NAMES)[0],
    "length of a set": lambda: len(NAMES),
    "member of a set": lambda: "a" in NAMES,
    "subset": lambda: NAMES >= {"a"},
    "sum of a set of integers": lambda: sum(NUMBERS),
    "least of a set": lambda: min(NAMES),
    "order of a dictionary": lambda: next(iter(FIRST)),
    "most common": lambda: COUNTS.most_common(1)[0][0],
    "sorted keys": lambda: sorted(FIRST.keys() & SECOND.keys())[0],
    "hash of an integer": lambda: hash(5),
}


def in_order(name: str, way: Any, has_law: bool) -> Case:
    """Return a program that returns what it found in some order, beside a coin."""
    return Case("order", name, lambda data, rng: (coin(rng), way()), has_law=has_law)


def by_a_set(data: Any, rng: Any) -> Any:
    """Keep the record in some processes only."""
    return data if next(iter(NAMES)) == "a" else coin(rng)


def by_the_dataset(data: Any, rng: Any) -> Any:
    """Take the first record of a set."""
    return next(iter(data)), coin(rng)


def by_records(data: Any, rng: Any) -> Any:
    """Go through a set that is the dataset, and keep each record or not."""
    return [record for record in data if coin(rng)]


def sum_over_the_dataset(data: Any, rng: Any) -> Any:
    """Count records of a set: no order matters."""
    return sum(coin(rng) for _ in range(len(data)))


CASES = [
    *(in_order(name, way, False) for name, way in _WAYS.items()),
    *(in_order(name, way, True) for name, way in _DECOYS.items()),
    Case("order", "by a set", by_a_set, has_law=False),
    Case("order", "set as dataset", by_the_dataset, data={"a", "b", "c"}, has_law=False),
    Case("order", "records of a set", by_records, data=frozenset({"a", "b", "c"}), has_law=False),
    Case("order", "count of a set", sum_over_the_dataset, data=frozenset({"a", "b", "c"})),
]
