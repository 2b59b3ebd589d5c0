"""Claims as plain data and back. Nothing is imported or run to read one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.base.errors import InvalidArgument
from audit.claims.privacy_claim import CLAIM_KINDS, Claim, PrivacyClaim
from audit.claims.relations import AddRemove, Group, LabelFlip, Local, Substitution

_RELATIONS = {relation.name: relation for relation in (Substitution(), AddRemove(), LabelFlip(), Local())}
_GROUP = re.compile(r"group\((\d+)\) of (.+)")


@dataclass(frozen=True)
class NamedRelation:
    """A relation of which a certificate knows only the name."""

    name: str

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return a reason for every pair: the rule is not known."""
        return "the relation is known by its name only"


def require_claim(claim: object) -> None:
    """Raise `InvalidArgument` unless `claim` is a claim about privacy."""
    if not isinstance(claim, Claim):
        curves = ", ".join(kind.__name__ for kind in CLAIM_KINDS.values() if kind.is_curve)
        raise InvalidArgument.of("claim", f"be a PrivacyClaim or one of {curves}", claim)


def claim_record(claim: Claim) -> dict[str, Any]:
    """Return a claim as plain data.

    Raises
    ------
    InvalidArgument
        For a trade-off claim whose function is code.
    """
    parameters = {name: "inf" if value == math.inf else value for name, value in claim.parameters().items()}
    return {"kind": claim.kind, **parameters, "relation": claim.relation.name, "source": claim.source}


def claim_of(record: Mapping[str, Any]) -> Claim:
    """Rebuild a claim from `claim_record`; a record without a kind is an (epsilon, delta) claim.

    Raises
    ------
    InvalidArgument
        For an unknown kind or parameters outside their admissible sets.
    KeyError, TypeError
        For parameters that are missing or not those of the kind.
    """
    kind = record.get("kind", PrivacyClaim.kind)
    if kind not in CLAIM_KINDS:
        raise InvalidArgument.of("kind", f"be one of {', '.join(CLAIM_KINDS)}", kind)
    own = {name: value for name, value in record.items() if name not in ("kind", "relation", "source")}
    parameters = {name: math.inf if value == "inf" else value for name, value in own.items()}
    return CLAIM_KINDS[kind].from_parameters(parameters, relation_of(record["relation"]), record["source"])


def claim_label(record: Mapping[str, Any]) -> str:
    """Return a recorded claim as it fits a narrow column."""
    return claim_of(record).short


def relation_of(name: str) -> Any:
    """Return the relation of that name; a `NamedRelation` if it is not one of this package."""
    if match := _GROUP.fullmatch(name):
        base = relation_of(match[2])
        return Group(int(match[1]), base) if hasattr(base, "distance") else NamedRelation(name)
    return _RELATIONS.get(name, NamedRelation(name))
