"""Claims as plain data and back: the one place that knows every kind of claim."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.base.errors import InvalidArgument
from audit.claims.approximate import PrivacyClaim
from audit.claims.curve import ClaimKind
from audit.claims.relations import AddRemove, Group, LabelFlip, Local, Substitution
from audit.claims.renyi import RenyiClaim, ZeroConcentratedClaim
from audit.claims.trade_off import GaussianClaim, TradeOffClaim

Claim = PrivacyClaim | ClaimKind

KINDS: Mapping[str, type[PrivacyClaim] | type[ClaimKind]] = {
    kind.kind: kind for kind in (PrivacyClaim, GaussianClaim, TradeOffClaim, RenyiClaim, ZeroConcentratedClaim)
}
_RELATIONS = {relation.name: relation for relation in (Substitution(), AddRemove(), LabelFlip(), Local())}
_GROUP = re.compile(r"group\((\d+)\) of (.+)")


@dataclass(frozen=True)
class NamedRelation:
    """A relation of which a certificate knows the name only."""

    name: str

    def why_not(self, left: Any, right: Any) -> str | None:
        """Always a reason: the rule is not known."""
        return "the relation is known by its name only"


def require_claim(claim: object) -> None:
    """Raise unless `claim` is a claim about privacy."""
    if not isinstance(claim, Claim):
        raise InvalidArgument.of("claim", f"be a PrivacyClaim or one of {', '.join(_names())}", claim)


def claim_record(claim: Claim) -> dict[str, Any]:
    """A claim as plain data.

    Raises
    ------
    InvalidArgument
        For a trade-off claim whose function is code.
    """
    parameters = {name: "inf" if value == math.inf else value for name, value in claim.parameters().items()}
    return {"kind": claim.kind, **parameters, "relation": claim.relation.name, "source": claim.source}


def claim_of(record: Mapping[str, Any]) -> Claim:
    """Rebuild a claim from `claim_record`; without a kind it is an (epsilon, delta) one. Nothing is imported or run.

    Raises
    ------
    InvalidArgument
        For an unknown kind or parameters outside their admissible sets.
    KeyError, TypeError
        For parameters that are missing or not those of the kind.
    """
    kind = record.get("kind", PrivacyClaim.kind)
    if kind not in KINDS:
        raise InvalidArgument.of("kind", f"be one of {', '.join(KINDS)}", kind)
    own = {name: value for name, value in record.items() if name not in ("kind", "relation", "source")}
    parameters = {name: math.inf if value == "inf" else value for name, value in own.items()}
    return KINDS[kind].from_parameters(parameters, relation_of(record["relation"]), record["source"])


def claim_label(record: Mapping[str, Any]) -> str:
    """A recorded claim for a narrow column."""
    return claim_of(record).short


def relation_of(name: str) -> Any:
    """The relation of that name; one known by name only when it is not of this package."""
    if match := _GROUP.fullmatch(name):
        base = relation_of(match[2])
        return Group(int(match[1]), base) if hasattr(base, "distance") else NamedRelation(name)
    return _RELATIONS.get(name, NamedRelation(name))


def _names() -> list[str]:
    return [kind.__name__ for kind in KINDS.values() if kind is not PrivacyClaim]
