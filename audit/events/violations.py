"""Scan training outputs for violations of known kinds, and plant such violations to see that they would be found.

`SEARCHED` is the table of both: the numbers that the scan reads, and what is planted in them. The base of a plant is
both sides together, dealt again at random: no difference is left but the planted one. A plant is found if it stands out
more than all that the scan saw in the outputs as they are, and if the event that it leads to would be certified: its
probabilities are counted on a second dealing, and the power of the test is computed, not drawn. A plant changes one
column, or one number derived from each row, and only that is searched again.

A column is sorted once. A dealing says which outputs the leading side has, in that order; how many of either side lie
up to a value is then a sum. What a plant takes from a side, or gives to it, is added to these sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated

import numpy as np

from audit.errors import InvalidArgument
from audit.events.candidates import EventPair
from audit.events.planted import (
    COUNTED,
    EQUAL,
    FEWEST_FOUND,
    INTERVAL,
    NORM,
    NUMBER,
    ORDER,
    PLACE,
    PLANTED,
    SHIFT,
    SIGNS,
    UNREADABLE,
    VALUE,
    VECTOR,
    Claimed,
    EventSize,
    Family,
    event_size,
    least,
    tails,
)
from audit.events.shifts import PLANT_MARGIN, Shifts
from audit.events.thresholds import TestDesign, Thresholds
from audit.limits import Count, Limits
from audit.outputs.encode import by_column
from audit.outputs.schema import Reading
from audit.scorers._arrays import distinct
from audit.scorers.base import Training
from audit.scorers.directions import SCAN_NEEDS, Standard
from audit.scorers.flags import FREQUENT
from audit.scorers.intervals import (
    NEVER,
    PLANTED_GAINS,
    PLANTED_STEP,
    SCAN_DISJOINT,
    Column,
    Counts,
    Excess,
    Interval,
    IntervalScore,
    Screened,
)
from audit.scorers.rows import SAMPLE, Layout, Rows, thinned
from audit.scorers.vectors import Feature, pairs_that_differ
from audit.statistics.power import POWER
from audit.validate import integer

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCANNED_NUMBERS, SCANNED_ROWS = 20_000_000, 4_000  # numbers per dataset scanned at most; fewest rows. TIME
SCANNED_PAIRS = 6  # pairs of coordinates, those whose second moments differ most
DEALINGS = 6  # ways in which the base is dealt: plants share them. TIME
UNUSUAL = 0.02  # share of outputs in which a column must differ from its usual value to take part in a pair
USUAL_ROWS = 65  # first rows that show whether a column may have a usual value; odd, so that a median is one. TIME

# Deals the base to two sides, with a plant, and counts one column of them: up to the ends given, or to some of its own
Dealing = Callable[[np.ndarray | None], Counts]


class DealtColumn:
    """Hold a column sorted, and the sides of its dealings.

    Parameters
    ----------
    values : ndarray
        Of both sides together, in the order of the rows; those that are not finite are left out.
    leads : sequence of ndarray of bool
        Which rows the leading side has, in each dealing.
    """

    def __init__(self, values: np.ndarray, leads: Sequence[np.ndarray]) -> None:
        order = np.argsort(values)
        ordered = values[order]
        if not np.isfinite(ordered[:1].sum() + ordered[-1:].sum()):
            order, ordered = order[kept := np.isfinite(ordered)], ordered[kept]
        self.ordered, self._order, self._leads = ordered, order, leads
        ends = np.concatenate([ordered[PLANTED_STEP - 1 :: PLANTED_STEP], ordered[-1:]])
        self.ends = distinct(ends)
        self._upto = np.searchsorted(ordered, self.ends, "right")  # how many numbers lie up to each end
        self._known: dict[int, np.ndarray] = {}  # which places the leading side has
        self._counts: dict[int, np.ndarray] = {}  # how many of them lie up to each end
        self._sides: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def between(self, low: float, high: float) -> tuple[int, int]:
        """Return the first place of the sorted column from `low` on, and the first one beyond `high`."""
        return int(np.searchsorted(self.ordered, low)), int(np.searchsorted(self.ordered, high, "right"))

    def leading(self, dealing: int) -> np.ndarray:
        """Return which places of the sorted column the leading side has."""
        if dealing not in self._known:
            self._known[dealing] = self._leads[dealing][self._order]
        return self._known[dealing]

    def sides(self, dealing: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of either side, sorted."""
        if dealing not in self._sides:
            leading = self.leading(dealing)
            self._sides[dealing] = self.ordered[np.flatnonzero(leading)], self.ordered[np.flatnonzero(~leading)]
        return self._sides[dealing]

    def without(
        self, dealing: int, places: tuple[int, int], share: float, rng: np.random.Generator, ends: np.ndarray | None
    ) -> Counts:
        """Let the other side have each output of some places no more, with probability `share`: it has one beside."""
        first, last = places
        inside = first + np.flatnonzero(~self.leading(dealing)[first:last])
        gone = inside if share == 1.0 else inside[rng.random(len(inside)) < share]
        outside = len(self.ordered) - (last - first)
        if not outside:
            gone = gone[:0]
        come = rng.integers(max(1, outside), size=len(gone))
        come[come >= first] += last - first
        ends, upto = self._placed(ends)
        leading, other = self._below(dealing, upto)
        return Counts(ends, (leading, other + _moved(gone, come, upto)))

    def adding(
        self, dealing: int, value: float, share: float, rng: np.random.Generator, ends: np.ndarray | None
    ) -> Counts:
        """Let the leading side take a value in each of its outputs with this probability."""
        size = len(self.ordered)
        places = rng.choice(size, rng.binomial(size, share), replace=False, shuffle=False)
        gone = places[self.leading(dealing)[places]]
        is_first = ends is None
        ends, upto = self._placed(ends)
        leading, other = self._below(dealing, upto)
        at = int(np.searchsorted(ends, value))
        if is_first and value not in ends[at : at + 1]:
            place = self.between(value, value)[1]
            more = np.count_nonzero(self.leading(dealing)[:place])
            ends, upto = np.insert(ends, at, value), np.insert(upto, at, place)
            leading, other = np.insert(leading, at + 1, more), np.insert(other, at + 1, place - more)
        leading += _moved(gone, gone[:0], upto)
        leading[at + 1 :] += len(gone)
        return Counts(ends, (leading, other))

    def _placed(self, ends: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends, those of the column if none are given, and how many numbers lie up to each."""
        if ends is None:
            return self.ends, self._upto
        return ends, np.searchsorted(self.ordered, ends, "right")

    def _below(self, dealing: int, upto: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return 0, then how many of the numbers up to some places the leading side has, and how many the other one."""
        leading = self.leading(dealing)
        if upto is not self._upto:
            counts = np.array([np.count_nonzero(leading[:place]) for place in upto])
        elif dealing in self._counts:
            counts = self._counts[dealing]
        else:
            starts = np.append(0, upto[:-1])
            counts = np.cumsum(np.add.reduceat(leading.view(np.int8), starts, dtype=np.int32))
            self._counts[dealing] = counts
        return np.append(0, counts), np.append(0, upto - counts)


def counted(sides: tuple[np.ndarray, np.ndarray], ends: np.ndarray | None) -> Counts:
    """Count the numbers of two sides up to some ends, or to every few of them."""
    if ends is None:
        return Column.spaced((np.sort(sides[0]), np.sort(sides[1])), PLANTED_STEP)
    leading, other = (np.array([0, *(np.count_nonzero(side <= end) for end in ends)]) for side in sides)
    return Counts(ends, (leading, other))


def _moved(gone: np.ndarray, come: np.ndarray, upto: np.ndarray) -> np.ndarray:
    """Return how the counts up to each end change where outputs leave some places and come to others."""
    size = len(upto) + 1
    firsts = (np.searchsorted(upto, places, "right") + 1 for places in (gone, come))
    lost, won = (np.bincount(first, minlength=size)[:size] for first in firsts)
    return np.cumsum(won - lost)


@dataclass
class PlantingTrial:
    """Plant violations in the outputs of one pair, dealt again at random, and count those that are found."""

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
        return (searched.plant(self, searched) for searched in SEARCHED)

    def plant_intervals(self, searched: Searched) -> Family:
        """Let one side have an interval of some columns less often."""
        return self._family(searched.family, str(self.size), [self._interval(self._column(j)) for j in self._chosen()])

    def plant_values(self, searched: Searched) -> Family:
        """Let one side take a value of some columns more often."""
        return self._family(searched.family, str(self.size), [self._value(self._column(j)) for j in self._chosen()])

    def plant_shifts(self, searched: Searched) -> Family:
        """Shift the mean on one side, along some directions."""
        return Shifts(self.rows, self.standard, self.claimed, self.rng).family()

    def plant_zeros(self, searched: Searched) -> Family:
        """Let a number derived from each row be 0 more often on one side."""
        column = self._derived(searched)
        return self._family(searched.family, str(self.size), [self._value(column, 0.0) for _ in range(PLANTED)])

    def plant_signs(self, searched: Searched) -> Family:
        """Let two coordinates lie on the same side of their medians, or means, on one side always."""
        return self._family(searched.family, "in all outputs", [self._signs(*pair) for pair in self._pairs])

    def plant_order(self, searched: Searched) -> Family:
        """Let one coordinate be the larger of the two, in spreads from their medians, on one side always."""
        return self._family(searched.family, "in all outputs", [self._order(*pair) for pair in self._pairs])

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

    def _derived(self, searched: Searched) -> DealtColumn:
        feature = Feature(searched.kinds[-1], tuple(range(self.width)), layout=None)  # type: ignore[arg-type]  # nothing near inputs
        return DealtColumn(np.concatenate([feature(side) for side in self.rows]), self.leads)

    @cached_property
    def _pairs(self) -> list[tuple[int, ...]]:
        return [tuple(map(int, self.rng.choice(self.width, 2, replace=False))) for _ in range(PLANTED)]

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

    def plant_moves(self, searched: Searched) -> Family:
        """Shift a number derived from each row on one side, by the least that the scan is sure to find."""
        column = self._derived(searched)
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

        return self._family(searched.family, f"moved by {shift:.2g} of its standard deviations", [deal] * PLANTED)

    def plant_places(self, searched: Searched) -> Family:
        """Let one coordinate be the largest more often on one side; never on the other where that is enough."""
        places = self._derived(searched)
        never, more = self._more_often(1 / self.width)
        size = "one place never" if never else f"one place with probability {1 / self.width + more:.2g}"
        return self._family(searched.family, size, [self._value(places) for _ in range(PLANTED)])

    def _signs(self, first: int, second: int) -> Dealing:
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


COLUMN, ROW, PAIR = "column", "row", "pair"  # what the numbers that a scan reads are derived from


@dataclass(frozen=True)
class Searched:
    """One family of violations: the numbers in which the scan would show it, and how it is planted."""

    family: str
    of: str
    kinds: tuple[str, ...]  # of `Feature`; the last one is that in which it is planted
    plant: Callable[[PlantingTrial, Searched], Family]


SEARCHED = (
    Searched(INTERVAL, COLUMN, ("coordinate",), PlantingTrial.plant_intervals),
    Searched(VALUE, COLUMN, ("coordinate",), PlantingTrial.plant_values),
    Searched(SHIFT, COLUMN, (), PlantingTrial.plant_shifts),  # the fitted direction shows it
    Searched(NORM, ROW, ("sum of squares",), PlantingTrial.plant_moves),
    Searched(PLACE, ROW, ("largest", "smallest", "place of the largest"), PlantingTrial.plant_places),
    Searched(EQUAL, ROW, ("smallest gap",), PlantingTrial.plant_zeros),
    Searched(SIGNS, PAIR, ("product",), PlantingTrial.plant_signs),
    Searched(ORDER, PAIR, ("sum", "difference"), PlantingTrial.plant_order),
)

# What has to be found for each kind of output; of `COUNTED` ones by the size of the training sample alone
REQUIRED: Mapping[str, tuple[str, ...]] = {
    NUMBER: (),
    COUNTED: (),
    VECTOR: tuple(searched.family for searched in SEARCHED),
    UNREADABLE: ("a text",),  # nothing reads texts whose values do not repeat
}
NOT_EXAMINED: Mapping[str, str] = {
    NUMBER: "events of probability below {probability:g}, and what only a computation from the digits shows",
    COUNTED: "",
    VECTOR: "events of probability below {probability:g}, what shows only in a combination of three or more "
    "coordinates or by a computation, such as a digest, and rare events in an unknown direction",
    UNREADABLE: "",
}


@dataclass(frozen=True)
class Plants:
    """Hold the kind of the outputs, how many columns and derived numbers were searched, and what was found."""

    kind: Annotated[str, Limits(pattern="number|counted|vector|symbols")]
    columns: Annotated[int, Limits(least=1)]
    families: Annotated[tuple[Family, ...], Limits(longest=20)] = ()
    budget: Count = 0  # outputs per dataset with which an event is found, where these are too few; 0 if none does

    def __post_init__(self) -> None:
        integer(self.columns, "columns", at_least=1)
        if self.kind not in REQUIRED:
            raise InvalidArgument.of("kind", f"be one of {', '.join(REQUIRED)}", self.kind)

    def lacking(self) -> Family | None:
        """Return the first required family of which too few plants were found, or None."""
        known = {family.name: family for family in self.families}
        for name in REQUIRED[self.kind]:
            family = known.get(name, Family(name, "", 0, 0))
            if family.planted < PLANTED or family.found < FEWEST_FOUND * family.planted / PLANTED:
                return family
        return None

    def scope(self, size: EventSize) -> tuple[str, str]:
        """Return which violations would be found, and which were not examined."""
        found = [f"{INTERVAL} of probability {size.probability:g} at a ratio of e^{size.log_ratio:.2f} at any place"]
        found += [f"{family.name} ({family.size})" for family in self.families if family.name not in (INTERVAL, VALUE)]
        return f"would find {', '.join(found)}", f"not examined: {NOT_EXAMINED[self.kind].format(probability=size[0])}"


@dataclass(frozen=True)
class Scanned:
    """An interval event, and by how much it seems to exceed the claim."""

    events: EventPair
    evidence: float  # standard errors on the training outputs, less what the best of many reaches by chance
    rows: Rows | None = None  # the vectors that were scanned; None for single numbers
    screened: Screened | None = None


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
    trial = PlantingTrial(rows, claimed, columns, float(scanned.screened.evidence.max()), size, seed)
    return Plants(VECTOR, columns, tuple(trial.families()))


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


def scan(training: Training, design: TestDesign, reading: Reading | None = None) -> Scanned | None:
    """Return the interval event with the most evidence against the claim; None where outputs hold no numbers."""
    if reading is not None:
        training = training.with_sides(*map(reading.read, training.sides))
    excess = Excess(design.epsilon, design.delta, max(1, design.training_runs // 2))
    rows, screened = None, None
    found: list[tuple[Feature | None, Interval]] = []
    if all(side.is_scalar for side in training.sides):
        column = Column.near_the_best(training.left.numbers, training.right.numbers, excess)
        found = [(None, interval) for interval in column.intervals(excess, SCAN_DISJOINT)]
    elif training.has_vectors:
        rows = _thinned(training)
        features = read_features(rows, Layout.of(training.pair, rows[0].shape[1]))
        screened = Screened.of(rows, features, excess.thinned(len(rows[0])))
        found = list(screened.best(rows))
    else:
        return None
    if not any(np.isfinite(side.numbers).any() for side in training.sides):
        return None
    nothing = None if screened is None else screened.features[0], NEVER  # where no interval is likelier on one side
    score = IntervalScore(*max(found, key=lambda each: each[1].evidence, default=nothing))
    thresholds = Thresholds(1.0, np.nan) if score.interval.sign > 0 else Thresholds(np.nan, -1.0)
    events = EventPair(score, thresholds, -np.inf, looked_for=score.seeks, reading=reading)
    return Scanned(events, score.interval.evidence, rows, screened)


def read_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return what the scan reads: coordinates, summaries of the row, and numbers of the pairs that differ most."""
    width = rows[0].shape[1]
    pairs = pairs_that_differ((rows[0][:SCANNED_ROWS], rows[1][:SCANNED_ROWS]))[:SCANNED_PAIRS]
    found = [Feature(kind, (i,), layout) for i in range(width) for kind in _kinds_of(COLUMN)]
    found += [Feature(kind, tuple(range(width)), layout) for kind in _kinds_of(ROW)]
    return found + [Feature(kind, pair, layout) for pair in pairs for kind in reversed(_kinds_of(PAIR))]


def _kinds_of(numbers: str) -> list[str]:
    return list(dict.fromkeys(kind for searched in SEARCHED if searched.of == numbers for kind in searched.kinds))


def _thinned(training: Training) -> Rows:
    """Return the vectors of both sides, as many rows as the numbers scanned allow."""
    width = max(1, training.left.numbers.shape[1])
    most = max(SCANNED_ROWS, min(SCAN_NEEDS, SCANNED_NUMBERS // width))
    training = training.with_sides(*map(by_column, training.sides))
    left, right = (thinned(part, most) for part in training.numeric)
    size = min(len(left), len(right))  # where some rows are symbols, as many on either side
    return left[:size], right[:size]
