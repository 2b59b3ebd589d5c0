"""Traced arrays: affine expressions of noise that NumPy code computes with; everything else observes their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.extensions.following.record import Observation, Record, Terms, simplify

_MOST_TERMS = 200_000  # of one array; above, its parts are observed
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

    def __deepcopy__(self, memo: Any) -> Traced:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._record.fail("noise is pickled")

    def reshape(self, *shape: Any, **options: Any) -> Traced:
        """As of an array."""
        return self._view(self._index.reshape(*observe(shape)))

    def flatten(self, order: Any = "C") -> Traced:
        """As of an array."""
        return self._view(self._index.ravel(order)).copy()

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """Return a copy of another type; other numbers than float64 observe the values."""
        target = np.dtype(dtype)
        if target == np.float64 or (self._integer and target == np.int64):
            return build(self._record, self._terms(), self.shape, target.kind == "i")
        return np.asarray(observe(self)).astype(target)

    def fill(self, value: Any) -> None:
        """As of an array."""
        self[...] = value

    # numbers: each of these is an observation

    def __index__(self) -> int:
        if not self._integer:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(observe(self))

    def __round__(self, digits: int | None = None) -> Any:
        return round(float(observe(self))) if digits is None else round(observe(self), digits)

    def __format__(self, form: str) -> str:
        return format(observe(self), form)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(observe(self), dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not (hasattr(np.ndarray, name) or hasattr(np.float64, name)):
            raise AttributeError(name)
        if name in _FORBIDDEN:
            self._record.fail(f".{name} of noise")
        if name in _SHAPES:
            return lambda *args: self._view(getattr(self._index, name)(*observe(args)))
        if name in _METHODS:
            function = getattr(np, name)
            return lambda *args, **options: function(self, *args, **options)
        return getattr(observe(self), name)

    def sort(self, axis: int = -1, **options: Any) -> None:
        """Sort in place."""
        self[...] = np.sort(self, axis)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        from audit.extensions.following.operations import apply_ufunc  # they call each other

        return apply_ufunc(self._record, ufunc, method, inputs, out, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from audit.extensions.following.operations import apply_function

        return apply_function(self._record, function, args, options)


_SHAPES = {"ravel", "squeeze", "transpose", "swapaxes"}
_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "float": float, "int": int, "complex": complex, "bool": bool, "str": str, "repr": repr,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
}  # fmt: skip
for _name, _convert in _NUMBERS.items():
    setattr(Traced, f"__{_name}__", lambda self, convert=_convert: convert(observe(self)))
_METHODS = {
    "sum", "mean", "cumsum", "dot", "argmax", "argmin", "max", "min", "argsort", "clip", "round", "take", "repeat",
}  # fmt: skip


def build(record: Record, terms: Terms, shape: tuple[int, ...], integer: bool = False) -> Traced:
    """Return a traced array of its own elements."""
    constants, places, weights = terms
    store = _Store(np.array(constants, float), np.array(places), np.array(weights, float))
    return Traced(record, store, np.arange(store.constants.size).reshape(shape), integer)


def trace(record: Record, value: Any) -> Traced:
    """Return a number or array as a traced array; what is traced already is returned as it is."""
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


def add_rows(record: Record, observation: Observation, rows: Terms) -> None:
    """Attach rows to an observation."""
    if record.parents:
        used = np.unique(rows[1][rows[2] != 0])
        if np.isin(used, [parent for parent, _ in record.parents.values()]).any():
            record.fail("noise and its logarithm are both used")
    observation.rows = rows


def _observe_array(array: Traced) -> Any:
    """Observe the values; afterwards the elements are known numbers, on the other dataset as well."""
    record = array._record
    terms = simplify(array._terms())
    noisy = (terms[2] != 0).any(axis=1)
    values = terms[0].copy()
    if noisy.any():
        rows = terms if noisy.all() else (terms[0][noisy], terms[1][noisy], terms[2][noisy])
        shown = record.show("value", (array.shape, int(noisy.sum())), lambda: record.evaluate(rows))
        add_rows(record, shown, rows)
        values[noisy] = shown.result
        none = np.zeros((values.size, 0))
        array._store.replace(array._index.ravel(), (values, none.astype(int), none))
    result = values.reshape(array.shape)
    if array._integer:
        result = np.round(result).astype(np.int64)
    return result if array.shape else result[()]


def is_too_large(terms: int) -> bool:
    """True if an array of so many terms should be observed instead."""
    return terms > _MOST_TERMS
