"""Tell the form of outputs, such as their types, from their law: a list and an array of the same numbers share one."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from audit.api import Outputs, list_blocks

_LONGEST = 60  # characters of a form
_USUAL = "float64"  # of an array of doubles, which has no text
_DTYPE = re.compile(r"[<>|=][a-zA-Z]\d+")


def without_forms(first: Outputs, second: Outputs, rows: int) -> tuple[Outputs, Outputs]:
    """Return outputs without the parts that are constant in the first rows of either side.

    These are texts with one value, and columns with one value that the other side lacks. Where single precision holds
    the numbers of one side alone, both are rounded to it.
    """
    told = {name for side in (first, second) for name in side.texts.keys() - form_texts(side[:rows]).keys()}
    left, right = (
        replace(side, texts={name: text for name, text in side.texts.items() if name in told})
        for side in (first, second)
    )
    columns = [list_blocks(side).keys() for side in (first, second)]
    if columns[0] != columns[1] and all(columns):
        left, right = _without_columns(left, columns[1], rows), _without_columns(right, columns[0], rows)
    if _are_single(left.numbers[:rows]) != _are_single(right.numbers[:rows]):
        return _in_single(left), _in_single(right)
    return left, right


def _are_single(numbers: np.ndarray) -> bool:
    """Test whether single precision holds all finite numbers, and half precision, as of whole ones, not most."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite) or not np.all(_single(finite) == finite):
        return False
    with np.errstate(over="ignore"):
        return bool(np.mean(finite.astype(np.float16) == finite) < 0.5)


def _in_single(outputs: Outputs) -> Outputs:
    """Return outputs with their numbers rounded to single precision, where that has room for them."""
    rounded = _single(outputs.numbers)
    return replace(outputs, numbers=np.where(np.isfinite(rounded), rounded, outputs.numbers))


def _single(numbers: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(float)


def _without_columns(outputs: Outputs, others: Collection[str], rows: int) -> Outputs:
    """Return outputs without the constant columns that the others lack; of the names nothing is left."""
    plain = ~outputs.symbolic[:rows]
    columns = list_blocks(outputs).items()
    kept = [column for name, column in columns if name in others or len(np.unique(column[:rows][plain], axis=0)) > 1]
    numbers = kept[0] if len(kept) == 1 else np.column_stack(kept or [outputs.numbers])
    return replace(outputs, numbers=numbers, names=None)


def form_texts(outputs: Outputs) -> dict[str, str]:
    """Return the texts that are the same on every output with numbers, by name."""
    plain = ~outputs.symbolic
    found = {name: np.unique(texts.codes[plain]) for name, texts in outputs.texts.items()}
    return {
        name: outputs.texts[name].table[codes[0]] for name, codes in found.items() if len(codes) == 1 and codes[0] >= 0
    }


def form_of(outputs: Outputs) -> str:
    """Return the type of the numbers of outputs, and of their container, in few words."""
    texts = form_texts(outputs)
    own = _DTYPE.sub(lambda found: np.dtype(found[0]).name, texts.get("type(output)", _USUAL))
    holder = texts.get("type(outputs)", "").partition(" [")[0].partition(",")[0]
    return (f"{own} in {holder}" if holder else own)[:_LONGEST]
