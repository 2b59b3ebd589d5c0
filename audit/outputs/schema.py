"""Read outputs in common columns: those of the training outputs for an audit, those of all batches to join them.

How an output is read depends on its layout alone: the types, keys and lengths that decide on its columns.
"""

from __future__ import annotations

import array
import collections
import enum
import re
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from audit.errors import InvalidArgument
from audit.outputs.columns import DEEPEST, Leaves, Texts
from audit.outputs.encode import Names, Outputs, assemble, encode, hash_texts, list_blocks, list_names, read_symbols
from audit.outputs.fingerprint import Raised
from audit.outputs.tables import describe_layout
from audit.outputs.walk import CLASS, CODE, Visitor, find_shape, take_apart
from audit.validate import Count, Limits, Nonnegative

Part = tuple[np.ndarray, Outputs]  # numbers of rows of a batch, and a batch of them alone
_FIXED = frozenset((float, np.float64, np.float32, np.int64, np.int32, np.bool_))  # types with the same columns always
_FIXED |= {bool, str, complex, type(None), set, frozenset, bytearray, Raised}
_PLAIN = (("", 0),)  # names of the columns of single numbers
_MOST_COLUMNS = 256  # of named columns of one number; more are not read
MOST_RARE = 0.005  # share of rare outputs up to which a count sees everything: half of the stated blind spot
_SEEN_ONCE = 0.01  # share of rows with a text of its own, beyond which what the texts say is not read
_ABOUT = re.compile(r"\w+\((output.*)\)")


@dataclass(frozen=True)
class Reading:
    """The columns in which outputs are read, fixed by some batches of them.

    Names identify columns. A text that varied (a type, a key, the place of NaN) becomes a column of codes. Outputs of a
    new structure become symbols. How an output is read never depends on the rest of its batch: all outputs of a batch
    are on one dataset, and a property of many is not an event of one output.
    """

    names: Names
    coded: tuple[str, ...] = ()
    ragged: bool = False  # whether outputs are read as symbols, since they have no columns in common

    @classmethod
    def of(cls, batches: Sequence[Outputs], codes: bool = True) -> Reading:
        return cls._of([part for batch in batches if len(batch) for _, part in _split(batch)], codes)

    @classmethod
    def _of(cls, batches: Sequence[Outputs], codes: bool) -> Reading:
        """Return the columns of batches of one structure each."""
        widths: dict[str, set[int]] = {}
        for batch in batches:
            if batch.symbols is None or not batch.symbolic.all():
                for name, width in list_names(batch):
                    widths.setdefault(name, set()).add(width)
        clash = len(widths.get("", ())) > 1 or len(widths) > _MOST_COLUMNS
        if clash or any(batch.ragged for batch in batches):
            return cls(_PLAIN, ragged=True)
        names = tuple((name, max(each)) for name, each in widths.items()) or _PLAIN
        if not codes:
            return cls(names)
        return cls(_find_varying(batches, names), tuple(sorted(_find_varying_texts(batches))))

    def read(self, outputs: Outputs, parts: Sequence[Part] | None = None) -> Outputs:
        """Return the outputs in these columns; `parts` are their rows by structure, if these are known."""
        if outputs.mixed:
            return self._join(outputs, parts or _split(outputs))
        if self.ragged and _is_single(outputs):
            return outputs
        if not self.ragged and not self.coded and list_names(outputs) == self.names:
            return outputs
        blocks = list_blocks(outputs)
        most, widths = dict(self.names), dict(list_names(outputs))
        if self.ragged or any(widths[name] > most[name] for name in blocks.keys() & most.keys()):
            if len(apart := _split(outputs, at_once=False)) > 1:
                return self._join(outputs, apart)
            outputs = _read_as_symbols(outputs)
            blocks = {}
        if self.ragged:
            return outputs
        columns = {name: _widen(blocks.get(name), width, len(outputs)) for name, width in self.names}
        for name in self.coded:
            texts = outputs.texts.get(name)
            columns[name] = np.zeros(len(outputs)) if texts is None else place_keys(hash_texts(texts))
        return assemble(outputs.raw, Leaves(len(outputs), columns, dict(outputs.texts)), outputs.symbols)

    def _join(self, outputs: Outputs, parts: Sequence[Part]) -> Outputs:
        """Read parts of the outputs, each by itself, and put the rows in their order again."""
        joined = _concatenate([self.read(part) for _, part in parts], outputs.raw)
        order = np.argsort(np.concatenate([rows for rows, _ in parts]))
        texts = {name: kept[order] for name, kept in joined.texts.items()}
        symbols = None if joined.symbols is None else joined.symbols[order]
        ragged = self.ragged or outputs.ragged
        return replace(joined, numbers=joined.numbers[order], symbols=symbols, texts=texts, ragged=ragged, mixed=False)

    @property
    def is_named(self) -> bool:
        """True unless the columns are just the numbers of vectors, or single numbers."""
        return bool(self.coded) or len(self.names) > 1 or bool(self.names[0][0])

    @property
    def is_single(self) -> bool:
        """True when there is one column."""
        return not self.coded and len(self.names) == 1 and not self.names[0][1]

    def label(self, index: int) -> str:
        """Return the name of a column of `numbers` for readers."""
        for name, width in (*self.names, *((name, 0) for name in self.coded)):
            if index < max(1, width):
                if name.endswith(")") or name.startswith("output"):
                    return name
                return f"output{name}[{index}]" if width else f"output{name}"
            index -= max(1, width)
        return f"column {index}"


def place_keys(keys: np.ndarray) -> np.ndarray:
    """Return numbers in [0, 1) for keys of texts: the same for the same text, whatever else occurs; 0 for no text."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _find_varying(batches: Sequence[Outputs], names: Names) -> Names:
    """Drop named columns that hold one value throughout, unless nothing would be left."""
    if len(names) == 1:
        return names
    seen: dict[str, set[float]] = {name: set() for name, _ in names}
    for batch in batches:
        for name, column in list_blocks(batch).items():
            part = column[~batch.symbolic] if batch.symbols is not None else column
            if part.size:
                seen[name] |= {float(part.min()), float(part.max())}
        for name in seen.keys() - list_blocks(batch).keys():
            if not batch.symbolic.all():
                seen[name].add(0.0)
    return tuple((name, width) for name, width in names if len(seen[name]) > 1) or names[:1]


def _find_varying_texts(batches: Sequence[Outputs]) -> Iterator[str]:
    for name in {name for batch in batches for name in batch.texts}:
        seen: set[str | None] = set()
        for batch in batches:
            rows = ~batch.symbolic
            if not rows.any():
                continue
            kept = batch.texts.get(name)
            codes = {-1} if kept is None else set(np.unique(kept.codes[rows]).tolist())
            seen |= {None if code < 0 or kept is None else kept.table[code] for code in codes}
        if len(seen) > 1:
            yield name


def _is_single(outputs: Outputs) -> bool:
    """Return whether no row holds more than one number."""
    return outputs.is_scalar and list_names(outputs) == _PLAIN


def _read_as_symbols(outputs: Outputs) -> Outputs:
    """Read every row as a symbol."""
    return Outputs(outputs.raw, np.full(len(outputs), np.nan), read_symbols(outputs.raw), ragged=True)


def read_layout(value: Any) -> tuple[Any, ...]:
    """Return the key of the columns of a value that is read alone."""
    return tuple(_Layout().visit(value, ""))


class _Layout(Visitor[Any]):
    deepest = DEEPEST

    def read_scalar(self, value: Any, place: str) -> Any:
        if type(value) is int:
            return int, -(2**63) <= value < 2**63
        return (bytes, len(value)) if type(value) is bytes else type(value)

    def meet_again(self, place: str, first: str) -> Any:
        return first, "again"

    def stop(self, value: Any, place: str) -> Any:
        return type(value)

    def open(self, value: Any, place: str, depth: int) -> Iterator[Any]:
        kind, shape = type(value), find_shape(value)
        if kind in _FIXED or isinstance(value, (type, types.ModuleType, enum.Enum)):
            yield kind
        elif kind is array.array:
            yield kind, value.typecode, len(value)
        elif shape == "array":
            yield kind, value.dtype, value.shape
        elif shape == "table":
            yield describe_layout(value)
        elif kind is collections.deque or shape == "sequence":
            yield kind, len(value)
            yield from self._read_entries(list(value), place, depth)
        elif isinstance(value, dict):
            yield kind, repr(list(value))
            for entry in value.values():
                yield from self.visit(entry, place, depth)
        else:
            parts = [] if shape in ("live", "source") else list(take_apart(value))
            parts = [part for part in parts if part[0] not in (CLASS, CODE)]
            yield kind, tuple(name for _, name, _ in parts)
            yield from self.visit_parts(parts, place, depth)

    def _read_entries(self, entries: list[Any], place: str, depth: int) -> Iterator[Any]:
        kinds = tuple(map(type, entries))
        if _FIXED.issuperset(kinds):
            yield kinds
        elif set(kinds) == {int} and min(entries) >= -(2**63) and max(entries) < 2**63:  # as entry by entry, and fast
            yield int, True, len(entries)
        else:
            for index, entry in enumerate(entries):
                yield from self.visit(entry, f"{place}[{index}]", depth)


def concatenate(batches: Sequence[Outputs]) -> Outputs:
    """Join batches in the columns that they have in common; rows become symbols when the columns clash."""
    if len(batches) == 1:
        return batches[0]
    raw = _join_raw([batch.raw for batch in batches])
    if isinstance(raw, np.ndarray) and all(batch.numbers is batch.raw for batch in batches):
        names = batches[0].texts.keys()
        if all(batch.names is None and batch.texts.keys() == names for batch in batches):
            texts = {name: Texts.join([batch.texts[name] for batch in batches]) for name in names}
            return Outputs(raw, raw, texts=texts)  # float64 without NaN, kept once
    apart = [_split(batch) for batch in batches]
    reading = Reading._of([part for parts in apart for rows, part in parts if len(rows)], codes=False)
    return _concatenate([reading.read(batch, parts) for batch, parts in zip(batches, apart, strict=True)], raw)


def _concatenate(read: Sequence[Outputs], raw: Any) -> Outputs:
    """Join batches that were read in the same columns."""
    shape = max((batch.numbers.shape[1:] for batch in read), default=())
    numbers = np.concatenate([_reshape(batch, shape) for batch in read])
    symbols = None
    if any(batch.symbols is not None for batch in read):
        symbols = Texts.join([batch.symbols or _make_no_texts(len(batch)) for batch in read])
    names = dict.fromkeys(name for batch in read for name in batch.texts)
    columns = {name: [batch.texts.get(name) or _make_no_texts(len(batch)) for batch in read] for name in names}
    texts = {name: Texts.join(parts) for name, parts in columns.items()}
    named = next((batch.names for batch in read if batch.names is not None), None)
    return Outputs(raw, numbers, symbols, named, texts, any(batch.ragged for batch in read))


def _split(outputs: Outputs, at_once: bool = True) -> list[Part]:
    """Return the rows of each structure as a batch of their own, with their numbers; `at_once`: only where they mix."""
    is_list = isinstance(outputs.raw, (list, tuple)) or outputs.raw.dtype == object
    if not is_list or (at_once and not outputs.mixed):
        return [(np.arange(len(outputs)), replace(outputs, mixed=False))]
    alike: dict[Any, list[int]] = {}
    for row, value in enumerate(outputs.raw):
        alike.setdefault(read_layout(value), []).append(row)
    of_batch = {name: kept for name, kept in outputs.texts.items() if name == "type(outputs)"}
    parts = []
    for rows in alike.values():
        part = encode([outputs.raw[row] for row in rows], len(rows))
        texts = {**part.texts, **{name: kept[rows] for name, kept in of_batch.items()}}
        parts.append((np.array(rows), replace(part, texts=texts, mixed=False)))
    return parts


def _widen(block: np.ndarray | None, width: int, size: int) -> np.ndarray:
    """Return a column of that many numbers in a row; 0 stands for those that the rows do not have."""
    shape = (size, width) if width else (size,)
    if block is None or block.shape == shape:
        return np.broadcast_to(0.0, shape) if block is None else block
    wide = np.zeros(shape)
    wide[:, : block.shape[1] if block.ndim > 1 else 1] = block.reshape(size, -1)
    return wide


def _join_raw(parts: Sequence[Any]) -> Any:
    if (
        all(isinstance(part, np.ndarray) for part in parts)
        and len({(part.shape[1:], part.dtype) for part in parts}) == 1
    ):
        return np.concatenate(parts)
    return [row for part in parts for row in part]


def _reshape(batch: Outputs, shape: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of a batch, in the shape that others have if it holds nothing but symbols."""
    return batch.numbers if batch.numbers.shape[1:] == shape else np.full((len(batch), *shape), np.nan)


def _make_no_texts(size: int) -> Texts:
    return Texts((), np.broadcast_to(np.int64(-1), size))


@dataclass(frozen=True)
class Repeats:
    """Count how values repeat: outputs, different values, and outputs whose value occurs fewer than `least` times."""

    outputs: Count
    different: Count
    rare: Count
    least: Annotated[int, Limits(least=2)]

    def __post_init__(self) -> None:
        most = self.rare + (self.outputs - self.rare) // self.least
        if not (self.rare <= self.outputs and self.different <= most):
            raise InvalidArgument.of("different", f"be at most {most}, as often as the others occur", self.different)

    @property
    def share(self) -> float:
        """The share of outputs whose value is rare."""
        return self.rare / max(1, self.outputs)


@dataclass(frozen=True)
class OutputForm:
    """Describe the parts of the training outputs, from which follows the coverage that a game may claim."""

    columns: Count = 0  # in which they were read, codes of texts among them; 0 where none held a number
    fractional: bool = False  # whether some are floating-point numbers that are not whole
    values: Repeats | None = None  # of whole outputs; None where they hardly repeat
    places: Count = 0  # of texts
    texts: Mapping[str, Repeats] = field(default_factory=dict)  # in each place; those that occur once are rare
    coarse: Mapping[str, Nonnegative] = field(default_factory=dict)  # places of coarse noise, how many values it takes

    def __post_init__(self) -> None:
        if len(self.texts) != self.places:
            raise InvalidArgument.of("texts", f"hold {self.places} places", list(self.texts))

    @property
    def is_counted(self) -> bool:
        """True if some score counts all values, so that no difference escapes it."""
        return self.values is not None and self.values.share <= MOST_RARE

    @property
    def unread(self) -> tuple[str, ...]:
        """The places of the output that no score reads: their texts hardly repeat, or their noise is coarse."""
        said = (f"{place}, which takes about {values:,.2g} values" for place, values in self.coarse.items())
        return (*(place for place, repeats in self.texts.items() if repeats.share > _SEEN_ONCE), *said)


def count_texts(
    sides: Sequence[Outputs], read: Sequence[Outputs], coded: Sequence[str], structured: Sequence[str] = ()
) -> dict[str, Repeats]:
    """Return how texts repeat in each place of the outputs, as `output["name"]`.

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
    counted = [(_find_place(name), _count_repeats(_list_texts(sides, name), size)) for name in coded]
    if symbols := [outputs.symbols for outputs in read if outputs.symbols is not None]:
        counted.append(("output", _count_repeats(symbols, size, structured)))
    return dict(sorted(counted, key=lambda each: each[1].rare))  # of one place, as a text and its type, the rarest


def _list_texts(sides: Sequence[Outputs], name: str) -> Iterator[Texts]:
    return (side.texts[name] for side in sides if name in side.texts)


def _count_repeats(parts: Iterable[Texts], size: int, structured: Sequence[str] = ()) -> Repeats:
    seen: Counter[str] = Counter()
    for texts in parts:
        for code, number in Counter(texts.codes.tolist()).items():
            if code >= 0 and not texts.table[code].startswith(tuple(structured)):
                seen[texts.table[code]] += number
    return Repeats(size, len(seen), sum(number == 1 for number in seen.values()), 2)


def _find_place(name: str) -> str:
    about = _ABOUT.fullmatch(name)
    return about[1] if about else name
