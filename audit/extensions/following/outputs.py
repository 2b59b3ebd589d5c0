"""Outputs compared: everything byte for byte, and finite floats other than zero as real numbers."""

from __future__ import annotations

import math
import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import CLASS, CODE, FIELD, CannotKeep, find_shape, identify, is_opaque, name_type, take_apart
from audit.extensions.following.record import NotFollowed


@dataclass(frozen=True)
class Raised:
    """An exception, which is an output."""

    kind: str
    text: str


TOLERANCE = 1e-11  # relative to 1 + size: the rounding of a sum of some thousand numbers
_DEEPEST = 40
_AT_ONCE = 2**17  # numbers that are compared at a time: as many stay in the cache


@dataclass(frozen=True)
class Form:
    """An output in two parts: its structure with all that is not a float, and its floats."""

    structure: tuple[Any, ...]
    numbers: np.ndarray

    def equals(self, other: Form) -> bool:
        """True if the structures are the same and the floats are the same real numbers."""
        return self.structure == other.structure and agree(self.numbers, other.numbers)

    def key(self, fine: bool = False) -> tuple[Any, ...]:
        """Return the part of the output that has countably many values; `fine` counts whole floats as well."""
        if not fine:
            return self.structure
        whole = self.numbers == np.round(self.numbers)
        return (*self.structure, whole.tobytes(), self.numbers[whole].tobytes())


def agree(first: np.ndarray, second: np.ndarray) -> bool:
    """True if the numbers are the same but for rounding."""
    return first.shape == second.shape and bool(np.all(are_close(first, second)))


def are_close(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compare numbers one by one."""
    return np.abs(first - second) <= TOLERANCE * (1 + np.abs(first))


def describe(output: Any, loose: bool = False) -> Form:
    """Return the form of an output; `loose` takes scalars of NumPy for those of Python, in any order in memory."""
    structure: list[Any] = []
    numbers: list[float] = []
    _walk(output, structure, numbers, loose, 0)
    return Form(tuple(structure), np.array(numbers, float))


def _add_floats(values: np.ndarray, structure: list[Any], numbers: list[float]) -> None:
    flat = values.ravel().astype(float)
    special = (flat == 0) | ~np.isfinite(flat)
    if special.any():  # signs of zero and bits of NaN count
        structure.append((np.packbits(special).tobytes(), values.ravel()[special].tobytes()))
        flat = flat[~special]
    numbers += flat.tolist()


def _walk(value: Any, structure: list[Any], numbers: list[float], loose: bool, depth: int) -> None:
    if depth > _DEEPEST:
        raise NotFollowed("the output is nested too deep, or contains itself")
    kind = type(value)
    if loose and (isinstance(value, np.generic) or (kind is np.ndarray and not value.ndim)):
        value = value.item()
        kind = type(value)
    if kind is float or kind is np.float64:
        structure.append(kind.__name__)
        if value and math.isfinite(value):
            numbers.append(value)
        else:
            _add_floats(np.asarray(value), structure, numbers)
    elif kind in (bool, int, str, bytes, type(None)):
        structure += (kind.__name__, value)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        order = (value.flags.c_contiguous, value.flags.f_contiguous) if value.ndim > 1 and not loose else ()
        structure.append((kind.__name__, value.shape, value.dtype.str, order))
        if value.dtype.kind == "f" and value.dtype.itemsize == 8:
            _add_floats(value, structure, numbers)
        else:
            structure.append(value.tobytes())
        if getattr(value, "__dict__", None):
            _walk(vars(value), structure, numbers, loose, depth + 1)
    elif kind is complex or kind is np.complex128:
        _walk((kind.__name__, value.real, value.imag), structure, numbers, loose, depth + 1)
    else:
        _walk_parts(value, structure, numbers, loose, depth)


def _walk_parts(value: Any, structure: list[Any], numbers: list[float], loose: bool, depth: int) -> None:
    try:
        parts = [each for each in take_apart(value) if each[0] not in (CLASS, CODE)]
        is_one = isinstance(value, type) or not parts or (find_shape(value) == "object" and is_opaque(value))
        structure.append((name_type(value), np.shape(value) if isinstance(value, np.ndarray) else len(parts)))
        structure += [identify(value)] if is_one else []
    except CannotKeep as error:
        raise NotFollowed(f"outputs of type {type(value).__name__} are not compared: {error}") from None
    if isinstance(value, types.FunctionType):
        raise NotFollowed("outputs of type function are not compared")
    for role, name, part in parts:
        structure += [name] if role == FIELD else []
        _walk(part, structure, numbers, loose, depth + 1)


def _is_special(floats: np.ndarray) -> np.ndarray:
    """Return which floats are compared by their bytes."""
    return (floats == 0) | ~np.isfinite(floats)


def _agree_by_row(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return which rows are the same bytes, but for the rounding of finite numbers other than zero."""
    same = first.view(np.int64) == second.view(np.int64)
    if not same.all():
        with np.errstate(invalid="ignore"):
            same |= are_close(first, second) & ~_is_special(first) & ~_is_special(second)
    return np.asarray(same.all(axis=1))


class Rows:
    """The outputs of one call, compared one by one; an array of numbers is compared at once."""

    def __init__(self, outputs: Any) -> None:
        is_array = type(outputs) is np.ndarray and outputs.dtype.kind in "fiub"
        self._shape = (outputs.dtype, outputs.shape) if is_array else None
        self._flat = outputs.reshape(len(outputs), -1) if is_array else np.zeros((0, 0))
        self._forms = None if is_array else [describe(output) for output in outputs]

    @classmethod
    def of(cls, outputs: Any, size: int) -> Rows:
        """Return the outputs of a call; an exception is the output of a call of one."""
        if isinstance(outputs, Raised):
            if size > 1:
                raise NotFollowed("a call of many outputs raises")
            return cls([outputs])
        return cls(outputs)

    def __len__(self) -> int:
        return len(self._flat if self._forms is None else self._forms)

    def equal(self, other: Rows) -> np.ndarray:
        """Compare two calls row by row."""
        if self._shape != other._shape:
            return np.zeros(len(self), bool)
        if self._forms is not None and other._forms is not None:
            return np.array([a.equals(b) for a, b in zip(self._forms, other._forms, strict=True)])
        a, b = self._flat, other._flat
        if a.dtype.kind != "f" or a.dtype.itemsize != 8:
            return np.asarray((a == b).all(axis=1))
        step = max(1, _AT_ONCE // max(1, a.shape[1]))
        return np.concatenate([_agree_by_row(a[at : at + step], b[at : at + step]) for at in range(0, len(a), step)])

    def group(self, fine: bool = False) -> tuple[list[Any], np.ndarray]:
        """Return the different keys, and which of them each row has; rows of one key have the same discrete part."""
        if self._forms is not None:
            names: dict[Any, int] = {}
            inverse = np.array([names.setdefault(form.key(fine), len(names)) for form in self._forms], int)
            return list(names), inverse
        kept = _is_special(self._flat) if self._flat.dtype.kind == "f" else np.ones(self._flat.shape, bool)
        if fine:
            kept |= self._flat == np.round(self._flat)
        some = kept.any(axis=1)
        inverse = np.zeros(len(kept), int)
        if not some.any():
            return [b""], inverse
        discrete = np.ascontiguousarray(np.where(kept, self._flat, 0)[some].astype(self._flat.dtype))
        joined = np.ascontiguousarray(np.hstack([np.packbits(kept[some], axis=1), discrete.view(np.uint8)]))
        found, places = np.unique(joined.view(np.dtype((np.void, joined.shape[1]))).ravel(), return_inverse=True)
        inverse[some] = places + 1
        return [b"", *(name.tobytes() for name in found)], inverse
