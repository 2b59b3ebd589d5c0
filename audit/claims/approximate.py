"""What is promised about a mechanism: frozen data, with its source."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from audit.base.arguments import closed_probability, nonnegative
from audit.base.errors import InvalidArgument
from audit.claims.relations import Relation, Substitution


class Point(NamedTuple):
    """One (epsilon, delta) that a claim implies: refuting it refutes the claim."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"({self.epsilon:.4g}, {self.delta:.4g})"


@dataclass(frozen=True)
class PrivacyClaim:
    """(epsilon, delta)-differential privacy: P(E) <= e^epsilon Q(E) + delta, for every event E and neighbors.

    Parameters
    ----------
    epsilon : float, finite, >= 0
        Privacy-loss bound, natural logarithm.
    delta : float in [0, 1]
        Additive slack; 0 is pure differential privacy.
    relation : relation
        Which datasets are neighboring; substitution unless said otherwise.
    source : str
        Where the promise is made: a theorem, a docstring, a release note.

    Raises
    ------
    InvalidArgument
        When a parameter lies outside its admissible set.
    """

    epsilon: float
    delta: float = 0.0
    relation: Any = field(default_factory=Substitution)
    source: str = ""

    kind: ClassVar[str] = "approximate"
    is_curve: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", closed_probability(self.delta, "delta"))
        require_relation(self.relation)
        require_source(self.source)

    def __str__(self) -> str:
        return f"{self.short}-DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim for a narrow column."""
        return f"({self.epsilon:g}, {self.delta:g})"

    @property
    def point(self) -> Point:
        """The claim itself: the one point that is tested."""
        return Point(self.epsilon, self.delta)

    @property
    def points(self) -> tuple[Point, ...]:
        """The claim itself."""
        return (self.point,)

    def profile(self, epsilon: float) -> float:
        """Give the least delta that the claim implies at another `epsilon`.

        Below the claim's, 1 - (1 - delta) (1 + e^epsilon) / (1 + e^claimed)   (Kairouz, Oh & Viswanath 2015, remark
        2.2 solved for delta); above it, delta.
        """
        at = nonnegative(epsilon, "epsilon")
        if at >= self.epsilon:
            return self.delta
        ratio = math.exp(_softplus(at) - _softplus(self.epsilon))
        return 1.0 - (1.0 - self.delta) * ratio

    def implies(self, point: Point) -> bool:
        """Whether a recorded point is the one that a test of this claim tests."""
        return point == self.point

    def parameters(self) -> dict[str, Any]:
        """What is claimed, as plain data."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], relation: Any, source: str) -> PrivacyClaim:
        """Rebuild from `parameters()`."""
        return cls(**parameters, relation=relation, source=source)


def require_relation(relation: object) -> None:
    """Raise unless `relation` is an object that says which pairs are neighboring."""
    if isinstance(relation, type) or not isinstance(relation, Relation):
        raise InvalidArgument.of("relation", "be a relation such as Substitution()", relation)


def require_source(source: object) -> None:
    """Raise unless `source` is text."""
    if not isinstance(source, str):
        raise InvalidArgument.of("source", "be text", source)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
