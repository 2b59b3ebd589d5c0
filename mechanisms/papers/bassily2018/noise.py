"""The constants of the algorithms, constants of ours, and the epsilon that is proved of either.

A run is a composition of epochs, each (2 / lam, 0)-DP: no more than runs of randomized response (Kairouz, Oh &
Viswanath 2015, Theorem 3.3). A value that neighbors do not share costs the probability that it gets out. `pure`,
`optimal` and `least` are ours: they spend that proof to the end.
"""

import math
import warnings
from functools import lru_cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

from audit.validate import closed_probability, integer, nonnegative, open_probability, positive
from mechanisms.parts.sparse_vector import Noise
from mechanisms.queries import count

_SAFETY = 1e-12  # relative: sums of at most 1e5 terms of double precision are better than that
_HUGE = 1e4  # epsilon


def sparse_noise(epsilon: float, delta: float, cutoff: int, threshold: float) -> Noise:
    """Return lam = sqrt(32 T log(1 / delta)) / epsilon, T + 1 BOTTOMs, any threshold (Algorithm 1)."""
    cutoff = count(cutoff, "cutoff")
    lam = math.sqrt(32 * cutoff * math.log(1 / open_probability(delta, "delta"))) / positive(epsilon, "epsilon")
    return Noise(lam, threshold, cutoff + 1)


def printed(epsilon: float, delta: float, cutoff: int, max_queries: int, quiet: bool = False) -> Noise:
    """Return lam = sqrt(32 T log(2 / delta)) / epsilon, w = 2 lam log(2 m / delta), T + 1 BOTTOMs (Algorithm 3)."""
    # Warn of epsilon beyond log(1 / delta), unless `quiet`: the second term of advanced composition is no longer small.
    epsilon, delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
    if epsilon > math.log(1 / delta) and not quiet:
        warnings.warn(f"the proof needs epsilon <= log(1/delta) = {math.log(1 / delta):.3g}", stacklevel=2)
    cutoff, queries = count(cutoff, "cutoff"), count(max_queries, "max_queries")
    lam = math.sqrt(32 * cutoff * math.log(2 / delta)) / epsilon
    return Noise(lam, 2 * lam * math.log(2 * queries / delta), cutoff + 1)


def printed_soft(epsilon: float, delta: float, cutoff: int, max_queries: int) -> Noise:
    """Return the constants of section 5: T and m doubled, up to 2 T + 2 BOTTOMs among the sub-queries."""
    doubled = printed(epsilon, delta, 2 * cutoff, 2 * max_queries)
    return Noise(doubled.lam, doubled.threshold, 2 * cutoff + 2)


def pure(epsilon: float, delta: float, cutoff: int) -> Noise:
    """Return lam = 2 (T + 1) / epsilon and (T + 1) P(release) <= delta: epochs add up, all of delta pays for values."""
    lam, epochs = 2 * (cutoff + 1) / positive(epsilon, "epsilon"), count(cutoff, "cutoff") + 1
    return Noise(lam, 2 * lam * math.log(2 * epochs / (3 * open_probability(delta, "delta"))), epochs)


@lru_cache(maxsize=64)  # a learner is fitted again and again at one setting
def optimal(epsilon: float, delta: float, cutoff: int) -> Noise:
    """Return the least lam for which optimal composition of T + 1 epochs proves (epsilon, 2 delta / 3)."""
    # The other third pays for unstable queries: w = 2 lam log(2 (T + 1) / delta).
    epsilon, delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
    epochs = count(cutoff, "cutoff") + 1

    def excess(step: float) -> float:
        return composed_epsilon(2 * delta / 3, step, epochs) - epsilon

    largest = epsilon + 1.0
    while excess(largest) <= 0:
        largest *= 2
    step = float(brentq(excess, epsilon / epochs, largest, xtol=1e-14, rtol=1e-13)) * (1 - 1e-10)  # of an epoch
    return Noise(2 / step, 4 / step * math.log(2 * epochs / delta), epochs)


def least(epsilon: float, delta: float, cutoff: int) -> Noise:
    """Return the one of `pure` and `optimal` with the smaller threshold: `pure` for few BOTTOMs, else `optimal`."""
    found = pure(epsilon, delta, cutoff)
    if epsilon > _HUGE:  # `pure` has the smaller threshold, and `optimal` runs out of doubles
        return found
    return min(found, optimal(epsilon, delta, cutoff), key=lambda noise: noise.threshold)


def composed_delta(epsilon: float, step: float, copies: int) -> float:
    """Return the largest delta at `epsilon` of `copies` adaptive (step, 0)-DP mechanisms; upper bound, attained."""
    # delta(e) = sum_j C(n, j) [e^(j s) - e^(e + (n - j) s)]_+ / (1 + e^s)^n, s = step, n = copies.
    epsilon, s, n = nonnegative(epsilon, "epsilon"), nonnegative(step, "step"), integer(copies, "copies", at_least=1)
    first = math.floor((epsilon / s + n) / 2) + 1 if s > 0 and epsilon < n * s else n + 1
    j = np.arange(max(first, 0), n + 1)
    if j.size == 0:
        return 0.0
    likely = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    likely += j * s - n * np.logaddexp(0.0, s)
    lost = epsilon - (2 * j - n) * s  # minus the privacy loss of j agreements, plus epsilon
    return float(np.sum(np.exp(likely) * -np.expm1(np.minimum(lost, 0.0)))) * (1 + _SAFETY)


def composed_epsilon(delta: float, step: float, copies: int) -> float:
    """Return the smallest epsilon of `copies` adaptive (step, 0)-DP mechanisms at `delta` in [0, 1]; upper bound."""
    delta = closed_probability(delta, "delta")
    most = nonnegative(step, "step") * integer(copies, "copies", at_least=1)
    if delta == 0 or composed_delta(0.0, step, copies) <= delta:
        return most if delta == 0 else 0.0
    root = brentq(lambda e: composed_delta(e, step, copies) - delta, 0.0, most, xtol=1e-13, rtol=1e-13)
    return min(most, float(root) * (1 + 1e-11))


def release_probability(threshold: float, lam: float) -> float:
    """Return P(Lap(2 lam) + Lap(lam) > threshold): a query at distance 0 gets its value released."""
    # For t >= 0 it is (4 e^(-t / 2 lam) - e^(-t / lam)) / 6.
    t = abs(float(threshold)) / positive(lam, "lam")
    tail = (4 * math.exp(-t / 2) - math.exp(-t)) / 6
    return tail if threshold >= 0 else 1 - tail


def unstable_delta(noise: Noise, queries: float = math.inf, largest: float = 0.0) -> float:
    """Return the probability that some unstable query has its value released: an upper bound of its cost."""
    # A failing unstable query ends an epoch, so that no more than the number of epochs count, and each meets a fresh
    # threshold. `largest` is the largest distance that the rule gives to an unstable query: 0 for an admissible one.
    one = release_probability(noise.threshold - largest, noise.lam)
    return -math.expm1(int(min(queries, noise.epochs)) * math.log1p(-one))


def run_delta(noise: Noise, epsilon: float, queries: float, lipschitz: float = 1.0, largest: float = 0.0) -> float:
    """Return an upper bound of the delta at `epsilon` of a run; `lipschitz` and `largest` are those of the distance."""
    return composed_delta(epsilon, 2 * lipschitz / noise.lam, noise.epochs) + unstable_delta(noise, queries, largest)


def proved_epsilon(
    noise: Noise, delta: float, queries: float = math.inf, *, lipschitz: float = 1.0, largest: float = 0.0
) -> float:
    """Return an epsilon for which a run keeps (epsilon, delta); inf where unstable queries cost all of delta."""
    # `lipschitz` is how far one record moves the distance, `largest` its largest value at an unstable query: 1 and 0
    # for an admissible distance, 2 and 2 for the gap. Fewer queries than epochs make fewer unstable ones.
    left = open_probability(delta, "delta") - unstable_delta(noise, queries, largest)
    return composed_epsilon(left, 2 * lipschitz / noise.lam, noise.epochs) if left > 0 else math.inf
