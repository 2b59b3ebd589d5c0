"""Measure what the calls of a guess game show of dependence: noise shared within a call, and drift over the calls.

Outputs of different calls are independent as long as the mechanism keeps no state, so the calls are the independent
units. `docs/method.md` derives the design effect, the two tests, and their false-alarm probabilities.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from audit.errors import InvalidCertificate
from audit.statistics.guess_game import GameCounts

PARTS = 8  # consecutive parts of the calls, beside the early ones, between which a change of behavior is looked for
LOG_LEVEL = math.log(1e-9)  # false-alarm probability of each of the two tests
FEWEST_SHOWN = 20  # runs that did not end as most of their side did; with fewer, nothing shows the design effect
_RATES = np.concatenate([np.geomspace(1e-3, 0.3, 24), np.linspace(0.32, 0.7, 20)])  # tried in Chernoff's bound


@dataclass(frozen=True)
class SideCalls:
    """Sum the counts of the whole calls on one side."""

    calls: int
    plus: int  # guesses "left"
    minus: int
    plus_squares: int  # sum over the calls of the squared count
    minus_squares: int
    products: int  # of the two counts

    def variances(self, size: int, a: float, b: float) -> tuple[float, float]:
        """Return the variance of a plus + b minus over all calls: between the calls, and if runs were independent."""
        if self.calls < 2:
            return 0.0, 0.0
        runs, total = self.calls * size, a * self.plus + b * self.minus
        squares = a * a * self.plus_squares + 2 * a * b * self.products + b * b * self.minus_squares
        between = (squares - total**2 / self.calls) * self.calls / (self.calls - 1)
        within = (a * a * self.plus + b * b * self.minus - total**2 / runs) * runs / (runs - 1)
        rounding = 1e-9 * max(a * a, b * b) * runs
        return (between, within) if within > rounding else (0.0, 0.0)

    def unusual(self, size: int) -> int:
        """Return the number of runs that did not end as most did."""
        return self.calls * size - max(self.plus, self.minus, self.calls * size - self.plus - self.minus)


@dataclass(frozen=True)
class CallStatistics:
    """Hold what the calls of a guess game show; the judge computes the design effect and both tests from it."""

    size: int  # outputs of a call
    left: SideCalls
    right: SideCalls
    # Runs, guesses "left" and guesses "right" on the left dataset, then on the right one: in the calls drawn among the
    # training calls, and in consecutive parts of the others
    parts: tuple[tuple[int, ...], ...] = field(default=())
    # Of one long call: number of the side, outputs, guesses "left" and guesses "right"; empty without such a call
    long: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        sums = [*vars(self.left).values(), *vars(self.right).values()]
        if (
            min(self.size, *sums, *itertools.chain(*self.parts), *self.long) < 0
            or self.size < 1
            or any(len(part) != 6 for part in self.parts)
            or len(self.long) not in (0, 4)
        ):
            raise InvalidCertificate("the statistics of the calls contradict each other")
        for side in (self.left, self.right):
            runs = side.calls * self.size
            if side.plus + side.minus > runs or side.plus_squares > self.size * side.plus:
                raise InvalidCertificate("the statistics of the calls contradict each other")

    def design_effect(self, epsilon: float, significance: float) -> float:
        """Return by how much dependence within calls inflates the variance of the test at `epsilon`; at least 1.

        It includes the square of the ratio of Student's and of the normal quantile, as in the interval of Korn and
        Graubard, since the variance between the calls is estimated.
        """
        degrees = self.left.calls + self.right.calls - 2
        if self.size == 1 or degrees < 2:
            return 1.0
        theta = float(special.expit(epsilon))
        pairs = (
            self.left.variances(self.size, 1 - theta, -theta),
            self.right.variances(self.size, -theta, 1 - theta),
        )
        between, within = map(sum, zip(*pairs, strict=True))
        if within <= 0:
            return 1.0
        level = min(significance, 0.4)
        student = (special.stdtrit(degrees, level) / special.ndtri(level)) ** 2
        return float(min(self.size, max(1.0, between / within * student)))

    @property
    def is_uniform(self) -> bool:
        """True when nearly all runs of either side ended alike, so that shared noise would not show."""
        return self.size > 1 and self.left.unusual(self.size) + self.right.unusual(self.size) < FEWEST_SHOWN

    @lru_cache(maxsize=8)  # noqa: B019  frozen, small, and asked for by every judgment of one evidence
    def dispersion(self) -> tuple[float, float]:
        """Return the largest ratio of the variance between calls to that of independent runs, and log p of its test."""
        found = (0.0, 0.0)
        for a, b in ((1.0, 0.0), (0.0, 1.0)):
            excess, weight, terms = 0.0, 0, []
            for side in (self.left, self.right):
                between, within = side.variances(self.size, a, b)
                if within > 0:
                    statistic = (side.calls - 1) * between / within
                    total = side.plus if a else side.minus
                    terms.append((statistic, side.calls, total))
                    excess, weight = excess + statistic, weight + side.calls - 1
            if terms:
                found = min(found, (excess / weight, self._log_tail(terms) + math.log(2)), key=lambda pair: pair[1])
        return found

    def _log_tail(self, terms: list[tuple[float, int, int]]) -> float:
        """Bound the log probability that the sum of the statistics is as large, given all totals (Chernoff).

        Given its total, the counts of the calls are those of independent binomial variables given their sum. The sum
        takes its expected value with probability at least 1 / sqrt(8 n p q), which bounds what the condition costs.
        """
        if sum(self._squares(statistic, calls) - calls for statistic, calls, _ in terms) <= 0:
            return 0.0  # at most their expectation, where Jensen's inequality leaves nothing to the bound
        log_p = np.zeros(len(_RATES))
        for statistic, calls, total in terms:
            runs = calls * self.size
            p = total / runs
            counts = np.arange(self.size + 1)
            variance = self.size * p * (1 - p)
            squares = (counts - self.size * p) ** 2 / variance
            log_mass = _log_binomial(counts, self.size, p)
            exponents = log_mass + _RATES[:, None] * squares
            largest = exponents.max(axis=1)  # special.logsumexp takes four times as long for so few numbers
            growth = largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1))
            log_p += (
                calls * growth
                - _RATES * self._squares(statistic, calls)
                + 0.5 * math.log(max(1.0, 8 * runs * p * (1 - p)))
            )
        return float(min(0.0, log_p.min()))

    def _squares(self, statistic: float, calls: int) -> float:
        """Return the sum of the squared deviations of the counts, in units of their variance."""
        return statistic * calls * self.size / (calls * self.size - 1)

    @lru_cache(maxsize=8)  # noqa: B019  as above
    def drift(self) -> float:
        """Return log p that some part of the calls behaves as the others do: guesses and abstentions on both sides.

        The first parts are compared with the rest, at every cut. Given all counts, a count in the first parts is
        hypergeometric; Hoeffding (1963) bounds its tails by those of sampling with replacement.
        """
        parts = np.array(self.parts, dtype=float).reshape(-1, 2, 3)
        if len(parts) < 2:
            return 0.0
        parts[:, :, 0], runs = parts[:, :, 0] - parts[:, :, 1] - parts[:, :, 2], parts[:, :, 0].copy()
        first, first_runs = parts.cumsum(axis=0)[:-1], runs.cumsum(axis=0)[:-1, :, None]  # at every cut
        others, other_runs = parts.sum(axis=0) - first, runs.sum(axis=0)[:, None] - first_runs
        smallest = float(_log_tails(first, first_runs, others, other_runs).min())
        return min(0.0, smallest + math.log(2 * first.size))

    def of_size(self) -> float:
        """Return log p that the outputs of the long call are guessed as those of the others on its dataset."""
        if not self.long:
            return 0.0
        side, runs, plus, minus = self.long
        whole = self.right if side else self.left
        others = whole.calls * self.size
        pairs = [(plus, whole.plus), (minus, whole.minus), (runs - plus - minus, others - whole.plus - whole.minus)]
        counts, rest_counts = np.array(pairs, dtype=float).T
        return min(0.0, float(_log_tails(counts, runs, rest_counts, others).min()) + math.log(6))


def log_agreement(first: GameCounts, again: GameCounts) -> float:
    """Return log p that two games with the same events end alike: guesses and abstentions on both sides."""
    one, other = (np.array(list(vars(counts).values()), dtype=float).reshape(2, 3) for counts in (first, again))
    runs = (one.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True))
    return min(0.0, float(_log_tails(one, runs[0], other, runs[1]).min()) + math.log(2 * one.size))


def _log_tails(first: np.ndarray, first_runs: Any, rest: np.ndarray, rest_runs: Any) -> np.ndarray:
    """Bound log P of hypergeometric counts as far from their means, in their own directions; 0 without runs."""
    runs = first_runs + rest_runs
    p = (first + rest) / np.maximum(runs, 1)
    with np.errstate(invalid="ignore"):  # no runs times an infinite divergence
        bounds = [
            number * _divergence(count / np.maximum(number, 1), p)
            for count, number in ((first, first_runs), (rest, rest_runs))
        ]
    return np.where((first_runs == 0) | (rest_runs == 0), 0.0, -np.maximum(*bounds))


def _divergence(share: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the Kullback-Leibler divergence of Bernoulli laws."""
    return np.asarray(special.rel_entr(share, p) + special.rel_entr(1 - share, 1 - p))


@dataclass
class Tally:
    """Add up the counts of calls, in order, until the runs that are due on each side are complete."""

    size: int
    due: tuple[int, int]
    sums: np.ndarray  # shape (2, 6): calls, plus, minus, their squares and product, of the whole calls
    parts: np.ndarray  # shape (1 + PARTS, 2, 3): runs, plus, minus
    last: list[np.ndarray]  # counts of the last call of each side, which is not due as a whole

    @classmethod
    def of(cls, size: int, due: tuple[int, int]) -> Tally:
        empty = [np.zeros(2, dtype=np.int64) for _ in due]
        return cls(size, due, np.zeros((2, 6), dtype=np.int64), np.zeros((1 + PARTS, 2, 3), dtype=np.int64), empty)

    def add(self, side: int, counts: np.ndarray, is_early: bool = False) -> None:
        """Add calls of one side; `counts` has shape (calls, 2)."""
        if not len(counts):
            return
        before, whole = int(self.sums[side, 0]), self.due[side] // self.size
        kept = counts[: max(0, whole - before)]
        if len(counts) > len(kept) and self.due[side] % self.size and len(kept) + before == whole:
            self.last[side] = counts[len(kept)]
        plus, minus = kept.T
        sums = (len(kept), plus.sum(), minus.sum(), (plus * plus).sum(), (minus * minus).sum(), (plus * minus).sum())
        self.sums[side] += np.array(sums, dtype=np.int64)
        number = (
            np.zeros(len(kept), dtype=np.int64) if is_early else 1 + self._part(side, before + np.arange(len(kept)))
        )
        np.add.at(self.parts[:, side], number, np.stack([np.full(len(kept), self.size), plus, minus], axis=1))

    def _part(self, side: int, calls: np.ndarray) -> np.ndarray:
        early = int(self.parts[0, side, 0]) // self.size
        return (calls - early) * PARTS // max(1, self.due[side] // self.size - early)

    def finish(self, rng: np.random.Generator) -> tuple[GameCounts, CallStatistics]:
        """Return the counts of all runs that are due, and the statistics of the whole calls."""
        found = []
        for side in (0, 1):
            plus, minus = self.last[side]
            due = self.due[side] - int(self.sums[side, 0]) * self.size
            drawn = (plus, minus, self.size - plus - minus)
            taken = rng.multivariate_hypergeometric(drawn, due) if due else np.zeros(3, dtype=np.int64)
            total = self.sums[side, 1:3] + taken[:2]
            found += [*total, self.due[side] - total.sum()]
        left, right = (SideCalls(*map(int, row)) for row in self.sums)
        parts = tuple(tuple(map(int, part.ravel())) for part in self.parts if part.any())
        return GameCounts(*map(int, found)), CallStatistics(self.size, left, right, parts)


def _log_binomial(counts: np.ndarray, size: int, p: np.ndarray | float) -> np.ndarray:
    """Return the logarithm of the binomial probabilities of counts; `scipy.stats` takes long to import."""
    ways = special.gammaln(size + 1) - special.gammaln(counts + 1) - special.gammaln(size - counts + 1)
    return np.asarray(ways + special.xlogy(counts, p) + special.xlog1py(size - counts, -p))
