"""Bound epsilon from a confusion matrix, or delta from a guess game, whose counts are given.

The lower end of `epsilon_interval` inverts an exact unconditional test of p1 <= e^epsilon p0 + delta for two
independent binomial counts. Tables are ordered by the lower limit of the score test, an order that does not depend on
epsilon. The p-value is the largest probability of a table at least as extreme over the null, with the nuisance p0 in an
interval that holds it with all but a small probability, which is added. The set of extreme tables is closed upwards in
true and downwards in false positives, so its probability is monotone in p1 and p0: on a cell of p0 the two opposite
corners bound it, and cells are split until they decide.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from audit.api import InvalidArgument, bounds, validate

FloatArray = NDArray[np.float64]

_NUISANCE_SHARE = 0.02  # of the significance: the chance that the nuisance lies outside its interval
_OMITTED = 1e-12  # probability of false-positive counts that are not examined, counted as extreme
_CELLS, _ROUNDS, _MOST_OPEN = 24, 10, 160  # cells of p0 at first, times they are split, and most undecided ones: TIME


@dataclass(frozen=True)
class EpsilonInterval:
    """Interval of epsilon from a confusion matrix.

    Parameters
    ----------
    lower : float >= 0
        Lower confidence bound of the epsilon of the mechanism at `delta`; exceeds it with probability at most half of
        the significance, whatever the classifier.
    upper : float >= 0, inf allowed
        Upper confidence bound of the epsilon, at `delta`, of the two-point mechanism behind this
        classifier: the largest of log((p1 - delta) / p0) and log((1 - p0 - delta) / (1 - p1)), and of the same with
        p1 and p0 exchanged. It says nothing about other classifiers and other pairs.
    positives, negatives : pair of float
        The bounds from each event alone: "said positive" and "said negative".
    delta, significance : float
        As asked for; each end errs with probability at most significance / 2.

    Examples
    --------
    >>> import audit
    >>> interval = audit.epsilon_interval(
    ...     true_positives=90, false_positives=20, true_negatives=80, false_negatives=10)
    >>> interval.lower == max(interval.positives[0], interval.negatives[0])
    True
    """

    lower: float
    upper: float
    positives: tuple[float, float]
    negatives: tuple[float, float]
    delta: float
    significance: float


P = ParamSpec("P")


def _by_keyword(function: Callable[P, EpsilonInterval]) -> Callable[P, EpsilonInterval]:
    """Refuse counts without names: libraries order them differently, and an array of them has an order, too."""

    @wraps(function)
    def require_names(*counts: P.args, **settings: P.kwargs) -> EpsilonInterval:
        if counts or {"tp", "fp", "tn", "fn"} & settings.keys():
            raise InvalidArgument(
                "name the counts: write\n  tn, fp, fn, tp = matrix.ravel()\n  audit.epsilon_interval("
                "true_positives=tp, false_positives=fp, true_negatives=tn, false_negatives=fn)"
            )
        return function(*counts, **settings)

    return require_names


@_by_keyword
def epsilon_interval(
    *,
    true_positives: int,
    false_positives: int,
    true_negatives: int,
    false_negatives: int,
    delta: float = 0.0,
    significance: float = 0.05,
) -> EpsilonInterval:
    """Return an interval of epsilon from a confusion matrix; it misses with probability at most `significance`.

    The probability is over the runs, whose numbers per dataset are fixed, and exact for all of them. The classifier is
    fixed beforehand.

    Parameters
    ----------
    true_positives, false_negatives : int >= 0
        Runs on one dataset that were classified right and wrong.
    false_positives, true_negatives : int >= 0
        Runs on the other one that were classified wrong and right.
    delta : float in [0, 1], default 0.0
        The additive slack at which epsilon is bounded.
    significance : float in (0, 1), default 0.05
        Probability that either end errs, both together.

    Returns
    -------
    EpsilonInterval
        Both ends, and those of either event alone. Without runs on a dataset it is from 0 to infinity.

    Raises
    ------
    InvalidArgument
        When an argument lies outside its admissible set.

    References
    ----------
    Farrington & Manning (1990), "Test statistics and sample size formulae for comparative binomial trials", equation
    (4): the score that orders the tables. Berger & Boos (1994), "P values maximized over a confidence set for the
    nuisance parameter", lemma 1: the interval of p0. Clopper & Pearson (1934): the upper end.

    Examples
    --------
    >>> import audit
    >>> interval = audit.epsilon_interval(
    ...     true_positives=90, false_positives=20, true_negatives=80, false_negatives=10)
    >>> round(interval.lower, 2), round(interval.upper, 2)
    (1.44, 3.0)
    """
    tp, fp = (
        validate.integer(true_positives, "true_positives", at_least=0),
        validate.integer(false_positives, "false_positives", 0),
    )
    tn, fn = (
        validate.integer(true_negatives, "true_negatives", at_least=0),
        validate.integer(false_negatives, "false_negatives", 0),
    )
    slack, level = validate.closed_probability(delta, "delta"), validate.open_probability(significance, "significance")
    share = level / 4  # two ends, two events
    lows = [
        event_epsilon_lower_bound(tp, tp + fn, fp, fp + tn, delta=slack, significance=share),
        event_epsilon_lower_bound(tn, tn + fp, fn, fn + tp, delta=slack, significance=share),
    ]
    # each of the four log ratios needs two of these bounds; which two matter depends on whether p1 >= p0, never on the
    # data: 2 * share is the probability of an error
    p1 = bounds.proportion_lower_bound(tp, tp + fn, share), bounds.proportion_upper_bound(tp, tp + fn, share)
    p0 = bounds.proportion_lower_bound(fp, fp + tn, share), bounds.proportion_upper_bound(fp, fp + tn, share)
    positive = max(_log_ratio(p1[1], p0[0], slack), _log_ratio(p0[1], p1[0], slack))
    negative = max(_log_ratio(1 - p0[0], 1 - p1[1], slack), _log_ratio(1 - p1[0], 1 - p0[1], slack))
    return EpsilonInterval(max(lows), max(positive, negative), (lows[0], positive), (lows[1], negative), slack, level)


def event_epsilon_lower_bound(
    hits: int, runs: int, other_hits: int, other_runs: int, *, delta: float, significance: float
) -> float:
    """Return a lower confidence bound of log((P(E) - delta) / Q(E)) from the hits of E in fixed numbers of runs."""
    if runs == 0 or other_runs == 0:
        return 0.0
    test = _ExtremeTables(hits, runs, other_hits, other_runs, delta, significance)
    return (
        bounds.invert_test(test.refutes, min(test.limit + 1.0, bounds.LARGEST_EPSILON), 1e-5) if test.limit > 0 else 0.0
    )


class _ExtremeTables:
    """Bound the probability of the tables at least as extreme as the observed one."""

    def __init__(
        self, hits: int, runs: int, other_hits: int, other_runs: int, delta: float, significance: float
    ) -> None:
        self.runs, self.other_runs, self.delta = runs, other_runs, delta
        self.critical = -float(special.ndtri(significance))
        # the epsilon where the score of the observed table falls to the critical value
        self.limit = bounds.invert_test(lambda epsilon: bool(self.score(hits, other_hits, epsilon) >= self.critical))
        self.level = significance * (1 - _NUISANCE_SHARE)
        outside = significance * _NUISANCE_SHARE / 2
        self.nuisance = (
            bounds.proportion_lower_bound(other_hits, other_runs, outside),
            bounds.proportion_upper_bound(other_hits, other_runs, outside),
        )
        first = max(0, int(scipy.stats.binom.ppf(_OMITTED / 2, other_runs, self.nuisance[0])) - 1)
        last = min(other_runs, int(scipy.stats.binom.isf(_OMITTED / 2, other_runs, self.nuisance[1])) + 1)
        self.counts = np.arange(min(first, other_hits), max(last, other_hits) + 1)
        low, fewest = np.full(self.counts.shape, -1), np.full(self.counts.shape, runs + 1)  # runs + 1 for none
        while np.any(fewest - low > 1):
            middle = np.maximum((low + fewest) // 2, 0)  # where it is decided: low again, or 0 again
            extreme = self.score(middle, self.counts, self.limit) >= self.critical * (1 - 1e-9)
            low, fewest = np.where(extreme, low, middle), np.where(extreme, middle, fewest)
        fewest[self.counts <= other_hits] = np.minimum(fewest[self.counts <= other_hits], hits)
        # closed downwards in false positives: a table with fewer of them and as many true ones belongs to the set
        self.fewest = np.minimum.accumulate(fewest[::-1])[::-1]

    def score(self, hits: Any, other_hits: Any, epsilon: float) -> Any:
        """Return standardized p1 - e^epsilon p0 - delta, its variance at the null's maximum of the likelihood."""
        ratio, x, y = math.exp(epsilon), np.asarray(hits), np.asarray(other_hits)
        p0 = self._null_fit(x, y, ratio)
        p1 = np.minimum(ratio * p0 + self.delta, 1.0)
        variance = p1 * (1 - p1) / self.runs + ratio**2 * p0 * (1 - p0) / self.other_runs
        gap = x / self.runs - ratio * y / self.other_runs - self.delta
        return gap / np.sqrt(np.maximum(variance, 1e-300))

    def _null_fit(self, hits: FloatArray, other_hits: FloatArray, ratio: float) -> FloatArray:
        """Maximize the concave log-likelihood on p1 = ratio p0 + delta: its slope falls, so bisect."""
        low, high = np.zeros(hits.shape), np.full(hits.shape, (1 - self.delta) / ratio)
        for _ in range(45):
            p0 = (low + high) / 2
            p1 = np.minimum(ratio * p0 + self.delta, 1 - 1e-16)
            with np.errstate(divide="ignore", invalid="ignore"):
                rising = ratio * (hits / p1 - (self.runs - hits) / (1 - p1))
                rising = rising + other_hits / p0 - (self.other_runs - other_hits) / (1 - p0)
            low, high = np.where(rising > 0, p0, low), np.where(rising > 0, high, p0)
        return (low + high) / 2

    def refutes(self, epsilon: float) -> bool:
        """Return whether the p-value is at most the significance; False also when the cells cannot decide."""
        edges = np.linspace(*self.nuisance, _CELLS + 1)
        low, high = edges[:-1], edges[1:]
        for _ in range(_ROUNDS):
            undecided = self._probability(low, high, epsilon) > self.level
            if not undecided.any():
                return True
            low, high = low[undecided], high[undecided]
            if np.any(self._probability(low, low, epsilon) > self.level) or len(low) > _MOST_OPEN:
                return False
            middle = (low + high) / 2
            low, high = np.r_[low, middle], np.r_[middle, high]
        return False

    def _probability(self, low: FloatArray, high: FloatArray, epsilon: float) -> FloatArray:
        """Return the probability of the extreme tables with p0 = low and p1 the null's largest at p0 = high."""
        p1 = np.minimum(math.exp(epsilon) * high + self.delta, 1.0)[:, None]
        k = self.fewest[None, :]
        reached = special.betainc(np.maximum(k, 1), np.maximum(self.runs - k + 1, 1), p1)
        reached = np.where(k <= 0, 1.0, np.where(k > self.runs, 0.0, reached))
        mass = scipy.stats.binom.pmf(self.counts[None, :], self.other_runs, low[:, None])
        return np.asarray((mass * reached).sum(axis=1) + _OMITTED)


def _log_ratio(numerator: float, denominator: float, delta: float) -> float:
    if numerator <= delta:
        return 0.0
    return math.inf if denominator <= 0 else max(0.0, math.log((numerator - delta) / denominator))


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
        Source of one uniform per run. Fix it before the counts are known, and do not use it to draw the outputs.
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
    P(right) <= e^epsilon P(wrong) + delta, which a binomial test inverts in delta.

    Examples
    --------
    Of 2,000 runs, 60 showed their dataset outright; the others were not guessed:

    >>> import audit
    >>> round(audit.delta_lower_bound(60, 0, 1940, epsilon=1.0, seed=1), 2)
    0.02
    """
    right = validate.integer(correct, "correct", at_least=0)
    guesses = right + validate.integer(wrong, "wrong", at_least=0)
    idle = validate.integer(abstained, "abstained", at_least=0)
    at, level = validate.nonnegative(epsilon, "epsilon"), validate.open_probability(significance, "significance")
    return bounds.game_delta_lower_bound(right, guesses, idle, at, level, seed, one_sided)
