"""What the audits of a pytest session share, and what a marker sets for those of one test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.base.arguments import integer, positive
from audit.base.defaults import DEFAULT_BUDGET
from audit.base.errors import InvalidArgument

FIXTURE = "dp_audit"
BUDGETS = {"quick": 20_000, "standard": DEFAULT_BUDGET, "deep": 2_000_000}  # outputs a side


@dataclass
class Session:
    """Options of the command line, and the number of tests that audit.

    Parameters
    ----------
    significance : float in (0, 1)
        Of the whole session.
    budget : int
        Outputs a side of an audit that states none.
    seed : int
        Of all audits; each draws outputs of its own.
    recorded : bool
        Whether a certificate is wanted.
    tests : int
        Among which the significance is shared.
    """

    significance: float
    budget: int
    seed: int
    recorded: bool = False
    tests: int = 1

    def share(self, number: int, audits: int | None) -> float:
        """Significance of the `number`-th audit of a test, from 1.

        Equal parts when the test says how many audits it makes, else 1/(k (k + 1)) for the k-th: no number of audits
        overspends the test's share.
        """
        parts = number * (number + 1) if audits is None else audits
        return self.significance / self.tests / parts


@dataclass(frozen=True)
class Settings:
    """What the marker of a test says."""

    budget: int | None = None
    audits: int | None = None
    seed: int | None = None
    timeout: float | None = None


def budget_of(value: Any, name: str) -> int:
    """A budget by number or by name.

    Raises
    ------
    InvalidArgument
        When it is neither a whole number of at least 2 nor one of `BUDGETS`.
    """
    if value in BUDGETS:
        return BUDGETS[value]
    try:
        return integer(float(value), name, at_least=2)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument.of(name, f"be a number or one of {', '.join(BUDGETS)}", value) from None


def settings_of(keywords: Mapping[str, Any]) -> Settings:
    """Read a marker's keywords.

    Raises
    ------
    InvalidArgument
        For other keywords, or values outside their admissible sets.
    """
    known: dict[str, Callable[[Any], Any]] = {
        "budget": lambda value: budget_of(value, "budget"),
        "audits": lambda value: integer(value, "audits", at_least=1),
        "seed": lambda value: integer(value, "seed", at_least=0),
        "timeout": lambda value: positive(value, "timeout"),
    }
    for name in keywords:
        if name not in known:
            raise InvalidArgument.of("dp_audit", f"be marked with {', '.join(known)} only", name)
    return Settings(**{name: known[name](value) for name, value in keywords.items()})
