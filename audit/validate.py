"""Validate the numbers that people pass in, budgets among them, and limit the types of plain data."""

import math
import numbers
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from audit.errors import InvalidArgument


def real(value: object, name: str) -> float:
    """Return `value` as float; booleans and anything that is not a real number are refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidArgument.of(name, "be a real number", value)
    try:
        return float(value)
    except OverflowError:
        raise InvalidArgument(f"`{name}` must be a real number of at most 1.8e308 in absolute value") from None


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


@dataclass(frozen=True)
class Limits:
    """Say which numbers, texts or lists are admitted; NaN keeps no limit."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    shortest: int | None = None  # of a text or a list
    longest: int | None = None
    pattern: str | None = None  # of a whole text

    def admits(self, value: Any) -> bool:
        """Return whether a value keeps the limits."""
        return (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
            and (self.shortest is None or len(value) >= self.shortest)
            and (self.longest is None or len(value) <= self.longest)
            and (self.pattern is None or re.fullmatch(self.pattern, value) is not None)
        )

    def __repr__(self) -> str:
        return f"Limits({self})"

    def __str__(self) -> str:
        return ", ".join(f"{name} {limit}" for name, limit in vars(self).items() if limit is not None)


Count = Annotated[int, Limits(least=0, most=2**53)]  # also of an int without limits
Number = Annotated[int, Limits(least=1, most=2**53)]
Natural = Annotated[int, Limits(least=0)]  # of any size: a seed, a sample size
Finite = Annotated[float, Limits(least=0, most=sys.float_info.max)]
Nonnegative = Annotated[float, Limits(least=0)]  # infinity included
Positive = Annotated[float, Limits(above=0)]
Probability = Annotated[float, Limits(least=0, most=1)]
OpenProbability = Annotated[float, Limits(above=0, below=1)]
Name = Annotated[str, Limits(shortest=1)]
