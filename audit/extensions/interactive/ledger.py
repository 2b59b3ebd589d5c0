"""Record conversations: a ledger, which may break a claim by itself, and the transcript of one conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from audit import PrivacyClaim, Verdict
from audit.api import Case, Finding, Judgment, Way, errors, validate, view

ROUNDING = Fraction(1, 10**9)  # relative: a charge in floats may be less than the sum by rounding
_Rational = Annotated[str, validate.Limits(pattern=r"-?\d+(/\d+)?")]


def rational(value: Any) -> Fraction:
    """Return a number as the fraction that its shortest text names: 0.1 is 1/10, and ten of them are 1.

    Examples
    --------
    >>> sum(rational(0.1) for _ in range(11))
    Fraction(11, 10)
    """
    if isinstance(value, Fraction):
        return value
    return Fraction(str(float(value)) if isinstance(value, float) else str(value))


@dataclass(frozen=True)
class Turn:
    """One move with its answer; where costs are stated, that of the answer and the object's charges so far."""

    move: str
    answer: str
    cost: _Rational | None = None
    charged: _Rational | None = None


@dataclass(frozen=True)
class Ledger(Way):
    """Hold the conversation that was worst for the budget, of some that were recorded."""

    conversations: validate.Count
    pair: validate.Count
    side: Annotated[str, validate.Limits(pattern="left|right")]
    limit: _Rational  # the allowed cost of all answers of one conversation
    payments: tuple[Turn, ...]

    way: ClassVar[str] = "ledger"

    def finding(self, case: Case) -> Finding:
        """Return FAIL where answers cost more than is claimed, or less was charged than they cost: exact sums."""
        limit, claim = Fraction(self.limit), case.terms.claim
        if isinstance(claim, PrivacyClaim) and claim.delta == 0 and limit < rational(claim.epsilon):
            raise errors.InvalidCertificate(
                f"the ledger allows {limit}, which is less than the claimed {claim.epsilon}"
            )
        said = overspent(self.payments, limit)
        if not said:
            return Finding()
        return Finding(Judgment(Verdict.FAIL, "computed", f"{said} (taking the costs for granted)"))

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[view.Part]:
        """Yield the conversation that breaks the ledger, unless one that breaks the claim is shown."""
        if record["verdict"] == "FAIL" and all(other["way"] != Transcript.way for other in record["evidence"]["ways"]):
            keys = ("move", "answer", "cost", "charged")
            paid = [tuple(payment[key] or "–" for key in keys) for payment in way["payments"]]
            title = f"The conversation that breaks the ledger, on {way['side']}"
            yield view.Part(title, head=("move", "answer", "cost", "charged so far"), rows=paid)


def overspent(payments: tuple[Turn, ...], limit: Fraction) -> str:
    """Return the evidence of a ledger against its object; empty if there is none."""
    paid, said = Fraction(0), ""
    for turn, payment in enumerate(payments, 1):
        paid += Fraction(payment.cost or 0)
        if payment.charged is not None and Fraction(payment.charged) < paid * (1 - ROUNDING) and not said:
            said = (
                f"after turn {turn}, {payment.move}, {_print(payment.charged)} is charged for a cost of {_print(paid)}"
            )
    if paid > limit:
        return f"the {len(payments)} turns of a conversation cost {_print(paid)}, and {_print(limit)} is claimed"
    return said


def _print(value: Fraction | str) -> str:
    exact = Fraction(value)
    return f"{exact}" if exact.denominator == 1 else f"{exact} ({float(exact):.6g})"


@dataclass(frozen=True)
class Transcript(Way):
    """Hold one conversation of the event that breaks the claim, turn by turn; no verdict rests on it."""

    pair: validate.Count
    side: Annotated[str, validate.Limits(pattern="left|right")]  # the dataset that gave the conversation
    turns: tuple[Turn, ...]

    way: ClassVar[str] = "conversation"

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[view.Part]:
        """Yield the conversation that breaks the claim."""
        if record["verdict"] == "FAIL":
            rows = [(turn["move"], turn["answer"]) for turn in way["turns"]]
            yield view.Part(
                f"A conversation on {way['side']} that breaks the claim", head=("move", "answer"), rows=rows
            )
