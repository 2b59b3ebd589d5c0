"""Single runs of a mechanism, on a copy of the data: genuine, or with the noise of a supplier; outputs compared.

Outputs are compared byte for byte, and finite floats other than zero as real numbers.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from audit.api import encode, errors, walk
from audit.extensions.following.record import NotFollowed
from audit.extensions.following.sources import Supplier, Tracer, supply
from audit.extensions.following.traced import observe

Mechanism = Callable[[Any, int, np.random.Generator], Any]

_TOLERANCE = 1e-11  # relative to 1 + size: the rounding of a sum of some thousand numbers


class Form:
    """The outputs of one call: their numbers, and a digest of all else that a caller sees of each.

    A loose form leaves out types, and names that depend on them: a traced run gives scalars of NumPy in place of those
    of Python.
    """

    def __init__(self, outputs: Any, size: int = 1, loose: bool = False) -> None:
        try:
            encoded = encode(outputs, size)
        except errors.BadBatch as error:
            raise NotFollowed(f"the mechanism {error}") from None
        texts = {name: text for name, text in encoded.texts.items() if not (loose and name.startswith("type("))}
        self.names = None if loose else encoded.names
        self.numbers = np.ascontiguousarray(encoded.numbers, float).reshape(size, -1)
        self.words = replace(encoded, numbers=np.zeros(size), texts=texts).keys()

    def compare(self, other: Form) -> np.ndarray:
        """Return which outputs are the same."""
        first, second = self.numbers, other.numbers
        if self.names != other.names or first.shape != second.shape:
            return np.zeros(len(self.words), bool)
        same = first.view(np.int64) == second.view(np.int64)
        if not same.all():
            one, another = first[~same], second[~same]
            with np.errstate(invalid="ignore"):
                is_close = np.abs(one - another) <= _TOLERANCE * (1 + np.abs(one))
            same[~same] = is_close & np.isfinite(one) & (one != 0) & (another != 0)
        return np.asarray(same.all(axis=1) & (self.words == other.words))

    def equals(self, other: Form) -> bool:
        """Test whether all outputs are the same."""
        return bool(self.compare(other).all())

    def group(self) -> tuple[list[bytes], np.ndarray]:
        """Return the distinct discrete parts, and which of them each output has: all but fractions of numbers."""
        whole = np.where(self.numbers == np.round(self.numbers), self.numbers, np.nan)
        rows = np.ascontiguousarray(np.column_stack([self.words.view(float), whole]))
        found, places = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))), return_inverse=True)
        return [name.tobytes() for name in found], places.ravel()

    @property
    def key(self) -> bytes:
        """The discrete part of the first output."""
        return self.group()[0][0]


def call(mechanism: Mechanism, dataset: Any, seed: int, supplier: Supplier | None = None, size: int = 1) -> Any:
    """Return the outputs of one call; without a supplier, of the unmodified code with genuine generators."""
    dataset = copy.deepcopy(dataset)
    module = sys.modules.get(str(getattr(getattr(mechanism, "function", mechanism), "__module__", None)))
    with supply(seed, supplier, module) as rng:
        try:
            output = mechanism(dataset, size, rng)
            if isinstance(supplier, Tracer):
                supplier.is_settling = True
                output = _settle(output)
        except Exception as error:
            output = [walk.Raised(error)]
    if supplier is not None and supplier.failure:
        raise NotFollowed(supplier.failure)
    return output


def has_raised(output: Any) -> bool:
    """Test whether a call of one output raised."""
    return type(output) is list and len(output) == 1 and isinstance(output[0], walk.Raised)


def _settle(output: Any) -> Any:
    """Return a copy of an output, in which traced numbers become plain ones."""
    output = copy.deepcopy(output)
    if type(output) is not list:
        return output
    return [each.map(observe).infer_objects() if hasattr(each, "infer_objects") else each for each in output]
