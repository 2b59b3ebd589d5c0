"""What is claimed about privacy: claims of every kind, and the relations that say which datasets are neighboring."""

from audit.claims.claim_records import claim_label, claim_of, claim_record, require_claim
from audit.claims.curve_claim import CurveClaim, ExactJudgment
from audit.claims.privacy_claim import CLAIM_KINDS, Claim, Point, PrivacyClaim
from audit.claims.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution, require_neighboring
from audit.claims.renyi_claim import RenyiClaim, ZeroConcentratedClaim
from audit.claims.renyi_divergence import renyi_divergence
from audit.claims.trade_off_claim import GaussianClaim, PiecewiseLinear, TradeOffClaim

__all__ = [
    "CLAIM_KINDS",
    "AddRemove",
    "Claim",
    "CurveClaim",
    "ExactJudgment",
    "GaussianClaim",
    "Group",
    "LabelFlip",
    "Labeled",
    "Local",
    "PiecewiseLinear",
    "Point",
    "PrivacyClaim",
    "RenyiClaim",
    "Substitution",
    "TradeOffClaim",
    "ZeroConcentratedClaim",
    "claim_label",
    "claim_of",
    "claim_record",
    "renyi_divergence",
    "require_claim",
    "require_neighboring",
]
