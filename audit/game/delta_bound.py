"""A lower confidence bound of delta at a given epsilon, from the counts of a guess game.

The game of `audit.game.guesses` with the roles of its two parameters swapped: epsilon is given, delta is bounded.
(epsilon, delta)-DP says P(right) <= e^epsilon P(wrong) + delta in each run. When each run is replaced by a wrong guess
with probability eta = d / (1 + d), d = delta e^-epsilon, the number of right guesses among m is stochastically at
most Binomial(m, e^epsilon / (1 + e^epsilon)). eta grows with delta, and one uniform a run serves every delta: right
guesses only decrease and wrong ones only increase, so that the deltas which are rejected form an interval from 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from audit.base.arguments import nonnegative, open_probability
from audit.game.guesses import GameCounts, smallest_uniforms


def delta_lower_bound(
    counts: GameCounts,
    epsilon: float,
    significance: float,
    coins: np.random.SeedSequence,
    *,
    one_sided: bool = False,
) -> float:
    """Lower confidence bound of delta at `epsilon`; too high with probability at most `significance`.

    The probability is over the coins of the game, the randomness of the mechanism and the uniforms drawn from
    `coins`. Exact for every number of runs and every mechanism. 0.0 when nothing is certified.

    Parameters
    ----------
    counts : GameCounts
        Of a game whose events were fixed before its runs.
    epsilon : float, finite, >= 0
    significance : float in (0, 1)
    coins : SeedSequence
        Source of the uniforms.
    one_sided : bool
        True when one of the two events is empty: only half of the runs can be guessed right, which may use half of
        delta, so the bound doubles.
    """
    at = nonnegative(epsilon, "epsilon")
    level = open_probability(significance, "significance")
    rng = np.random.default_rng(coins)
    most = special.expit(-at)  # eta at delta = 1
    right = smallest_uniforms(counts.correct, most, rng)
    idle = smallest_uniforms(counts.abstained, most, rng)
    changes = np.sort(np.concatenate([right, idle]))
    if not _rejected(counts.correct, counts.correct + counts.wrong, at, level):
        return 0.0

    def rejected(first: int) -> bool:
        """With the `first` runs of smallest uniforms replaced."""
        reached = changes[first - 1] if first else -1.0
        lost = int(np.searchsorted(right, reached, side="right"))
        added = int(np.searchsorted(idle, reached, side="right"))
        return _rejected(counts.correct - lost, counts.correct + counts.wrong + added, at, level)

    low, high = 0, len(changes) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    eta = float(changes[high - 1]) if high <= len(changes) else most
    delta = math.exp(at + math.log(eta) - math.log1p(-eta)) * (2 if one_sided else 1)
    return min(1.0, delta)


def _rejected(correct: int, guesses: int, epsilon: float, significance: float) -> bool:
    """Whether P(Binomial(guesses, e^eps / (1 + e^eps)) >= correct) <= significance."""
    if correct <= 0:
        return False
    return bool(special.betaincc(guesses - correct + 1, correct, special.expit(-epsilon)) <= significance)
