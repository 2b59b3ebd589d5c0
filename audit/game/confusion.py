"""An interval of epsilon from a confusion matrix whose counts are given.

A classifier says of n1 runs on `left` ("positive" ones) and n0 runs on `right` which of the two they were. The runs of
each side are independent and their numbers fixed, so the true and the false positives are two independent binomial
counts with success probabilities p1 and p0. Two events compete: "said positive" (true against false positives) and
"said negative" (true against false negatives). They share the significance.

The lower end inverts an exact unconditional test of p1 <= e^epsilon p0 + delta. Tables are ordered by the lower limit
of the score test (Farrington & Manning 1990; Miettinen & Nurminen 1985), an order that does not depend on epsilon; the
p-value is the largest probability of a table at least as extreme over the null, the nuisance p0 in an interval that
holds it with all but a small probability, which is added (Berger & Boos 1994). It rises with epsilon, since the null
does. The set of extreme tables is closed upwards in true and downwards in false positives, so that its probability is
monotone in p1 and p0: on a cell of p0 the two opposite corners bound it, and cells are split until they decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from audit.base.arguments import closed_probability, integer, open_probability
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound

FloatArray = NDArray[np.float64]

_NUISANCE_SHARE = 0.02  # of the significance: the chance that the nuisance lies outside its interval
_OMITTED = 1e-12  # probability of false-positive counts that are not looked at, counted as extreme
_CELLS, _ROUNDS, _MOST_OPEN = 24, 10, 160
_LARGEST = 60.0


@dataclass(frozen=True)
class EpsilonInterval:
    """What a confusion matrix says about epsilon.

    Parameters
    ----------
    lower : float
        Lower confidence bound of the epsilon of the mechanism at `delta`; exceeds it with probability at most half of
        the significance, whatever the classifier.
    upper : float
        Upper confidence bound of the epsilon, at `delta`, of the two-point mechanism that is seen through this
        classifier: the largest of log((p1 - delta) / p0) and log((1 - p0 - delta) / (1 - p1)), and of the same with
        p1 and p0 exchanged. It says nothing about what another classifier, or another pair, would show.
    positives, negatives : pair of float
        The bounds from each event alone: "said positive" and "said negative".
    delta, significance : float
        As asked for; each end errs with probability at most significance / 2.
    """

    lower: float
    upper: float
    positives: tuple[float, float]
    negatives: tuple[float, float]
    delta: float
    significance: float


def epsilon_interval(
    true_positives: int,
    false_positives: int,
    true_negatives: int,
    false_negatives: int,
    *,
    delta: float = 0.0,
    significance: float = 0.05,
) -> EpsilonInterval:
    """Interval of epsilon from a confusion matrix; misses with probability at most `significance`, exactly.

    The probability is over the runs, whose numbers on each side are fixed; the classifier is fixed beforehand.

    Parameters
    ----------
    true_positives, false_negatives : int >= 0
        Runs on one dataset that were classified right and wrong.
    false_positives, true_negatives : int >= 0
        Runs on the other one that were classified wrong and right.
    delta : float in [0, 1]
    significance : float in (0, 1)
    """
    tp, fp, tn, fn = (
        integer(value, name, at_least=0)
        for name, value in [
            ("true_positives", true_positives),
            ("false_positives", false_positives),
            ("true_negatives", true_negatives),
            ("false_negatives", false_negatives),
        ]
    )
    slack, level = closed_probability(delta, "delta"), open_probability(significance, "significance")
    share = level / 4  # two ends, two events
    lows = [
        event_epsilon_lower_bound(tp, tp + fn, fp, fp + tn, delta=slack, significance=share),
        event_epsilon_lower_bound(tn, tn + fp, fn, fn + tp, delta=slack, significance=share),
    ]
    highs = _upper_ends((tp, tp + fn), (fp, fp + tn), slack, share)
    return EpsilonInterval(max(lows), max(highs), (lows[0], highs[0]), (lows[1], highs[1]), slack, level)


def event_epsilon_lower_bound(
    hits: int, runs: int, other_hits: int, other_runs: int, *, delta: float = 0.0, significance: float = 0.05
) -> float:
    """Lower confidence bound of log((P(E) - delta) / Q(E)), one event, one direction, numbers of runs fixed.

    Too high with probability at most `significance`; 0.0 when nothing is certified.

    Parameters
    ----------
    hits, runs : int
        Outputs of P in the event, and runs of P.
    other_hits, other_runs : int
        The same for Q.
    """
    table = _Table(hits, runs, other_hits, other_runs, delta, significance)
    if runs == 0 or other_runs == 0:
        return 0.0
    start = table.score_limit()
    if not start > 0:
        return 0.0
    test = _ExtremeTables(table, start)
    if not test.refutes(0.0):
        return 0.0
    low, high = 0.0, min(start + 1.0, _LARGEST)
    while high - low > 1e-5 * (1 + low):
        middle = (low + high) / 2
        low, high = (middle, high) if test.refutes(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class _Table:
    """Counts of one event, and the order of tables."""

    hits: int
    runs: int
    other_hits: int
    other_runs: int
    delta: float
    significance: float

    def score_limit(self) -> float:
        """The epsilon where the score of this table falls to the critical value; -inf when it never is that high."""
        critical = float(stats.norm.isf(self.significance))
        if not self.score(self.hits, self.other_hits, 0.0) >= critical:
            return -math.inf
        low, high = 0.0, 1.0
        while high < _LARGEST and self.score(self.hits, self.other_hits, high) >= critical:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            above = self.score(self.hits, self.other_hits, middle) >= critical
            low, high = (middle, high) if above else (low, middle)
        return low

    def score(self, hits: Any, other_hits: Any, epsilon: float) -> Any:
        """Standardised p1 - e^epsilon p0 - delta, its variance at the null's maximum of the likelihood."""
        ratio = math.exp(epsilon)
        p0 = self._null_fit(np.asarray(hits, float), np.asarray(other_hits, float), ratio)
        p1 = np.minimum(ratio * p0 + self.delta, 1.0)
        variance = p1 * (1 - p1) / self.runs + ratio**2 * p0 * (1 - p0) / self.other_runs
        gap = np.asarray(hits) / self.runs - ratio * np.asarray(other_hits) / self.other_runs - self.delta
        return gap / np.sqrt(np.maximum(variance, 1e-300))

    def _null_fit(self, hits: FloatArray, other_hits: FloatArray, ratio: float) -> FloatArray:
        """Maximise the concave log-likelihood on p1 = ratio p0 + delta: its slope falls, so bisect."""
        shape = np.broadcast_shapes(hits.shape, other_hits.shape)
        low, high = np.zeros(shape), np.full(shape, min(1.0, max(0.0, 1 - self.delta) / ratio))
        for _ in range(45):
            p0 = (low + high) / 2
            p1 = np.minimum(ratio * p0 + self.delta, 1 - 1e-16)
            with np.errstate(divide="ignore", invalid="ignore"):
                rising = ratio * (hits / p1 - (self.runs - hits) / (1 - p1))
                rising = rising + other_hits / p0 - (self.other_runs - other_hits) / (1 - p0)
            low, high = np.where(rising > 0, p0, low), np.where(rising > 0, high, p0)
        return (low + high) / 2


class _ExtremeTables:
    """The tables at least as extreme as the observed one, and bounds of their probability."""

    def __init__(self, table: _Table, limit: float) -> None:
        self.table = table
        self.level = table.significance * (1 - _NUISANCE_SHARE)
        outside = table.significance * _NUISANCE_SHARE / 2
        self.nuisance = (
            proportion_lower_bound(table.other_hits, table.other_runs, outside),
            proportion_upper_bound(table.other_hits, table.other_runs, outside),
        )
        first = max(0, int(stats.binom.ppf(_OMITTED / 2, table.other_runs, self.nuisance[0])) - 1)
        last = min(table.other_runs, int(stats.binom.isf(_OMITTED / 2, table.other_runs, self.nuisance[1])) + 1)
        self.counts = np.arange(min(first, table.other_hits), max(last, table.other_hits) + 1)
        self.fewest = self._boundary(limit)

    def _boundary(self, limit: float) -> NDArray[np.int64]:
        """For every number of false positives the fewest true ones that are as extreme; runs + 1 for none.

        Closed downwards in false positives: a table with fewer of them and as many true ones belongs to the set.
        """
        table, critical = self.table, float(stats.norm.isf(self.table.significance))
        low, high = np.full(self.counts.shape, -1), np.full(self.counts.shape, table.runs + 1)
        while np.any(high - low > 1):
            middle = np.clip((low + high) // 2, 0, table.runs)
            extreme = table.score(middle, self.counts, limit) >= critical * (1 - 1e-9)
            open_ = high - low > 1
            high = np.where(open_ & extreme, middle, high)
            low = np.where(open_ & ~extreme, middle, low)
        high[: int(table.other_hits - self.counts[0]) + 1] = np.minimum(
            high[: int(table.other_hits - self.counts[0]) + 1], table.hits
        )
        return np.asarray(np.minimum.accumulate(high[::-1])[::-1], dtype=np.int64)

    def refutes(self, epsilon: float) -> bool:
        """Whether the p-value at `epsilon` is at most the significance; False also when the cells cannot decide."""
        edges = np.linspace(*self.nuisance, _CELLS + 1)
        low, high = edges[:-1], edges[1:]
        for _ in range(_ROUNDS):
            open_ = self._probability(low, high, epsilon) > self.level
            if not open_.any():
                return True
            low, high = low[open_], high[open_]
            if np.any(self._probability(low, low, epsilon) > self.level) or len(low) > _MOST_OPEN:
                return False
            middle = (low + high) / 2
            low, high = np.r_[low, middle], np.r_[middle, high]
        return False

    def _probability(self, low: FloatArray, high: FloatArray, epsilon: float) -> FloatArray:
        """Probability of the extreme tables with p0 = low and p1 the null's largest at p0 = high."""
        table = self.table
        p1 = np.minimum(math.exp(epsilon) * high + table.delta, 1.0)[:, None]
        k = self.fewest[None, :]
        reached = special.betainc(np.maximum(k, 1), np.maximum(table.runs - k + 1, 1), p1)
        reached = np.where(k <= 0, 1.0, np.where(k > table.runs, 0.0, reached))
        mass = stats.binom.pmf(self.counts[None, :], table.other_runs, low[:, None])
        return np.asarray((mass * reached).sum(axis=1) + _OMITTED)


def _upper_ends(
    positive: tuple[int, int], negative: tuple[int, int], delta: float, share: float
) -> tuple[float, float]:
    """Upper bounds of the two events' epsilon from exact bounds of p1 and p0, each wrong with probability `share`.

    Each of the four log ratios needs two of the bounds; which two matter depends on whether p1 >= p0, never on the
    data, so that 2 * share is what may go wrong.
    """
    p1 = proportion_lower_bound(*positive, share), proportion_upper_bound(*positive, share)
    p0 = proportion_lower_bound(*negative, share), proportion_upper_bound(*negative, share)
    said_positive = max(_log_ratio(p1[1], p0[0], delta), _log_ratio(p0[1], p1[0], delta))
    said_negative = max(_log_ratio(1 - p0[0], 1 - p1[1], delta), _log_ratio(1 - p1[0], 1 - p0[1], delta))
    return said_positive, said_negative


def _log_ratio(numerator: float, denominator: float, delta: float) -> float:
    """max(0, log((numerator - delta) / denominator)); inf when the denominator may be 0."""
    if numerator <= delta:
        return 0.0
    return math.inf if denominator <= 0 else max(0.0, math.log((numerator - delta) / denominator))
