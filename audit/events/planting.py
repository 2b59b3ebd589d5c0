"""Plant violations of known size in training outputs, and let the scan and the fitted direction look for them.

The base of a plant is both sides together, dealt again at random: no difference is left but the planted one. A plant
is found if it stands out more than all that the scan saw in the outputs as they are, and if the event that it leads to
would be certified: its probabilities are counted on a second dealing, and the power of the test is computed, not drawn.
A plant changes one column, or one number derived from each row, and only that is searched again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from audit.events.permuted import DealtColumn, counted
from audit.events.planted import (
    COUNTED,
    EQUAL,
    INTERVAL,
    NORM,
    NUMBER,
    ORDER,
    PLACE,
    PLANTED,
    SIGNS,
    UNREADABLE,
    VALUE,
    VECTOR,
    Claimed,
    EventSize,
    Family,
    Plants,
    event_size,
    least,
    tails,
)
from audit.events.shifts import PLANT_MARGIN, Shifts
from audit.scorers.directions import Standard
from audit.scorers.flags import FREQUENT
from audit.scorers.intervals import PLANTED_GAINS, PLANTED_STEP, SCANNED_ROWS, Column, Counts, Scanned
from audit.scorers.rows import SAMPLE, Rows
from audit.scorers.vectors import Feature
from audit.statistics.power import POWER

# The best interval of any width: tuned by `python -m benchmarks.violations`
DEALINGS = 6  # ways in which the base is dealt: plants share them. TIME
UNUSUAL = 0.02  # share of outputs in which a column must differ from its usual value to take part in a pair
USUAL_ROWS = 65  # first rows that show whether a column may have a usual value; odd, so that a median is one. TIME

# Deals the base to two sides, with a plant, and counts one column of them: up to the ends given, or to some of its own
Dealing = Callable[[np.ndarray | None], Counts]


def plant(scanned: Scanned | None, complete: bool, claimed: Claimed, seed: np.random.SeedSequence) -> Plants:
    """Return the kind of the outputs and, for vectors, how many plants of each family were found."""
    if complete:
        return Plants(COUNTED, 1)
    if scanned is None:
        return Plants(UNREADABLE, 1)
    if scanned.rows is None or scanned.screened is None or scanned.rows[0].shape[1] == 1:
        return Plants(NUMBER, 1)
    columns = len(scanned.screened.features)
    if not all(map(len, scanned.rows)):  # one dataset gave no numbers at all
        return Plants(VECTOR, columns)
    rows = without_copies(without_constants(scanned.rows))
    if rows[0].shape[1] == 1:  # nothing that several coordinates have to do with each other is left to be planted
        return Plants(NUMBER, columns)
    size = event_size(claimed, columns)
    if size is None:
        return Plants(VECTOR, columns)
    base = _Base(rows, claimed, columns, float(scanned.screened.evidence.max()), size, seed)
    return Plants(VECTOR, columns, tuple(base.families()))


def without_constants(rows: Rows) -> Rows:
    """Return the rows without the columns that have one value in all outputs, or in all but a few of them.

    What they have to do with another column, such as an agreement of signs, is an event of half that probability. A
    budget does not help to find it, and a PASS says that events so rare were not examined.
    """
    usual = np.median(rows[0][:USUAL_ROWS], axis=0)
    suspected = np.flatnonzero(np.mean(rows[0][:USUAL_ROWS] == usual, axis=0) > 0.8)
    unusual = [np.mean([np.mean(side[:, index] != usual[index]) for side in rows]) for index in suspected]
    dropped = suspected[np.array(unusual) <= UNUSUAL] if len(suspected) else suspected
    kept = np.setdiff1d(np.arange(rows[0].shape[1]), dropped)
    return rows if not len(dropped) or not len(kept) else (rows[0][:, kept], rows[1][:, kept])


def without_copies(rows: Rows) -> Rows:
    """Return the rows without the columns that equal an earlier one on both sides in every row.

    What is planted in one of two copies alone tears them apart, and what is planted in their order or their signs is
    no difference at all. Copies that part company in one of a thousand outputs are kept: they differ in some row.
    """
    first: dict[bytes, list[int]] = {}
    kept: list[int] = []
    for index in range(rows[0].shape[1]):
        alike = first.setdefault(rows[0][:SAMPLE, index].tobytes(), [])
        if not any(all(np.array_equal(side[:, index], side[:, other]) for side in rows) for other in alike):
            alike.append(index)
            kept.append(index)
    return rows if len(kept) == rows[0].shape[1] else (rows[0][:, kept], rows[1][:, kept])


@dataclass
class _Base:
    """Hold what the plants of one pair share."""

    rows: Rows
    claimed: Claimed
    columns: int
    most: float  # evidence of what stands out most in the outputs as they are
    size: EventSize
    seed: np.random.SeedSequence

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.width = self.rows[0].shape[1]
        self.standard = Standard.of(self.rows)
        self.half = len(self.rows[0])
        self.known: dict[int, np.ndarray] = {}  # standardized columns
        self.sorted: dict[int, DealtColumn] = {}
        self.more: dict[float, float] = {}  # what is added to a value by its probability
        swaps = self.rng.random((DEALINGS, self.half)) < 0.5
        self.leads = [np.concatenate([~swap, swap]) for swap in swaps]  # which rows the leading side has
        places = np.arange(self.half)
        self.dealt = [(places + self.half * swap, places + self.half * ~swap) for swap in swaps]

    def families(self) -> Iterator[Family]:
        """Plant every family."""
        size = str(self.size)
        yield self._family(INTERVAL, size, [self._interval(self._column(j)) for j in self._chosen()])
        yield self._family(VALUE, size, [self._value(self._column(j)) for j in self._chosen()])
        yield Shifts(self.rows, self.standard, self.claimed, self.rng).family()
        yield self._moved(NORM, self._derived("sum of squares"))
        yield self._places()
        gaps = self._derived("smallest gap")
        yield self._family(EQUAL, size, [self._value(gaps, 0.0) for _ in range(PLANTED)])
        pairs = [self._pair() for _ in range(PLANTED)]
        yield self._family(SIGNS, "in all outputs", [self._signs(*pair) for pair in pairs])
        yield self._family(ORDER, "in all outputs", [self._order(*pair) for pair in pairs])

    def _family(self, name: str, size: str, dealings: list[Dealing]) -> Family:
        return Family(name, size, len(dealings), sum(map(self._is_found, dealings)))

    def _is_found(self, deal: Dealing) -> bool:
        """Scan one column with a plant, and compute the power of the test of the event that is found."""
        first = deal(None)
        found = first.judged(self.claimed.excess.thinned(self.half), 1, self.columns, PLANTED_GAINS)
        if not found or found[0][0] <= self.most:
            return False
        _, start, stop, sign = found[0]
        again = deal(np.array([first.ends[start - 1] if start else -np.inf, first.ends[stop - 1]]))
        likelier, other = [float(below[2] - below[1]) / self.half for below in again.below][::sign]
        return self.claimed.test.power(self.claimed.runs, likelier / 2, other / 2) >= POWER

    def _chosen(self) -> np.ndarray:
        return self.rng.choice(self.width, PLANTED, replace=self.width < PLANTED)

    def _column(self, index: int) -> DealtColumn:
        if index not in self.sorted:
            self.sorted[index] = DealtColumn(self._numbers(index), self.leads)
        return self.sorted[index]

    def _numbers(self, index: int) -> np.ndarray:
        return np.concatenate([side[:, index] for side in self.rows])

    def _derived(self, kind: str) -> DealtColumn:
        feature = Feature(kind, tuple(range(self.width)), layout=None)  # type: ignore[arg-type]  # nothing near inputs
        return DealtColumn(np.concatenate([feature(side) for side in self.rows]), self.leads)

    def _pair(self) -> tuple[int, int]:
        first, second = self.rng.choice(self.width, 2, replace=False)
        return int(first), int(second)

    def _dealing(self) -> int:
        return int(self.rng.integers(len(self.leads)))

    def _interval(self, column: DealtColumn) -> Dealing:
        """Let one side have an interval less often than the other, by the ratio of the size."""
        start = self.rng.uniform(0, 1 - self.size.probability)
        ranks = np.array([start, start + self.size.probability]) * (len(column.ordered) - 1)
        places = column.between(*column.ordered[ranks.astype(int)])
        share = 1 - math.exp(-self.size.log_ratio)
        return lambda ends: column.without(self._dealing(), places, share, self.rng, ends)

    def _value(self, column: DealtColumn, value: float | None = None) -> Dealing:
        """Let one side take a value more often; or the other one never, where it is frequent enough for that."""
        planted = float(self.rng.choice(column.ordered)) if value is None else value
        first, last = column.between(planted, planted)
        usual = (last - first) / (2 * self.half)
        if last - first == len(column.ordered):  # all outputs have it: let some have another one
            usual, planted = 0.0, planted + 1.0
        never, more = self._more_often(usual)
        if never:
            return lambda ends: column.without(self._dealing(), (first, last), 1.0, self.rng, ends)
        return lambda ends: column.adding(self._dealing(), planted, more, self.rng, ends)

    def _more_often(self, usual: float) -> tuple[bool, float]:
        """Return whether a value of this probability is found where one side lacks it, and what else to add to it."""
        if usual not in self.more:
            self.more[usual] = self._added_to(usual)
        return self.more[usual] == 0.0, self.more[usual]

    def _added_to(self, usual: float) -> float:
        if self.claimed.finds(usual, 0.0, self.columns):
            return 0.0
        added = least(lambda share: self.claimed.finds(min(1.0, usual + share), usual, self.columns), 1.0)
        return min(1.0, max(self.size.probability, PLANT_MARGIN * added))

    def _moved(self, name: str, column: DealtColumn) -> Family:
        """Shift a number derived from each row on one side, by the least that the scan is sure to find."""
        spread = float(np.std(column.ordered)) or 1.0
        sure = partial(_scan_finds, self.claimed, column.ordered / spread, self.columns)
        shift = PLANT_MARGIN * least(sure)

        known: dict[int, Counts] = {}

        def deal(ends: np.ndarray | None) -> Counts:
            dealing = self._dealing()
            leading, other = column.sides(dealing)
            if ends is not None or dealing not in known:
                sides = leading + shift * spread, other
                dealt = Column.spaced(sides, PLANTED_STEP) if ends is None else counted(sides, ends)
                return dealt if ends is not None else known.setdefault(dealing, dealt)
            return known[dealing]

        return self._family(name, f"moved by {shift:.2g} of its standard deviations", [deal] * PLANTED)

    def _places(self) -> Family:
        """Let one coordinate be the largest more often on one side; never on the other where that is enough."""
        places = self._derived("place of the largest")
        never, more = self._more_often(1 / self.width)
        size = "one place never" if never else f"one place with probability {1 / self.width + more:.2g}"
        return self._family(PLACE, size, [self._value(places) for _ in range(PLANTED)])

    def _signs(self, first: int, second: int) -> Dealing:
        """Let two coordinates lie on the same side of their medians, or means, on one side always."""
        one, other = self._standardized(first), self._standardized(second)
        product = one * other
        same = np.abs(product)
        if abs(float(same.mean() - product.mean())) > self._moment_gap:  # of the second moments
            return self._between(same, product)
        return self._between(one, one)  # where the pair is not looked at

    @property
    def _moment_gap(self) -> float:
        """Return what a second moment must differ by so that its pair is among those that are scanned."""
        pairs = max(1, self.width * (self.width - 1) // 2)
        return math.sqrt(2 * math.log(pairs) + 1) * math.sqrt(2 / min(self.half, SCANNED_ROWS))

    def _order(self, first: int, second: int) -> Dealing:
        """Let one coordinate be the larger of the two, in spreads from their medians, on one side always."""
        one, other = self._standardized(first), self._standardized(second)
        return self._between(np.maximum(one, other), one)

    def _between(self, leads: np.ndarray, follows: np.ndarray) -> Dealing:
        """Let the leading side have one number of each row, and the other side another one."""

        def deal(ends: np.ndarray | None) -> Counts:
            leading, other = self.dealt[self._dealing()]
            return counted((leads[leading], follows[other]), ends)

        return deal

    def _standardized(self, index: int) -> np.ndarray:
        """Return a column in spreads from its median, or from its mean if it is of bits; each is read once."""
        if index not in self.known:
            part = Standard(self.standard.center[[index]], self.standard.scale[[index]])
            column = part(self._numbers(index)[:, None])[:, 0]
            repeats = np.mean(column == 0) > FREQUENT  # bits: nothing would lie on one side of the median
            self.known[index] = column - column.mean() if repeats else column
        return self.known[index]


def _scan_finds(claimed: Claimed, ordered: np.ndarray, columns: int, shift: float) -> bool:
    likelier, other = tails(ordered + shift, ordered)
    evidence = claimed.excess.evidence(claimed.training * likelier, claimed.training * other, columns)
    best = int(np.argmax(evidence))
    return claimed.finds(float(likelier[best]), float(other[best]), columns)
