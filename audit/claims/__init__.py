"""Claims about privacy of every kind, and the relations that say which datasets are neighboring."""

from audit.claims.aggregates import Distance, Neighbors, ZeroOut
from audit.claims.datasets import Labeled
from audit.claims.gaussian import GaussianClaim
from audit.claims.privacy import (
    CLAIM_KINDS,
    Claim,
    CurveClaim,
    ExactJudgment,
    Point,
    PrivacyClaim,
    claim_of,
    claim_record,
    require_claim,
)
from audit.claims.relations import AddRemove, Group, LabelFlip, Local, Substitution, require_neighboring
from audit.claims.renyi import DivergenceClaim, RenyiClaim, ZeroConcentratedClaim, renyi_divergence

__all__ = [
    "CLAIM_KINDS", "AddRemove", "Claim", "CurveClaim", "Distance", "DivergenceClaim", "ExactJudgment", "GaussianClaim",
    "Group", "LabelFlip", "Labeled", "Local", "Neighbors", "Point", "PrivacyClaim", "RenyiClaim",
    "Substitution", "ZeroConcentratedClaim", "ZeroOut", "claim_of", "claim_record",
    "renyi_divergence", "require_claim", "require_neighboring",
]  # fmt: skip
