"""Validate the keywords and the numbers that people pass in, budgets among them, and limit the types of plain data.

The defaults are those that all faces share: the functions, the command line, and pytest, with its settings.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any

from audit.errors import InvalidArgument, UnknownArgument

_NAMING: set[Any] = set()  # functions that `_name_keywords` made
_TAKES_ANY = 8  # flag of code that takes any keyword, as in `inspect`


def _name_keywords(function: Any, called: str) -> Any:
    """Return the function with an error that names the near right keyword where a call has a wrong one."""
    code = getattr(function, "__wrapped__", function).__code__
    if function in _NAMING or code.co_flags & _TAKES_ANY:
        return function
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = [name for name in names if name != "self"]

    def call(*given: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                raise UnknownArgument.of(called, name, known)
        return function(*given, **named)

    call.__code__ = call.__code__.replace(co_name=function.__name__)  # a frame of it is a call of the function
    named_call = functools.wraps(function)(call)
    _NAMING.add(named_call)
    return named_call


def name_keywords(value: Any, called: str) -> Any:
    """Have a public function, or the fields of a public class, named where a call has a wrong keyword."""
    if isinstance(value, FunctionType):
        return _name_keywords(value, called)
    if dataclasses.is_dataclass(value) and "__init__" in vars(value):
        setattr(value, "__init__", _name_keywords(vars(value)["__init__"], called))  # noqa: B010, mypy forbids the other
    return value


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


DEFAULT_BUDGET = "auto"  # as many outputs as the claim and the number of checks need
DEFAULT_SIGNIFICANCE = 0.05  # probability that any true claim of a run is suspected, and tested again
DEFAULT_CONFIRMATION = 1e-6  # probability that any true claim of a run is judged FAIL
DEFAULT_TIMEOUT = 600.0  # seconds for one check of a run
DEFAULT_EXECUTOR = "processes"  # where the checks of a run are audited: in processes of this machine
FIXTURE = "dp_audit"  # of the pytest plugin


@dataclass
class Options:
    """Options of the command line, and the number of tests that audit."""

    significance: float  # of the whole session, in (0, 1)
    budget: Budget  # of an audit that states none
    seed: int  # of all audits; each draws outputs of its own
    recorded: bool = False  # a certificate is needed
    tests: int = 1  # among which the significance is shared
    confirmation: float | None = None  # of the whole session
    floats: str = "real"  # of privacy audits that state nothing else


@dataclass(frozen=True)
class Settings:
    """Settings of the audits of one test, from its marker."""

    budget: Budget | None = None
    audits: int | None = None
    seed: int | None = None
    timeout: float | None = None
