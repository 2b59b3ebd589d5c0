"""The base of all privacy claims, and (epsilon, delta)-differential privacy."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from audit.base.arguments import closed_probability, nonnegative
from audit.base.errors import InvalidArgument
from audit.claims.relations import Relation, Substitution

CLAIM_KINDS: dict[str, type[Claim]] = {}
"""Every class of claims by its `kind`; a subclass of `Claim` that sets `kind` enters itself."""


class Point(NamedTuple):
    """One (epsilon, delta) that a claim implies: refuting it refutes the claim."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"({self.epsilon:.4g}, {self.delta:.4g})"


class Claim(ABC):
    """Frozen data: what is claimed about a mechanism's privacy, with its source.

    Every subclass has the fields `relation` and `source`, and `kind`, its name in certificates.
    """

    relation: Any
    source: str

    kind: ClassVar[str]
    is_curve: ClassVar[bool]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "kind" in cls.__dict__:
            CLAIM_KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        if isinstance(self.relation, type) or not isinstance(self.relation, Relation):
            raise InvalidArgument.of("relation", "be a relation such as Substitution()", self.relation)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)

    @property
    @abstractmethod
    def short(self) -> str:
        """The claim as it fits a narrow column."""

    @property
    @abstractmethod
    def points(self) -> tuple[Point, ...]:
        """The points among which a test chooses one, epsilon increasing."""

    @property
    @abstractmethod
    def point(self) -> Point:
        """The point that is tested unless the training outputs favor another one."""

    @abstractmethod
    def profile(self, epsilon: float) -> float:
        """Return a delta for which the claim implies (epsilon, delta)-differential privacy.

        It is never smaller than the least such delta, hence refuting (epsilon, profile(epsilon))-differential privacy
        refutes the claim.

        Parameters
        ----------
        epsilon : float, finite, >= 0

        Returns
        -------
        float in [0, 1]

        Raises
        ------
        InvalidArgument
            If `epsilon` is negative or not finite.
        """

    @abstractmethod
    def implies(self, point: Point) -> bool:
        """Return whether the claim implies (epsilon, delta)-differential privacy at `point`, up to rounding."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return what is claimed as plain data, without relation and source."""

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], relation: Any, source: str) -> Self:
        """Rebuild the claim from `parameters()`."""
        return cls(**{**parameters, "relation": relation, "source": source})


@dataclass(frozen=True)
class PrivacyClaim(Claim):
    """(epsilon, delta)-differential privacy: P(E) <= e^epsilon Q(E) + delta for every event E and all neighbors.

    Parameters
    ----------
    epsilon : float, finite, >= 0
        Bound of the privacy loss, in natural logarithms.
    delta : float in [0, 1], default 0
        Additive slack; 0 is pure differential privacy.
    relation : relation, default Substitution()
        Says which datasets are neighboring.
    source : str, optional
        Where the claim is made: a theorem, a docstring, a release note.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set.

    References
    ----------
    Dwork & Roth 2014, The Algorithmic Foundations of Differential Privacy, definition 2.4.

    Examples
    --------
    >>> from audit import AddRemove, PrivacyClaim
    >>> claim = PrivacyClaim(epsilon=1.0, delta=1e-6, relation=AddRemove(), source="release notes")
    >>> print(claim)
    (1, 1e-06)-DP under add/remove
    >>> round(claim.profile(0.5), 4)
    0.2876
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
        super().__post_init__()

    def __str__(self) -> str:
        return f"{self.short}-DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
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
        """Return the least delta that the claim implies at another epsilon.

        It is 1 - (1 - delta) (1 + e^epsilon) / (1 + e^claimed) below the claimed epsilon, and delta from there on
        (Kairouz, Oh & Viswanath 2015, The Composition Theorem for Differential Privacy, remark 2.2 solved for delta).
        """
        at = nonnegative(epsilon, "epsilon")
        if at >= self.epsilon:
            return self.delta
        return 1.0 - (1.0 - self.delta) * math.exp(softplus(at) - softplus(self.epsilon))

    def implies(self, point: Point) -> bool:
        """Return whether `point` is the claim itself: no other point is ever tested."""
        return point == self.point

    def parameters(self) -> dict[str, Any]:
        """Return epsilon and delta."""
        return {"epsilon": self.epsilon, "delta": self.delta}


def softplus(x: float) -> float:
    """Return log(1 + e^x) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
