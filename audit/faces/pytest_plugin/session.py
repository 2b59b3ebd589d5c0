"""Settings that the audits of a pytest session share, and those that a marker sets for one test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.base.arguments import integer, positive
from audit.base.defaults import DEFAULT_BUDGET
from audit.base.errors import InvalidArgument

FIXTURE = "dp_audit"
BUDGETS = {"quick": 20_000, "standard": DEFAULT_BUDGET, "deep": 2_000_000}  # outputs per dataset


@dataclass
class Session:
    """Options of the command line, and the number of tests that audit."""

    significance: float  # of the whole session, in (0, 1)
    budget: int  # outputs per dataset of an audit that states none
    seed: int  # of all audits; each draws outputs of its own
    recorded: bool = False  # a certificate is needed
    tests: int = 1  # among which the significance is shared

    def share(self, number: int, audits: int | None) -> float:
        """Return the significance of the `number`-th audit of a test, from 1.

        Equal parts when the test says how many audits it makes, else 1/(k (k + 1)) for the k-th: no number of audits
        overspends the test's share.
        """
        parts = number * (number + 1) if audits is None else audits
        return self.significance / self.tests / parts


@dataclass(frozen=True)
class Settings:
    """Settings of the audits of one test, from its marker."""

    budget: int | None = None
    audits: int | None = None
    seed: int | None = None
    timeout: float | None = None


def budget_of(value: Any, name: str = "budget") -> int:
    """Return a budget given by a number or by a name; raise InvalidArgument for anything else."""
    if value in BUDGETS:
        return BUDGETS[value]
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, f"be a number or one of {', '.join(BUDGETS)}", value) from None
    return integer(number, name, at_least=2)


_KEYWORDS: Mapping[str, Callable[[Any], Any]] = {
    "budget": budget_of,
    "audits": lambda value: integer(value, "audits", at_least=1),
    "seed": lambda value: integer(value, "seed", at_least=0),
    "timeout": lambda value: positive(value, "timeout"),
}


def settings_of(keywords: Mapping[str, Any]) -> Settings:
    """Return the settings in a marker's keywords; raise InvalidArgument for others, or for impossible values."""
    for name in keywords:
        if name not in _KEYWORDS:
            raise InvalidArgument.of(FIXTURE, f"be marked with {', '.join(_KEYWORDS)} only", name)
    return Settings(**{name: _KEYWORDS[name](value) for name, value in keywords.items()})
