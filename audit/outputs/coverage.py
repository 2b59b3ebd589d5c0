"""Name the places of outputs that bar a PASS: no score reads them, or they depend on earlier calls.

A score reads numbers, and texts of which each occurs several times. Of others only their identity is kept, and what is
in them could be anything.

The first reader (`flatten`) knows types and their attributes. The second one, here, asks the output itself: what copies
are made of (`__reduce_ex__`, as pickle does), and its public attributes that are texts. Numbers are masked, since only
the form is compared. Two outputs of one form by the first reader and of two forms by this one differ somewhere that no
score looks at, such as an attribute that a class of another language keeps.

A counter or a clock in the output, and a budget that is spent, make outputs depend on earlier calls.
"""

from __future__ import annotations

import re
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from audit.outputs.columns import Texts
from audit.outputs.encode import Outputs, blocks_of

COUNTS, SPENT = "counter: ", "spent: "  # how these anomalies begin; the place and the call follow
_FEWEST = 20  # numbers in a row that rise, one after the other: by chance with probability 1 / 20!


def counters_of(drawn: Sequence[Sequence[Outputs]]) -> Iterator[str]:
    """Yield the places of numbers that rise from each output to the next on every dataset.

    `drawn` has the calls on each dataset, in their order.
    """
    names = set.intersection(*({name for name, _ in _columns(calls)} for calls in drawn)) if drawn else set()
    for name in sorted(names):
        if all(_rises(column) for calls in drawn for found, column in _columns(calls) if found == name):
            yield f"output{name}"


def _columns(calls: Sequence[Outputs]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the single numbers that every output of some calls has, by name."""
    blocks = [blocks_of(call) for call in calls if call.symbols is None]
    if blocks and len(blocks) == len(calls):
        for name, first in blocks[0].items():
            if first.ndim == 1 and all(name in block and block[name].ndim == 1 for block in blocks):
                yield name, np.concatenate([block[name] for block in blocks])


def _rises(numbers: np.ndarray) -> bool:
    return len(numbers) >= _FEWEST and bool(np.all(np.diff(numbers) > 0))


def spent_from(drawn: Sequence[Sequence[Outputs]]) -> str | None:
    """Return from which call on a dataset on every output is the same exception, where none is before; else None."""
    for calls in drawn:
        raised = np.concatenate([_raised(call) for call in calls]) if calls else np.zeros(0, dtype=bool)
        first = int(raised.argmax()) if raised.any() else 0
        if first and raised[first:].all() and len(raised) - first >= _FEWEST:
            last = calls[-1].symbols
            return f"from output {first + 1} on it {last.table[0] if last else 'raised'}"
    return None


def _raised(outputs: Outputs) -> np.ndarray:
    symbols = outputs.symbols
    if symbols is None:
        return np.zeros(len(outputs), dtype=bool)
    codes = [code for code, text in enumerate(symbols.table) if text.startswith("raised ")]
    return np.isin(symbols.codes, codes)


_COMPARED = 48  # outputs per dataset that are read twice
_DEEPEST = 20
_MOST_PARTS = 2_000  # of one output
_NUMBER = re.compile(r"[-+]?[\d.]+([eE][-+]?\d+)?")
_INTERNAL = frozenset(("_mgr", "_cache", "_item_cache"))  # of pandas: blocks in memory, and what was computed before
_CONTAINERS = (list, tuple, dict, set, frozenset)
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType)

Form = tuple[tuple[str, str], ...]  # places, with what stands there


def places_of_disagreement(sides: Sequence[Outputs]) -> tuple[str, ...]:
    """Return the places of the outputs, as `output.name`, whose form only the second reader tells apart."""
    seen: dict[Any, Form] = {}
    found: dict[str, None] = {}
    for side in sides:
        if isinstance(side.raw, np.ndarray) and side.raw.dtype != object:
            continue
        for row in range(0, len(side), max(1, len(side) // _COMPARED)):
            form = second_form(side.raw[row])
            usual = seen.setdefault(_first_form(side, row), form)
            if form is not usual and form != usual:
                found[_first_difference(usual, form)] = None
    return tuple(f"output{place}" for place in found)


def _first_form(outputs: Outputs, row: int) -> tuple[str | None, ...]:
    """Return all that the first reader sees of an output but its numbers."""
    symbol = None if outputs.symbols is None else outputs.symbols.at(row)
    return symbol, *(f"{name} {outputs.texts[name].at(row)}" for name in sorted(outputs.texts))


def _first_difference(one: Form, other: Form) -> str:
    for (place, text), (its_place, its_text) in zip(one, other, strict=False):
        if (place, text) != (its_place, its_text):
            return min(place, its_place, key=len)
    return max(one, other, key=len)[min(len(one), len(other))][0]


def second_form(value: Any) -> Form:
    """Return places and what stands there, by what copies of the value are made of."""
    found: list[tuple[str, str]] = []
    known: dict[int, Any] = {}
    for part in _walk(value, "", 0, known):
        found.append(part)
        if len(found) >= _MOST_PARTS:
            break
    return tuple(found)


def _walk(value: Any, place: str, depth: int, known: dict[int, Any]) -> Iterator[tuple[str, str]]:
    kind = type(value)
    if kind in (bool, int, float, complex) or isinstance(value, np.generic):
        yield place, kind.__name__
    elif kind is str:
        yield place, "a number" if _NUMBER.fullmatch(value) else repr(value)
    elif value is None:
        yield place, "None"
    elif kind in (bytes, bytearray):
        yield place, f"{kind.__name__} of {len(value)}"
    elif isinstance(value, _NAMED):
        yield place, f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    elif kind is np.ndarray and not value.dtype.hasobject:
        yield place, f"array {value.dtype} {value.shape}"
    elif id(value) in known or depth > _DEEPEST:
        yield place, "again"
    else:
        known[id(value)] = value
        yield place, f"{kind.__module__}.{kind.__qualname__}"
        if kind in _CONTAINERS:
            yield from _entries(value, place, depth, known)
        else:
            yield from _parts(value, place, depth, known)
            yield from _public(value, place)


def _entries(value: Any, place: str, depth: int, known: dict[int, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for number, (key, entry) in enumerate(value.items()):
            yield from _walk(key, f"{place} key {number}", depth + 1, known)
            yield from _walk(entry, f"{place}[{key!r}]" if isinstance(key, (str, int)) else place, depth + 1, known)
    elif isinstance(value, (set, frozenset)):
        yield place, f"{len(value)} entries"
    else:
        for index, entry in enumerate(value):
            yield from _walk(entry, f"{place}[{index}]", depth + 1, known)


def _parts(value: Any, place: str, depth: int, known: dict[int, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a copy of an object is made of, as pickle does; nothing of one that cannot be copied."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # its own code; the first reader refuses what shows nothing
        return
    if isinstance(reduced, str):
        yield place, reduced
        return
    for part in reduced[:5]:
        if isinstance(part, dict):  # attributes
            for name, entry in part.items():
                if name in _INTERNAL:
                    continue
                yield from _walk(entry, f"{place}.{name}", depth + 1, known)
        elif part is not None:
            entries = list(part) if isinstance(part, Iterator) else part
            yield from _walk(entries, place, depth + 1, known)


def _public(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield the public attributes of a library's object that are texts or lists of texts: flags are often computed."""
    if type(value).__module__.partition(".")[0] not in ("pandas", "polars", "pyarrow", "scipy", "sklearn"):
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


SEEN_ONCE = 0.01  # share of rows with a text of its own, beyond which what the texts say is not read
_ABOUT = re.compile(r"\w+\((output.*)\)")


def unread_places(
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
    found = [_place(name) for name in coded if _seldom_repeats(_texts(sides, name), size)]
    symbols = [outputs.symbols for outputs in read if outputs.symbols is not None]
    if _seldom_repeats(symbols, size, structured):
        found.append("output")
    return tuple(dict.fromkeys(found))


def _texts(sides: Sequence[Outputs], name: str) -> Iterator[Texts]:
    return (side.texts[name] for side in sides if name in side.texts)


def _seldom_repeats(parts: Sequence[Texts] | Iterator[Texts], size: int, structured: Sequence[str] = ()) -> bool:
    seen: Counter[str] = Counter()
    for texts in parts:
        for code, number in Counter(texts.codes.tolist()).items():
            if code >= 0 and not texts.table[code].startswith(tuple(structured)):
                seen[texts.table[code]] += number
    return sum(number == 1 for number in seen.values()) > SEEN_ONCE * size


def _place(name: str) -> str:
    about = _ABOUT.fullmatch(name)
    return about[1] if about else name
