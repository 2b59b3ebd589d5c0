"""Entries of this library's catalog: each becomes a check, with its remark or explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from audit import AddRemove, Local, PrecisionCheck, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from wild.mechanism import Served

LIBRARY, RELEASE = "diffprivlib", "diffprivlib 0.6.6"
REPLACED, ADDED, ANY_RECORD = Substitution(), AddRemove(), Local()
EPSILON = "Privacy parameter epsilon for the mechanism"
Pairs = Sequence[tuple[Any, Any]]


class Entry(NamedTuple):
    """A check and what is said about it in the ledger; no text for a check that speaks for itself."""

    check: PrivacyCheck
    note: str = ""


def entry(
    served: str,
    pairs: Pairs,
    *,
    says: str = EPSILON,
    where: str = "",
    relation: Any = REPLACED,
    epsilon: float = 1.0,
    delta: float = 0.0,
    budget: int = 200_000,
    tolerance: float | None = None,
    refuted: str = "",
    note: str = "",
    bits: bool = False,
) -> Entry:
    """One audited claim.

    Parameters
    ----------
    served : str
        A key of `MECHANISMS`; the check's name follows from it.
    pairs : sequence of (left, right)
        Neighboring datasets.
    says, where : str
        The sentence of the documentation, and the class or function whose docstring it stands in.
    relation, epsilon, delta, budget, tolerance
        Of the check.
    refuted : str
        Why the claim does not hold; the check is expected to FAIL then.
    note : str
        A remark on a claim that is kept.
    bits : bool
        Whether the bits of the released floats are examined.
    """
    kind = PrecisionCheck if bits else PrivacyCheck
    named = f"{served}{', bits' if bits else ''} eps={epsilon:g}{f' delta={delta:g}' if delta else ''}"
    check = kind(
        name=f"{LIBRARY}/{named}",
        mechanism=Served(LIBRARY, served),
        claim=PrivacyClaim(epsilon, delta, relation, f'{RELEASE}, docstring of {where or served}: "{says}"'),
        pairs=pairs,
        budget=budget,
        tolerance=tolerance,
        method="fixed",
        expected=Verdict.FAIL if refuted else Verdict.PASS,
    )
    return Entry(check, refuted or note)
