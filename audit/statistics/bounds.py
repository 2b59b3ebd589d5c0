"""Test both directions of a privacy claim by one exact binomial test; bound proportions and means of bounded losses.

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

A bet at rate r that the mean exceeds m has the wealth prod (1 + r (X_i - low)) / (1 + r (m - low)). It depends on the
losses through sum log(1 + r (X_i - low)), one number per rate: the evidence stores these sums.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, section 4.
Orabona and Jun (2023), Tight concentrations and confidence sequences from the regret of universal portfolio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated

import numpy as np
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import Limits, Nonnegative, closed_probability

MOST_DRAWN = 2**26  # uniforms that are drawn: at most half a gigabyte
_CHUNK = 2**20  # of them at a time
_ROUNDS = 10_000  # at most, towards a fixed point: audits need about ten


@dataclass(frozen=True)
class GameCounts:
    """Count the outcomes of the runs of a guess game."""

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
    def runs_on_left(self) -> int:
        return self.left_plus + self.left_minus + self.left_abstain

    @property
    def leads_left(self) -> bool:
        """True if "left" is the guess that tells more."""
        return self.left_plus - self.right_plus >= self.right_minus - self.left_minus

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
    counts: GameCounts,
    delta: float,
    significance: float,
    coins: np.random.SeedSequence | None = None,
    inflation: float = 1.0,
) -> float:
    """Return a lower confidence bound of epsilon at a given delta; too high with probability <= `significance`.

    The probability is over the coins of the game, the randomness of the mechanism and, for delta > 0, the uniforms
    drawn from `coins`. Exact for every number of runs and every mechanism, if the events were fixed before the runs.
    `delta` is the slack that one run may use: the claim's, or half of it when one event is empty. With an `inflation`
    above 1, of the variance by dependent runs, all counts are divided by it, which lowers the bound.
    """
    delta = closed_probability(delta, "delta")
    if delta == 0:
        return logit_lower_bound(counts.correct, counts.correct + counts.wrong, significance, inflation)
    if coins is None:
        raise InvalidArgument("delta > 0 needs `coins`: give np.random.default_rng(seed)")
    virtual = _VirtualGuesses(counts.correct, counts.wrong, counts.abstained, delta / (1 + delta), coins)
    epsilon = 0.0
    for _ in range(_ROUNDS):  # to the least fixed point; every epsilon below the one reached is rejected
        odds = delta * math.exp(-epsilon)
        correct, guesses = virtual.replace(odds / (1 + odds))
        bound = logit_lower_bound(correct, guesses, significance, inflation)
        if bound <= epsilon:
            return epsilon
        epsilon = bound
    return epsilon


def game_delta_lower_bound(
    right: int,
    guesses: int,
    idle: int,
    at: float,
    level: float,
    seed: int | np.random.SeedSequence,
    one_sided: bool,
    inflation: float = 1.0,
) -> float:
    """Return a lower confidence bound of delta at an epsilon, from the right guesses among some and the abstentions.

    All counts are divided by the inflation of the variance by dependent runs.
    """
    most = float(special.expit(-at))  # eta at delta = 1
    virtual = _VirtualGuesses(right, guesses - right, idle, most, seed)

    def rejects(eta: float) -> bool:
        remaining, played = virtual.replace(eta)
        if remaining <= 0:
            return False
        lost, won = (played - remaining) / inflation, remaining / inflation
        return bool(special.betaincc(lost + 1, won, special.expit(-at)) <= level)

    if not rejects(0.0):
        return 0.0
    low, high = 0, len(virtual.etas) - 1  # the last change is the largest delta, where nothing need be rejected
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rejects(float(virtual.etas[middle])) else (low, middle)
    eta = float(virtual.etas[high])
    return min(1.0, math.exp(at + math.log(eta) - math.log1p(-eta)) * (2 if one_sided else 1))


def logit_lower_bound(correct: int, guesses: int, significance: float, inflation: float = 1.0) -> float:
    """Return the logit of the exact lower bound of a success probability, log(BetaInv / (1 - BetaInv)); 0.0 if less."""
    if correct == 0:
        return 0.0
    wrong, right = (guesses - correct) / inflation, correct / inflation
    # 1 - BetaInv(s; a, b) = BetaInv(1 - s; b, a): taken from the upper tail it keeps its digits near zero
    failure = float(special.betainccinv(wrong + 1, right, significance))
    return math.log1p(-failure) - math.log(failure) if failure < 0.5 else 0.0


class _VirtualGuesses:
    """Hold the uniforms below `most` of right guesses and of abstentions, which may become wrong guesses."""

    def __init__(
        self, correct: int, wrong: int, abstained: int, most: float, seed: int | np.random.SeedSequence
    ) -> None:
        if (correct + abstained) * most > MOST_DRAWN:
            raise InvalidArgument.of(
                "runs", f"be at most {int(MOST_DRAWN / most):,} at this delta", correct + abstained
            )
        self.correct, self.guesses = correct, correct + wrong
        rng = np.random.default_rng(seed)
        self._right, self._idle = (smallest_uniforms(count, most, rng) for count in (correct, abstained))
        self._most = most

    def replace(self, eta: float) -> tuple[int, int]:
        """Return the right guesses and all guesses after those with uniforms up to eta became wrong guesses."""
        right, idle = (int(np.searchsorted(each, eta, side="right")) for each in (self._right, self._idle))
        return self.correct - right, self.guesses + idle

    @cached_property
    def etas(self) -> np.ndarray:
        """The etas at which counts change, increasing: 0 is the first, the largest one the last."""
        return np.r_[0.0, np.sort(np.concatenate([self._right, self._idle])), self._most]


def smallest_uniforms(count: int, most: float, rng: np.random.Generator) -> np.ndarray:
    """Return those of `count` uniforms on (0, 1) that lie below `most`, sorted, by Renyi's representation."""
    found: list[np.ndarray] = []
    taken, level, limit = 0, 0.0, -math.log1p(-most)
    while taken < count:
        batch, added = min(count - taken, 64 + int(1.1 * count * most)), 0.0
        for start in range(0, batch, _CHUNK):
            gaps = -np.log1p(-rng.random(min(_CHUNK, batch - start)))
            gaps /= count - taken - start - np.arange(len(gaps))
            gaps[0] += added
            sums = np.cumsum(gaps)
            levels, added = level + sums, float(sums[-1])
            found.append(-np.expm1(-levels[levels < limit]))
        taken, level = taken + batch, level + added
        if level >= limit:
            break
    return np.concatenate(found) if found else np.empty(0)


POWER = 0.8
EVENT_PROBABILITY = 0.01  # mass of the violating event under which the resolution is stated
_FEWEST_HITS = 20  # training outputs that hits that show an event on its likelier side
_UNLUCKY = 0.001  # probability that fewer runs are planned than confirm a violation, and that these do not
_HIGHEST = 50.0  # epsilon above the claim that is tried at most
_CLOSE = 1e-4  # to which the resolution is computed, from above
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
    `most` the largest return value.
    """
    guesses = counts.correct + counts.wrong
    rate = float(special.expit(logit_lower_bound(counts.correct, guesses, _UNLUCKY)))
    played = guesses / counts.runs
    test, runs = GameTest(epsilon, share, level), _FEWEST_HITS
    while runs < most and test.power(runs, rate * played, (1 - rate) * played) < 1 - _UNLUCKY:
        runs = int(1.2 * runs)
    return min(runs, most)


def blind_spot(training: float) -> float:
    """Return the probability below which events were not examined: too few training outputs hit them."""
    return _FEWEST_HITS / max(training, _FEWEST_HITS)


LARGEST_EPSILON = 60.0  # beyond it e^epsilon / (1 + e^epsilon) is 1 in floating point


def proportion_lower_bound(successes: int, trials: int, significance: float) -> float:
    """Return a lower confidence bound of a proportion, exact (Clopper and Pearson 1934); 0.0 without a success."""
    # SciPy's and statsmodels' one-sided `alternative` arguments point opposite ways; nothing else here calls them
    if not 0 <= successes <= trials:
        raise InvalidArgument.of("successes", f"lie in 0..{trials}", successes)
    return float(special.betaincinv(successes, trials - successes + 1, significance)) if successes else 0.0


def proportion_upper_bound(successes: int, trials: int, significance: float) -> float:
    """Return an upper confidence bound of a proportion, exact; 1.0 without a failure."""
    return 1.0 - proportion_lower_bound(trials - successes, trials, significance)


def invert_test(refuted: Callable[[float], bool], high: float | None = None, error: float = 1e-9) -> float:
    """Return an epsilon just below the first one not refuted; all below a refuted one must be refuted."""
    low = 0.0
    if not refuted(low):
        return low
    if high is None:
        high = 1.0
        while high < LARGEST_EPSILON and refuted(high):
            low, high = high, 2 * high
    while high - low > error * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


_SPREAD = np.array([-4.0, -3.0, -2.0, -1.25, -0.5, 0.0, 0.5, 1.25, 2.0])  # log2 of each rate over the central one
# Weights of the mixture; the outer rates hedge against a bad pilot
_LOG_WEIGHTS = np.log(np.array([1, 1, 1, 2, 30, 30, 30, 3, 2]) / 100)
_LARGEST_STAKE = 0.9  # share of the wealth that the central rate risks on one loss
_TINY = 1e-280  # a pilot mean below this overflows the rate
_ENDS, _NARROWINGS = 65, 10  # points of a search, whose interval shrinks to 1/64 or 1/32; how often
ROUNDING = 1e-9  # relative error of arithmetic: of a loss, to the width of its support, and of an evaluator

Rates = Annotated[tuple[Nonnegative, ...], Limits(shortest=1)]


@dataclass(frozen=True)
class Losses:
    """Losses: one by one, or few values and how often each came."""

    values: np.ndarray
    times: np.ndarray | None = None

    @property
    def count(self) -> int:
        return len(self.values) if self.times is None else int(self.times.sum())

    def sum(self, terms: np.ndarray) -> float:
        """Return the sum over the losses of a function that has the value `terms` at `values`."""
        return float(terms.sum() if self.times is None else terms @ self.times)

    @property
    def mean(self) -> float:
        return self.sum(self.values) / self.count

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.sum((self.values - self.mean) ** 2) / self.count)

    def measure(self, end: float) -> Losses:
        """Return the distances from an end of the support."""
        return Losses(np.abs(self.values - end), self.times)


@dataclass(frozen=True)
class Bets:
    """The bets that losses lie further from one end of their support than a candidate mean does."""

    rates: Rates  # chosen without the losses that they bet on; unit 1 / loss
    growth: Rates  # per rate, the sum over the losses of log(1 + rate * distance from the end)

    @classmethod
    def on(cls, distances: Losses, pilot: Losses, significance: float) -> Bets:
        """Return the bets on `distances` at rates that the distances of the pilot suggest."""
        mean, spread = pilot.mean, pilot.spread
        center = 1.0
        if mean > _TINY:
            fraction = _LARGEST_STAKE / mean
            if spread > 0:
                fraction = min(fraction, math.sqrt(2 * math.log(1 / significance) / distances.count) / spread)
            center = fraction / (1 - fraction * mean)
        rates = center * 2.0**_SPREAD
        growth = (distances.sum(np.log1p(rate * distances.values)) for rate in rates)
        return cls(tuple(map(float, rates)), tuple(growth))

    def log_wealth(self, count: int, distance: np.ndarray | float) -> np.ndarray:
        """Return the log wealth against means at most `distance` from the end; decreasing and convex in it."""
        rates, growth = self._arrays  # a bound asks for the wealth many times
        paid = count * np.log1p(np.multiply.outer(distance, rates))
        return np.asarray(np.logaddexp.reduce(growth - paid + _LOG_WEIGHTS, axis=-1))

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.rates), np.array(self.growth)

    def refuted_up_to(self, count: int, farthest: float, significance: float) -> float:
        """Return the largest refuted distance up to `farthest`, rounded down; 0.0 if none is refuted."""
        target = math.log(1 / significance)
        if self.log_wealth(count, 0.0) < target:
            return 0.0
        return find_change(lambda distances: self.log_wealth(count, distances) >= target, 0.0, farthest)[0]


@dataclass(frozen=True)
class MeanSample:
    """The summary of a sample of losses that the bounds of its mean need."""

    low: float  # the support of a loss; either end may be infinite, and has no bets then
    high: float
    count: int  # without the pilot
    mean: float  # an estimate
    above_low: Bets | None
    below_high: Bets | None

    def bounds(self, significance: float) -> tuple[float, float]:
        """Return both bounds, each wrong with probability at most `significance`; -inf or inf if there is none."""
        return self.lower_bound(significance), self.upper_bound(significance)

    def lower_bound(self, significance: float) -> float:
        if self.above_low is None:
            return -math.inf
        return self.low + self.above_low.refuted_up_to(self.count, abs(self.mean - self.low), significance)

    def upper_bound(self, significance: float) -> float:
        if self.below_high is None:
            return math.inf
        return self.high - self.below_high.refuted_up_to(self.count, abs(self.high - self.mean), significance)

    def log_wealth(self, mean: np.ndarray | float) -> np.ndarray:
        """Return the log of half the wealth bet on each side against `mean`; convex in the mean."""
        sides = (self.above_low, np.subtract(mean, self.low)), (self.below_high, np.subtract(self.high, mean))
        logs = [
            bets.log_wealth(self.count, np.maximum(distance, 0.0)) if bets else np.zeros(np.shape(mean))
            for bets, distance in sides
        ]
        return np.asarray(np.logaddexp(*logs) - math.log(2))


def summarize(pilot: np.ndarray, losses: np.ndarray, support: tuple[float, float], significance: float) -> MeanSample:
    """Return the summary of losses for bounds that hold at any significance and are narrowest at the given one."""
    return _summarize(Losses(pilot), Losses(losses), support, significance)


def summarize_counts(values: np.ndarray, pilot: np.ndarray, counts: np.ndarray, significance: float) -> MeanSample:
    """Return the same of losses of few values, by how often each came in the pilot and afterwards."""
    support = float(values.min()), float(values.max())
    return _summarize(Losses(values, pilot), Losses(values, counts), support, significance)


def _summarize(pilot: Losses, losses: Losses, support: tuple[float, float], significance: float) -> MeanSample:
    above, below = (
        Bets.on(losses.measure(end), pilot.measure(end), significance) if math.isfinite(end) else None
        for end in support
    )
    return MeanSample(*support, losses.count, losses.mean, above, below)


def find_change(holds: Callable[[np.ndarray], np.ndarray], inside: float, outside: float) -> tuple[float, float]:
    """Return the ends of an interval in which `holds` changes: it is true at the first, and maybe not at the second.

    Many points are tested together, which is much faster than halving the interval.
    """
    for _ in range(_NARROWINGS):
        grid = np.linspace(inside, outside, _ENDS)
        kept = int(np.append(holds(grid[1:-1]), False).argmin())
        if (inside, outside) == (before := (float(grid[kept]), float(grid[kept + 1]))):
            break
        inside, outside = before
    return inside, outside
