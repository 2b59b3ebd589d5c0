"""Test both directions of a privacy claim by one exact binomial test: the guess game, its bounds and its resolution.

Each run flips a fair coin and runs the mechanism on `left` or `right`. Events fixed beforehand make it guess "left",
guess "right" or abstain. Under epsilon-DP a guess is right with probability at most
theta = e^epsilon / (1 + e^epsilon), whatever happened in earlier runs. The number of right guesses among m is
therefore stochastically at most Binomial(m, theta).

For delta > 0 each run is replaced, independently and with probability eta = d / (1 + d), d = delta e^-epsilon, by
a virtual wrong guess. From P(right) <= e^epsilon P(wrong) + delta, where P(right) and P(wrong) average over the
coin, (1 - eta) P(right) <= e^epsilon ((1 - eta) P(wrong) + eta): the same binomial test applies. When one of
the two events is empty, only half of the runs can be guessed right, and delta / 2 takes the place of delta.
One uniform per run serves all epsilon and all delta. Fewer runs are replaced as epsilon grows or delta falls, so the
test is monotone in both, and the parameters it rejects form an interval from 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from audit.base.arguments import closed_probability, integer, nonnegative, open_probability
from audit.base.errors import InvalidArgument

POWER = 0.8
EVENT_PROBABILITY = 0.01  # mass of the violating event under which the resolution is stated
LEARNING_COST = 25.0  # log wealth that learning where to bet may cost: see benchmarks/sequential_resolution.py
_FEWEST_HITS = 20  # training outputs that an event needs on its likelier side to be found
_HIGHEST = 50.0  # epsilon above the claim that is tried at most
_MOST_STEPS = 10**10


@dataclass(frozen=True)
class GameCounts:
    """Count what came of the runs of a guess game."""

    # Runs on `left` that were guessed "left" (right guesses), "right" (wrong ones), and not at all; >= 0
    left_plus: int
    left_minus: int
    left_abstain: int
    right_plus: int  # runs on `right` that were guessed "left" (wrong), "right" (right), and not at all; >= 0
    right_minus: int
    right_abstain: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
                raise InvalidArgument.of(name, "be an integer >= 0", value)

    @property
    def correct(self) -> int:
        return self.left_plus + self.right_minus

    @property
    def wrong(self) -> int:
        return self.left_minus + self.right_plus

    @property
    def abstained(self) -> int:
        return self.left_abstain + self.right_abstain

    @property
    def runs(self) -> int:
        return self.correct + self.wrong + self.abstained


def game_epsilon_lower_bound(
    counts: GameCounts, delta: float, significance: float, coins: np.random.SeedSequence | None = None
) -> float:
    """Return a lower confidence bound of epsilon at a given delta; too high with probability <= `significance`.

    The probability is over the coins of the game, the randomness of the mechanism and, for delta > 0, the uniforms
    drawn from `coins`. Exact for every number of runs and every mechanism, if the events were fixed before the runs.
    `delta` is the slack that one run may use: the claim's, or half of it when one event is empty.
    """
    delta = closed_probability(delta, "delta")
    significance = open_probability(significance, "significance")
    if delta == 0:
        return max(0.0, _logit_lower_bound(counts.correct, counts.correct + counts.wrong, significance))
    if coins is None:
        raise InvalidArgument.of("coins", "be given when delta > 0", coins)
    virtual = _VirtualGuesses(counts.correct, counts.wrong, counts.abstained, delta / (1 + delta), coins)
    epsilon = 0.0
    while True:  # the least fixed point: every epsilon below it is rejected, and it is the first that is not
        odds = delta * math.exp(-epsilon)
        correct, guesses = virtual.replaced(odds / (1 + odds))
        bound = _logit_lower_bound(correct, guesses, significance)
        if bound <= epsilon:
            return epsilon
        if (correct, guesses) == (counts.correct, counts.correct + counts.wrong):
            return bound
        epsilon = bound


def delta_lower_bound(
    correct: int,
    wrong: int,
    abstained: int = 0,
    *,
    epsilon: float,
    significance: float = 0.05,
    seed: int | np.random.SeedSequence,
    one_sided: bool = False,
) -> float:
    """Return a lower confidence bound of delta at `epsilon` from the counts of a guess game.

    Too high with probability at most `significance`, over the fair coin of each run, the randomness of the mechanism
    and the uniforms drawn from `seed`. Exact for every number of runs and every mechanism.

    Parameters
    ----------
    correct, wrong, abstained : int >= 0
        Runs that were guessed right, guessed wrong, and not guessed. Each run flips a fair coin and runs the
        mechanism on one of two neighboring datasets; the rule that guesses was fixed before the runs.
    epsilon : float, finite, >= 0
        Where delta is bounded.
    significance : float in (0, 1), default 0.05
        Probability that the bound may exceed the true delta.
    seed : int >= 0 or numpy.random.SeedSequence
        Source of one uniform per run. Fix it before the counts are seen, and do not use it to draw the outputs.
    one_sided : bool, default False
        True when only one of the two datasets is ever guessed. At most half of the runs can then be guessed right,
        and they can use half of delta, so the bound doubles.

    Returns
    -------
    float in [0, 1]
        Every smaller delta is refuted at `epsilon`; 0.0 when nothing is certified.

    Raises
    ------
    AuditError
        When an argument lies outside its admissible set.

    References
    ----------
    Kairouz, Oh & Viswanath (2015), "The composition theorem for differential privacy", Theorem 2.1, bounds the two
    error probabilities of every test between neighbors. Averaged over the coin this is
    P(right) <= e^epsilon P(wrong) + delta, which the binomial test of `audit.game.guesses` inverts in delta.

    Examples
    --------
    Of 2,000 runs, 60 showed their dataset outright; the others were not guessed:

    >>> import audit
    >>> round(audit.delta_lower_bound(60, 0, 1940, epsilon=1.0, seed=1), 2)
    0.02
    """
    right = integer(correct, "correct", at_least=0)
    guesses = right + integer(wrong, "wrong", at_least=0)
    idle = integer(abstained, "abstained", at_least=0)
    at, level = nonnegative(epsilon, "epsilon"), open_probability(significance, "significance")
    most = float(special.expit(-at))  # eta at delta = 1
    virtual = _VirtualGuesses(right, guesses - right, idle, most, seed)
    changes = np.r_[0.0, np.sort(np.concatenate([virtual.right, virtual.idle])), most]  # etas at which counts change

    def rejected(eta: float) -> bool:
        remaining, played = virtual.replaced(eta)
        if remaining <= 0:
            return False
        return bool(special.betaincc(played - remaining + 1, remaining, special.expit(-at)) <= level)

    if not rejected(0.0):
        return 0.0
    low, high = 0, len(changes) - 1  # the last change is the largest delta, where nothing need be rejected
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rejected(float(changes[middle])) else (low, middle)
    eta = float(changes[high])
    return min(1.0, math.exp(at + math.log(eta) - math.log1p(-eta)) * (2 if one_sided else 1))


def _logit_lower_bound(correct: int, guesses: int, significance: float) -> float:
    """Return the logit of the exact lower bound of a success probability: log(BetaInv / (1 - BetaInv))."""
    if correct == 0:
        return -math.inf
    wrong = guesses - correct
    # 1 - BetaInv(s; a, b) = BetaInv(1 - s; b, a): taken from the upper tail it keeps its digits near zero
    failure = float(special.betainccinv(wrong + 1, correct, significance))
    if failure < 0.5:
        return math.log1p(-failure) - math.log(failure)
    success = float(special.betaincinv(correct, wrong + 1, significance))
    return math.log(success) - math.log1p(-success)


class _VirtualGuesses:
    """Hold the sorted uniforms below `most` of right guesses and of abstentions, which may become wrong guesses."""

    def __init__(
        self, correct: int, wrong: int, abstained: int, most: float, seed: int | np.random.SeedSequence
    ) -> None:
        rng = np.random.default_rng(seed)
        self.correct, self.guesses = correct, correct + wrong
        self.right, self.idle = (smallest_uniforms(count, most, rng) for count in (correct, abstained))

    def replaced(self, eta: float) -> tuple[int, int]:
        """Return the right guesses and all guesses after those with uniforms up to eta became wrong guesses."""
        lost, added = (int(np.searchsorted(uniforms, eta, side="right")) for uniforms in (self.right, self.idle))
        return self.correct - lost, self.guesses + added


def smallest_uniforms(count: int, most: float, rng: np.random.Generator) -> np.ndarray:
    """Return those of `count` uniforms on (0, 1) that lie below `most`, sorted, by Renyi's representation."""
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


def game_resolution(
    claimed_epsilon: float,
    delta: float,
    runs: int,
    significance: float,
    event_probability: float = EVENT_PROBABILITY,
) -> float:
    """Return the smallest epsilon above the claim that the game refutes with power 0.8; inf when none is caught.

    The violation is an event E with P(E) = `event_probability` + delta and Q(E) = `event_probability` e^-epsilon, all
    else equal: the game guesses "left" on E and abstains elsewhere.
    """
    odds = delta / 2 * math.exp(-claimed_epsilon)
    eta = odds / (1 + odds)
    theta = 1 / (1 + math.exp(-claimed_epsilon))

    def lack(epsilon: float) -> float:
        """Return what the binomial test at the expected number of guesses lacks in power."""
        p, q = min(1.0, event_probability + delta), event_probability * math.exp(-epsilon)
        right, wrong = (1 - eta) * p / 2, (1 - eta) * q / 2 + eta
        guesses = int(runs * (right + wrong))
        if guesses == 0:
            return POWER
        needed = stats.binom.isf(significance, guesses, theta) + 1
        return POWER - float(stats.binom.sf(needed - 1, guesses, right / (right + wrong)))

    if runs < 2 or lack(claimed_epsilon + _HIGHEST) > 0:
        return math.inf
    low, high = claimed_epsilon, claimed_epsilon + _HIGHEST
    return float(optimize.brentq(lack, low, high, xtol=1e-4)) if lack(low) > 0 else low


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


def blind_spot(training: int) -> float:
    """Return the probability below which events were not examined: too few training outputs hit them."""
    return min(1.0, _FEWEST_HITS / training) if training > 0 else 1.0
