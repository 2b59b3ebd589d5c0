"""Claims of Gaussian differential privacy, by the trade-off function of two normal laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from audit.claims.privacy import FARTHEST, CurveClaim, ExactJudgment, exceeds, require_loss
from audit.laws import ARITHMETIC_TOLERANCE, DIRECTIONS, GaussianLoss, PrivacyLoss
from audit.validate import Finite, nonnegative

_MOST_CELLS = 4_000  # of epsilon, on which a profile is held against the claimed one


@dataclass(frozen=True)
class GaussianClaim(CurveClaim):
    """mu-Gaussian differential privacy: T(alpha) >= Phi(Phi^-1(1 - alpha) - mu).

    T(alpha) is the least type-II error of a test between two neighbors whose type-I error is alpha.

    Parameters
    ----------
    mu : float, finite, >= 0
        Distance of the two means, in standard deviations, of the normal laws that are as hard to tell apart.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set.

    References
    ----------
    Dong, Roth & Su 2022, Gaussian Differential Privacy, definition 2.6.

    Examples
    --------
    >>> from audit import GaussianClaim
    >>> claim = GaussianClaim(1.0)
    >>> print(claim)
    1-Gaussian DP under substitution
    >>> round(claim.profile(1.0), 6)
    0.126937
    """

    mu: Finite

    kind: ClassVar[str] = "gaussian"
    unit: ClassVar[str] = "mu"
    long_form: ClassVar[str] = "{0.mu:g}-Gaussian DP"
    short_form: ClassVar[str] = "{0.mu:g}-GDP"
    admissible: ClassVar = {"mu": nonnegative}

    def profile(self, epsilon: float) -> float:
        """Return the least delta that the claim implies at `epsilon` (Dong, Roth & Su 2022, corollary 2.13)."""
        return GaussianLoss(self.mu).delta(epsilon)

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare mu with mu for Gaussian noise, else the privacy profile of the pair with the claimed one.

        Both profiles fall, so that on a cell of epsilons the first value of one is held against the last of the other.
        An unbounded loss is never shown to keep the claim, since its cells have no end.
        """
        if isinstance(loss, GaussianLoss):
            keeps = loss.shift_over_scale <= self.mu * (1 + ARITHMETIC_TOLERANCE)
            return ExactJudgment(keeps, f"{self}: the pair has mu = {loss.shift_over_scale:.6g} exactly")
        largest = max(require_loss(loss).max_loss(side) for side in DIRECTIONS)
        waiting, is_open = [(0.0, min(largest, FARTHEST))], largest > FARTHEST
        for _ in range(_MOST_CELLS):
            if not waiting:
                break
            low, high = waiting.pop(0)
            for epsilon in (low, high):
                if exceeds(delta := loss.delta_lower_bound(epsilon), claimed := self.profile(epsilon)):
                    found = f"delta({epsilon:.6g}) >= {delta:.6g}, the claim implies {claimed:.6g}"
                    return ExactJudgment(False, f"{self}: {found}")
            if exceeds(loss.delta(low), self.profile(high)):
                middle = (low + high) / 2
                waiting += [(low, middle), (middle, high)]
        if waiting or is_open:
            return ExactJudgment(None, f"{self}: undecided, the profile of the pair comes too near to the claimed one")
        return ExactJudgment(True, f"{self}: the privacy profile of the pair lies below the claimed one")
