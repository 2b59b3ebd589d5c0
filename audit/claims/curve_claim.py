"""Claims that imply (epsilon, delta)-differential privacy along a whole curve, and how exact losses judge them."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from audit.base.errors import InvalidArgument
from audit.claims.privacy_claim import Claim, Point
from audit.claims.relations import Substitution
from audit.laws import ARITHMETIC_TOLERANCE, Direction, PrivacyLoss

SHARES = (1.0, 0.5, 0.1, 0.01, 1e-4, 1e-8)
"""The points at which a curve is tested: where its delta has fallen to these shares of delta(0)."""

_USUAL = 2  # index of the share that is tested unless the outputs favor another one
_LEAST_SCALE = 1e-3  # deltas are compared with a relative tolerance, and absolutely below this
_FARTHEST = 40.0  # to certify a larger epsilon takes more than e^40 outputs
_BISECTIONS = 40


@dataclass(frozen=True)
class ExactJudgment:
    """The outcome of comparing a claim with the exact privacy loss of one pair."""

    # True if the loss was shown to keep the claim, up to rounding (relative 1e-9); False if it was shown to break
    # it; None if the bounds leave it open
    keeps: bool | None
    detail: str  # one sentence with the numbers
    # Where the claim is kept worst: an epsilon for Gaussian and trade-off claims, an order for Renyi claims
    worst_point: float | None = None
    direction: Direction | None = None  # the law in the numerator there


@dataclass(frozen=True, kw_only=True)
class CurveClaim(Claim):
    """A claim that implies (epsilon, delta)-differential privacy along a whole curve."""

    # Says which datasets are neighboring. Both orders of a pair are claimed.
    relation: Any = field(default_factory=Substitution)
    source: str = ""  # where the claim is made

    is_curve: ClassVar[bool] = True

    @abstractmethod
    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the claim with the exact privacy loss of a pair, in both directions.

        Parameters
        ----------
        loss : PrivacyLoss

        Returns
        -------
        ExactJudgment
            Each error is taken on its safe side: rounding never decides.

        Raises
        ------
        InvalidArgument
            If `loss` is not a `PrivacyLoss`.
        """

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Points (epsilon, profile(epsilon)) of the curve, epsilon increasing, among which a test chooses one.

        They lie where the profile falls to each of `SHARES` of its value at 0, and so follow the scale of the claim.
        Points that no audit could reach are left out. A claim of perfect privacy has the one point (0, 0).
        """
        epsilons = dict.fromkeys(self._epsilon_of(share) for share in SHARES)
        return tuple(Point(epsilon, self.profile(epsilon)) for epsilon in epsilons if epsilon <= _FARTHEST)

    @property
    def point(self) -> Point:
        """The point where delta is a tenth of delta(0), tested unless the outputs favor another one."""
        return self.points[min(_USUAL, len(self.points) - 1)]

    def implies(self, point: Point) -> bool:
        """Return whether the claim implies (epsilon, delta)-differential privacy at `point`, up to rounding."""
        return not exceeds(self.profile(point.epsilon), point.delta)

    def parameters(self) -> dict[str, Any]:
        """Return the fields of the subclass as plain data."""
        names = [part.name for part in dataclasses.fields(self) if part.name not in ("relation", "source")]
        return {name: getattr(self, name) for name in names}

    def _epsilon_of(self, share: float) -> float:
        """Return the least epsilon, from above, whose delta is at most a share of delta(0); inf if out of reach."""
        wanted = share * self.profile(0.0)
        if self.profile(0.0) <= wanted:
            return 0.0
        if self.profile(_FARTHEST) > wanted:
            return math.inf
        low, high = 0.0, _FARTHEST
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.profile(middle) <= wanted else (middle, high)
        return high


def require_loss(loss: object) -> PrivacyLoss:
    """Return `loss`, or raise `InvalidArgument` if it is not the privacy loss of a pair."""
    if not isinstance(loss, PrivacyLoss):
        raise InvalidArgument.of("loss", "be an audit.laws.PrivacyLoss: no exact judgment without one", loss)
    return loss


def exceeds(value: float, claimed: float) -> bool:
    """Return whether a lower bound of a delta or a divergence exceeds the claimed value beyond rounding."""
    return value > claimed + ARITHMETIC_TOLERANCE * max(claimed, _LEAST_SCALE)
