"""Call functions of the caller that return one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.execution.deadline import is_of_subject
from audit.text import describe_error


class Unusable(Exception):
    """The learner returned nothing that can be judged; the text names the cause."""


def call(function: Callable[..., Any], *arguments: Any, what: str) -> Any:
    """Call a function of the caller; raise `Unusable` with the exception if it raises one."""
    try:
        return function(*arguments)
    except BaseException as error:  # also the one of sys.exit
        if not is_of_subject(error):
            raise
        raise Unusable(f"{what} raised {type(error).__name__}: {describe_error(error)[:200]}") from error


def call_number(function: Callable[..., Any], name: str, size: int) -> float:
    """Call a function of the caller for one finite number; raise `Unusable` for anything else."""
    what = f"{name}({size})"
    value = call(function, size, what=what)
    if isinstance(value, (bool, np.bool_)):
        raise Unusable(f"{what} returned {value!r} where a number was due")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Unusable(f"{what} returned {str(value)[:80]!r} ({type(value).__name__}) where a number was due") from None
    if not math.isfinite(number):
        raise Unusable(f"{what} returned {number}")
    return number
