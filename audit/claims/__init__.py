"""Claims about privacy of every kind, and the relations that say which datasets are neighboring."""

from audit.claims.curves import (
    CurveClaim,
    DivergenceClaim,
    ExactJudgment,
    GaussianClaim,
    RenyiClaim,
    ZeroConcentratedClaim,
    renyi_divergence,
)
from audit.claims.privacy import CLAIM_KINDS, Claim, Point, PrivacyClaim, claim_of, claim_record, require_claim
from audit.claims.relations import (
    AddRemove,
    Distance,
    Group,
    Labeled,
    LabelFlip,
    Local,
    Neighbors,
    Substitution,
    require_neighboring,
)

__all__ = [
    "CLAIM_KINDS", "AddRemove", "Claim", "CurveClaim", "Distance", "DivergenceClaim", "ExactJudgment", "GaussianClaim",
    "Group", "LabelFlip", "Labeled", "Local", "Neighbors", "Point", "PrivacyClaim", "RenyiClaim",
    "Substitution", "ZeroConcentratedClaim", "claim_of", "claim_record",
    "renyi_divergence", "require_claim", "require_neighboring",
]  # fmt: skip
