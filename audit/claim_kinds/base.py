"""What every kind of claim offers: the privacy profile that it implies, and a comparison with an exact loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from audit.errors import InvalidArgument
from audit.exact import ARITHMETIC_TOLERANCE, Direction, PrivacyLoss
from audit.relations import Relation, Substitution

_LEAST_SCALE = 1e-3  # deltas are compared with a relative tolerance, and absolutely below this


@dataclass(frozen=True)
class ExactJudgement:
    """How a claim compares with the exact privacy loss of one pair.

    Parameters
    ----------
    keeps : bool or None
        True when the loss was shown to keep the claim, up to rounding (relative 1e-9); False when it was shown to
        break it; None when the bounds leave it open.
    breaks : bool or None
        The opposite of `keeps`; None with it.
    detail : str
        One sentence with the numbers.
    worst_point : float or None
        Where the claim is worst kept: an epsilon for Gaussian and trade-off claims, an order for Renyi ones.
    direction : {"left", "right"} or None
        The law in the numerator there.
    """

    keeps: bool | None
    breaks: bool | None
    detail: str
    worst_point: float | None = None
    direction: Direction | None = None

    @classmethod
    def of(
        cls, keeps: bool | None, detail: str, worst_point: float | None = None, direction: Direction | None = None
    ) -> ExactJudgement:
        """Build from `keeps` alone."""
        return cls(keeps, None if keeps is None else not keeps, detail, worst_point, direction)


@dataclass(frozen=True, kw_only=True)
class ClaimKind(ABC):
    """A claim that implies (epsilon, delta)-differential privacy along a whole curve.

    Parameters
    ----------
    relation : relation
        Which datasets are neighbouring; substitution unless said otherwise. Both orders of a pair are claimed.
    source : str
        Where the promise is made.
    """

    relation: Any = field(default_factory=Substitution)
    source: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.relation, type) or not isinstance(self.relation, Relation):
            raise InvalidArgument.of("relation", "be a relation such as Substitution()", self.relation)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)

    @abstractmethod
    def profile(self, epsilon: float) -> float:
        """Give a delta that the claim implies at `epsilon`: never smaller than the smallest one that it implies.

        Refuting (epsilon, profile(epsilon))-differential privacy refutes the claim.

        Parameters
        ----------
        epsilon : float, finite, >= 0
        """

    @abstractmethod
    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgement:
        """Compare the claim with the exact privacy loss of a pair, both directions, on the safe side of each error."""


def require_loss(loss: object) -> PrivacyLoss:
    """Return `loss`, or raise when it is not the privacy loss of a pair."""
    if not isinstance(loss, PrivacyLoss):
        raise InvalidArgument.of("loss", "be an audit.exact.PrivacyLoss: no exact judgement without one", loss)
    return loss


def exceeds(value: float, claimed: float) -> bool:
    """Whether a lower bound `value` of a delta or a divergence exceeds the claimed one beyond rounding."""
    return value > claimed + ARITHMETIC_TOLERANCE * max(claimed, _LEAST_SCALE)
