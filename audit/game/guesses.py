"""The guess game: one exact binomial test for both directions of a privacy claim.

Each run flips a fair coin and runs the mechanism on `left` or `right`; events fixed beforehand make it guess
"left", guess "right" or abstain. Under epsilon-DP a guess is right with probability at most
theta = e^epsilon / (1 + e^epsilon), whatever the runs before it, so that the number of right guesses among m is
stochastically at most Binomial(m, theta). There is no nuisance parameter, no approximation, and no second tail.

For delta > 0 each run is replaced, independently and with probability eta = d / (1 + d), d = delta e^-epsilon, by
a virtual wrong guess. From P(right) <= e^epsilon P(wrong) + delta, where P(right) and P(wrong) average over the
coin, (1 - eta) P(right) <= e^epsilon ((1 - eta) P(wrong) + eta): the same binomial test applies. When one of
the two events is empty only half of the runs can be guessed right, and delta / 2 takes the place of delta.
One uniform a run serves all epsilon, so that fewer runs are replaced as epsilon grows and the test is monotone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.base.arguments import closed_probability, open_probability
from audit.base.errors import InvalidArgument


@dataclass(frozen=True)
class GameCounts:
    """What came of the runs of a guess game.

    Parameters
    ----------
    left_plus, left_minus, left_abstain : int >= 0
        Runs on `left` that were guessed "left" (right guesses), "right" (wrong ones), and not at all.
    right_plus, right_minus, right_abstain : int >= 0
        Runs on `right` that were guessed "left" (wrong), "right" (right), and not at all.
    """

    left_plus: int
    left_minus: int
    left_abstain: int
    right_plus: int
    right_minus: int
    right_abstain: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
                raise InvalidArgument.of(name, "be an integer >= 0", value)

    @property
    def correct(self) -> int:
        """Number of right guesses."""
        return self.left_plus + self.right_minus

    @property
    def wrong(self) -> int:
        """Number of wrong guesses."""
        return self.left_minus + self.right_plus

    @property
    def abstained(self) -> int:
        """Number of runs without a guess."""
        return self.left_abstain + self.right_abstain

    @property
    def runs(self) -> int:
        """Number of runs, both sides together."""
        return self.correct + self.wrong + self.abstained


def game_epsilon_lower_bound(
    counts: GameCounts, delta: float, significance: float, coins: np.random.SeedSequence | None = None
) -> float:
    """Lower confidence bound of epsilon at a given delta; too high with probability at most `significance`.

    The probability is over the coins of the game, the randomness of the mechanism and, for delta > 0, the
    uniforms drawn from `coins`. Exact for every number of runs and every mechanism. 0.0 when nothing is certified.

    Parameters
    ----------
    counts : GameCounts
        Of a game whose events were fixed before its runs.
    delta : float in [0, 1]
        Additive slack that one run may use: the claim's delta, or half of it when one event is empty.
    significance : float in (0, 1)
        Probability that the bound may exceed the true epsilon.
    coins : SeedSequence, optional
        Source of the uniforms; needed when delta > 0.
    """
    delta = closed_probability(delta, "delta")
    significance = open_probability(significance, "significance")
    if delta == 0:
        return max(0.0, _logit_lower_bound(counts.correct, counts.correct + counts.wrong, significance))
    if coins is None:
        raise InvalidArgument.of("coins", "be given when delta > 0", coins)
    return _bound_with_virtual_guesses(counts, delta, significance, np.random.default_rng(coins))


def largest_certifiable_epsilon(runs: int, significance: float) -> float:
    """log(b / (1 - b)), b = significance^(1 / runs): no valid auditor certifies more from that many runs."""
    return _logit_lower_bound(runs, runs, significance)


def _logit_lower_bound(correct: int, guesses: int, significance: float) -> float:
    """logit of the exact lower bound of a success probability: log(BetaInv / (1 - BetaInv))."""
    if correct == 0:
        return -math.inf
    wrong = guesses - correct
    # 1 - BetaInv(s; a, b) = BetaInv(1 - s; b, a): taken from the upper tail it keeps its digits near zero
    failure = float(special.betainccinv(wrong + 1, correct, significance))
    if failure < 0.5:
        return math.log1p(-failure) - math.log(failure)
    success = float(special.betaincinv(correct, wrong + 1, significance))
    return math.log(success) - math.log1p(-success)


def _bound_with_virtual_guesses(
    counts: GameCounts, delta: float, significance: float, rng: np.random.Generator
) -> float:
    """Least fixed point of epsilon -> bound with the runs that are virtual at that epsilon.

    With k right guesses and a abstentions replaced, correct - k of correct + wrong + a guesses are right. Both k and
    a fall as epsilon grows, so the bound rises with epsilon; every epsilon below the least fixed point is
    rejected, and it is the first one that is not.
    """
    most = delta / (1 + delta)
    right = smallest_uniforms(counts.correct, most, rng)
    idle = smallest_uniforms(counts.abstained, most, rng)
    epsilon = 0.0
    while True:
        odds = delta * math.exp(-epsilon)
        eta = odds / (1 + odds)
        lost = int(np.searchsorted(right, eta))
        added = int(np.searchsorted(idle, eta))
        guesses = counts.correct + counts.wrong + added
        bound = _logit_lower_bound(counts.correct - lost, guesses, significance)
        if bound <= epsilon:
            return epsilon
        if lost == 0 and added == 0:
            return bound
        epsilon = bound


def smallest_uniforms(count: int, most: float, rng: np.random.Generator) -> np.ndarray:
    """Those of `count` independent uniforms on (0, 1) that lie below `most`, sorted; without drawing the rest.

    Renyi's representation: -log(1 - U_(k)) is a sum of independent exponentials E_j / (count - j + 1), j <= k.
    """
    found: list[np.ndarray] = []
    taken, level, limit = 0, 0.0, -math.log1p(-most)
    while taken < count:
        batch = min(count - taken, 64 + int(1.1 * count * most))
        gaps = -np.log1p(-rng.random(batch)) / (count - taken - np.arange(batch))
        levels = level + np.cumsum(gaps)
        found.append(levels[levels < limit])
        if levels[-1] >= limit:
            break
        taken, level = taken + batch, float(levels[-1])
    return -np.expm1(-np.concatenate(found)) if found else np.empty(0)
