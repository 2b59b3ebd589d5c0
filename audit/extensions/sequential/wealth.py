"""The guess game played step by step: an audit that stops as soon as the claim is refuted.

Each step draws one output per dataset, bets on both by earlier steps, and then learns from them. The wealth
ever reaches 1 / significance with probability at most `significance` if the claim is true, so the game may stop at any
time. `docs/method.md` has the proof.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy import special

from audit.api import validate

# The sequential game: tuned by `benchmarks.sequential`, `benchmarks.overhead`
GUESSED_SIDES = {"both": 0.7, "left": 0.15, "right": 0.15}  # shares of the wealth in that case
BET_SHARES = (0.6, 0.4)  # of the wealth: bets graded by the posterior, and bets on its sign at a fixed rate
FIXED_ODDS = 0.35  # log-odds of the fixed rate, above epsilon


@dataclass(frozen=True)
class SequentialOutcome:
    """Result of a sequential game."""

    steps: int  # pairs of outputs used, one output per dataset and step
    stopped: Annotated[
        str, validate.Limits(pattern="refuted|resolved|budget")
    ]  # "refuted", "resolved" (enough steps without refutation) or "budget"
    log_wealth: float  # largest log wealth reached against the claimed epsilon
    grid: tuple[validate.Nonnegative, ...]  # epsilons, increasing; the claim's is one of them
    grid_log_wealth: tuple[float, ...]  # largest log wealth reached against each
    experts: str  # which experts weighed most at the end, and how much; for people only


def time_uniform_lower_bound(outcome: SequentialOutcome, significance: float) -> float:
    """Return a lower bound of epsilon at the game's delta, above the truth with probability at most `significance`.

    It is the largest epsilon of the grid such that it and all smaller ones are refuted; 0.0 if none. To be wrong it
    must refute the least epsilon of the grid at which the pair keeps the claim, so one level serves the whole grid, and
    Ville's inequality serves every stopping time.
    """
    bound = 0.0
    for epsilon, wealth in zip(outcome.grid, outcome.grid_log_wealth, strict=True):
        if wealth < -math.log(significance) or math.isnan(wealth):
            break
        bound = epsilon
    return bound


class Wealth:
    """Log wealth of several bettors against each epsilon of a grid.

    With theta = e^epsilon / (1 + e^epsilon), a guess of sureness r >= theta multiplies the wealth by r / theta if right
    and by (1 - r) / (1 - theta) if wrong. The factors of a step's two outputs are multiplied, and divided by
    (1 + delta e^-epsilon)^2, or by (1 + delta e^-epsilon / 2)^2 for a bettor that only ever guesses one side.

    If `one_sided`, a part of the wealth only ever guesses one side, at half the penalty for delta.
    """

    def __init__(self, grid: np.ndarray, delta: float, one_sided: bool) -> None:
        modes = GUESSED_SIDES if one_sided else {"both": 1.0}
        self._grid, self._modes = grid, modes
        self._log_shares = np.log(np.multiply.outer(list(modes.values()), BET_SHARES)).reshape(-1, 1)
        shares = np.array([1.0 if mode == "both" else 0.5 for mode in modes])
        penalties = 2 * np.log1p(np.multiply.outer(shares, delta * np.exp(-grid)))
        self._penalties = np.repeat(penalties, len(BET_SHARES), axis=0)
        fixed = grid[:, None] + FIXED_ODDS
        self._won, self._lost = (_settle(fixed, right, grid[:, None]) for right in (True, False))
        self._log_wealth = np.zeros((len(self._log_shares), len(grid)))
        self.highest = np.zeros(len(grid))

    def bet(self, left: np.ndarray, right: np.ndarray) -> None:
        """Settle a batch: posteriors of "left" at the outputs of the left (shape (b,)) and of the right side."""
        factors = self._step_factors(left, right) - self._penalties[:, :, None]
        path = self._log_wealth[:, :, None] + np.cumsum(factors, axis=2)
        shared = path + self._log_shares[:, :, None]
        top = shared.max(axis=0)
        total = top + np.log(np.exp(shared - top).sum(axis=0))
        self.highest = np.maximum(self.highest, total.max(axis=1))
        self._log_wealth = path[:, :, -1]

    def _step_factors(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return log factors before the penalty for delta, shape (bettors, G, b)."""
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
        """Return log factors of the bettors on each output, whichever side is guessed; shape (2, G, n)."""
        right, sure = log_odds > 0, np.abs(log_odds)
        graded = _settle(sure, right, self._grid[:, None])
        fixed = np.where(right, self._won, self._lost)
        return np.where(sure > self._grid[:, None], np.stack([graded, fixed]), 0.0)


def _settle(sure: np.ndarray, right: np.ndarray | bool, epsilon: np.ndarray) -> np.ndarray:
    """Return log(r / theta) if right, log((1 - r) / (1 - theta)) if not; r = expit(sure), theta = expit(epsilon)."""
    won = np.log1p(np.exp(-epsilon)) - np.log1p(np.exp(-sure))
    return np.where(right, won, won + epsilon - sure)


def epsilon_grid(epsilon: float) -> np.ndarray:
    """Return epsilons around the claim's, which is one of them: fine near it, coarser above and below."""
    above = epsilon + np.concatenate([[0.0], np.geomspace(0.01, max(12.0, 2 * epsilon), 24)])
    below = epsilon * np.array([0.25, 0.5, 0.7, 0.8, 0.9, 0.95])
    return np.unique(np.concatenate([below, above])) if epsilon > 0 else above
