"""What is promised about a mechanism: frozen data, with its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from audit.arguments import closed_probability, nonnegative
from audit.errors import InvalidArgument
from audit.relations import Relation, Substitution


@dataclass(frozen=True)
class PrivacyClaim:
    """(epsilon, delta)-differential privacy: P(E) <= e^epsilon Q(E) + delta, for every event E and neighbours.

    Parameters
    ----------
    epsilon : float, finite, >= 0
        Privacy-loss bound, natural logarithm.
    delta : float in [0, 1]
        Additive slack; 0 is pure differential privacy.
    relation : relation
        Which datasets are neighbouring; substitution unless said otherwise.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", closed_probability(self.delta, "delta"))
        if isinstance(self.relation, type) or not isinstance(self.relation, Relation):
            raise InvalidArgument.of("relation", "be a relation such as Substitution()", self.relation)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP under {self.relation.name}"
