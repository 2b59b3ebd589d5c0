"""Claims beyond (epsilon, delta): Gaussian, by trade-off function, Renyi and zero-concentrated privacy."""

from audit.claim_kinds.base import ClaimKind, ExactJudgement
from audit.claim_kinds.divergence import renyi_divergence
from audit.claim_kinds.renyi import RenyiClaim, ZeroConcentratedClaim
from audit.claim_kinds.trade_off import GaussianClaim, TradeOffClaim

__all__ = [
    "ClaimKind",
    "ExactJudgement",
    "GaussianClaim",
    "RenyiClaim",
    "TradeOffClaim",
    "ZeroConcentratedClaim",
    "renyi_divergence",
]
