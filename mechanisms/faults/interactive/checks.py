"""Make the check of a fault: the same claim and budget for all."""

from __future__ import annotations

from typing import Any

from audit import InteractiveCheck, Verdict
from mechanisms.interactive.sessions import CLAIM, PAIRS

BUDGET = 20_000


def fault(name: str, make: Any, analyst: Any, **settings: Any) -> InteractiveCheck:
    """Return the check of a fault, which expects conviction."""
    given = {"claim": CLAIM, "pairs": PAIRS, "budget": BUDGET, **settings}
    return InteractiveCheck(
        name=f"fault/interactive {name}", make=make, analyst=analyst, expected=Verdict.FAIL, **given
    )
