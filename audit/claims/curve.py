"""What every kind of claim offers: the privacy profile that it implies, and a comparison with an exact loss."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from audit.base.errors import InvalidArgument
from audit.claims.approximate import Point, require_relation, require_source
from audit.claims.relations import Substitution
from audit.laws import ARITHMETIC_TOLERANCE, Direction, PrivacyLoss

SHARES = (1.0, 0.5, 0.1, 0.01, 1e-4, 1e-8)
"""The points at which a curve is tested: where its delta has fallen to these shares of delta(0)."""

_USUAL = 2  # index of the share that is tested when nothing says which point to test
_LEAST_SCALE = 1e-3  # deltas are compared with a relative tolerance, and absolutely below this
_FARTHEST = 40.0  # to certify a larger epsilon takes more than e^40 runs
_BISECTIONS = 40


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
        Which datasets are neighboring; substitution unless said otherwise. Both orders of a pair are claimed.
    source : str
        Where the promise is made.
    """

    relation: Any = field(default_factory=Substitution)
    source: str = ""

    kind: ClassVar[str]
    is_curve: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_relation(self.relation)
        require_source(self.source)

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

    @property
    @abstractmethod
    def short(self) -> str:
        """The claim for a narrow column."""

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Points of the curve (epsilon, profile(epsilon)), epsilon increasing, among which a test chooses one.

        They lie where the profile falls to each of `SHARES` of its value at 0, so that they follow the scale of the
        claim; those that no audit could reach are left out. A claim of perfect privacy has the one point (0, 0).
        """
        epsilons = dict.fromkeys(self._epsilon_of(share) for share in SHARES)
        return tuple(Point(epsilon, self.profile(epsilon)) for epsilon in epsilons if epsilon <= _FARTHEST)

    @property
    def point(self) -> Point:
        """The point that is tested when nothing speaks for another one: where delta is a tenth of delta(0)."""
        return self.points[min(_USUAL, len(self.points) - 1)]

    def implies(self, point: Point) -> bool:
        """Whether the claim implies (epsilon, delta)-differential privacy at `point`, up to rounding."""
        return not exceeds(self.profile(point.epsilon), point.delta)

    def parameters(self) -> dict[str, Any]:
        """What is claimed, as plain data."""
        names = [part.name for part in dataclasses.fields(self) if part.name not in ("relation", "source")]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], relation: Any, source: str) -> Self:
        """Rebuild from `parameters()`."""
        return cls(**parameters, relation=relation, source=source)

    def _epsilon_of(self, share: float) -> float:
        """The least epsilon whose delta is at most a share of delta(0), from above; inf when it is out of reach."""
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
    """Return `loss`, or raise when it is not the privacy loss of a pair."""
    if not isinstance(loss, PrivacyLoss):
        raise InvalidArgument.of("loss", "be an audit.laws.PrivacyLoss: no exact judgement without one", loss)
    return loss


def exceeds(value: float, claimed: float) -> bool:
    """Whether a lower bound `value` of a delta or a divergence exceeds the claimed one beyond rounding."""
    return value > claimed + ARITHMETIC_TOLERANCE * max(claimed, _LEAST_SCALE)
