"""Claims beyond (epsilon, delta): Gaussian, by trade-off function, Renyi and zero-concentrated privacy."""

from audit.claims.claim_records import Claim, claim_label, claim_of, claim_record, require_claim
from audit.claims.curve import ClaimKind, ExactJudgement
from audit.claims.divergence import renyi_divergence
from audit.claims.renyi import RenyiClaim, ZeroConcentratedClaim
from audit.claims.trade_off import GaussianClaim, TradeOffClaim
from audit.claims.vertices import PiecewiseLinear

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
