"""Tell outputs apart: a text that differs wherever a caller could see a difference in the returned value.

Types, order, length, bit patterns and attributes all count, also those that `repr` hides; docs/outputs.md says what
does not. Code of the output is run only where nothing else shows its content.
"""

import hashlib
import io
import random
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from audit.outputs.tables import entries_of, form_of, is_arrow, is_polars, is_table
from audit.text import described

RAISED = "raised "  # how the text of an output begins that is an exception; that of a text is in quotes
_DEEPEST = 200  # levels of nesting
_SHOWN = 200  # characters of an output that are shown; a digest stands for the rest
_SHOWN_ENTRIES = 32  # of an array; a digest stands for more
_LIVE = (io.IOBase, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType, memoryview)
_SOURCES = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_OF_C = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
)
_OF_CLASSES = frozenset(  # `copyreg` notes the slots of a class when one of its objects is first pickled
    ("__module__", "__qualname__", "__dict__", "__weakref__", "__slots__", "__slotnames__", "__annotations__")
)
_OF_CLASSES |= {
    "__firstlineno__",
    "__static_attributes__",
    "__orig_bases__",
    "__parameters__",
    "__hash__",
    "__match_args__",
}
_OF_CLASSES |= {
    "__dataclass_fields__",
    "__dataclass_params__",
    "__abstractmethods__",
    "__annotate__",
    "__type_params__",
}
_BUILT_IN = frozenset((list, tuple, dict))
_SCALARS = frozenset((type(None), bool, int, float, str, bytes))
_FLAGS = _SCALARS - {float}  # of one type, equal ones are the same
_CONTENT = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)


class CannotKeep(Exception):
    """An output holds something whose content cannot be read without changing it; the text says what and where."""


@dataclass(frozen=True)
class Raised:
    """Stands in a batch for an output that was never returned because the call raised."""

    error: BaseException

    def __str__(self) -> str:
        error, said = self.error, described(self.error)
        says_all = error.args in ((), (said,)) and not fields_of(error) and not (error.__cause__ or error.__context__)
        whole = said if says_all else identify(error)
        return f"{RAISED}{type(error).__name__}: {shortened(said, whole)}"


def identify(value: Any, place: str = "") -> str:
    """Return a text that is equal for outputs that a caller cannot tell apart, and different for all others.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read: open files, generators, sources of randomness, locks.
    """
    try:
        return "".join(_Reader().texts(value, "output", 0))
    except RecursionError:
        raise CannotKeep(f"output{place} is nested deeper than {_DEEPEST} levels") from None
    except CannotKeep as cause:
        raise CannotKeep(str(cause).replace("output", f"output{place}", 1)) from None


def text_reader(place: str = "") -> Callable[[Any], str]:
    """Return a function that gives the short text of a value; transcripts of flags repeat, and each is read once."""
    known: dict[tuple[Any, tuple[type, ...]], str] = {}  # values that are equal may differ in type

    def text_of(value: Any) -> str:
        if type(value) is not tuple or not _FLAGS.issuperset(kinds := tuple(map(type, value))):
            return shortened(identify(value, place))
        if (key := (value, kinds)) not in known:
            known[key] = shortened(identify(value))
        return known[key]

    return text_of


def shortened(text: str, whole: str | None = None) -> str:
    """Return a short text, with a digest of the whole when it does not say all."""
    if len(text) <= _SHOWN and whole in (None, text):
        return text
    digest = hashlib.sha256((whole or text).encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{text[:_SHOWN]}... sha256 {digest}" if len(text) > _SHOWN else f"{text} (sha256 {digest})"


def type_name(value: Any) -> str:
    """Return the name of a value's type, with its module unless it is a built-in one."""
    kind = type(value)
    module, name = (type.__getattribute__(kind, key) for key in ("__module__", "__qualname__"))
    return str(name) if module == "builtins" else f"{module}.{name}"


def fields_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object itself holds, in `__dict__` or in slots, whatever its class says."""
    found: dict[str, Any] = {}
    for kind in filter(is_written_in_python, reversed(type(value).__mro__)):
        for name, member in vars(kind).items():
            if isinstance(member, types.MemberDescriptorType) and name not in ("__dict__", "__weakref__"):
                with suppress(AttributeError):  # a slot that was never set
                    found[name] = member.__get__(value, kind)
    with suppress(AttributeError):
        found.update(object.__getattribute__(value, "__dict__"))
    return found


class _Reader:
    """Read one output; an object that occurs twice is a reference the second time, so that circles end."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[str, Any]] = {}  # by identity: the place, and the object, so that it stays alive

    def texts(self, value: Any, place: str, depth: int) -> Iterator[str]:
        kind = type(value)
        if kind in _SCALARS:
            yield _scalar_text(value)
        elif kind is complex:
            yield f"complex({_float_text(value.real)}, {_float_text(value.imag)})"
        elif isinstance(value, (*_LIVE, *_SOURCES)):
            said = "could be rewound" if isinstance(value, _SOURCES) else "cannot be looked at whole"
            hint = ""
            if isinstance(value, types.CoroutineType):
                value.close()  # else Python warns of this package that nobody awaited it
                hint = ": await it, as in per_call(lambda data: asyncio.run(query(data)))"
            raise CannotKeep(f"{place} is a {type_name(value)}, which {said}{hint}")
        elif id(value) in self.known:
            yield f"<same as {self.known[id(value)][0]}>"
        elif depth >= _DEEPEST:
            raise CannotKeep(f"output is nested deeper than {_DEEPEST} levels")
        else:
            if kind not in (tuple, frozenset, type):
                self.known[id(value)] = (place, value)
            yield from self._compound(value, place, depth + 1)

    def _compound(self, value: Any, place: str, depth: int) -> Iterator[str]:
        kind = type(value)
        if kind in (list, tuple):
            opening, closing = "[]" if kind is list else "()"
            yield opening
            if _SCALARS.issuperset(map(type, value)):  # thousands of entries: no generator for each
                yield ", ".join(map(_scalar_text, value))
            else:
                for index, entry in enumerate(value):
                    yield ", " if index else ""
                    yield from self.texts(entry, f"{place}[{index}]", depth)
            yield ", " if kind is tuple and value else ""
            yield closing
        elif kind is dict:
            yield from self._mapping(value.items(), place, depth)
        elif kind in (set, frozenset):
            yield f"{kind.__name__}({{"
            yield ", ".join(sorted("".join(self.texts(entry, place, depth)) for entry in value))
            yield "})"
        elif isinstance(value, (np.ndarray, np.generic)):
            yield from self._array(value, place, depth)
        elif isinstance(value, type):
            yield f"<class {value.__module__}.{value.__qualname__}>"
            if state := class_state(value):
                yield from self._mapping(state.items(), place, depth)
        elif isinstance(value, types.ModuleType):
            yield f"<module {value.__name__}>"
        elif isinstance(value, types.FunctionType):
            yield f"<function {value.__module__}.{value.__qualname__} "
            cells = list(cell_contents(value))
            parts = value.__code__, value.__defaults__, value.__kwdefaults__, cells, vars(value), value.__doc__
            yield from self.texts(parts, place, depth)
            yield ">"
        elif isinstance(value, types.CodeType):
            yield from self.texts((value.co_code, value.co_consts, value.co_names), place, depth)
        elif isinstance(value, types.MethodType):
            yield from self.texts((value.__func__, value.__self__), place, depth)
        elif isinstance(value, types.BuiltinFunctionType):
            yield f"<built-in {value.__module__}.{value.__qualname__}>"
        elif isinstance(value, BaseException):
            yield from self._exception(value, place, depth)
        elif is_table(kind) or is_arrow(kind) or is_polars(kind):
            yield from self._table(value, place, depth)
        else:
            yield from self._object(value, place, depth)

    def _table(self, value: Any, place: str, depth: int) -> Iterator[str]:
        """Read a table of pandas, Arrow or polars, whose own attributes are caches and references."""
        yield f"{type_name(value)}("
        entries = entries_of([value])
        if entries is None:
            raise CannotKeep(f"{place} is a {type_name(value)}, which cannot be looked at whole")
        yield from self.texts([form_of(value), entries], place, depth)
        yield ")"

    def _mapping(self, items: Iterable[tuple[Any, Any]], place: str, depth: int) -> Iterator[str]:
        yield "{"
        for number, (key, entry) in enumerate(items):
            yield ", " if number else ""
            yield from self.texts(key, f"a key of {place}", depth)
            yield ": "
            yield from self.texts(entry, f"{place}[{key!r}]" if isinstance(key, (str, int)) else place, depth)
        yield "}"

    def _array(self, value: Any, place: str, depth: int) -> Iterator[str]:
        array = np.asarray(value)
        name = type_name(value) if type(value) is not np.ndarray else "array"
        kind = array.dtype.str if array.dtype.names is None else array.dtype
        yield f"{name}({kind}, {array.shape}{layout_of(array)}, "
        if array.dtype.hasobject:
            yield from self.texts(array.ravel().tolist(), place, depth)
        elif array.dtype in (np.longdouble, np.clongdouble) or array.size <= _SHOWN_ENTRIES:
            yield str([_entry_text(entry) for entry in array.ravel()])
        else:
            fields = [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]  # no padding
            yield hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in fields)).hexdigest()
        if isinstance(value, np.ma.MaskedArray):
            yield from self.texts((np.ma.getmaskarray(value), value.fill_value), place, depth)
        extra = fields_of(value) if isinstance(value, np.ndarray) and type(value) is not np.ndarray else {}
        extra = {key: entry for key, entry in extra.items() if not key.startswith(("_mask", "_basedict", "_optinfo"))}
        if extra and not isinstance(value, np.ma.MaskedArray):
            yield from self._mapping(extra.items(), place, depth)
        yield ")"

    def _exception(self, error: BaseException, place: str, depth: int) -> Iterator[str]:
        yield f"{type_name(error)}("
        yield from self.texts((list(error.args), fields_of(error)), f"{place}.args", depth)
        for name, other in (("cause", error.__cause__), ("context", error.__context__)):
            if other is not None:
                yield f", {name}="
                yield from self.texts(other, f"{place}.__{name}__", depth)
        yield ")"

    def _object(self, value: Any, place: str, depth: int) -> Iterator[str]:
        """Return type, built-in content, and attributes; for what shows neither, the parts that copies are made of."""
        yield f"{type_name(value)}("
        fields, says_content = fields_of(value), True
        try:
            yield from self.texts(content_of(value), place, depth)
        except LookupError:
            says_content = False
        for name, entry in fields.items():
            yield f", {name}="
            yield from self.texts(entry, f"{place}.{name}", depth)
        if state := class_state(type(value)):
            yield from self._mapping(state.items(), f"type({place})", depth)
        if is_opaque(value) or not (says_content or fields):
            yield from self._reduced(value, place, depth)
        yield ")"

    def _reduced(self, value: Any, place: str, depth: int) -> Iterator[str]:
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # its own code, which may raise anything
            raise CannotKeep(
                f"{place} is a {type_name(value)}, which cannot be looked at whole ({error!r})"[:300]
            ) from None
        if isinstance(reduced, str):
            yield f", {reduced}"
            return
        for part in reduced:
            if callable(part):
                yield f", {getattr(part, '__module__', '')}.{getattr(part, '__qualname__', type_name(part))}"
            elif part is not None:
                yield ", "
                yield from self.texts(list(part) if isinstance(part, Iterator) else part, place, depth)


def _scalar_text(value: Any) -> str:
    return _float_text(value) if type(value) is float else repr(value)


def _float_text(value: float) -> str:
    if value == value:
        return repr(value)
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return "nan" if bits == 0x7FF8000000000000 else f"nan with bits 0x{bits:016x}"


def _entry_text(entry: Any) -> str:
    if isinstance(entry, (np.longdouble, np.clongdouble)):
        return repr(entry)
    item = entry.item() if isinstance(entry, np.generic) else entry
    return _float_text(item) if isinstance(item, float) else repr(item)


def layout_of(array: np.ndarray) -> str:
    """Return how an array lies in memory, what its type keeps, and whether it can be written; nothing if usual."""
    flags = array.flags
    order = "" if flags.c_contiguous else ", Fortran order" if flags.f_contiguous else f", strides {array.strides}"
    kept = f", metadata {identify(dict(array.dtype.metadata))}" if array.dtype.metadata else ""
    return f"{order}{kept}" if flags.writeable else f"{order}{kept}, read-only"


def content_of(value: Any) -> Any:
    """Return the built-in content of an instance of a subclass of int, list, str ..., without running its code.

    Raises
    ------
    LookupError
        If it is an instance of none.
    """
    base = next((kind for kind in _CONTENT if isinstance(value, kind)), None)
    if base is None:
        raise LookupError
    if base is bool or base is int:
        return int.__index__(value)
    if base is float:
        return float.__float__(value)
    if base is complex:
        return complex(float.__float__(value.real), float.__float__(value.imag))
    if base is str:
        return str.__str__(value)
    if base is bytes:
        return bytes.__getitem__(value, slice(None))
    if base is bytearray:
        return bytes(bytearray.__getitem__(value, slice(None)))
    if base is dict:
        return dict(dict.items(value))
    kind: Any = base
    return kind(kind.__iter__(value))


def is_opaque(value: Any) -> bool:
    """Return whether a class written in C, beside those whose content is read directly, may hold more."""
    known = (object, types.SimpleNamespace, *_CONTENT)  # a namespace has nothing but its attributes
    return any(not is_written_in_python(kind) and kind not in known for kind in type(value).__mro__)


@lru_cache(maxsize=4096)
def is_written_in_python(kind: type) -> bool:
    """Test whether a class was made by Python: one of C has descriptors of C, also where it is made at run time."""
    if not kind.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
        return False
    members = ((name, member) for name, member in vars(kind).items() if getattr(member, "__objclass__", None) is kind)
    slots = vars(kind).get("__slots__", ())  # pydantic gives its slots names like those of C
    return all(
        name in ("__dict__", "__weakref__", *slots)
        or (isinstance(member, types.MemberDescriptorType) and not (name.startswith("__") and name.endswith("__")))
        or not isinstance(member, _OF_C)
        for name, member in members
    )


def class_state(kind: type) -> dict[str, Any]:
    """Return the attributes of classes outside of libraries: `Model.n = len(data)` shows in every instance.

    Functions, properties and descriptors of libraries are code; one of the author's own may keep something, like state.
    """
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__) if kind not in _BUILT_IN else ():
        if _is_of_library(base):
            continue
        for name, member in vars(base).items():
            made: type = type(member)
            is_code = hasattr(made, "__get__") and (_is_of_library(made) or not is_written_in_python(made))
            if not (is_code or name in _OF_CLASSES or name.startswith("_abc_")):
                found[name] = member
    return found


@lru_cache(maxsize=4096)
def _is_of_library(kind: type) -> bool:
    """Test whether a class is the one that an installed module has under its name."""
    found: Any = (module := sys.modules.get(str(kind.__module__)))
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not kind:
        return False
    top, file = str(kind.__module__).partition(".")[0], str(getattr(module, "__file__", ""))
    return top in sys.stdlib_module_names or "site-packages" in file or "dist-packages" in file or top == "audit"


def cell_contents(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # empty: a name that is bound later
            yield cell.cell_contents
