"""Traced arrays: affine expressions of noise that NumPy code computes with; everything else observes their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.extensions.following.noise import NoiseLaw
from audit.extensions.following.record import Record, Terms, list_codes, simplify

_MOST_TERMS = 200_000  # of one array; above, its parts are observed
_MOST_MULTIPLIED = 50_000  # of a matrix product: beyond it, the noisy factor is observed, as a training loop shows it
_FORBIDDEN = {"data", "ctypes", "base", "strides", "tobytes", "view", "setflags", "dump", "dumps", "tofile", "getfield"}


class _Store:
    """The elements of an array and of its views: constants, places of noise and their coefficients."""

    def __init__(self, constants: np.ndarray, places: np.ndarray, weights: np.ndarray) -> None:
        self.constants, self.places, self.weights = constants, places, weights

    def replace(self, at: np.ndarray, terms: Terms) -> None:
        """Write expressions into elements."""
        constants, places, weights = terms
        more = places.shape[1] - self.places.shape[1]
        if more > 0:
            self.places = np.pad(self.places, ((0, 0), (0, more)))
            self.weights = np.pad(self.weights, ((0, 0), (0, more)))
        self.constants[at] = constants
        self.weights[at] = 0.0
        self.places[at, : places.shape[1]] = places
        self.weights[at, : places.shape[1]] = weights
        if not places.shape[1] and not self.weights.any():  # all is known now, and expressions of it stay narrow
            self.places, self.weights = self.places[:, :0], self.weights[:, :0]


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of affine expressions of noise. It owns no buffer of numbers."""

    __array_priority__ = 1e9
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, record: Record, store: _Store, index: np.ndarray, integer: bool = False) -> None:
        self._record, self._store, self._index, self._integer = record, store, index, integer

    shape = property(lambda self: self._index.shape)
    ndim = property(lambda self: self._index.ndim)
    size = property(lambda self: self._index.size)
    dtype = property(lambda self: np.dtype(np.int64 if self._integer else np.float64))
    stays_integer = property(lambda self: self._record.keeps_integers and self._integer and not self.ndim)
    itemsize = property(lambda self: 8)
    nbytes = property(lambda self: 8 * self.size)
    T = property(lambda self: self._view(self._index.T))

    def _view(self, index: np.ndarray) -> Traced:
        return Traced(self._record, self._store, index, self._integer)

    def _terms(self, shape: tuple[int, ...] | None = None) -> Terms:
        index = self._index if shape is None or shape == self.shape else np.broadcast_to(self._index, shape)
        store, at = self._store, index.ravel()
        return store.constants[at], store.places[at], store.weights[at]

    # shapes and elements

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return len(self._index)

    def __iter__(self) -> Iterator[Traced]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return value in observe(self)

    def __getitem__(self, key: Any) -> Traced:
        index = self._index[observe(key)]
        if isinstance(index, np.ndarray) and index.base is not None and np.may_share_memory(index, self._index):
            return self._view(index)
        return self._view(np.asarray(index)).copy()

    def __setitem__(self, key: Any, value: Any) -> None:
        at = np.asarray(self._index[observe(key)])
        source = trace(self._record, value)
        if self._integer and not source._integer:
            source = trace(self._record, np.asarray(observe(source)).astype(int))
        self._store.replace(at.ravel(), source._terms(at.shape))

    def copy(self, order: str = "C") -> Traced:
        """Return a copy with elements of its own."""
        return build(self._record, self._terms(), self.shape, self._integer)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Any:
        return observe(self) if self._record.is_settling else self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._record.fail("noise is pickled")

    def flatten(self, order: Any = "C") -> Traced:
        """As of an array."""
        return self._view(self._index.ravel(order)).copy()

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """Return a copy of another type; other numbers than float64 observe the values."""
        target = np.dtype(dtype)
        if target == np.float64 or (self._integer and target == np.int64):
            return build(self._record, self._terms(), self.shape, target.kind == "i")
        return np.asarray(observe(self)).astype(target)

    # numbers: each of these is an observation

    def __index__(self) -> int:
        if not self._integer:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(observe(self))

    def __round__(self, digits: int | None = None) -> Any:
        if self.stays_integer and not digits:
            return self
        return round(float(observe(self))) if digits is None else round(observe(self), digits)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(observe(self), dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not (hasattr(np.ndarray, name) or hasattr(np.float64, name)):
            raise AttributeError(name)
        if name in _FORBIDDEN:
            self._record.fail(f".{name} of noise")
        if name in _SHAPES:
            return lambda *args, **options: self._view(getattr(self._index, name)(*observe(args), **options))
        if name in _METHODS:
            function = getattr(np, name)
            return lambda *args, **options: function(self, *args, **options)
        return getattr(observe(self), name)

    def sort(self, axis: int = -1, **options: Any) -> None:
        """Sort in place."""
        self[...] = np.sort(self, axis)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        return apply_ufunc(self._record, ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return apply_function(self._record, function, args, options)


_SHAPES = {"ravel", "squeeze", "transpose", "swapaxes", "reshape"}
_NUMBERS: dict[str, Callable[..., Any]] = {
    "float": float, "int": int, "complex": complex, "bool": bool, "str": str, "repr": repr,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "format": format,
}  # fmt: skip
for _name, _convert in _NUMBERS.items():
    setattr(Traced, f"__{_name}__", lambda self, *form, convert=_convert: convert(observe(self), *form))
_METHODS = {
    "sum", "mean", "dot", "argmax", "argmin", "max", "min", "argsort", "take", "repeat",
}  # fmt: skip


def build(record: Record, terms: Terms, shape: tuple[int, ...], integer: bool = False) -> Traced:
    """Return a traced array of its own elements."""
    constants, places, weights = terms
    store = _Store(np.array(constants, float), np.array(places), np.array(weights, float))
    return Traced(record, store, np.arange(store.constants.size).reshape(shape), integer)


def trace(record: Record, value: Any) -> Traced:
    """Return a number or array as a traced array; one traced already is returned as it is."""
    if isinstance(value, Traced):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        record.fail(f"noise meets {array.dtype} values")
    none = np.zeros((array.size, 0))
    return build(record, (array.ravel(), none.astype(int), none), array.shape, array.dtype.kind in "iub")


def trace_noise(record: Record, first: int, scale: np.ndarray, shape: tuple[int, ...], integer: bool) -> Traced:
    """Return fresh noise times its scale."""
    weights = np.broadcast_to(scale, shape).reshape(-1, 1)
    count = weights.shape[0]
    return build(record, (np.zeros(count), first + np.arange(count)[:, None], weights), shape, integer)


def observe(value: Any) -> Any:
    """Return `value` with plain numbers in place of traced ones, inside lists, tuples and dicts too."""
    if isinstance(value, Traced):
        return _observe_array(value)
    if type(value) in (list, tuple):
        return type(value)(observe(part) for part in value)
    if type(value) is dict:
        return {observe(key): observe(part) for key, part in value.items()}
    if type(value) is slice:
        return slice(observe(value.start), observe(value.stop), observe(value.step))
    return value


def _select_noisy(terms: Terms) -> tuple[np.ndarray, Terms]:
    """Return which expressions contain noise, and these."""
    noisy = (terms[2] != 0).any(axis=1)
    return noisy, terms if noisy.all() else (terms[0][noisy], terms[1][noisy], terms[2][noisy])


def _observe_array(array: Traced) -> Any:
    """Observe the values; afterwards the elements are known numbers, on the other dataset as well."""
    record = array._record
    terms = simplify(array._terms())
    noisy, rows = _select_noisy(terms)
    values = terms[0].copy()
    if noisy.any():
        shown = record.show("value", (array.shape, int(noisy.sum())), lambda: record.evaluate(rows))
        shown.rows = rows
        values[noisy] = shown.result
        none = np.zeros((values.size, 0))
        array._store.replace(array._index.ravel(), (values, none.astype(int), none))
    result = values.reshape(array.shape)
    if array._integer:
        result = np.round(result).astype(np.int64)
    return result if array.shape else result[()]


_COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal)
_VIEWS = {
    "reshape", "transpose", "ravel", "squeeze", "expand_dims", "moveaxis", "swapaxes", "broadcast_to", "split",
    "array_split", "atleast_1d", "atleast_2d", "diagonal", "hsplit", "vsplit",
}  # fmt: skip
_COPIES = {
    "concatenate", "stack", "vstack", "hstack", "column_stack", "tile", "repeat", "roll", "flip", "take",
    "take_along_axis", "copy", "delete", "rot90", "fliplr", "flipud", "dstack",
}  # fmt: skip
_FORMS = {"shape", "ndim", "size", "result_type", "zeros_like", "ones_like", "empty_like", "full_like", "isrealobj",
          "iscomplexobj"}  # fmt: skip


def apply_ufunc(record: Record, ufunc: Any, method: str, inputs: Any, out: Any, options: dict[str, Any]) -> Any:
    """Apply a ufunc; a real buffer that is written to sees the numbers."""
    if any(hasattr(type(value), "_typ") for value in inputs):  # pandas
        return getattr(ufunc, method)(*observe(inputs), **options)
    result = NotImplemented
    if method == "__call__" and set(options) <= {"casting"}:
        result = _call_ufunc(record, ufunc, inputs)
    if result is NotImplemented:
        if out is None:
            return getattr(ufunc, method)(*observe(inputs), **observe(options))
        plain = tuple(observe(target) for target in out)
        getattr(ufunc, method)(*observe(inputs), out=plain, **observe(options))
        result = plain[0]
    if out is None:
        return result
    target = out[0]
    target[...] = result if isinstance(target, Traced) else observe(result)
    return target


def _call_ufunc(record: Record, ufunc: Any, inputs: Any) -> Any:
    first, second = inputs[0], inputs[-1]
    both = isinstance(first, Traced) and isinstance(second, Traced)
    if ufunc in _COMPARISONS:
        return compare(record, first, second, ufunc)
    if ufunc in (np.add, np.subtract):
        return combine(record, first, second, 1.0 if ufunc is np.add else -1.0)
    if ufunc is np.multiply and not both:
        return scale_by(first, second) if isinstance(first, Traced) else scale_by(second, first)
    if ufunc is np.true_divide and not isinstance(second, Traced) and np.all(np.asarray(second) != 0):
        return scale_by(first, second, divide=True)
    if ufunc is np.matmul and not both:
        return multiply_matrices(record, first, second)
    if ufunc in (np.log, np.log1p):
        return _take_log(record, first if ufunc is np.log else combine(record, first, 1.0, 1.0))
    return scale_by(first, -1.0) if ufunc is np.negative else NotImplemented


def _take_log(record: Record, value: Traced) -> Any:
    """Return the logarithm of pure uniform or exponential noise that was not seen: minus noise of another law."""
    constants, places, weights = simplify(value._terms())
    if places.shape[1] != 1 or not constants.size or len(np.unique(places)) != places.size:
        return NotImplemented
    laws = {record.kinds[code].name for code in list_codes(record.codes[places])}
    is_mirrored = laws == {"uniform"} and bool(np.all(constants == 1) and np.all(weights == -1))
    is_pure = not constants.any() and bool(np.all(weights > 0))
    seen = [shown.rows[1] for shown in record.observations if shown.rows is not None]
    if not (is_pure or is_mirrored) or laws not in ({"uniform"}, {"exponential"}) or _meet(places, seen):
        return NotImplemented
    record.take_log(places[:, 0], NoiseLaw("exponential" if laws == {"uniform"} else "gumbel"), is_mirrored)
    moved = np.zeros(len(constants)) if is_mirrored else np.log(weights[:, 0])
    return build(record, (moved, places, -np.ones((len(constants), 1))), value.shape)


def _meet(places: np.ndarray, others: list[np.ndarray]) -> bool:
    return any(np.isin(places, each).any() for each in others)


def combine(record: Record, first: Any, second: Any, sign: float) -> Any:
    """Return `first + sign * second`."""
    traced = [value for value in (first, second) if isinstance(value, Traced)]
    shape = np.broadcast_shapes(
        *(value.shape if isinstance(value, Traced) else np.shape(value) for value in (first, second))
    )
    if len(traced) == 1:
        if record.sums_first and traced[0]._terms()[0].any():
            observe(traced[0])
        _observe_repeated(traced[0], shape)
    width = sum(value._store.places.shape[1] for value in traced)
    if not width or (width > 64 and width * int(np.prod(shape, dtype=int)) > _MOST_TERMS):
        return (np.add if sign > 0 else np.subtract)(observe(first), observe(second))
    x, y = trace(record, first), trace(record, second)
    (a, places, weights), (b, others, other_weights) = x._terms(shape), y._terms(shape)
    places, weights = np.hstack([places, others]), np.hstack([weights, sign * other_weights])
    terms = (a + b if sign > 0 else a - b, places, weights)
    return build(record, simplify(terms) if width > 2 else terms, shape, x._integer and y._integer)


def _observe_repeated(value: Traced, shape: tuple[int, ...]) -> None:
    """Observe noise that data repeats, where values are observed or its copies would be too many."""
    is_wide = int(np.prod(shape, dtype=int)) * value._store.places.shape[1] > _MOST_TERMS
    if value.shape != shape and (value._record.values_only or is_wide):
        observe(value)  # its elements are known from here on


def scale_by(value: Traced, factor: Any, divide: bool = False) -> Traced:
    """Return the product with data, or the quotient."""
    data = np.asarray(factor)
    if data.dtype.kind not in "fiub":
        value._record.fail(f"noise meets {data.dtype} values")
    shape = np.broadcast_shapes(value.shape, data.shape)
    if data.ndim and value._record.values_only:
        observe(value)
    _observe_repeated(value, shape)
    constants, places, weights = value._terms(shape)
    flat = np.broadcast_to(data, shape).ravel().astype(float)
    operate = np.divide if divide else np.multiply
    terms = operate(constants, flat), places, operate(weights, flat[:, None])
    return build(value._record, terms, shape, value._integer and data.dtype.kind in "iub" and not divide)


def add_up(value: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return sums along an axis."""
    if isinstance(axis, tuple) or not isinstance(value, Traced):
        return np.sum(observe(value), axis=axis, keepdims=keepdims)
    index = value._index.reshape(-1) if axis is None else np.moveaxis(value._index, axis, -1)
    shape, length = index.shape[:-1], index.shape[-1]
    constants, places, weights = value._view(index)._terms()
    rows = int(np.prod(shape, dtype=int))
    terms = constants.reshape(rows, length).sum(1), places.reshape(rows, -1), weights.reshape(rows, -1)
    if keepdims:
        shape = (1,) * value.ndim if axis is None else np.expand_dims(np.zeros(shape), axis).shape
    return build(value._record, simplify(terms), shape, value._integer)


def multiply_matrices(record: Record, first: Any, second: Any) -> Any:
    """Return the matrix product with data."""
    if np.ndim(first) > 2 or np.ndim(second) > 2:
        return np.matmul(observe(first), observe(second))
    first, second = (part if isinstance(part, Traced) else np.asarray(part, float) for part in (first, second))
    noise, data = (first, second) if isinstance(first, Traced) else (second, first)
    numbers = noise.size * data.size // max(1, noise.shape[0 if noise is second else -1])
    if record.values_only or numbers * max(1, noise._store.places.shape[1]) > _MOST_MULTIPLIED:
        return np.matmul(observe(first), observe(second))
    left = first if np.ndim(first) == 2 else first[None, :]
    right = second if np.ndim(second) == 2 else second[:, None]
    product = add_up(left[:, None, :] * right.T[None, :, :], 2)
    shape = (np.shape(first)[:-1] if np.ndim(first) == 2 else ()) + (np.shape(second)[1:])
    return product.reshape(shape)


def compare(record: Record, first: Any, second: Any, ufunc: Any) -> Any:
    """Observe the truth of an inequality; a sum with Gaussian noise is observed as a value."""
    difference = combine(record, first, second, -1.0)
    if not isinstance(difference, Traced):
        return ufunc(difference, 0.0)
    terms = simplify(difference._terms())
    noisy, rows = _select_noisy(terms)
    result = ufunc(terms[0], 0.0)
    if noisy.any():
        if record.values_only:
            return ufunc(observe(first), observe(second))
        if rows[1].shape[1] > 1 and record.has_normal(rows):
            return ufunc(observe(difference), 0.0)
        tag = (ufunc.__name__, difference.shape, int(noisy.sum()))
        shown = record.show("truth", tag, lambda: ufunc(record.evaluate(rows), 0.0))
        sign = np.where(np.asarray(shown.result) == (ufunc in (np.greater, np.greater_equal)), 1.0, -1.0)
        shown.rows = sign * rows[0], rows[1], sign[:, None] * rows[2]
        result[noisy] = shown.result
    result = result.reshape(difference.shape)
    return result if result.shape else result[()]


def _observe_order(
    value: Traced, tag: str, order: Callable[[np.ndarray], np.ndarray], pairs: Callable[[np.ndarray], Any]
) -> np.ndarray:
    """Observe places among the rows of a matrix, which say that some elements are at least others."""
    record, terms = value._record, value._terms()
    if not terms[2].any():
        return order(terms[0].reshape(value.shape))
    if record.values_only or record.has_normal(terms):
        return order(observe(value))
    shown = record.show("place", (tag, value.shape), lambda: order(record.evaluate(terms).reshape(value.shape)))
    larger, smaller = pairs(shown.result)
    x, y = value._view(value._index.ravel()[larger])._terms(), value._view(value._index.ravel()[smaller])._terms()
    rows: Terms = (x[0] - y[0], np.hstack([x[1], y[1]]), np.hstack([x[2], -y[2]]))
    shown.rows = simplify(rows)
    return np.asarray(shown.result)


def _by_rows(value: Traced, axis: Any) -> tuple[Traced, tuple[int, ...]]:
    index = value._index.reshape(1, -1) if axis is None else np.moveaxis(value._index, axis, -1)
    return value._view(index.reshape(-1, index.shape[-1])), () if axis is None else index.shape[:-1]


def find_place(value: Traced, axis: Any, largest: bool) -> Any:
    """Observe the place of the largest or smallest element."""
    rows, shape = _by_rows(value, axis)
    count, length = rows.shape
    numbers = np.arange(count * length).reshape(count, length)

    def pair(place: np.ndarray) -> Any:
        best = np.repeat(numbers[np.arange(count), place], length - 1)
        others = numbers[np.arange(length)[None, :] != np.asarray(place)[:, None]]
        return (best, others) if largest else (others, best)

    find = np.argmax if largest else np.argmin
    place = _observe_order(rows, find.__name__, lambda numbers: find(numbers, axis=1), pair)
    return place.reshape(shape) if shape else np.intp(place[0])


def find_extreme(value: Traced, axis: Any, largest: bool) -> Any:
    """Return the largest or smallest element, whose place is observed."""
    rows, shape = _by_rows(value, axis)
    place = find_place(rows, 1, largest)
    return rows._view(rows._index[np.arange(len(place)), place].reshape(shape)).copy()


def find_order(value: Traced, axis: Any = -1) -> np.ndarray:
    """Observe the order of the elements."""
    rows, shape = _by_rows(value, axis)
    starts = np.arange(rows.shape[0])[:, None] * rows.shape[1]
    order = _observe_order(
        rows,
        "order",
        lambda numbers: np.argsort(numbers, axis=1, kind="stable"),
        lambda order: ((order + starts)[:, 1:].ravel(), (order + starts)[:, :-1].ravel()),
    )
    return order[0] if axis is None else np.moveaxis(order.reshape(*shape, -1), -1, axis)


def apply_function(record: Record, function: Any, args: Any, options: dict[str, Any]) -> Any:
    """Apply a function of NumPy; those that have no rule observe the values of their arguments."""
    name = function.__name__.replace("amax", "max").replace("amin", "min")
    if name in _VIEWS | _COPIES and not any(isinstance(value, Traced) for value in [*args[1:], *options.values()]):
        return _move(record, function, args, options)
    if name in _FORMS:
        args = [np.zeros(a.shape, a.dtype) if isinstance(a, Traced) else a for a in args]
    rule = _RULES.get(name)
    if rule is not None:
        try:
            return rule(*args, **{key: value for key, value in options.items() if value is not np._NoValue})
        except (TypeError, ValueError):  # an option without a rule
            pass
    return function(*observe(args), **observe(options))


def _average(value: Traced, axis: Any = None, keepdims: bool = False) -> Any:
    return add_up(value, axis, keepdims) / (value.size if axis is None else value.shape[axis])


def _multiply(first: Any, second: Any) -> Any:
    return np.matmul(first, second) if np.ndim(first) and np.ndim(second) else np.multiply(first, second)


_RULES: dict[str, Callable[..., Any]] = {
    "sum": add_up,
    "mean": _average,
    "argmax": lambda value, axis=None: find_place(value, axis, True),
    "argmin": lambda value, axis=None: find_place(value, axis, False),
    "max": lambda value, axis=None: find_extreme(value, axis, True),
    "min": lambda value, axis=None: find_extreme(value, axis, False),
    "argsort": lambda value, axis=-1, kind=None: find_order(value, axis),
    "dot": _multiply,
}


def _join(arrays: list[Traced]) -> Terms:
    """Return the expressions of all elements of some arrays."""
    width = max(array._store.places.shape[1] for array in arrays)
    terms = [array._terms() for array in arrays]
    rooms = [((0, 0), (0, width - part[1].shape[1])) for part in terms]
    places = [np.pad(part[1], room) for part, room in zip(terms, rooms, strict=True)]
    weights = [np.pad(part[2], room) for part, room in zip(terms, rooms, strict=True)]
    return np.concatenate([part[0] for part in terms]), np.concatenate(places), np.concatenate(weights)


def _move(record: Record, function: Any, args: Any, options: dict[str, Any]) -> Any:
    """Apply a function that moves elements to their places instead of to them."""
    parts = args[0] if type(args[0]) in (list, tuple) else [args[0]]
    if any(not isinstance(part, Traced) and np.asarray(part).dtype.kind not in "fiub" for part in parts):
        return function(*observe(args), **observe(options))
    traced = [trace(record, part) for part in parts]
    starts = np.cumsum([0] + [part.size for part in traced])
    places = [np.arange(part.size).reshape(part.shape) + start for part, start in zip(traced, starts, strict=False)]
    first = type(args[0])(places) if type(args[0]) in (list, tuple) else places[0]
    moved = function(first, *args[1:], **options)
    if function.__name__ in _VIEWS and len(traced) == 1:
        whole = traced[0]._view(traced[0]._index.ravel())
    else:
        whole = build(record, _join(traced), (int(starts[-1]),), all(part._integer for part in traced))
    if isinstance(moved, (list, tuple)):
        return type(moved)(whole._view(whole._index[part]) for part in moved)
    return whole._view(whole._index[moved])
