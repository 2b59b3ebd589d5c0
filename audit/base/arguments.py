"""Validators of numbers that people pass in: each returns the value as a plain float or int, or raises."""

import math
import numbers
from collections.abc import Callable

from audit.base.errors import InvalidArgument


def real(value: object, name: str) -> float:
    """Return `value` as float; booleans and anything that is not a real number are refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidArgument.of(name, "be a real number", value)
    return float(value)


def _checked(value: object, name: str, rule: str, holds: Callable[[float], bool]) -> float:
    number = real(value, name)
    if not holds(number):
        raise InvalidArgument.of(name, rule, value)
    return number


def nonnegative(value: object, name: str) -> float:
    """Return `value` as a finite float >= 0."""
    return _checked(value, name, "be finite and >= 0", lambda number: 0 <= number < math.inf)


def positive(value: object, name: str) -> float:
    """Return `value` as a finite float > 0."""
    return _checked(value, name, "be finite and > 0", lambda number: 0 < number < math.inf)


def closed_probability(value: object, name: str) -> float:
    """Return `value` as a float in [0, 1]."""
    return _checked(value, name, "lie in [0, 1]", lambda number: 0 <= number <= 1)


def open_probability(value: object, name: str) -> float:
    """Return `value` as a float in (0, 1)."""
    return _checked(value, name, "lie strictly between 0 and 1", lambda number: 0 < number < 1)


def integer(value: object, name: str, at_least: int) -> int:
    """Return `value` as an int >= `at_least`; 1e5 is accepted for 100000."""
    number = real(value, name)
    if not (math.isfinite(number) and number == int(number) and number >= at_least):
        raise InvalidArgument.of(name, f"be an integer >= {at_least}", value)
    return int(number)
