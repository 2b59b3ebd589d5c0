"""Compute the resolution of a game: the smallest violation that it would have caught.

The violation is an event E with P(E) = p + delta and Q(E) = p e^-epsilon, all else equal: the game guesses
"left" on E and abstains elsewhere. Power is exact for the binomial test at the expected number of guesses.
"""

from __future__ import annotations

import math

from scipy import optimize, stats

POWER = 0.8
EVENT_PROBABILITY = 0.01  # mass of the violating event under which the resolution is stated
_FEWEST_HITS = 20  # training outputs that an event needs on its likelier side to be found
_HIGHEST = 50.0
LEARNING_COST = 25.0  # log wealth that learning where to bet may cost: see benchmarks/sequential_resolution.py
_MOST_STEPS = 10**10


def game_resolution(
    claimed_epsilon: float,
    delta: float,
    runs: int,
    significance: float,
    event_probability: float = EVENT_PROBABILITY,
) -> float:
    """Return the smallest epsilon above the claim that the game refutes with power 0.8; inf when none is caught.

    Parameters
    ----------
    claimed_epsilon : float >= 0
        Refuting means a lower bound above this.
    delta : float in [0, 1]
        The claim's delta; a one-sided event may use half of it.
    runs : int >= 0
        Certifying runs, both sides together.
    significance : float in (0, 1)
        Of the test.
    event_probability : float in (0, 1)
        Probability of the violating event on its likelier side, beyond delta.
    """

    def lack(epsilon: float) -> float:
        return POWER - _power(epsilon, claimed_epsilon, delta, runs, significance, event_probability)

    if runs < 2 or lack(claimed_epsilon + _HIGHEST) > 0:
        return math.inf
    low, high = claimed_epsilon, claimed_epsilon + _HIGHEST
    return float(optimize.brentq(lack, low, high, xtol=1e-4)) if lack(low) > 0 else low


def sequential_resolution(claimed_epsilon: float, delta: float, steps: int, significance: float) -> float:
    """Return the smallest epsilon above the claim that a sequential game of `steps` steps refutes with power 0.8.

    A game that learns its bets needs e^-LEARNING_COST more evidence than a fixed test of a known event.
    """
    return game_resolution(claimed_epsilon, delta, 2 * steps, significance * math.exp(-LEARNING_COST))


def steps_to_resolve(claimed_epsilon: float, target: float, delta: float, significance: float) -> int | None:
    """Return the fewest steps, up to a factor of 1.1, to a sequential resolution within `target`; None if never."""
    steps = 1_000
    while steps < _MOST_STEPS:
        if sequential_resolution(claimed_epsilon, delta, steps, significance) <= target:
            return steps
        steps = int(1.1 * steps)
    return None


def blind_spot(training: int) -> float:
    """Return the probability below which events were not examined: too few training outputs hit them."""
    return min(1.0, _FEWEST_HITS / training) if training > 0 else 1.0


def _power(epsilon: float, claimed: float, delta: float, runs: int, significance: float, probability: float) -> float:
    odds = delta / 2 * math.exp(-claimed)
    eta = odds / (1 + odds)
    p, q = min(1.0, probability + delta), probability * math.exp(-epsilon)
    right, wrong = (1 - eta) * p / 2, (1 - eta) * q / 2 + eta
    guesses = int(runs * (right + wrong))
    if guesses == 0:
        return 0.0
    theta = 1 / (1 + math.exp(-claimed))
    needed = stats.binom.isf(significance, guesses, theta) + 1
    return float(stats.binom.sf(needed - 1, guesses, right / (right + wrong)))
