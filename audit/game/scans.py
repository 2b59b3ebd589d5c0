"""Find the interval of any width on which one side has the most outputs beyond what the claim allows.

The outputs of both sides are sorted together. An output of the leading side weighs 1, one of the other side
-e^(epsilon + gain), and the best interval for these weights is a run of largest sum. With a gain of 0 the sum has
no drift where the ratio of the two laws is e^epsilon, as it is on half of the line for a tight mechanism, and chance
would find the longest runs. So a ladder of gains is tried. What it proposes is judged on all training outputs, by the
signed root of the likelihood ratio of the binomial test, less what the best of as many intervals reaches by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import special

from audit.game import tuning
from audit.game.scorers.base import distinct, merged


class Interval(NamedTuple):
    """Hold an interval of one column, ends included, that is likelier on one side."""

    evidence: float  # standard errors beyond the claim, less those that the best of many reaches by chance
    low: float
    high: float
    sign: int  # 1 where it is likelier on left, -1 on right


@dataclass(frozen=True)
class Excess:
    """Say what the claim allows: P(E) <= e^epsilon Q(E) + delta, tested on `size` outputs per dataset."""

    epsilon: float
    delta: float
    size: int

    def thinned(self, size: int) -> Excess:
        """Return the same test on the outputs that are read."""
        return replace(self, size=size)

    def evidence(self, right: np.ndarray, wrong: np.ndarray, columns: int = 1) -> np.ndarray:
        """Return the standard errors beyond the claim of events with these counts, the best of many columns.

        `right` outputs of the leading side lie in the event and `wrong` of the other one. The signed root of the
        likelihood ratio of the binomial test of their share; what delta allows is added to the wrong ones. About
        e N / n disjoint intervals hold n of N outputs, and the largest of K normal deviates is near sqrt(2 log K).
        """
        inside = np.maximum(right + wrong, 1)
        misses = wrong + self.size * self.delta * math.exp(-self.epsilon)
        guesses, log_theta = right + misses, -np.log1p(math.exp(-self.epsilon))
        gap = special.xlogy(right, right) + special.xlogy(misses, misses) - special.xlogy(guesses, guesses)
        gap = gap - right * log_theta - misses * (log_theta - self.epsilon)
        beyond = np.sqrt(2 * np.maximum(gap, 0.0)) * np.sign(right - math.exp(self.epsilon) * misses)
        chances = math.e * 2 * self.size * columns / inside
        return np.asarray(beyond - np.sqrt(2 * np.log(np.maximum(chances, math.e))))


@dataclass(frozen=True)
class Column:
    """Count the outputs of each side up to some values of one column; an interval holds all of a value or none."""

    ordered: np.ndarray  # both sides together
    below: tuple[np.ndarray, np.ndarray]  # of each side: 0, then how many lie up to each of the values

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray, step: int = 1) -> Column:
        """Sort both sides; every `step`-th number may end an interval. Those that are not finite are left out."""
        sides = [np.sort(side[np.isfinite(side)]) for side in (left, right)]
        ordered = merged(*sides)
        ends = distinct(np.append(ordered[step - 1 :: step], ordered[-1:]))
        counts = [np.concatenate([[0], np.searchsorted(side, ends, "right")]) for side in sides]
        return cls(ordered, (counts[0], counts[1]))

    def intervals(self, excess: Excess, most: int, columns: int = 1) -> list[Interval]:
        """Return intervals, best first: up to `most` disjoint ones for each weight and direction."""
        found = {(sign, *run) for sign in (1, -1) for run in self._runs(excess, sign, most)}
        if not found:
            return []
        signs, starts, stops = np.array(sorted(found)).T
        counts = [below[stops] - below[starts] for below in self.below]
        right, wrong = (np.where(signs > 0, *pair) for pair in (counts, counts[::-1]))
        values, upto = excess.evidence(right, wrong, columns), self.below[0] + self.below[1]
        ends = self.ordered[upto[starts]], self.ordered[upto[stops] - 1]
        best = np.argsort(-values, kind="stable")
        return [Interval(float(values[i]), float(ends[0][i]), float(ends[1][i]), int(signs[i])) for i in best]

    def _runs(self, excess: Excess, sign: int, most: int) -> Iterator[tuple[int, int]]:
        leading, other = self.below[::sign]
        for gain in tuning.SCAN_GAINS:
            yield from largest_runs(leading - math.exp(min(excess.epsilon + gain, 600.0)) * other, most)


def largest_runs(sums: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield start and stop of the run with the largest sum, given the sums up to each place, then of runs beside it."""
    waiting = [(*_largest_run(sums), 0, len(sums))]
    while most and waiting:
        best = max(waiting)
        waiting.remove(best)
        total, start, stop, first, last = best
        if total <= 0:
            return
        yield start, stop
        most -= 1
        for a, b in ((first, start + 1), (stop, last)) if most else ():
            if b - a > 1:
                value, low, high = _largest_run(sums[a:b])
                waiting.append((value, low + a, high + a, a, b))


def _largest_run(sums: np.ndarray) -> tuple[float, int, int]:
    """Return the sum, the start and the stop of one run (Kadane's algorithm)."""
    rises = sums - np.minimum.accumulate(sums)
    stop = int(np.argmax(rises))
    return float(rises[stop]), int(np.argmin(sums[: stop + 1])), stop
