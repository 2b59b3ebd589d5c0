"""Claims beyond (epsilon, delta): Gaussian, by trade-off function, Renyi and zero-concentrated privacy."""

from audit.claim_kinds.base import ClaimKind, ExactJudgement
from audit.claim_kinds.divergence import renyi_divergence
from audit.claim_kinds.records import Claim, claim_label, claim_of, claim_record, require_claim
from audit.claim_kinds.renyi import RenyiClaim, ZeroConcentratedClaim
from audit.claim_kinds.trade_off import GaussianClaim, TradeOffClaim
from audit.claim_kinds.vertices import PiecewiseLinear

__all__ = [
    "Claim",
    "ClaimKind",
    "ExactJudgement",
    "GaussianClaim",
    "PiecewiseLinear",
    "RenyiClaim",
    "TradeOffClaim",
    "ZeroConcentratedClaim",
    "claim_label",
    "claim_of",
    "claim_record",
    "renyi_divergence",
    "require_claim",
]
