"""Choose the interval event: of every single column and of a few numbers derived from each row, the best interval.

It is certified beside the events that the scorers choose, on the same fresh outputs and at a share of the significance
of its own: an interval at an unknown place needs other evidence than a threshold does, and neither displaces the other.

The outputs of both sides are sorted together. An output of the leading side weighs 1, one of the other side
-e^(epsilon + gain), and the best interval for these weights is a run of largest sum. With a gain of 0 the sum has
no drift where the ratio of the two laws is e^epsilon, as it is on half of the line for a tight mechanism, and chance
would find the longest runs. So a ladder of gains is tried. Each proposal is judged on all training outputs, by the
signed root of the likelihood ratio of the binomial test, less the best value of as many intervals by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from audit.outputs.encode import COLUMNS_AT_ONCE, Outputs
from audit.scorers.base import Score, distinct, sorted_finite
from audit.scorers.rows import SCANNED_COLUMNS, Rows, at
from audit.scorers.vectors import Feature

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCAN_GAINS = (0.0, 0.15, 0.4, 0.8, 1.5, 3.0)  # log-odds beyond the claim by which runs are weighed
PLANTED_GAINS = (0.15, 0.8)  # the same at these steps: fewer find a little less. TIME
SCAN_DISJOINT = 3  # intervals for each weight and direction
SCREENING_STEP = 8  # outputs between possible ends of intervals at a first look. TIME
PLANTED_STEP = 16  # the same where many columns are screened, and where plants are looked for. TIME


class RatedInterval(NamedTuple):
    """Hold an interval of one column, ends included, that is likelier on one side."""

    evidence: float  # standard errors beyond the claim, less those that the best of many reaches by chance
    low: float
    high: float
    sign: int  # 1 where it is likelier on left, -1 on right


NEVER = RatedInterval(-np.inf, np.inf, -np.inf, 1)


@dataclass(frozen=True)
class Excess:
    """State the bound of the claim: P(E) <= e^epsilon Q(E) + delta, tested on `size` outputs per dataset."""

    epsilon: float
    delta: float
    size: float

    def evidence(self, right: np.ndarray, wrong: np.ndarray, columns: int = 1) -> np.ndarray:
        """Return the standard errors beyond the claim of events with these counts, the best of many columns.

        `right` outputs of the leading side lie in the event and `wrong` of the other one. The signed root of the
        likelihood ratio of the binomial test of their share; the allowance of delta is added to the wrong ones. About
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
class SortedColumn:
    """Count the numbers of each side up to some values; an interval between two of these holds a value or not."""

    ends: np.ndarray  # values at which an interval may end
    below: tuple[np.ndarray, np.ndarray]  # of each side: 0, then how many lie up to each of the values
    sides: Rows  # the numbers, sorted

    def judge(
        self, excess: Excess, most: int, columns: int = 1, gains: Sequence[float] = SCAN_GAINS
    ) -> list[tuple[float, int, int, int]]:
        """Return the evidence of intervals, best first, the places of `below` between which they lie, and the sign.

        There are up to `most` disjoint ones for each weight and direction. The sign is 1 where left leads.
        """
        found = sorted({(sign, *run) for sign in (1, -1) for run in self._runs(excess, sign, most, gains)})
        if not found:
            return []
        signs, starts, stops = np.array(found).T
        counts = [below[stops] - below[starts] for below in self.below]
        right, wrong = (np.where(signs > 0, *pair) for pair in (counts, counts[::-1]))
        values = excess.evidence(right, wrong, columns)
        best = np.argsort(-values, kind="stable")
        return [(float(values[i]), int(starts[i]), int(stops[i]), int(signs[i])) for i in best]

    def _runs(self, excess: Excess, sign: int, most: int, gains: Sequence[float]) -> Iterator[tuple[int, int]]:
        leading, other = self.below[::sign]
        weights = np.array([math.exp(min(excess.epsilon + gain, 600.0)) for gain in gains])
        sums = leading - weights[:, None] * other
        if most == 1:
            yield from _single_runs(sums)
        else:
            for each in sums:
                yield from largest_runs(each, most)

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray, step: int = 1) -> SortedColumn:
        """Sort both sides; every `step`-th number may end an interval. Those that are not finite are left out."""
        first, second = map(sorted_finite, (left, right))
        return cls.space((first, second), step)

    @classmethod
    def space(cls, sides: Rows, step: int) -> SortedColumn:
        """Count sides that are sorted; every `step`-th number of either may end an interval."""
        upto = [np.minimum(np.arange(step, len(side) + step, step), len(side)) for side in sides]
        left, right = (side[ranks - 1] for side, ranks in zip(sides, upto, strict=True))
        ends = np.concatenate([left, right])
        order = np.argsort(ends, kind="stable")
        ends = ends[order]
        if any(bool(np.any(values[1:] == values[:-1])) for values in (*sides, ends)):
            return cls.ending(sides, ends)
        # Without ties, how many of its own side lie up to each end is known.
        of_left = np.append(upto[0], np.searchsorted(sides[0], right, "right"))
        of_right = np.append(np.searchsorted(sides[1], left, "right"), upto[1])
        return cls(ends, (np.append(0, of_left[order]), np.append(0, of_right[order])), sides)

    @classmethod
    def ending(cls, sides: Rows, *ends: np.ndarray) -> SortedColumn:
        """Count sides that are sorted up to these numbers."""
        places = distinct(np.sort(np.concatenate(ends)))
        counts = [np.concatenate([[0], np.searchsorted(side, places, "right")]) for side in sides]
        return cls(places, (counts[0], counts[1]), sides)

    @classmethod
    def near_the_best(cls, left: np.ndarray, right: np.ndarray, excess: Excess) -> SortedColumn:
        """Let every number end an interval that lies near an end of one that a coarse look finds."""
        coarse = cls.of(left, right, SCREENING_STEP)
        found = coarse.judge(excess, SCAN_DISJOINT)
        places = np.array(sorted({place for _, start, stop, _ in found for place in (start, stop)}), dtype=int)
        ends = [coarse.ends]
        for side, below in zip(coarse.sides, coarse.below, strict=True):
            first, last = below[np.maximum(places - 1, 0)], below[np.minimum(places + 1, len(below) - 1)]
            ends += [side[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return cls.ending(coarse.sides, *ends)

    def intervals(self, excess: Excess, most: int, columns: int = 1) -> Iterator[RatedInterval]:
        """Yield intervals, best first: up to `most` disjoint ones for each weight and direction."""
        for evidence, start, stop, sign in self.judge(excess, most, columns):
            beyond = [side[below[start] :][:1] for side, below in zip(self.sides, self.below, strict=True)]
            low, high = float(np.concatenate(beyond).min()), float(self.ends[stop - 1])
            yield RatedInterval(evidence, low, high, sign)


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


def _single_runs(sums: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield start and stop of the run with the largest sum of each row, as `largest_runs` does: many rows at once."""
    rises = sums - np.minimum.accumulate(sums, axis=1)
    stops = rises.argmax(axis=1).tolist()
    for row, rise, stop in zip(sums, rises, stops, strict=True):
        if rise[stop] > 0:
            yield int(row[: stop + 1].argmin()), stop


def _largest_run(sums: np.ndarray) -> tuple[float, int, int]:
    """Return the sum, the start and the stop of one run (Kadane's algorithm)."""
    rises = sums - np.minimum.accumulate(sums)
    stop = int(rises.argmax())
    return float(rises[stop]), int(sums[: stop + 1].argmin()), stop


@dataclass(frozen=True)
class IntervalScore(Score):
    """1 or -1 in an interval of the output, of a coordinate or of a number derived from a row; 0 elsewhere."""

    feature: Feature | None  # None: the output itself
    interval: RatedInterval
    name = "interval"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        is_short = self.feature is not None and outputs.numbers.shape[1:] <= (max(self.feature.of),)
        if outputs.is_scalar != (self.feature is None) or is_short:
            return np.zeros(len(outputs))
        values = outputs.numbers if self.feature is None else self.feature(outputs.numbers)
        with np.errstate(invalid="ignore"):
            inside = (values >= self.interval.low) & (values <= self.interval.high)
        return np.asarray(inside * np.float32(self.interval.sign))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        _, low, high, _ = self.interval
        what = "output" if self.feature is None else str(self.feature)
        event = f"{what} in [{low:.9g}, {high:.9g}]"
        return event, event


@dataclass(frozen=True)
class Screened:
    """Hold vectors, and the evidence of each feature at a coarse look: intervals end at every few outputs only."""

    rows: Rows
    features: list[Feature]
    excess: Excess
    evidence: np.ndarray

    @classmethod
    def of(cls, rows: Rows, features: list[Feature], excess: Excess) -> Screened:
        evidence = [coarse(*values, excess, len(features)) for values in each_feature(rows, features)]
        return cls(rows, features, excess, np.array(evidence))

    def best(self) -> Iterator[tuple[Feature | None, RatedInterval]]:
        """Yield the best interval of the features that stand out."""
        for index in np.argsort(-self.evidence, kind="stable")[:SCANNED_COLUMNS]:
            feature = self.features[index]
            column = SortedColumn.near_the_best(feature(self.rows[0]), feature(self.rows[1]), self.excess)
            yield feature, next(column.intervals(self.excess, SCAN_DISJOINT, len(self.features)), NEVER)


def coarse(left: np.ndarray, right: np.ndarray, excess: Excess, columns: int) -> float:
    """Return the evidence of the best interval with ends at every few outputs, as plants are looked for."""
    found = SortedColumn.of(left, right, PLANTED_STEP).judge(excess, 1, columns, PLANTED_GAINS)
    return found[0][0] if found else -np.inf


def each_feature(rows: Rows, features: list[Feature]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the values of each feature on both sides; coordinates are taken in blocks, side by side in memory."""
    block: dict[int, list[np.ndarray]] = {}
    for feature in features:
        if feature.kind != "coordinate":
            values = [feature(side) for side in rows]
        else:
            index = feature.of[0]
            if index not in block:
                taken = np.arange(index, min(index + COLUMNS_AT_ONCE, rows[0].shape[1]))
                sides = [np.ascontiguousarray(at(side, taken).T) for side in rows]
                block = {int(i): [side[k] for side in sides] for k, i in enumerate(taken)}
            values = block[index]
        yield values[0], values[1]
