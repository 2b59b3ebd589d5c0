"""Take Python objects apart: the one place that knows the parts of a value of any type.

`take_apart` gives the parts of one value, `read_copies` those that pickle makes copies of. A `Visitor` goes through all
of them in order, with places, a memory, and a limit; its result for each value is its own: a text that identifies it
(`fingerprint`), or the layout of its columns (`schema`).

The text of a value differs wherever a caller could see a difference in it: types, order, length, bit patterns and
attributes all count, also those that `repr` hides; docs/outputs.md lists the exceptions. Code of the output is run only
where nothing else shows its content.
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
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from audit.outputs.tables import is_foreign, read_entries, read_form
from audit.text import describe_error

SCALARS = frozenset((type(None), bool, int, float, str, bytes))
ENTRY, KEY, VALUE, CONTENT, FIELD = "entry", "key", "value", "content", "field"
CLASS, CODE, COPY = "class", "code", "copy"
Part = tuple[str, Any, Any]  # one of these, the number or the name, and its content
T = TypeVar("T")

_LIVE = (io.IOBase, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType, memoryview)
_SOURCES = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_UNSHARED = frozenset((complex, tuple, frozenset, type, types.CellType))  # identity does not show
_CONTENT = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_BUILT_IN = frozenset((list, tuple, dict))
_OF_NUMPY = ("_mask", "_basedict", "_optinfo")  # how fields begin that NumPy keeps for itself
_OF_C = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
)
_OF_CLASSES = {  # `copyreg` notes the slots of a class when one of its objects is first pickled
    *("__module__", "__qualname__", "__dict__", "__weakref__", "__slots__", "__slotnames__", "__annotations__"),
    *("__firstlineno__", "__static_attributes__", "__orig_bases__", "__parameters__", "__hash__", "__match_args__"),
    *("__dataclass_fields__", "__dataclass_params__", "__abstractmethods__", "__annotate__", "__type_params__"),
}


class CannotKeep(Exception):
    """An output holds something whose content cannot be read without changing it; the text names it and its place."""


def find_shape(value: Any) -> str:
    """Return which way a value is taken apart; its type alone decides."""
    kind: type = type(value)
    return _find_shape(kind)


@lru_cache(maxsize=4096)
def _find_shape(kind: type) -> str:
    for base, shape, _ in _SHAPES:
        if kind is base if base in _OF_ONE_TYPE else issubclass(kind, base):
            return shape
    return "table" if is_foreign(kind) else "object"


def take_apart(value: Any) -> Iterable[Part]:
    """Return the parts of a value, in its order; no code of the value is run.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read without changing it.
    """
    return _TAKERS[find_shape(value)](value)


def read_copies(value: Any) -> list[Part]:
    """Return the parts that copies of a value are made of, as pickle does; `CannotKeep` where it makes none."""
    try:
        reduced = value.__reduce_ex__(4)
    except Exception as error:  # its own code, which may raise anything
        raise _refuse(value, f"cannot be read completely ({error!r})"[:200]) from None
    parts = [reduced] if isinstance(reduced, str) else reduced
    return [(COPY, "", list(part) if isinstance(part, Iterator) else part) for part in parts if part is not None]


def is_opaque(value: Any) -> bool:
    """Return whether a class written in C, beside those whose content is read directly, may hold more."""
    known = (object, types.SimpleNamespace, *_CONTENT)  # a namespace has nothing but its attributes
    return any(not is_written_in_python(kind) and kind not in known for kind in type(value).__mro__)


def walk(value: Any) -> Iterator[Any]:
    """Yield a value and all that it holds at any depth, each object once; classes and code aside."""
    left, known = [value], {}
    while left:
        part = left.pop()
        if id(part) in known or isinstance(part, type):
            continue
        known[id(part)] = part
        yield part
        with suppress(CannotKeep):
            left += [held for role, _, held in take_apart(part) if role not in (CLASS, CODE)]


class Visitor(Generic[T]):
    """Go through a value in order; an object that occurs twice is a reference the second time, so that circles end."""

    deepest = 200  # levels of nesting

    def __init__(self) -> None:
        self.known: dict[int, tuple[str, Any]] = {}  # by identity: the place, and the object, so that it stays alive

    def visit(self, value: Any, place: str, depth: int = 0) -> Iterator[T]:
        kind = type(value)
        if kind in SCALARS:
            yield self.read_scalar(value, place)
        elif id(value) in self.known:
            yield self.meet_again(place, self.known[id(value)][0])
        elif depth >= self.deepest:
            yield self.stop(value, place)
        else:
            if kind not in _UNSHARED and not issubclass(kind, np.generic):
                self.known[id(value)] = (place, value)
            yield from self.open(value, place, depth + 1)

    def visit_parts(self, parts: Iterable[Part], place: str, depth: int) -> Iterator[T]:
        for role, name, part in parts:
            yield from self.visit(part, name_place(place, role, name), depth)

    def read_scalar(self, value: Any, place: str) -> T:
        raise NotImplementedError

    def meet_again(self, place: str, first: str) -> T:
        raise NotImplementedError

    def stop(self, value: Any, place: str) -> T:
        raise CannotKeep(f"output is nested deeper than {self.deepest} levels")

    def open(self, value: Any, place: str, depth: int) -> Iterator[T]:
        return self.visit_parts(take_apart(value), place, depth)


def name_place(place: str, role: str, name: Any) -> str:
    """Return the place of a part, such as `output["x"].mean[0]`."""
    if role == ENTRY or (role == VALUE and isinstance(name, (str, int))):
        return f"{place}[{name!r}]"
    if role == FIELD:
        return f"{place}.{name}"
    if role == CONTENT:
        return f"{place}{name}"
    return f"a key of {place}" if role == KEY else f"type({place})" if role == CLASS else place


def read_fields(value: Any) -> dict[str, Any]:
    """Return the attributes that an object itself holds, in `__dict__` or in slots, whatever its class says."""
    kind: type = type(value)
    fields: dict[str, Any] = {}
    for name, member in _list_slots(kind):
        with suppress(AttributeError):  # a slot that was never set
            fields[name] = member.__get__(value)
    with suppress(AttributeError):
        fields.update(object.__getattribute__(value, "__dict__"))
    if isinstance(value, np.ndarray):
        return {name: part for name, part in fields.items() if not name.startswith(_OF_NUMPY)}
    return fields


@lru_cache(maxsize=4096)
def _list_slots(kind: type) -> list[tuple[str, types.MemberDescriptorType]]:
    """Return the slots of the classes written in Python that a type is derived from."""
    members = chain.from_iterable(vars(base).items() for base in reversed(kind.__mro__) if is_written_in_python(base))
    return [
        (name, member)
        for name, member in members
        if isinstance(member, types.MemberDescriptorType) and name not in ("__dict__", "__weakref__")
    ]


@lru_cache(maxsize=4096)
def _find_content_type(kind: type) -> Any:
    """Return the built-in type that a type is or is derived from; None if it is not."""
    return next((base for base in _CONTENT if issubclass(kind, base)), None)


def _read_content(value: Any, base: Any) -> Any:
    """Return the content of an instance of a built-in type as that type has it, whatever its class says."""
    if base in (bool, int):
        return int.__index__(value)
    if base in (float, str):
        return getattr(base, f"__{base.__name__}__")(value)
    if base is complex:
        return complex(float.__float__(value.real), float.__float__(value.imag))
    if base in (bytes, bytearray):
        return bytes(base.__getitem__(value, slice(None)))
    return dict(dict.items(value)) if base is dict else base(base.__iter__(value))


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


def read_class(kind: type) -> dict[str, Any]:
    """Return the attributes of classes outside of libraries: `Model.n = len(data)` shows in every instance.

    Functions, properties and descriptors of libraries are code; one of the author's own may keep something, like state.
    """
    state: dict[str, Any] = {}
    for base in _list_own_classes(kind) if kind not in _BUILT_IN else ():
        for name, member in vars(base).items():
            made: type = type(member)
            if not (name in _OF_CLASSES or _is_code(made) or name.startswith("_abc_")):
                state[name] = member
    return state


@lru_cache(maxsize=4096)
def _list_own_classes(kind: type) -> list[type]:
    return [base for base in reversed(kind.__mro__) if not _is_of_library(base)]


@lru_cache(maxsize=4096)
def _is_code(made: type) -> bool:
    """Test whether members of a type are part of the code of a class."""
    return hasattr(made, "__get__") and (_is_of_library(made) or not is_written_in_python(made))


@lru_cache(maxsize=4096)
def _is_of_library(kind: type) -> bool:
    """Test whether a class is the one that an installed module has under its name."""
    known: Any = (module := sys.modules.get(str(kind.__module__)))
    for name in kind.__qualname__.split("."):
        known = getattr(known, name, None)
    if known is not kind:
        return False
    top, file = str(kind.__module__).partition(".")[0], str(getattr(module, "__file__", ""))
    return top in sys.stdlib_module_names or "site-packages" in file or "dist-packages" in file or top == "audit"


def name_type(value: Any) -> str:
    """Return the name of a value's type, with its module unless it is a built-in one; what was raised by its error."""
    if type(value) is Raised:
        return f"{Raised.begins}{name_type(value.error)}"
    module, name = (type.__getattribute__(type(value), key) for key in ("__module__", "__qualname__"))
    return str(name) if module == "builtins" else f"{module}.{name}"


def _refuse(value: Any, why: str) -> CannotKeep:
    return CannotKeep(f"is a {name_type(value)}, which {why}")


def _take_live(value: Any) -> list[Part]:
    if not isinstance(value, types.CoroutineType):
        hint = ": return list(...) of it" if isinstance(value, types.GeneratorType) else ""
        raise _refuse(value, f"cannot be read completely{hint}")
    value.close()  # else Python warns of this package that nobody awaited it
    hint = "await it, as in per_call(lambda data: asyncio.run(query(data)))"
    raise _refuse(value, f"cannot be read completely: {hint}")


def _take_source(value: Any) -> list[Part]:
    raise _refuse(value, "could be rewound")


def _take_entries(value: Any) -> Iterator[Part]:
    return ((ENTRY, index, entry) for index, entry in enumerate(value))


def _take_items(value: Any) -> Iterator[Part]:
    for number, (key, entry) in enumerate(value.items()):
        yield KEY, number, key
        yield VALUE, key, entry


def _take_array(value: Any) -> list[Part]:
    array = np.asarray(value)
    parts = [(CONTENT, "", array.ravel().tolist())] if array.dtype.hasobject else []
    if isinstance(value, np.ma.MaskedArray):
        return [*parts, (CONTENT, "", (np.ma.getmaskarray(value), value.fill_value))]
    own = read_fields(value) if isinstance(value, np.ndarray) and type(value) is not np.ndarray else {}
    return [*parts, (CONTENT, "", own)] if own else parts


def _take_class(kind: type, role: str = CONTENT) -> list[Part]:
    state = read_class(kind)
    return [(role, "", state)] if state else []


def _take_function(value: types.FunctionType) -> list[Part]:
    held = value.__closure__ or (), value.__defaults__, value.__kwdefaults__, vars(value), value.__doc__
    return [(CODE, "__code__", value.__code__), *((ENTRY, number, part) for number, part in enumerate(held))]


def _take_cell(cell: types.CellType) -> list[Part]:
    with suppress(ValueError):  # empty: a name that is bound later
        return [(CONTENT, "", cell.cell_contents)]
    return []


def _take_exception(error: BaseException) -> list[Part]:
    others = ("cause", error.__cause__), ("context", error.__context__)
    told = [(FIELD, name, other) for name, other in others if other is not None]
    return [(CONTENT, ".args", (list(error.args), read_fields(error))), *told]


def _take_table(value: Any) -> list[Part]:
    """Take a table of pandas, Arrow or polars apart; its own attributes are caches and references."""
    entries = read_entries([value])
    if entries is None:
        raise _refuse(value, "cannot be read completely")
    return [(CONTENT, "", [read_form(value), entries])]


def _take_object(value: Any) -> list[Part]:
    kind: type = type(value)
    base = _find_content_type(kind)
    content = [] if base is None else [(CONTENT, "", _read_content(value, base))]
    fields = ((FIELD, name, part) for name, part in read_fields(value).items())
    return [*content, *fields, *_take_class(kind, CLASS)]


_SHAPES: tuple[tuple[Any, str, Callable[[Any], Iterable[Part]]], ...] = (  # the first that fits
    *((kind, "scalar", lambda value: ()) for kind in (*SCALARS, complex)),
    (list, "sequence", _take_entries),
    (tuple, "sequence", _take_entries),
    (dict, "mapping", _take_items),
    (set, "set", _take_entries),
    (frozenset, "set", _take_entries),
    (_LIVE, "live", _take_live),
    (_SOURCES, "source", _take_source),
    ((np.ndarray, np.generic), "array", _take_array),
    (type, "class", _take_class),
    (types.ModuleType, "module", lambda value: ()),
    (types.BuiltinFunctionType, "built-in", lambda value: ()),
    (types.FunctionType, "function", _take_function),
    (types.CodeType, "code", lambda code: _take_entries((code.co_code, code.co_consts, code.co_names))),
    (types.MethodType, "method", lambda method: _take_entries((method.__func__, method.__self__))),
    (types.CellType, "cell", _take_cell),
    (BaseException, "exception", _take_exception),
)
_OF_ONE_TYPE = frozenset((*SCALARS, complex, list, tuple, dict, set, frozenset))  # whose subclasses are objects
_TAKERS = {shape: taker for _, shape, taker in _SHAPES} | {"table": _take_table, "object": _take_object}


_SHOWN = 200  # characters of an output that are shown; a digest stands for the rest
_SHOWN_ENTRIES = 32  # of an array; a digest stands for more
_FLAGS = SCALARS - {float}  # of one type, equal ones are the same


@dataclass(frozen=True)
class Raised:
    """Stands in a batch for an output that was never returned because the call raised."""

    error: BaseException

    begins: ClassVar[str] = "raised "  # its text; that of a text is in quotes

    def __str__(self) -> str:
        error, said = self.error, describe_error(self.error)
        says_all = error.args in ((), (said,)) and not read_fields(error) and not (error.__cause__ or error.__context__)
        whole = said if says_all else identify(error)
        return f"{self.begins}{type(error).__name__}: {shorten(said, whole)}"


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
                parts = [*parts, *read_copies(value)]
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
