"""State what a guess game can refute: its power, its resolution, the runs that it needs, and what it never examined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy import special

from audit.statistics.guess_game import GameCounts, logit_lower_bound

POWER = 0.8
EVENT_PROBABILITY = 0.01  # mass of the violating event under which the resolution is stated
LEARNING_COST = 25.0  # log wealth that learning where to bet may cost: see benchmarks/sequential_resolution.py
_FEWEST_HITS = 20  # training outputs that an event needs on its likelier side to be found
_UNLUCKY = 0.001  # probability that fewer runs are planned than confirm a violation, and that these do not
_HIGHEST = 50.0  # epsilon above the claim that is tried at most
_CLOSE = 1e-4  # to which the resolution is computed, from above
_MOST_STEPS = 10**10
_NEAR_NORMAL = 4  # counts by which the normal approximation is off, mostly
_MOST_RUNS = 10**12
_MOST_VARIED = 0.1  # power in excess, where runs are planned


def _upper_tail(count: int, trials: int, probability: float) -> float:
    """Return P(Binomial(trials, probability) > count), for 0 <= count."""
    return float(special.betainc(count + 1, trials - count, probability)) if count < trials else 0.0


def _critical_count(level: float, trials: int, probability: float) -> int:
    """Return the smallest count that a binomial exceeds with probability at most `level`."""
    low, high = -1, trials
    center = probability * trials - special.ndtri(level) * math.sqrt(trials * probability * (1 - probability))
    for near in (int(center) - _NEAR_NORMAL, int(center) + _NEAR_NORMAL):  # where it lies if nearly normal
        if low < near < high:
            low, high = (low, near) if _upper_tail(near, trials, probability) <= level else (near, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _upper_tail(middle, trials, probability) <= level else (middle, high)
    return high


@lru_cache(maxsize=1024)
def game_resolution(
    claimed_epsilon: float,
    delta: float,
    runs: int,
    significance: float,
    event_probability: float = EVENT_PROBABILITY,
    power: float = POWER,
) -> float:
    """Return the smallest epsilon above the claim that the game refutes with this power; inf when none is caught.

    The violation is an event E with P(E) = `event_probability` + delta and Q(E) = `event_probability` e^-epsilon, all
    else equal: the game guesses "left" on E and abstains elsewhere.
    """
    test = GameTest(claimed_epsilon, delta / 2, significance)

    def lack(epsilon: float) -> float:
        """Return what the binomial test at the expected number of guesses lacks in power."""
        p, q = min(1.0, event_probability + delta), event_probability * math.exp(-epsilon)
        return power - test.power(runs, p / 2, q / 2)

    low, high = claimed_epsilon, claimed_epsilon + _HIGHEST
    if lack(high) > 0:
        return math.inf
    if lack(low) <= 0:
        return low
    while high - low > _CLOSE:  # SciPy's `brentq` is slower to import than this is to run
        middle = (low + high) / 2
        low, high = (middle, high) if lack(middle) > 0 else (low, middle)
    return high


@lru_cache
def runs_to_resolve(claimed_epsilon: float, target: float, delta: float, significance: float) -> int | None:
    """Return the fewest runs, up to 2 %, whose resolution lies within `target`; None if there are too many."""
    p, q = min(1.0, EVENT_PROBABILITY + delta), EVENT_PROBABILITY * math.exp(-target)
    test, low, high = GameTest(claimed_epsilon, delta / 2, significance), 1, 2
    while test.power(high, p / 2, q / 2) < POWER:
        low, high = high, 2 * high
        if high > _MOST_RUNS:
            return None
    while high - low > 0.01 * high:
        middle = (low + high) // 2
        low, high = (middle, high) if test.power(middle, p / 2, q / 2) < POWER else (low, middle)
    # The power is not quite monotone: as counts are whole, it varies by up to the largest binomial probability
    theta = float(special.expit(claimed_epsilon))
    varies = 1 / math.sqrt(2 * math.pi * theta * (1 - theta) * high * (p + q) / 2)
    while test.power(high, p / 2, q / 2) < POWER + min(varies, _MOST_VARIED):
        high = int(1.01 * high) + 1
    return high


@dataclass(frozen=True)
class GameTest:
    """Test a claim by the binomial test of a game at a level."""

    epsilon: float
    share: float  # of delta, that one run may use
    level: float

    def power(self, runs: int, right: float, wrong: float) -> float:
        """Return the power at the expected number of guesses; a run is guessed right and wrong with these rates."""
        odds = self.share * math.exp(-self.epsilon)
        eta = odds / (1 + odds)
        theta = 1 / (1 + math.exp(-self.epsilon))
        right, wrong = (1 - eta) * right, (1 - eta) * wrong + eta
        guesses = int(runs * (right + wrong))
        if guesses == 0:
            return 0.0
        needed = _critical_count(self.level, guesses, theta) + 1
        return _upper_tail(needed - 1, guesses, right / (right + wrong))


def runs_to_confirm(counts: GameCounts, epsilon: float, share: float, level: float, most: int) -> int:
    """Return the runs in which guesses as good as these refute the claim at `level`, for all but a small error.

    The rate of right guesses is taken at its lower bound of 99.9 %. `share` is the delta that one run may use, and
    `most` what is returned at most.
    """
    guesses = counts.correct + counts.wrong
    rate = float(special.expit(logit_lower_bound(counts.correct, guesses, _UNLUCKY)))
    played = guesses / counts.runs
    test, runs = GameTest(epsilon, share, level), _FEWEST_HITS
    while runs < most and test.power(runs, rate * played, (1 - rate) * played) < 1 - _UNLUCKY:
        runs = int(1.2 * runs)
    return min(runs, most)


def sequential_resolution(claimed_epsilon: float, delta: float, steps: int, significance: float) -> float:
    """Return the resolution of a sequential game: to learn its bets costs e^LEARNING_COST in evidence."""
    return game_resolution(claimed_epsilon, delta, 2 * steps, significance * math.exp(-LEARNING_COST))


def steps_to_resolve(claimed_epsilon: float, target: float, delta: float, significance: float) -> int | None:
    """Return the fewest steps, up to a factor of 1.1, to a sequential resolution within `target`; None if never."""
    steps = 1_000
    while steps < _MOST_STEPS:
        if sequential_resolution(claimed_epsilon, delta, steps, significance) <= target:
            return steps
        steps = int(1.1 * steps)
    return None


def blind_spot(training: float) -> float:
    """Return the probability below which events were not examined: too few training outputs hit them."""
    return _FEWEST_HITS / max(training, _FEWEST_HITS)
