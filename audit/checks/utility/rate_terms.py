"""The numbers of a rate claim, and the bands that exponent and constant have to lie in."""

from __future__ import annotations

import math
from dataclasses import dataclass

from audit.base.verdict import Verdict
from audit.checks.utility.theorem import Interval, UtilityJudgment

Band = tuple[float, float]


@dataclass(frozen=True)
class RateTerms:
    """What the judge needs of a rate claim; see `RateCheck`.

    Parameters
    ----------
    least_look : int
        Size up to which an evaluator must have been asked before the declared sizes refute the claim.
    """

    exponent: float
    margin: float
    sense: str
    constant: float | None
    constant_margin: float
    least_look: int = 0

    @property
    def band(self) -> Band:
        """Exponents that keep the claim."""
        low = self.exponent - self.margin
        return (low, self.exponent + self.margin) if self.sense == "equivalent" else (low, math.inf)

    @property
    def log_constant_band(self) -> Band:
        """Logs of the factors that keep the claim."""
        assert self.constant is not None
        high = math.log(self.constant) + math.log1p(self.constant_margin)
        if self.sense != "equivalent" or self.constant_margin >= 1:
            return -math.inf, high
        return math.log(self.constant) + math.log1p(-self.constant_margin), high

    def __str__(self) -> str:
        if self.sense == "equivalent":
            return f"{self.exponent:g} +- {self.margin:g}"
        return f"at least {self.exponent:g} - {self.margin:g}"

    @property
    def shown_constant(self) -> str:
        """The claimed factor in words."""
        side = "" if self.sense == "equivalent" else "at most "
        return f"{side}{self.constant:g} within {self.constant_margin:.0%}"


def gap(lower: float, upper: float, band: Band) -> float:
    """How far [lower, upper] must move to touch the band: > 0 upwards, < 0 downwards, 0.0 when it touches it."""
    if upper < band[0]:
        return band[0] - upper
    return min(0.0, band[1] - lower)


def inside(lower: float, upper: float, band: Band) -> bool:
    """Whether all of [lower, upper] lies in the band."""
    return band[0] <= lower and upper <= band[1]


def undecided(reason: str, found: tuple[Interval, ...] = ()) -> UtilityJudgment:
    """INCONCLUSIVE, for a reason."""
    return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)


def extrapolated(terms: RateTerms, earlier: float, later: float, doublings: float, size: int) -> str:
    """From where on the exponent can be seen, if its distance from the claim goes on shrinking at the same ratio.

    Parameters
    ----------
    earlier, later : float
        Exponents at two places of the grid, `doublings` apart; the second at `size`.
    """
    before, after = abs(earlier - terms.exponent), abs(later - terms.exponent)
    if inside(later, later, terms.band):
        return f"the grid begins too early: the exponent can be seen from about n = {size:.3g} on"
    if not after < before:
        return "the local exponent does not approach the claim on this grid"
    steps = math.log(after / terms.margin) / math.log(before / after)
    return (
        "the grid is pre-asymptotic: its local exponent still moves towards the claim, which could be seen from about "
        f"n = {size * 2.0 ** min(doublings * steps, 300):.1g} on (extrapolated)"
    )
