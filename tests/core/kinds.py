"""A kind of check of the core's tests, `divisible`, added as another distribution does: by an entry point."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import pytest

from audit import plugins
from audit.checks.base import UNNAMED
from audit.checks.run import document_from, run_alone
from audit.checks.stated import StatedCheck
from audit.evidence.base import Evidence, Interval, conclude
from tests.plugged import add_plugin


@dataclass(frozen=True)
class Divisor:
    """A number that was tried, and what was left over."""

    number: int
    rest: int


@dataclass(frozen=True)
class Divided(Evidence):
    """What the divisions left over."""

    divisors: tuple[Divisor, ...] = ()


@dataclass(frozen=True)
class Divisibility:
    """The numbers of the claim."""

    by: int


@dataclass(frozen=True, kw_only=True)
class DivisibleCheck(StatedCheck):
    """The claim that a function returns a multiple of a number.

    Parameters
    ----------
    function : callable
        Without parameters.
    by : int >= 1
        The number.
    budget : int >= 2, optional
        Outputs are not drawn.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.
    """

    function: object
    by: int

    kind: ClassVar[str] = "divisible"
    callables: ClassVar = {"function": "()"}
    terms_type: ClassVar[type] = Divisibility
    evidence_type: ClassVar[type[Evidence]] = Divided

    def _validate(self):
        assert self.by >= 1

    @property
    def summary(self):
        """The claim in a few symbols."""
        return f"a multiple of {self.by}"

    def gather(self, allowance):
        """Divide."""
        return Divided(1, (Divisor(self.by, self.function() % self.by),), uses="evaluator")

    @staticmethod
    def decide(terms, evidence, significance):
        """Judge what is left over."""
        rest = evidence.divisors[0].rest
        found = (Interval("rest", rest, rest),)
        return conclude(
            "computed", found, broken=f"{rest} is left" if rest else None, why_open=None, kept="nothing left"
        )


@document_from(DivisibleCheck)
def check_divisible(function, by, name=None, budget=2, significance=0.05, confirmation=1e-6, seed=0, timeout=None):
    """Check that a function returns a multiple of a number."""
    return run_alone(
        DivisibleCheck(name=name or UNNAMED, function=function, by=by, timeout=timeout),
        budget=budget,
        significance=significance,
        confirmation=confirmation,
        seed=seed,
    )


PLUGIN = plugins.Plugin(
    name="divisible", kinds={"divisible": (f"{__name__}:DivisibleCheck", f"{__name__}:check_divisible")}
)


@contextmanager
def listed():
    """Register the kind for a while."""
    with pytest.MonkeyPatch.context() as patch:
        yield from add_plugin(patch, f"{__name__}:PLUGIN")
