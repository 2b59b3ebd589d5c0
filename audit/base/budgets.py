"""Budgets: a number of draws, or a name that stands for a tolerance and a time."""

from __future__ import annotations

from dataclasses import dataclass

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument


@dataclass(frozen=True)
class Effort:
    """Say what a named budget means; the outputs follow from the claim and from the number of checks."""

    tolerance: float  # of a statistical PASS, as a multiple of the usual one
    seconds: float  # for which a privacy check may draw
    draws: int  # outputs per dataset where the law is stated, losses or trials of the other kinds


EFFORTS = {
    "auto": Effort(1.0, 60.0, 100_000),
    "quick": Effort(2.0, 10.0, 20_000),
    "standard": Effort(1.0, 60.0, 100_000),
    "deep": Effort(0.4, 3600.0, 2_000_000),
}
Budget = int | str


def budget_of(value: object, name: str = "budget") -> Budget:
    """Return a budget given by a number or by a name; raise `InvalidArgument` for anything else."""
    if isinstance(value, str):
        if value in EFFORTS:
            return value
        try:
            value = float(value)
        except ValueError:
            raise InvalidArgument.of(name, f"be a number >= 2 or one of {', '.join(EFFORTS)}", value) from None
    return integer(value, name, at_least=2)
