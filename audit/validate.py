"""Validate the numbers that people pass in, budgets among them: each returns a plain float or int, or raises."""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass

from audit.errors import InvalidArgument


def real(value: object, name: str) -> float:
    """Return `value` as float; booleans and anything that is not a real number are refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidArgument.of(name, "be a real number", value)
    return float(value)


def _check(value: object, name: str, rule: str, holds: Callable[[float], bool]) -> float:
    number = real(value, name)
    if not holds(number):
        raise InvalidArgument.of(name, rule, value)
    return number


def nonnegative(value: object, name: str) -> float:
    """Return `value` as a finite float >= 0."""
    return _check(value, name, "be finite and >= 0", lambda number: 0 <= number < math.inf)


def positive(value: object, name: str) -> float:
    """Return `value` as a finite float > 0."""
    return _check(value, name, "be finite and > 0", lambda number: 0 < number < math.inf)


def closed_probability(value: object, name: str) -> float:
    """Return `value` as a float in [0, 1]."""
    return _check(value, name, "lie in [0, 1]", lambda number: 0 <= number <= 1)


def open_probability(value: object, name: str) -> float:
    """Return `value` as a float in (0, 1)."""
    return _check(value, name, "lie strictly between 0 and 1", lambda number: 0 < number < 1)


def integer(value: object, name: str, at_least: int) -> int:
    """Return `value` as an int >= `at_least`, an int as the same object; 1e5 is accepted for 100000."""
    number = real(value, name)
    if not (math.isfinite(number) and number == int(number) and number >= at_least):
        raise InvalidArgument.of(name, f"be an integer >= {at_least}", value)
    return value if type(value) is int else int(number)  # scikit-learn compares the parameters of a clone by identity


@dataclass(frozen=True)
class Effort:
    """Return the meaning of a named budget; the outputs follow from the claim and from the number of checks."""

    tolerance: float  # of a statistical PASS, as a multiple of the usual one
    seconds: float  # for which a privacy check may draw
    draws: int  # losses, trials or outputs of the other kinds
    stated: int  # outputs per dataset that test the sampler of a stated law; they decide nothing else


EFFORTS = {
    "auto": Effort(1.0, 60.0, 100_000, 20_000),
    "quick": Effort(2.0, 10.0, 20_000, 20_000),
    "deep": Effort(0.4, 3600.0, 2_000_000, 400_000),
}
Budget = int | str


def read_budget(value: object, name: str = "budget") -> Budget:
    """Return a budget given by a number or by a name; raise `InvalidArgument` for anything else."""
    if isinstance(value, str):
        if value in EFFORTS:
            return value
        try:
            value = float(value)
        except ValueError:
            raise InvalidArgument.of(name, f"be a number >= 2 or one of {', '.join(EFFORTS)}", value) from None
    return integer(value, name, at_least=2)
