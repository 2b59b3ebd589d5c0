"""Tell outputs apart: a text that differs wherever a caller could see a difference in the returned value.

Types, order, length, bit patterns and attributes all count, also those that `repr` hides; docs/outputs.md lists what
does not. Code of the output is run only where nothing else shows its content.
"""

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.outputs.walk import (
    CLASS,
    CONTENT,
    COPY,
    FIELD,
    SCALARS,
    VALUE,
    CannotKeep,
    Visitor,
    find_shape,
    is_opaque,
    name_place,
    name_type,
    read_copied,
    read_fields,
    take_apart,
)
from audit.text import describe_error

RAISED = "raised "  # how the text of an output begins that is an exception; that of a text is in quotes
_SHOWN = 200  # characters of an output that are shown; a digest stands for the rest
_SHOWN_ENTRIES = 32  # of an array; a digest stands for more
_FLAGS = SCALARS - {float}  # of one type, equal ones are the same


@dataclass(frozen=True)
class Raised:
    """Stands in a batch for an output that was never returned because the call raised."""

    error: BaseException

    def __str__(self) -> str:
        error, said = self.error, describe_error(self.error)
        says_all = error.args in ((), (said,)) and not read_fields(error) and not (error.__cause__ or error.__context__)
        whole = said if says_all else identify(error)
        return f"{RAISED}{type(error).__name__}: {shorten(said, whole)}"


def identify(value: Any, place: str = "") -> str:
    """Return a text that is equal for outputs that a caller cannot tell apart, and different for all others.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read: open files, generators, sources of randomness, locks.
    """
    try:
        return "".join(_Identity().visit(value, "output"))
    except RecursionError:
        raise CannotKeep(f"output{place} is nested deeper than {_Identity.deepest} levels") from None
    except CannotKeep as cause:
        raise CannotKeep(str(cause).replace("output", f"output{place}", 1)) from None


def make_text_reader(place: str = "") -> Callable[[Any], str]:
    """Return a function that gives the short text of a value; transcripts of flags repeat, and each is read once."""
    known: dict[tuple[Any, tuple[type, ...]], str] = {}  # values that are equal may differ in type

    def text_of(value: Any) -> str:
        if type(value) is not tuple or not _FLAGS.issuperset(kinds := tuple(map(type, value))):
            return shorten(identify(value, place))
        if (key := (value, kinds)) not in known:
            known[key] = shorten(identify(value))
        return known[key]

    return text_of


def shorten(text: str, whole: str | None = None) -> str:
    """Return a short text, with a digest of the whole when it does not say all."""
    if len(text) <= _SHOWN and whole in (None, text):
        return text
    digest = hashlib.sha256((whole or text).encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{text[:_SHOWN]}... sha256 {digest}" if len(text) > _SHOWN else f"{text} (sha256 {digest})"


class _Identity(Visitor[str]):
    """Yield the text of a value bit by bit."""

    def read_scalar(self, value: Any, place: str) -> str:
        return _write_scalar(value)

    def meet_again(self, place: str, first: str) -> str:
        return f"<same as {first}>"

    def open(self, value: Any, place: str, depth: int) -> Iterator[str]:
        shape = find_shape(value)
        opening, closing = _begin_and_end(value, shape)
        yield opening
        if shape == "sequence" and SCALARS.issuperset(map(type, value)):  # thousands of entries: no generator for each
            yield ", ".join(map(_write_scalar, value))
        elif shape == "set":
            yield ", ".join(sorted("".join(self.visit(entry, place, depth)) for entry in value))
        else:
            yield from self._read_parts(value, place, depth)
        yield closing

    def _read_parts(self, value: Any, place: str, depth: int) -> Iterator[str]:
        try:
            parts = take_apart(value)
            if find_shape(value) == "object" and (is_opaque(value) or all(part[0] == CLASS for part in parts)):
                parts = [*parts, *read_copied(value)]
        except CannotKeep as cause:
            raise CannotKeep(f"{place} {cause}") from None
        for number, (role, name, part) in enumerate(parts):
            if role == COPY and callable(part):
                yield f", {getattr(part, '__module__', '')}.{getattr(part, '__qualname__', name_type(part))}"
                continue
            yield _BEFORE[role].format(name) if role in _BEFORE else ", " if number else ""
            yield from self.visit(part, name_place(place, role, name), depth)


_BEFORE = {VALUE: ": ", FIELD: ", {}=", CONTENT: "", CLASS: "", COPY: ", "}  # text before a part; else a comma


def _begin_and_end(value: Any, shape: str) -> tuple[str, str]:
    """Return how the text of a value begins and ends."""
    if shape == "sequence":
        return ("[", "]") if type(value) is list else ("(", ", )" if value else ")")
    if shape in ("code", "method"):
        return "(", ", )"
    if shape == "mapping":
        return "{", "}"
    if shape == "set":
        return f"{type(value).__name__}({{", "})"
    if shape == "scalar":
        return f"complex({_write_float(value.real)}, {_write_float(value.imag)})", ""
    if shape in ("class", "module", "built-in"):
        module = "" if shape == "module" else f"{value.__module__}."
        return f"<{shape} {module}{value.__name__ if shape == 'module' else value.__qualname__}>", ""
    if shape == "function":
        return f"<function {value.__module__}.{value.__qualname__} (", ", )>"
    if shape == "array":
        return _write_array(value), ")"
    return ("", "") if shape == "cell" else (f"{name_type(value)}(", ")")


def _write_array(value: Any) -> str:
    array = np.asarray(value)
    kind = array.dtype.str if array.dtype.names is None else array.dtype
    name = name_type(value) if type(value) is not np.ndarray else "array"
    begun = f"{name}({kind}, {array.shape}{describe_memory(array)}, "
    if array.dtype.hasobject:
        return begun
    if array.dtype in (np.longdouble, np.clongdouble) or array.size <= _SHOWN_ENTRIES:
        return begun + str([_write_entry(entry) for entry in array.ravel()])
    fields = [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]  # no padding
    return begun + hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in fields)).hexdigest()


def _write_scalar(value: Any) -> str:
    return _write_float(value) if type(value) is float else repr(value)


def _write_float(value: float) -> str:
    if value == value:
        return repr(value)
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return "nan" if bits == 0x7FF8000000000000 else f"nan with bits 0x{bits:016x}"


def _write_entry(entry: Any) -> str:
    if isinstance(entry, (np.longdouble, np.clongdouble)):
        return repr(entry)
    item = entry.item() if isinstance(entry, np.generic) else entry
    return _write_float(item) if isinstance(item, float) else repr(item)


def describe_memory(array: np.ndarray) -> str:
    """Return how an array lies in memory, the metadata of its type, and whether it can be written; nothing if usual."""
    flags = array.flags
    order = "" if flags.c_contiguous else ", Fortran order" if flags.f_contiguous else f", strides {array.strides}"
    kept = f", metadata {identify(dict(array.dtype.metadata))}" if array.dtype.metadata else ""
    return f"{order}{kept}" if flags.writeable else f"{order}{kept}, read-only"
