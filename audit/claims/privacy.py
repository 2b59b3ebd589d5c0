"""Claims about privacy: their base, (epsilon, delta)-differential privacy, and claims as plain data."""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from audit.claims.relations import AddRemove, Distance, Group, LabelFlip, Local, Relation, Substitution
from audit.errors import InvalidArgument
from audit.laws import ARITHMETIC_TOLERANCE
from audit.validate import Finite, Probability, closed_probability, nonnegative

CLAIM_KINDS: dict[str, type[Claim]] = {}
"""Every class of claims by its `kind`; a subclass of `Claim` that sets `kind` enters itself."""

_APART = ("relation", "source")  # fields beside the parameters
USUAL = 2  # index of the share that is tested unless the outputs favor another one
_LEAST_SCALE = 1e-3  # deltas are compared with a relative tolerance, and absolutely below this
_DISTANCE = re.compile(r"(l1|l2|linf) distance (\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
_GROUP = re.compile(r"group\((\d+)\) of (.+)")
_OWN = re.compile(r"(.+) \(defined by [^\s()]+\)")  # a relation that this package does not define


class Point(NamedTuple):
    """One (epsilon, delta) that a claim implies: refuting it refutes the claim."""

    epsilon: Finite
    delta: Probability

    def __str__(self) -> str:
        return f"({self.epsilon:.4g}, {self.delta:.4g})"


class Claim(ABC):
    """Frozen data: a claim about a mechanism's privacy, with its source."""

    relation: Any
    source: str

    kind: ClassVar[str]  # the name in certificates
    is_curve: ClassVar[bool]
    long_form: ClassVar[str]  # formats of the claim, {0} being the claim
    short_form: ClassVar[str]
    admissible: ClassVar[Mapping[str, Callable[[object, str], float]]] = {}  # validators of the parameters

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "kind" in cls.__dict__:
            CLAIM_KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        for name, checked in self.admissible.items():
            object.__setattr__(self, name, checked(getattr(self, name), name))
        if isinstance(self.relation, type) or not isinstance(self.relation, Relation):
            kinds = "AddRemove(), Substitution(), LabelFlip(), Local() or Group(k)"
            raise InvalidArgument.of("relation", f"be one of audit, such as {kinds}", self.relation)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)

    def __str__(self) -> str:
        return f"{self.long_form.format(self)} under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
        return self.short_form.format(self)

    @property
    @abstractmethod
    def points(self) -> tuple[Point, ...]:
        """The points among which a test chooses one, epsilon increasing."""

    @property
    def point(self) -> Point:
        """The point that is tested unless the training outputs favor another one."""
        return self.points[min(USUAL, len(self.points) - 1)]

    @property
    def resolved_points(self) -> tuple[Point, ...]:
        """The points that a PASS has to resolve."""
        return self.points

    @abstractmethod
    def profile(self, epsilon: float) -> float:
        """Return an upper bound of the least delta implied at `epsilon`: refuting it refutes the claim."""

    def implies(self, point: Point) -> bool:
        """Return whether the claim implies (epsilon, delta)-differential privacy at `point`, up to rounding."""
        return not exceeds(self.profile(point.epsilon), point.delta)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the claim as plain data, without relation and source."""
        names = [part.name for part in dataclasses.fields(self)]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names if name not in _APART}


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

    epsilon: Finite
    delta: Probability = 0.0
    relation: Any = field(default_factory=Substitution)
    source: str = ""

    kind: ClassVar[str] = "approximate"
    is_curve: ClassVar[bool] = False
    long_form: ClassVar[str] = "({0.epsilon:g}, {0.delta:g})-DP"
    short_form: ClassVar[str] = "({0.epsilon:g}, {0.delta:g})"
    admissible: ClassVar = {"epsilon": nonnegative, "delta": closed_probability}

    @property
    def points(self) -> tuple[Point, ...]:
        """The claim itself: the one point that is tested."""
        return (Point(self.epsilon, self.delta),)

    def profile(self, epsilon: float) -> float:
        """Return the least delta that the claim implies at another epsilon.

        It is 1 - (1 - delta) (1 + e^epsilon) / (1 + e^claimed) below the claimed epsilon, and delta from there on
        (Kairouz, Oh & Viswanath 2015, The Composition Theorem for Differential Privacy, remark 2.2 solved for delta).
        """
        at = nonnegative(epsilon, "epsilon")
        if at >= self.epsilon:
            return self.delta
        return 1.0 - (1.0 - self.delta) * math.exp(np.logaddexp(0.0, at) - np.logaddexp(0.0, self.epsilon))

    def implies(self, point: Point) -> bool:
        """Return whether `point` is the claim itself: no other point is ever tested."""
        return point == self.point


def require_claim(claim: object) -> None:
    """Raise `InvalidArgument` unless `claim` is a claim about privacy."""
    if not isinstance(claim, Claim):
        curves = ", ".join(kind.__name__ for kind in CLAIM_KINDS.values() if kind.is_curve)
        numbers = claim if isinstance(claim, tuple) else (claim,)
        stated = all(isinstance(number, (int, float)) for number in numbers)
        instead = f"write audit.PrivacyClaim({', '.join(map(repr, numbers))})" if stated else ""
        raise InvalidArgument.of("claim", f"be a PrivacyClaim or one of {curves}", claim, instead)


def claim_record(claim: Claim) -> dict[str, Any]:
    """Return a claim as plain data."""
    parameters = {name: "inf" if value == math.inf else value for name, value in claim.parameters().items()}
    return {"kind": claim.kind, **parameters, "relation": _recorded_name(claim.relation), "source": claim.source}


def claim_of(record: Mapping[str, Any]) -> Claim:
    """Rebuild a claim from `claim_record`."""
    kind = record["kind"]
    if kind not in CLAIM_KINDS:
        raise InvalidArgument.of("kind", f"be one of {', '.join(CLAIM_KINDS)}", kind)
    own = {name: value for name, value in record.items() if name not in ("kind", *_APART)}
    parameters = {name: math.inf if value == "inf" else value for name, value in own.items()}
    made: Any = CLAIM_KINDS[kind]
    return made(**parameters, relation=find_relation(record["relation"]), source=record["source"])


@dataclass(frozen=True)
class NamedRelation:
    """A relation of which a certificate knows only the name."""

    name: str

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return a reason for every pair: the rule is not known."""
        return "the relation is known by its name only"


_RELATIONS = {relation.name: relation for relation in (Substitution(), AddRemove(), LabelFlip(), Local())}


def find_relation(name: str) -> Any:
    """Return the relation of that name; a `NamedRelation` if it is not one of this package."""
    if match := _GROUP.fullmatch(name):
        base = find_relation(match[2])
        return Group(int(match[1]), base) if hasattr(base, "distance") else NamedRelation(name)
    if match := _DISTANCE.fullmatch(name):
        return Distance(match[1], float(match[2]))  # type: ignore[arg-type]
    own = _OWN.fullmatch(name)
    return _RELATIONS.get(name, NamedRelation(own[1] if own else name))


def _recorded_name(relation: Any) -> str:
    """Return the name of a relation; of one that this package does not define, with the class that defines it."""
    kind = type(relation)
    is_ours = relation == find_relation(relation.name)
    return str(relation.name) if is_ours else f"{relation.name} (defined by {kind.__module__}.{kind.__qualname__})"


def exceeds(value: float, claimed: float) -> bool:
    """Return whether a lower bound of a delta or a divergence exceeds the claimed value beyond rounding."""
    return value > claimed + ARITHMETIC_TOLERANCE * max(claimed, _LEAST_SCALE)
