"""Pairs in several orders of their records, and the two kinds of checks of fitted learners."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim

BUDGET = 2_000
Pair = tuple[Labeled, Labeled]


def last_first(left: Any, right: Any) -> Any:
    """Return the same pair, records in the reverse order."""
    return tuple(
        Labeled(side.X[::-1], side.y[::-1]) if isinstance(side, Labeled) else side[::-1] for side in (left, right)
    )


def by_label(left: Labeled, right: Labeled) -> Pair:
    """Return the same pair, records with the largest label on the left first."""
    order = np.argsort(-np.asarray(left.y), kind="stable")
    left, right = (Labeled(np.asarray(side.X)[order], np.asarray(side.y)[order]) for side in (left, right))
    return left, right


def in_orders(*pairs: Any) -> list[Any]:
    """Return pairs as they are, and the first of them in the reverse order."""
    return [*pairs, last_first(*pairs[0])]


def exact(name: str, mechanism: Any, claim: PrivacyClaim, pairs: list[Any]) -> PrivacyCheck:
    """Check a learner by its stated law, and that its fits follow it."""
    return PrivacyCheck(
        name=f"fitted/{name} eps={claim.epsilon:g} delta={claim.delta:g}",
        mechanism=mechanism,
        claim=claim,
        pairs=pairs,
        budget=BUDGET,
        method="exact",
    )
