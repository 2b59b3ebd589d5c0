"""Name the places of outputs that bar a PASS: no score reads them.

A score reads numbers, and texts of which each occurs several times. Of others only their identity is kept, and what is
in them could be anything.

The first reader (`columns`) knows types and their attributes. The second one, here, asks the output itself: what copies
are made of (`__reduce_ex__`, as pickle does), and its public attributes that are texts. Numbers are masked, since only
the form is compared. Two outputs of one form by the first reader and of two forms by this one differ somewhere that no
score looks at, such as an attribute that a class of another language keeps.
"""

from __future__ import annotations

import re
import types
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from audit.outputs.columns import Texts
from audit.outputs.encode import Outputs
from audit.outputs.walk import FIELD, CannotKeep, Part, Visitor, find_shape, name_type, read_copied, take_apart

_COMPARED = 48  # outputs per dataset that are read twice
_MOST_PARTS = 2_000  # of one output
_SEEN_ONCE = 0.01  # share of rows with a text of its own, beyond which what the texts say is not read
_NUMBER = re.compile(r"[-+]?[\d.]+([eE][-+]?\d+)?")
_ABOUT = re.compile(r"\w+\((output.*)\)")
_INTERNAL = frozenset(("_mgr", "_cache", "_item_cache"))  # of pandas: blocks in memory, and what was computed before
_LIBRARIES = ("pandas", "polars", "pyarrow", "scipy", "sklearn")

Form = tuple[tuple[str, str], ...]  # places, with what stands there


def find_disagreements(sides: Sequence[Outputs]) -> tuple[str, ...]:
    """Return the places of the outputs, as `output.name`, whose form only the second reader tells apart."""
    seen: dict[Any, Form] = {}
    places: dict[str, None] = {}
    for side in sides:
        if isinstance(side.raw, np.ndarray) and side.raw.dtype != object:
            continue
        for row in range(0, len(side), max(1, len(side) // _COMPARED)):
            form = tuple(islice(_Second().visit(side.raw[row], "output"), _MOST_PARTS))
            usual = seen.setdefault(_read_first(side, row), form)
            if form is not usual and form != usual:
                places[_find_difference(usual, form)] = None
    return tuple(places)


def _read_first(outputs: Outputs, row: int) -> tuple[str | None, ...]:
    """Return all that the first reader sees of an output but its numbers."""
    symbol = None if outputs.symbols is None else outputs.symbols.at(row)
    return symbol, *(f"{name} {outputs.texts[name].at(row)}" for name in sorted(outputs.texts))


def _find_difference(one: Form, other: Form) -> str:
    for (place, text), (its_place, its_text) in zip(one, other, strict=False):
        if (place, text) != (its_place, its_text):
            return min(place, its_place, key=len)
    return max(one, other, key=len)[min(len(one), len(other))][0]


class _Second(Visitor[tuple[str, str]]):
    """Yield places and what stands there, by what copies of the value are made of."""

    deepest = 20

    def read_scalar(self, value: Any, place: str) -> tuple[str, str]:
        if type(value) is str:
            return place, "a number" if _NUMBER.fullmatch(value) else repr(value)
        return place, f"bytes of {len(value)}" if type(value) is bytes else type(value).__name__

    def meet_again(self, place: str, first: str) -> tuple[str, str]:
        return place, "again"

    def stop(self, value: Any, place: str) -> tuple[str, str]:
        return place, "again"

    def open(self, value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
        shape = find_shape(value)
        yield place, self._describe(value, shape)
        if shape in ("sequence", "mapping"):
            yield from self.visit_parts(take_apart(value), place, depth)
        elif shape not in _NAMED and not (shape == "array" and _is_plain(value)) and type(value) is not bytearray:
            with suppress(CannotKeep):  # the first reader refuses what shows nothing
                yield from self.visit_parts(_split_state(read_copied(value)), place, depth)
            yield from _read_public(value, place)

    @staticmethod
    def _describe(value: Any, shape: str) -> str:
        if shape in _NAMED[:-2]:
            return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
        if shape == "set" or type(value) is bytearray:
            return f"{type(value).__name__} of {len(value)}"
        return f"array {value.dtype} {value.shape}" if type(value) is np.ndarray else name_type(value)


_NAMED = ("class", "function", "built-in", "module", "method", "scalar", "set")  # only their names are compared


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.generic) or (type(value) is np.ndarray and not value.dtype.hasobject)


def _split_state(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts of a copy, its attributes one by one."""
    for role, name, part in parts:
        if isinstance(part, dict):
            yield from ((FIELD, key, entry) for key, entry in part.items() if key not in _INTERNAL)
        else:
            yield role, name, part


def _read_public(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the public attributes of a library's object that are texts or lists of texts: flags are often computed."""
    if type(value).__module__.partition(".")[0] not in _LIBRARIES:
        return
    for name in dir(type(value)):
        if name.startswith("_") or isinstance(getattr(type(value), name, None), types.FunctionType):
            continue
        try:
            with warnings.catch_warnings(action="ignore"):  # what a library deprecates is read as well
                entry = getattr(value, name)
        except Exception:
            continue
        is_list = type(entry).__name__ in ("list", "tuple", "FrozenList") and all(type(each) is str for each in entry)
        if type(entry) is str or is_list:
            yield f"{place}.{name}", repr(entry)


def find_unread(
    sides: Sequence[Outputs], read: Sequence[Outputs], coded: Sequence[str], structured: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the places of the outputs, as `output["name"]`, whose texts hardly repeat.

    Parameters
    ----------
    sides, read : sequence of Outputs
        On both datasets, as they came, and as they are read.
    coded : sequence of str
        Texts that became columns of codes, since they vary.
    structured : sequence of str
        How symbols begin that are read by their structure.
    """
    size = sum(map(len, sides))
    places = [_find_place(name) for name in coded if _hardly_repeats(_list_texts(sides, name), size)]
    symbols = [outputs.symbols for outputs in read if outputs.symbols is not None]
    if _hardly_repeats(symbols, size, structured):
        places.append("output")
    return tuple(dict.fromkeys(places))


def _list_texts(sides: Sequence[Outputs], name: str) -> Iterator[Texts]:
    return (side.texts[name] for side in sides if name in side.texts)


def _hardly_repeats(parts: Sequence[Texts] | Iterator[Texts], size: int, structured: Sequence[str] = ()) -> bool:
    seen: Counter[str] = Counter()
    for texts in parts:
        for code, number in Counter(texts.codes.tolist()).items():
            if code >= 0 and not texts.table[code].startswith(tuple(structured)):
                seen[texts.table[code]] += number
    return sum(number == 1 for number in seen.values()) > _SEEN_ONCE * size


def _find_place(name: str) -> str:
    about = _ABOUT.fullmatch(name)
    return about[1] if about else name
