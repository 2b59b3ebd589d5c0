"""Tell where a step of integers of fixed width wraps: there it is not monotone, and thresholds cannot be bisected."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def wraps(number: Any, function: Any, *others: Any) -> bool:
    """Test whether a step leaves the width of its integers: whether Python's integers give something else at an end.

    In Python's integers every step is monotone. Where both ends stay within the width, so does all that is between.
    """
    support = number._draw.support
    for value in (number.at(support[0]), number.at(support[-1])):
        if not any(isinstance(part, np.integer) for part in (value, *others)):
            return False
        if not all(isinstance(part, (int, np.integer)) for part in (value, *others)):
            return False
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = function(value, *others)
            exact = function(int(value), *map(int, others))
        except (OverflowError, ValueError, ZeroDivisionError):
            return True
        if isinstance(found, (int, np.integer)) and int(found) != exact:
            return True
    return False


def is_number_of(kind: Any, number: int) -> bool:
    """Test whether integers of a kind can be `number`."""
    return kind is int or number <= np.iinfo(kind).max
