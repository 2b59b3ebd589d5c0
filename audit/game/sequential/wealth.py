"""Wealth against each epsilon of a grid: bets on which side an output came from.

Against epsilon, with theta = e^epsilon / (1 + e^epsilon), a guess with sureness r >= theta multiplies the wealth by
r / theta when right and by (1 - r) / (1 - theta) when wrong; no guess leaves it. A step has one output X of the left
law P and one output Y of the right law Q, and multiplies both: A(X) B(Y).

*One output, from a fair coin.* Let M = (P + Q) / 2 and pi = dP / 2 dM, the true posterior of "left". Where "left"
is guessed, A = r / theta > B = (1 - r) / (1 - theta), and A pi + B (1 - pi) = 1 + (A - B)(pi - theta), with
A - B <= 1 / theta; the mirror image holds where "right" is guessed. Under the claim
(pi - theta) dM = (1 - theta) (dP - e^epsilon dQ) / 2 sums to at most (1 - theta) delta / 2 over any event, so that
(E A(X) + E B(Y)) / 2 <= 1 + (1 - theta) / theta * (delta / 2 + delta / 2) = 1 + delta e^-epsilon,
and 1 + delta e^-epsilon / 2 when only one side is ever guessed.

*One step.* X and Y are independent, hence E A(X) B(Y) = E A(X) E B(Y) <= ((E A(X) + E B(Y)) / 2)^2. A step's factor
divided by (1 + delta e^-epsilon)^2 has expectation at most 1, whether or not anything was guessed in it. Guesses
and surenesses depend on earlier steps only, so the wealth is a nonnegative supermartingale, and so is any average
of wealths with weights fixed beforehand; by Ville's inequality it ever reaches 1 / significance with probability
at most `significance`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

_SHARES = (0.6, 0.4)  # of the wealth: bets graded by the posterior, and bets on its sign at a fixed rate
_OFFSET = 0.35  # log-odds of the fixed rate, above epsilon
_MODES = {"both": 0.7, "left": 0.15, "right": 0.15}  # which side is ever guessed, where delta makes it matter


class Wealth:
    """Log wealth of several bettors against each epsilon.

    Parameters
    ----------
    grid : array, shape (G,)
        Epsilons.
    delta : float in [0, 1]
    one_sided : bool
        Whether a part of the wealth only ever guesses one side, at half the charge for delta.
    """

    def __init__(self, grid: np.ndarray, delta: float, one_sided: bool) -> None:
        modes = _MODES if one_sided else {"both": 1.0}
        self._grid, self._modes = grid, modes
        self._log_shares = np.log(np.multiply.outer(list(modes.values()), _SHARES)).reshape(-1, 1)
        shares = np.array([1.0 if mode == "both" else 0.5 for mode in modes])
        charges = 2 * np.log1p(np.multiply.outer(shares, delta * np.exp(-grid)))
        self._charges = np.repeat(charges, len(_SHARES), axis=0)
        fixed = grid[:, None] + _OFFSET
        self._won, self._lost = (_settled(fixed, right, grid[:, None]) for right in (True, False))
        self._log_wealth = np.zeros((len(self._log_shares), len(grid)))
        self.highest = np.zeros(len(grid))

    def bet(self, left: np.ndarray, right: np.ndarray) -> None:
        """Settle a batch: posteriors of "left" at the outputs of the left (shape (b,)) and of the right side."""
        factors = self._step_factors(left, right) - self._charges[:, :, None]
        path = self._log_wealth[:, :, None] + np.cumsum(factors, axis=2)
        shared = path + self._log_shares[:, :, None]
        top = shared.max(axis=0)
        total = top + np.log(np.exp(shared - top).sum(axis=0))
        self.highest = np.maximum(self.highest, total.max(axis=1))
        self._log_wealth = path[:, :, -1]

    def _step_factors(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Log factors before the charge for delta, shape (bettors, G, b)."""
        # log-odds of the side that is true: a guess is right where they are positive
        left_odds, right_odds = special.logit(left), -special.logit(right)
        ours, theirs = self._factors(left_odds), self._factors(right_odds)
        found = []
        for mode in self._modes:
            ours_played = mode == "both" or (left_odds > 0) == (mode == "left")
            theirs_played = mode == "both" or (right_odds > 0) == (mode == "right")
            found.append(np.where(ours_played, ours, 0.0) + np.where(theirs_played, theirs, 0.0))
        return np.concatenate(found)

    def _factors(self, log_odds: np.ndarray) -> np.ndarray:
        """Log factors of the bettors on each output, whichever side is guessed; shape (2, G, n)."""
        right, sure = log_odds > 0, np.abs(log_odds)
        beyond = sure > self._grid[:, None]
        graded = _settled(sure, right, self._grid[:, None])
        fixed = np.where(right, self._won, self._lost)
        return np.where(beyond, np.stack([graded, fixed]), 0.0)


def _settled(sure: np.ndarray, right: np.ndarray | bool, epsilon: np.ndarray) -> np.ndarray:
    """log of r / theta when right, of (1 - r) / (1 - theta) when wrong; r = expit(sure), theta = expit(epsilon)."""
    won = np.log1p(np.exp(-epsilon)) - np.log1p(np.exp(-sure))
    return np.where(right, won, won + epsilon - sure)


def epsilon_grid(epsilon: float, largest: float = 12.0) -> np.ndarray:
    """Epsilons around the claim's, which is one of them: fine near it, coarser above and below."""
    above = epsilon + np.concatenate([[0.0], np.geomspace(0.01, max(largest, 2 * epsilon), 24)])
    below = epsilon * np.array([0.25, 0.5, 0.7, 0.8, 0.9, 0.95])
    return np.unique(np.concatenate([below, above])) if epsilon > 0 else above


def threshold(significance: float) -> float:
    """Log wealth that refutes: ln(1 / significance)."""
    return -math.log(significance)
