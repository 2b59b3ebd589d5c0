"""The relation of training runs in which a record is blanked: zero-out adjacency."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from audit.api import Labeled, Substitution


@dataclass(frozen=True)
class ZeroOut(Substitution):
    """Neighbors differ in one record, which is blank in one of them: zeros, None, NaN or empty text.

    References
    ----------
    Kairouz et al. 2021, Practical and private (deep) learning without sampling or shuffling, definition 1.1.

    Examples
    --------
    >>> from audit import ZeroOut
    >>> ZeroOut().why_not([3, 4], [0, 4]) is None
    True
    >>> ZeroOut().why_not([3, 4], [5, 4])
    'the record that differs is blank in neither dataset'
    """

    name: str = field(default="zero-out", init=False)
    unit: ClassVar[str] = "one record, present or blank"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if exactly one record differs, and one of its two values is blank, else the reason."""
        if (reason := super().why_not(left, right)) is not None:
            return reason
        a, b = (list(_rows(side)) for side in (left, right))
        at = next(i for i in range(len(a)) if Substitution().distance(a[i : i + 1], b[i : i + 1]))
        is_blanked = _is_blank(a[at]) or _is_blank(b[at])
        return None if is_blanked else "the record that differs is blank in neither dataset"


def _rows(data: Any) -> Any:
    return zip(data.X, data.y, strict=True) if isinstance(data, Labeled) else data


def _is_blank(record: Any) -> bool:
    if record is None or record in ("", b""):
        return True
    try:
        numbers = np.asarray(record, dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(np.all((numbers == 0) | np.isnan(numbers)))
