"""Programs that add up what they ask of many draws at once: in the usual style, and in ways that may mislead.

Their laws have no small grid. They are compared with outputs that the program gives with NumPy's own generator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.enumeration.zoo.case import Case, coin

BITS = (0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1)


def _keeps(rng: Any, size: int = 14) -> Any:
    return rng.random(size) < 0.75


def _reports(data: Any, rng: Any) -> Any:
    return np.where(_keeps(rng), np.array(data), 1 - np.array(data))


def _changed_in_place(data: Any, rng: Any) -> Any:
    keep = _keeps(rng)
    keep[0] = True
    keep[1:3] = False
    return int(keep.sum())


def _drawn_again(data: Any, rng: Any) -> Any:
    numbers = rng.random(14)
    first = int((numbers < 0.25).sum())
    numbers[:] = rng.random(14)
    return first, int((numbers < 0.25).sum())


def _asked_before(data: Any, rng: Any) -> Any:
    numbers = rng.random(14)
    first = bool(numbers[0] < 0.125)
    return int((numbers < 0.25).sum()), first


def _view(data: Any, rng: Any) -> Any:
    keep = _keeps(rng)
    first = keep[:7]
    return int(keep.sum()), int(first.sum())


def _accumulated(data: Any, rng: Any) -> Any:
    numbers = rng.random(14)
    numbers += 0.5
    numbers *= 2
    return int((numbers < 2.0).sum())


def _walk_after(data: Any, rng: Any) -> Any:
    place = int(_keeps(rng).sum()) % 3
    for _ in range(6):
        place = (place + coin(rng)) % 3
    return place


def _over_both(data: Any, rng: Any) -> Any:
    total = 0
    for keep, bit in zip(_keeps(rng), data, strict=True):
        total += bit if keep else 1 - bit
    return total


def _of_bytes(data: Any, rng: Any) -> Any:
    return int((np.array(data, dtype=np.uint8) ^ _keeps(rng)).sum()), str((np.uint8(255) + _keeps(rng)).sum().dtype)


_FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "exclusive or": lambda data, rng: int(np.sum(np.array(data) ^ ~_keeps(rng))),
    "where": lambda data, rng: int(_reports(data, rng).sum()),
    "mean": lambda data, rng: float(_reports(data, rng).mean()),
    "estimate": lambda data, rng: (_reports(data, rng).sum() - 14 * 0.25) / 0.5,
    "number of non-zeros": lambda data, rng: int(np.count_nonzero(_keeps(rng))),
    "product": lambda data, rng: int((_keeps(rng) * np.array(data)).sum()),
    "signs": lambda data, rng: np.where(_keeps(rng), 1.0, -1.0).sum(),
    "rounded to bits": lambda data, rng: int((_keeps(rng).astype(int) * 3 - 1).sum()),
    "integers": lambda data, rng: int(rng.integers(0, 2, size=14).sum()),
    "two halves": lambda data, rng: tuple(int(part.sum()) for part in (_reports(data, rng), _reports(data, rng))),
    "walk after a sum": _walk_after,
    "in-place arithmetic": _accumulated,
    "a loop over both": _over_both,
}
_TRICKS: dict[str, Callable[[Any, Any], Any]] = {
    "changed in place": _changed_in_place,
    "drawn again": _drawn_again,
    "asked before": _asked_before,
    "view": _view,
    "narrow integers": _of_bytes,
    "fractions": lambda data, rng: float(np.where(_keeps(rng), 0.1, 0.3).sum()),
    "asked after": lambda data, rng: (lambda keep: (int(keep.sum()), bool(keep[3])))(_keeps(rng)),
    "thresholds twice": lambda data, rng: (lambda u: (int((u < 0.5).sum()), int((u < 0.25).sum())))(rng.random(14)),
    "type of an array": lambda data, rng: type(rng.random(14)) is np.ndarray and int(_keeps(rng).sum()) % 2,
    "kind of numbers": lambda data, rng: (str(_keeps(rng).dtype), int(_keeps(rng).sum()) % 2),
    "as an index": lambda data, rng: int(np.array(data)[_keeps(rng)].sum()),
}
_LARGE = ("two halves", "drawn again", "narrow integers", "fractions")  # they take a second and more
CASES = [
    Case("large sums" if name in _LARGE else "sums", name, program, BITS, is_plain=name in _FORMS, is_sampled=True)
    for name, program in (_FORMS | _TRICKS).items()
]
