"""Print what one training run certifies about its canaries, and how often such bounds are false.

`python -m benchmarks.canaries targets` prints, for ideal Gaussian scores, epsilon at delta 1e-5 from the median number
of right guesses at the best number of guesses, beside the truth: without and with the declaration that canaries act
independently. The column "limit" is what no statistic of the scores can exceed: a mechanism that keeps less is told
from ideal scores with too small a probability. The column "2023" is the bound of
Steinke, Nasr & Jagielski (2023), theorem 5.2, at its own best number of guesses.

`python -m benchmarks.canaries false` prints how often, in 400 runs of eight mechanisms whose canaries depend on each
other, the bounds at 95 % exceed the truth: of mu for both structures, and of epsilon at delta 1e-5. No claim enters: it
is as if the claim were far above the truth.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import optimize, special
from scipy.stats import binom

from audit import GaussianClaim
from audit.api import bounds
from audit.extensions.training.canaries.guesses import right_guesses
from audit.extensions.training.canaries.one_run import (
    best_rate,
    epsilon_lower_bound,
    least_wrong,
    mu_lower_bound,
    tail_of_independent,
)
from audit.laws import GaussianLoss

DELTA, LEVEL = 1e-5, 0.05
RUNS, CANARIES, GUESSES, MU = 400, 2_000, 200, 1.0
POWER = 0.5  # of the median number of right guesses
_GRID = np.linspace(9.0, 0.0, 3001)  # scores, from the clearest on, in standard deviations from the middle


def epsilon_of(mu: float) -> float:
    """Return epsilon at delta 1e-5 of mu-Gaussian differential privacy."""
    if mu <= 0 or (loss := GaussianLoss(mu)).delta(0.0) <= DELTA:
        return 0.0
    return float(optimize.brentq(lambda epsilon: loss.delta(epsilon) - DELTA, 0.0, 500.0))


def median_right(mu: float, guesses: int, canaries: int) -> int:
    """Return the median number of right guesses of ideal scores, by its exact law."""
    wrong = least_wrong(GaussianClaim(mu))
    most = min(guesses, math.ceil(guesses * float(best_rate(wrong, np.array([guesses / canaries]))[0])) + 3)
    above = (right for right in range(most, 0, -1) if tail_of_independent(wrong, right, guesses, canaries) >= POWER)
    return next(above, 0)


def limit(mu: float, canaries: int) -> float:
    """Return a mu that no statistic of scores that are ideal for `mu` certifies at LEVEL with power POWER.

    A public coin decides with probability s whether almost ideal scores are released, else nothing is. If such scores
    differ from ideal ones by a total variation of at most POWER - LEVEL / s, a statistic that refutes this mechanism
    with probability LEVEL at most refutes ideal scores with probability POWER at most. See `docs/canaries.md`.
    """
    best = mu
    for share in np.geomspace(1.001 * LEVEL / POWER, 0.9, 30):
        low, high = 0.2 * mu, best
        while high - low > 1e-4 * mu:
            middle = (low + high) / 2
            told = _apart(middle, mu, float(share), canaries) > POWER - LEVEL / share
            low, high = (middle, high) if told else (low, middle)
        best = high
    return best


def _apart(kept: float, mu: float, share: float, canaries: int) -> float:
    """Return a total variation within which scores become `kept`-GDP where they are released with probability `share`.

    Of the scores of canaries that are included, the least mass is moved to those of canaries that are not, from the
    clearest scores on, so that share * (right - moved) <= F(share * (wrong + moved)), F that of `kept`-GDP. All
    canaries together differ by the union, or by Hellinger's distance, whichever is less.
    """
    wrong, right = special.ndtr(-_GRID - mu / 2), special.ndtr(-_GRID + mu / 2)
    low, high = np.zeros_like(_GRID), (right - wrong) / 2
    for _ in range(50):
        middle = (low + high) / 2
        fits = share * (right - middle) <= special.ndtr(special.ndtri(share * (wrong + middle)) + kept)
        low, high = np.where(fits, low, middle), np.where(fits, middle, high)
    moved = np.diff(np.maximum.accumulate(high), prepend=0.0)
    told = np.diff(right, prepend=0.0), np.diff(wrong, prepend=0.0)
    after = np.maximum(told[0] - moved, 0.0), told[1] + moved
    hellinger = sum(0.5 * float(np.sum((np.sqrt(a) - np.sqrt(b)) ** 2)) for a, b in zip(told, after, strict=True))
    return float(min(1 - (1 - moved.sum()) ** canaries, math.sqrt(1 - (1 - hellinger) ** (2 * canaries))))


def _bound_of_2023(right: int, guesses: int, canaries: int) -> float:
    def pvalue(epsilon: float) -> float:
        mass = binom.pmf(np.arange(right)[::-1], guesses, special.expit(epsilon))
        beta = binom.sf(right - 1, guesses, special.expit(epsilon))
        return float(beta + 2 * canaries * DELTA * np.max(np.cumsum(mass) / np.arange(1, right + 1)))

    return bounds.invert_test(lambda epsilon: pvalue(epsilon) <= LEVEL)


def targets() -> None:
    """Print the table of bounds."""
    print("structure    canaries   mu   true guesses  right  bound   limit    2023")
    for mu in (0.5, 1.0, 2.0):
        canaries, earlier, rough = 100_000, 0.0, []
        for guesses in np.unique(np.geomspace(400, 5_000, 30).astype(int)).tolist():
            right = median_right(mu, guesses, canaries)
            rough.append((mu_lower_bound(right, guesses, canaries, LEVEL), guesses, right))
            earlier = max(earlier, _bound_of_2023(right, guesses, canaries))
        others = epsilon_of(limit(mu, canaries)), earlier
        _row("any", canaries, mu, max(rough), " ".join(f"{number:7.2f}" for number in others))
    shares = []
    for canaries in (1_000, 10_000, 100_000):
        for mu in (0.5, 1.0, 2.0):
            right = median_right(mu, canaries // 2, canaries)
            bound = mu_lower_bound(right, canaries // 2, canaries, LEVEL, "independent")
            shares.append(epsilon_of(bound) / epsilon_of(mu))
            _row("independent", canaries, mu, (bound, canaries // 2, right), "")
    print(f"independent: {np.mean(shares):.1%} of the true epsilon on average")


def _row(structure: str, canaries: int, mu: float, best: tuple[float, int, int], more: str) -> None:
    bound, guesses, right = best
    numbers = f"{epsilon_of(mu):6.2f} {guesses:7} {right:6} {epsilon_of(bound):6.2f} {more}"
    print(f"{structure:12} {canaries:8} {mu:4} {numbers}", flush=True)


Mechanism = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def gaussian(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores with noise of their own."""
    return MU * coins + rng.normal(size=len(coins))


def _revealing(share: float, coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return +1 and -1 for guesses, 0 for none: what may be released on an event that has probability `share`.

    An event of probability `share` that does not depend on the coins lets through f-bar(share y) / share.
    """
    wrong = float(optimize.brentq(lambda y: _f_bar(share * y) / share - GUESSES / CANARIES, 1e-12, 0.5))
    right = _f_bar(share * wrong) / share
    draw = rng.random(len(coins))
    sign = np.where(coins == 1, 1, -1)
    return np.where(draw < right, sign, np.where(draw < right + wrong, -sign, 0)) + 1e-9 * rng.random(len(coins))


def _f_bar(x: float) -> float:
    return float(special.ndtr(special.ndtri(x) + MU))


def public_coin(share: float, coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores that say more than usual with probability `share`, and nothing else."""
    return _revealing(share, coins, rng) if rng.random() < share else rng.random(len(coins))


def random_block(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores that say much about one tenth of the canaries, drawn as a block."""
    start, size = rng.integers(10), len(coins) // 10
    scores = 1e-9 * rng.random(len(coins))
    block = slice(start * size, (start + 1) * size)
    wrong = float(optimize.brentq(lambda y: _f_bar(0.1 * y) / 0.1 - 0.6, 1e-12, 0.5))
    draw, sign = rng.random(size), np.where(coins[block] == 1, 1, -1)
    right = _f_bar(0.1 * wrong) / 0.1
    scores[block] += np.where(draw < right, sign, np.where(draw < right + wrong, -sign, 0))
    return scores


def common_noise(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores with noise of their own and noise three times as large that all share."""
    return gaussian(coins, rng) + 3.0 * rng.normal()


def centered(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return noisy scores less their mean, and less a noisy count: 0.8 and 0.6 in mu."""
    scores = 0.8 * coins + rng.normal(size=len(coins))
    count = coins.sum() + rng.normal() / 0.6
    return scores - scores.mean() - count / len(coins)


def early_stopping(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return scores one after another, until ten in a row are small."""
    scores = gaussian(coins, rng)
    small = np.convolve(scores < 1.0, np.ones(10), "valid") == 10
    if small.any():
        scores[int(np.argmax(small)) + 10 :] = 0.5
    return scores


def best_half(coins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return two noisy scores of 1/sqrt(2) each, in the half that the first ones tell apart better, in full."""
    first = coins / math.sqrt(2) + rng.normal(size=len(coins))
    second = coins / math.sqrt(2) + rng.normal(size=len(coins))
    half = len(coins) // 2
    chosen = np.zeros(len(coins), bool)
    chosen[:half] = first[:half].std() > first[half:].std()
    chosen[half:] = ~chosen[0]
    return np.where(chosen, (first + second) / math.sqrt(2), first)


MECHANISMS: dict[str, Mechanism] = {
    "independent noise": gaussian,
    "public coin .05": lambda coins, rng: public_coin(0.05, coins, rng),
    "public coin .3": lambda coins, rng: public_coin(0.3, coins, rng),
    "random block": random_block,
    "common noise": common_noise,
    "centered": centered,
    "early stopping": early_stopping,
    "best half": best_half,
}


@cache
def is_false(right: int, bound: str) -> bool:
    """Return whether a bound from a number of right guesses exceeds the truth."""
    if bound == "epsilon":
        return epsilon_lower_bound(right, GUESSES, CANARIES, DELTA, LEVEL) > epsilon_of(MU)
    return mu_lower_bound(right, GUESSES, CANARIES, LEVEL, bound) > MU


def false() -> None:
    """Print how often bounds are false."""
    bounds = ("any", "epsilon", "independent")
    print(f"{'mechanism':18} {'any':>7} {'epsilon':>7} {'independent':>12}   of {RUNS} runs above the truth")
    for name, mechanism in MECHANISMS.items():
        rng, wrong = np.random.default_rng(1), dict.fromkeys(bounds, 0)
        for _ in range(RUNS):
            coins = rng.integers(0, 2, CANARIES)
            scores = mechanism(coins, rng)
            right = right_guesses(scores[coins == 1], scores[coins == 0], GUESSES)
            for bound in bounds:
                wrong[bound] += is_false(right, bound)
        shares = (f"{wrong[bound] / RUNS:{7 + 5 * (bound == 'independent')}.2%}" for bound in bounds)
        print(f"{name:18} {' '.join(shares)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("targets", "false"))
    {"targets": targets, "false": false}[parser.parse_args().table]()
