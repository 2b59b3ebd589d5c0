"""Scan training outputs for violations of known kinds, and plant such violations to measure the detection of them.

`SEARCHED` is the table of both: the numbers that the scan reads, and the violations planted in them. Each kind of
output has its families, and a PASS needs `FEWEST_FOUND` of `PLANTED` plants in every one of them. The base of a plant
is both sides together, dealt again at random: no difference is left but the planted one. The scan finds a plant if it
stands out more than anything in the outputs as they are, and if its event would be certified: its probabilities are
counted on a second dealing, and the power of the test is computed, not drawn. A plant changes one column, or one number
derived from each row, and only that is searched again.

Plants have sizes at which the audit finds nearly all of them, so that a PASS does not depend on luck: at a true power
of 0.97, 3 of 10,000 audits find fewer than 16 of 20. For single numbers and for outputs that are counted nothing is
planted: the power of the search depends on the numbers of outputs alone. `event_size` computes it, and
`python -m benchmarks.violations` measures it.

A shift of the mean changes only the difference of the means, to which chance has added its part, so that no output is
drawn or read again: the direction that the fit would give and the projections of the outputs on it are sums of a few
known vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np

from audit.errors import InvalidArgument
from audit.events.candidates import EventPair, TestDesign, Thresholds
from audit.outputs.encode import OutputForm, Reading, by_column
from audit.scorers.base import Layout, Training
from audit.scorers.flags import FREQUENT
from audit.scorers.intervals import (
    NEVER,
    PLANTED_GAINS,
    PLANTED_STEP,
    SCAN_DISJOINT,
    IntervalScore,
    RatedInterval,
    Screened,
    SortedColumn,
)
from audit.scorers.rows import (
    CLIP,
    SAMPLE,
    SCAN_NEEDS,
    WIDE,
    Moments,
    Rows,
    Standard,
    finite_or_zero,
    thin_rows,
)
from audit.scorers.vectors import Feature, depend_without_correlation, pairs_that_differ
from audit.statistics.bounds import POWER
from audit.validate import Count, Limits, integer

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCANNED_NUMBERS, SCANNED_ROWS = 20_000_000, 4_000  # numbers per dataset scanned at most; fewest rows. TIME
SCANNED_PAIRS = 6  # pairs of coordinates, those whose second moments differ most
DEALINGS = 6  # ways in which the base is dealt: plants share them. TIME
UNUSUAL = 0.02  # share of outputs in which a column must differ from its usual value to take part in a pair
USUAL_ROWS = 65  # first rows that show whether a column may have a usual value; odd, so that a median is one. TIME
TIED = 100  # squared length of a direction of length 1 from which its columns follow from one another
PLANT_MARGIN, PROJECTED_ROWS = 1.15, 4_000  # sizes of planted shifts over the least; rows that show their projections
SCAN_MOST = 0.25  # of the budget that trains at once, for the scan: the rest resolves the usual events
SURE_EVIDENCE = 1.8  # expected evidence at which an event beats chance and is chosen in 97 % of audits

PLANTED, FEWEST_FOUND = 20, 16
SURE_POWER = 0.97  # with which a plant of the stated size is found, and with which it is certified
_PROBABILITIES = (0.01, 0.02, 0.03, 0.05, 0.1)  # of events: the first at which the outputs are enough
LARGEST = _PROBABILITIES[-1]
_LARGEST_RATIO, _ROUNDING = 8.0, 0.05  # log-odds beyond the claim that are tried, and to which they are rounded up
_MOST_TRAINING = 10**9
_FEWEST = 20  # outputs beyond a threshold that show how many there are

NUMBER, COUNTED, VECTOR, UNREADABLE = "number", "counted", "vector", "symbols"  # kinds of outputs
INTERVAL, VALUE, SHIFT = "an interval", "a value", "a shift"
NORM, PLACE, EQUAL = "a norm", "the place of the largest", "two equal coordinates"
SIGNS, ORDER = "signs that agree", "the order of two coordinates"
SIZES = "sizes that agree"


class EventSize(NamedTuple):
    """Hold the size of an event that the scan finds at an unknown place: its probability, and its log-ratio."""

    probability: float
    log_ratio: float

    def __str__(self) -> str:
        return f"probability {self.probability:g} at a ratio of e^{self.log_ratio:.2f}"


def is_found(design: TestDesign, likelier: float, other: float, columns: int = 1) -> bool:
    """Return whether the search certifies an event with these probabilities with the power `SURE_POWER`."""
    counts = np.array(design.training * likelier), np.array(design.training * other)
    evidence = float(design.excess.evidence(*counts, columns))
    return evidence >= SURE_EVIDENCE and design.test.power(design.runs, likelier / 2, other / 2) >= SURE_POWER


@lru_cache(maxsize=1024)
def event_size(design: TestDesign, columns: int = 1) -> EventSize | None:
    """Return the size of an event that the scan finds at any place of any of the columns; None if there is none."""
    for probability in _PROBABILITIES:
        steps = round(_LARGEST_RATIO / _ROUNDING)
        low, high = 0, steps + 1
        while high - low > 1:
            middle = (low + high) // 2
            ratio = design.epsilon + middle * _ROUNDING
            likelier = min(1.0, probability + design.delta)
            found = is_found(design, likelier, probability * math.exp(-ratio), columns)
            low, high = (low, middle) if found else (middle, high)
        if high <= steps:
            return EventSize(probability, design.epsilon + high * _ROUNDING)
    return None


@lru_cache(maxsize=1024)
def training_for(design: TestDesign, columns: int = 1, probability: float = _PROBABILITIES[0]) -> int:
    """Return the training outputs per dataset, within 20 %, that suffice to find events of this probability."""
    training = max(int(design.training), 1)
    while training < _MOST_TRAINING:
        more = replace(design, training=training, runs=max(design.runs, round(2 * training / SCAN_MOST)))
        found = event_size(more, columns)
        if found is not None and found.probability <= probability:
            break
        training = int(1.2 * training) + 1
    return training


def added_share(design: TestDesign, columns: int, usual: float, least_added: float) -> float:
    """Return the addition to a value's probability with which the scan finds it; 0 if it does where one side lacks it.

    At least `least_added` is added, unless nothing is.
    """
    if is_found(design, usual, 0.0, columns):
        return 0.0
    added = least(lambda share: is_found(design, min(1.0, usual + share), usual, columns), 1.0)
    return min(1.0, max(least_added, PLANT_MARGIN * added))


@dataclass(frozen=True)
class PlantedFamily:
    """Count the detected plants of one family."""

    name: str
    planted: Count
    found: Count
    shift: Annotated[float, Limits(least=0)] = 0.0  # planted, in standard deviations; 0 in a family without shifts

    def __post_init__(self) -> None:
        if not integer(self.found, "found", 0) <= integer(self.planted, "planted", 0):
            raise InvalidArgument.of("found", "be at most `planted`", self.found)
        if not np.isclose(self.shift, _list_shifts(self.name), rtol=1e-9, atol=0.0).any():
            raise InvalidArgument.of("shift", f"be one that is planted of {self.name!r}", self.shift)


def tails(leading: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of two sorted samples beyond some thresholds, those with few outputs beyond them left out."""
    size, ranks = len(leading), _list_ranks(len(leading))
    thresholds = np.unique(np.concatenate([leading[ranks], other[ranks]]))
    beyond = [1 - np.searchsorted(side, thresholds) / size for side in (leading, other)]
    return beyond[0], beyond[1]


@lru_cache(maxsize=8)
def _list_ranks(size: int) -> np.ndarray:
    shares = np.concatenate([1 - np.geomspace(0.5, min(0.5, _FEWEST / size), 24), np.linspace(0.05, 0.45, 9)])
    return np.asarray((shares * (size - 1)).astype(int))


@lru_cache(maxsize=8)
def _list_sizes(most: float) -> np.ndarray:
    return np.geomspace(most / 3000, most, 160)


def _list_shifts(family: str) -> np.ndarray:
    return PLANT_MARGIN * _list_sizes(60.0) if family in (SHIFT, NORM) else np.array([0.0])


def least(holds: Callable[[float], bool], most: float = 60.0) -> float:
    """Return the least size, up to a few percent, from which it holds; the largest tried where it never does."""
    sizes = _list_sizes(most)
    low, high = -1, len(sizes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(float(sizes[middle])) else (middle, high)
    return float(sizes[high])


SIZING = range(4)  # parts of chance in the difference of the means that size the plants
PLANTING = len(SIZING)  # the part that meets them


@dataclass
class ShiftTrial:
    """Hold the outputs on which shifts are planted."""

    rows: Rows
    standard: Standard
    design: TestDesign
    rng: np.random.Generator

    def family(self) -> PlantedFamily:
        """Plant dense shifts and shifts of single coordinates, at a size that the fit is sure to find in each case."""
        size, along = 0.0, self.directions()
        fitted = self.moments.directions(along)
        planted = list(map(ShiftDirection, along, fitted, (self.plain @ fitted.T).T))
        for each, chance in product(planted, SIZING):
            if not self._is_sure(each, chance, size):  # rarely more than once
                size = PLANT_MARGIN * least(partial(self._is_sure, each, chance))
        return PlantedFamily(SHIFT, PLANTED, sum(self.power(each, size, PLANTING) >= POWER for each in planted), size)

    def _is_sure(self, direction: ShiftDirection, chance: int, shift: float) -> bool:
        return shift > 0 and self.power(direction, shift, chance) >= SURE_POWER

    @cached_property
    def moments(self) -> Moments:
        """The moments of both sides together, dealt again at random."""
        swap = (self.rng.random(len(self.rows[0])) < 0.5)[:, None]
        left, right = self.rows
        return Moments.of((np.where(swap, right, left), np.where(swap, left, right)), self.standard)

    @cached_property
    def by_chance(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights that chance alone gives, shape (parts, d), and the projections on them, shape (size, parts)."""
        gaps = [self.moments.chance_gap(len(self.rows[0]), self.rng, SURE_POWER) for _ in SIZING]
        weights = self.moments.directions(np.stack([*gaps, self.moments.gap]))
        return weights, self.plain @ weights.T

    @cached_property
    def plain(self) -> np.ndarray:
        """Some outputs of both sides, centered, scaled, and cut as the score cuts them."""
        sample = np.concatenate([side[:PROJECTED_ROWS] for side in self.rows])
        return np.clip(finite_or_zero((sample - self.standard.center) / self.standard.scale), -CLIP, CLIP)

    def directions(self) -> np.ndarray:
        """Return directions in which a shift of one standard deviation has length 1, shape (PLANTED, d).

        Where columns follow from others, most directions have no noise of their own: those with it take their place.
        """
        width = len(self.moments.gap)
        dense = self.rng.standard_normal((PLANTED // 2, width))
        single = np.eye(width)[self.rng.choice(width, PLANTED - len(dense))]
        along = np.concatenate([dense, single])
        if self.moments.spread.ndim > 1:
            is_tied = self._lengths(along) > TIED * (along**2).sum(axis=1)
            along[is_tied] = along[is_tied] @ self.moments.spread
        return np.asarray(along / np.sqrt(np.maximum(self._lengths(along), 1e-12))[:, None])

    def _lengths(self, along: np.ndarray) -> np.ndarray:
        """Return the squares of directions in standard deviations of the noise, shape (k,)."""
        return np.asarray(np.einsum("ij,ij->i", along, self.moments.directions(along)))

    def power(self, direction: ShiftDirection, shift: float, chance: int) -> float:
        """Return the power of the best threshold on the direction that is fitted to outputs with this shift."""
        weights, projected = self.by_chance[0][chance], self.by_chance[1][:, chance]
        ordered = np.sort(projected + shift * direction.projected)
        gap = shift * float((weights + shift * direction.fitted) @ direction.along)
        return best_power(self.design, ordered + gap, ordered)


@dataclass(frozen=True)
class ShiftDirection:
    """Hold a direction of a shift, the weights that a fit would give to it, and the projections on these."""

    along: np.ndarray  # shape (d,)
    fitted: np.ndarray  # shape (d,)
    projected: np.ndarray  # shape (size,)


def best_power(design: TestDesign, leading: np.ndarray, other: np.ndarray) -> float:
    """Return the power of the best threshold between two samples of a score, both sorted."""
    right, wrong = tails(leading, other)
    misses = wrong + design.delta * math.exp(-design.epsilon)
    theta = 1 / (1 + math.exp(-design.epsilon))
    excess = (right - theta * (right + misses)) / np.sqrt(np.maximum(right + misses, 1e-12))
    best = int(np.argmax(excess))
    return design.test.power(design.runs, float(right[best]) / 2, float(wrong[best]) / 2)


# Deals the base to two sides, with a plant, in one column of them: the leading side first
Dealing = Callable[[], Rows]


class DealtColumn:
    """Hold a column sorted, and the sides of its dealings.

    Parameters
    ----------
    values : ndarray
        Of both sides together, in the order of the rows; those that are not finite are left out, unless all are such:
        then their signs are planted in.
    leads : sequence of ndarray of bool
        Which rows the leading side has, in each dealing.
    """

    def __init__(self, values: np.ndarray, leads: Sequence[np.ndarray]) -> None:
        values = values if np.isfinite(values).any() else np.sign(values)
        order = np.argsort(values)
        order = order[np.isfinite(values[order])]
        self.ordered, self._order, self._leads = values[order], order, leads
        self._sides: dict[int, Rows] = {}

    def sides(self, dealing: int) -> Rows:
        """Return the numbers of either side, sorted."""
        if dealing not in self._sides:
            leading = self._leads[dealing][self._order]
            self._sides[dealing] = self.ordered[leading], self.ordered[~leading]
        return self._sides[dealing]


def _without(side: np.ndarray, low: float, high: float, share: float, rng: np.random.Generator) -> np.ndarray:
    """Let each number of an interval become one beside it, with probability `share`; of sorted numbers."""
    first, last = np.searchsorted(side, low), np.searchsorted(side, high, "right")
    outside = np.concatenate([side[:first], side[last:]])
    gone = rng.random(last - first) < share
    if not len(outside):
        return side
    stay, come = side[first:last][~gone], rng.choice(outside, np.count_nonzero(gone))
    return np.sort(np.concatenate([side[:first], stay, side[last:], come]), kind="stable")  # nearly sorted


@dataclass
class PlantingTrial:
    """Plant violations in the outputs of one pair, dealt again at random, and count those that the scan finds."""

    rows: Rows
    design: TestDesign
    columns: int
    most: float  # largest evidence in the outputs as they are
    size: EventSize
    seed: np.random.SeedSequence

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.width = self.rows[0].shape[1]
        self.standard = Standard.of(self.rows)
        self.half = len(self.rows[0])
        self.known: dict[int, np.ndarray] = {}  # standardized columns
        self.sorted: dict[int, DealtColumn] = {}
        self.more: dict[float, float] = {}  # the addition to a value by its probability
        swaps = self.rng.random((DEALINGS, self.half)) < 0.5
        self.leads = [np.concatenate([~swap, swap]) for swap in swaps]  # which rows the leading side has
        self.places = [(np.flatnonzero(lead), np.flatnonzero(~lead)) for lead in self.leads]  # faster to take. TIME

    def plant_intervals(self, searched: FamilySearch) -> PlantedFamily:
        """Let one side have an interval of some columns less often."""
        return self._family(searched, [self._interval(self._column(j)) for j in self._choose_rows()])

    def plant_values(self, searched: FamilySearch) -> PlantedFamily:
        """Let one side take a value of some columns more often."""
        return self._family(searched, [self._value(self._column(j)) for j in self._choose_rows()])

    def plant_shifts(self, searched: FamilySearch) -> PlantedFamily:
        """Shift the mean on one side, along some directions."""
        return ShiftTrial(self.rows, self.standard, self.design, self.rng).family()

    def plant_feature(self, searched: FamilySearch) -> PlantedFamily:
        """Let a number derived from each row take a value more often on one side, or never on the other."""
        column, value = self._derive_column(searched), 0.0 if searched.family == EQUAL else None
        return self._family(searched, [self._value(column, value) for _ in range(PLANTED)])

    def plant_pairs(self, searched: FamilySearch) -> PlantedFamily:
        """Let two coordinates be related on one side always, and on the other one by chance or never."""
        deal = {SIGNS: self._signs, ORDER: self._order, SIZES: self._sizes}[searched.family]
        return self._family(searched, [deal(*pair) for pair in self._pairs])

    def _family(self, searched: FamilySearch, dealings: list[Dealing], shift: float = 0.0) -> PlantedFamily:
        return PlantedFamily(searched.family, len(dealings), sum(map(self._compute_power, dealings)), shift)

    def _compute_power(self, deal: Dealing) -> bool:
        """Scan one column with a plant, and compute the power of the test of the event it finds."""
        column = SortedColumn.space(deal(), PLANTED_STEP)
        found = column.judge(replace(self.design.excess, size=self.half), 1, self.columns, PLANTED_GAINS)
        if not found or found[0][0] <= self.most:
            return False
        _, start, stop, sign = found[0]
        low, high = column.ends[start - 1] if start else -np.inf, column.ends[stop - 1]
        shares = [np.count_nonzero((side > low) & (side <= high)) / self.half for side in deal()]
        likelier, other = shares[::sign]
        return self.design.test.power(self.design.runs, likelier / 2, other / 2) >= POWER

    def _choose_rows(self) -> np.ndarray:
        return self.rng.choice(self.width, PLANTED, replace=self.width < PLANTED)

    def _column(self, index: int) -> DealtColumn:
        if index not in self.sorted:
            self.sorted[index] = DealtColumn(self._numbers(index), self.leads)
        return self.sorted[index]

    def _numbers(self, index: int) -> np.ndarray:
        return np.concatenate([side[:, index] for side in self.rows])

    def _derive_column(self, searched: FamilySearch) -> DealtColumn:
        feature = Feature(searched.kinds[-1], tuple(range(self.width)), layout=None)  # type: ignore[arg-type]  # nothing near inputs
        return DealtColumn(np.concatenate([feature(side) for side in self.rows]), self.leads)

    @cached_property
    def _pairs(self) -> list[tuple[int, ...]]:
        return [tuple(map(int, self.rng.choice(self.width, 2, replace=False))) for _ in range(PLANTED)]

    def _deal(self, column: DealtColumn) -> Rows:
        return column.sides(int(self.rng.integers(len(self.leads))))

    def _interval(self, column: DealtColumn) -> Dealing:
        """Let one side have an interval less often than the other, by the ratio of the size."""
        start = self.rng.uniform(0, 1 - self.size.probability)
        ranks = np.array([start, start + self.size.probability]) * (len(column.ordered) - 1)
        low, high = map(float, column.ordered[ranks.astype(int)])
        return self._rarer(column, low, high, 1 - math.exp(-self.size.log_ratio))

    def _rarer(self, column: DealtColumn, low: float, high: float, share: float) -> Dealing:
        def deal() -> Rows:
            leading, other = self._deal(column)
            return leading, _without(other, low, high, share, self.rng)

        return deal

    def _value(self, column: DealtColumn, value: float | None = None) -> Dealing:
        """Let one side take a value more often; or the other one never, where it is frequent enough for that."""
        planted = float(self.rng.choice(column.ordered)) if value is None else value
        first, last = (int(np.searchsorted(column.ordered, planted, side)) for side in ("left", "right"))
        usual = (last - first) / (2 * self.half)
        if last - first == len(column.ordered):  # all outputs have it: let some have another one
            usual, planted = 0.0, planted + 1.0
        if usual not in self.more:
            self.more[usual] = added_share(self.design, self.columns, usual, self.size.probability)
        if (more := self.more[usual]) == 0.0:  # the search detects a value that one side lacks
            return self._rarer(column, planted, planted, 1.0)

        def deal() -> Rows:
            leading, other = self._deal(column)
            gone = self.rng.random(len(leading)) < more
            dealt = np.concatenate([leading[~gone], np.full(np.count_nonzero(gone), planted)])
            return np.sort(dealt, kind="stable"), other

        return deal

    def plant_moves(self, searched: FamilySearch) -> PlantedFamily:
        """Shift a number derived from each row on one side, by the least that the scan is sure to find."""
        column = self._derive_column(searched)
        spread = float(np.std(column.ordered)) or 1.0
        sure = partial(_scan_finds, self.design, column.ordered / spread, self.columns)
        shift = PLANT_MARGIN * least(sure)

        def deal() -> Rows:
            leading, other = self._deal(column)
            return leading + shift * spread, other

        return self._family(searched, [deal] * PLANTED, shift)

    def _signs(self, first: int, second: int) -> Dealing:
        """Let them lie on the same side of their medians, or means, on one side always; or never."""
        one, other = self._standardize(first), self._standardize(second)
        product, pairs = one * other, max(1, self.width * (self.width - 1) // 2)
        # The difference of second moments from which a pair of columns is scanned
        gap = math.sqrt(2 * math.log(pairs) + 1) * math.sqrt(2 / min(self.half, SCANNED_ROWS))
        for leads in (np.abs(product), -np.abs(product)):
            if abs(float(leads.mean() - product.mean())) > gap:
                return self._between(leads, product)
        return self._between(one, one)  # where the pair is not looked at

    def _order(self, first: int, second: int) -> Dealing:
        """Let the first be the larger of the two, in spreads from their medians, on one side always."""
        one, other = self._standardize(first), self._standardize(second)
        if np.mean(np.isclose(one, other)) > 1 - UNUSUAL:  # one follows from the other, and neither is the larger
            other = np.roll(other, 1)
        difference = one - other
        return self._between(np.abs(difference), difference)

    def _sizes(self, first: int, second: int) -> Dealing:
        """Let them be as far from their medians, or means, on one side always; on the other by chance."""
        one, other = self._standardize(first), np.roll(self._standardize(second), 1)  # rows are independent
        if min(map(np.ptp, (np.abs(one), np.abs(other)))) == 0:  # their signs alone vary
            return self._signs(first, second)
        twin = np.where(np.roll(self.leads[0], 1), one, -one)
        leading, following = (np.flatnonzero(side)[:SCANNED_ROWS] for side in (self.leads[0], ~self.leads[0]))
        sides = np.stack([one[leading], twin[leading]]).T, np.stack([one[following], other[following]]).T
        if depend_without_correlation(sides, self.width):
            return self._between(one + twin, one + other)
        return self._between(one, one)  # where the pair is not looked at

    def _between(self, leads: np.ndarray, follows: np.ndarray) -> Dealing:
        """Let the leading side have one number of each row, and the other side another one."""

        def deal() -> Rows:
            leading, following = self.places[int(self.rng.integers(len(self.places)))]
            return np.sort(leads[leading]), np.sort(follows[following])

        return deal

    def _standardize(self, index: int) -> np.ndarray:
        """Return a column in spreads from its median, or from its mean if it is of bits; each is read once."""
        if index not in self.known:
            part = Standard(self.standard.center[[index]], self.standard.scale[[index]])
            column = part(self._numbers(index)[:, None])[:, 0]
            repeats = np.mean(column == 0) > FREQUENT  # bits: nothing would lie on one side of the median
            self.known[index] = column - column.mean() if repeats else column
        return self.known[index]


def _scan_finds(design: TestDesign, ordered: np.ndarray, columns: int, shift: float) -> bool:
    likelier, other = tails(ordered + shift, ordered)
    evidence = design.excess.evidence(design.training * likelier, design.training * other, columns)
    best = int(np.argmax(evidence))
    return is_found(design, float(likelier[best]), float(other[best]), columns)


_MOVED = "moved by {shift:.2g} of its standard deviations"
COLUMN, ROW, PAIR = "column", "row", "pair"  # the source of the numbers that a scan reads


@dataclass(frozen=True)
class FamilySearch:
    """One family of violations: the numbers in which the scan would show it, and how it is planted."""

    family: str
    of: str
    kinds: tuple[str, ...]  # of `Feature`; the last one is that in which it is planted
    plant: Callable[[PlantingTrial, FamilySearch], PlantedFamily]
    size: str  # of the planted violation, in words


SEARCHED = (
    FamilySearch(INTERVAL, COLUMN, ("coordinate",), PlantingTrial.plant_intervals, "{event}"),
    FamilySearch(VALUE, COLUMN, ("coordinate",), PlantingTrial.plant_values, "{event}"),
    # The fitted direction shows it
    FamilySearch(SHIFT, COLUMN, (), PlantingTrial.plant_shifts, "{shift:.2g} standard deviations of the noise"),
    FamilySearch(NORM, ROW, ("sum of squares",), PlantingTrial.plant_moves, _MOVED),
    FamilySearch(PLACE, ROW, ("largest", "smallest", "place of the largest"), PlantingTrial.plant_feature, "{place}"),
    FamilySearch(EQUAL, ROW, ("smallest gap",), PlantingTrial.plant_feature, "{event}"),
    FamilySearch(SIGNS, PAIR, ("product",), PlantingTrial.plant_pairs, "in all outputs"),
    FamilySearch(ORDER, PAIR, ("sum", "difference"), PlantingTrial.plant_pairs, "in all outputs"),
    FamilySearch(SIZES, PAIR, ("difference", "sum"), PlantingTrial.plant_pairs, "in all outputs"),
)

# What has to be found for each kind of output; of `COUNTED` ones by the size of the training sample alone
REQUIRED: Mapping[str, tuple[str, ...]] = {
    NUMBER: (),
    COUNTED: (),
    VECTOR: tuple(searched.family for searched in SEARCHED),
    UNREADABLE: ("a text",),  # nothing reads texts whose values do not repeat
}
NOT_EXAMINED: Mapping[str, str] = {
    NUMBER: "events of probability below {probability:g}, and relations that only a computation from the digits shows",
    COUNTED: "",
    VECTOR: "events of probability below {probability:g}, leaks that show only in a combination of three or more "
    "coordinates, in the last digits of a factor between two, or by a computation, such as a digest, and rare events "
    "in an unknown direction",
    UNREADABLE: "",
}


@dataclass(frozen=True)
class Plants:
    """Hold the kinds of the outputs, and how many planted violations the search detected."""

    form: OutputForm
    apart: Count  # columns that are neither copies nor constant: violations are planted in these
    families: Annotated[tuple[PlantedFamily, ...], Limits(longest=20)] = ()
    budget: Count = 0  # outputs per dataset with which an event is found, where these are too few; 0 if none does
    dropped: Count = 0  # the other columns: copies and constants

    def __post_init__(self) -> None:
        if self.apart > self.form.columns:
            raise InvalidArgument.of("apart", f"be at most {self.form.columns}, the columns", self.apart)
        names = [family.name for family in self.families]
        planted = self.required if self.kind == VECTOR else ()
        if len(set(names)) < len(names) or not set(names) <= set(planted):
            raise InvalidArgument.of("families", f"be of {', '.join(planted) or 'no kind'}, once each", names)

    @property
    def kind(self) -> str:
        """The kind of the outputs."""
        if self.form.is_counted:
            return COUNTED
        if not self.form.columns:
            return UNREADABLE
        return NUMBER if min(self.form.columns, self.apart) == 1 else VECTOR

    @property
    def required(self) -> tuple[str, ...]:
        """The families of which a PASS needs the detection: no sizes are compared where there are many columns."""
        return tuple(name for name in REQUIRED[self.kind] if name != SIZES or self.form.columns <= WIDE)

    @property
    def columns(self) -> int:
        """The columns and numbers derived from them that were searched, at least 1."""
        width = self.form.columns
        if width <= 1 or self.form.is_counted:
            return 1
        pairs = min(SCANNED_PAIRS, width * (width - 1) // 2)
        return width * len(_kinds_of(COLUMN)) + len(_kinds_of(ROW)) + pairs * len(_kinds_of(PAIR))

    def count_searched_rows(self, training: int) -> int:
        """Return how many of the training outputs of a dataset were searched."""
        return training if self.columns == 1 else len(thin_rows(np.arange(training), _most_rows(self.form.columns)))

    def lacking(self) -> PlantedFamily | None:
        """Return the first required family with too few detected plants, or None."""
        known = {family.name: family for family in self.families}
        for family in (known.get(name) or PlantedFamily(name, 0, 0, _list_shifts(name)[0]) for name in self.required):
            if family.found < FEWEST_FOUND * family.planted / PLANTED or family.planted < PLANTED:
                return family
        return None

    def describe_size(self, family: PlantedFamily, design: TestDesign) -> str:
        """Return the size of the plants of a family in words."""
        event = event_size(design, self.columns)
        assert event is not None
        usual = 1 / max(2, self.apart)
        more = added_share(design, self.columns, usual, event.probability) if family.name == PLACE else 0.0
        place = f"one place with probability {usual + more:.2g}" if more else "one place never"
        size = next(searched.size for searched in SEARCHED if searched.family == family.name)
        return size.format(event=event, shift=family.shift, place=place)

    def scope(self, design: TestDesign) -> tuple[str, ...]:
        """Return the detectable violations, and those not examined."""
        size = event_size(design, self.columns)
        if self.kind == COUNTED or size is None:
            return ("every value was counted",)
        planted = (family for family in self.families if family.name not in (INTERVAL, VALUE))
        words = (f"{family.name} ({self.describe_size(family, design)})" for family in planted)
        found = [f"{INTERVAL} of {size} at any place", *words]
        unseen = NOT_EXAMINED[self.kind].format(probability=size[0])
        if self.form.columns > WIDE:
            unseen += ", pairs of coordinates that depend without correlation"
        return f"would find {', '.join(found)}", f"not examined: {unseen}"


@dataclass(frozen=True)
class Scanned:
    """An interval event, and by how much it seems to exceed the claim."""

    events: EventPair
    evidence: float  # standard errors on the training outputs, less what the best of many reaches by chance
    screened: Screened | None = None  # the vectors that were scanned; None for single numbers


@np.errstate(all="ignore")
def plant(scanned: Scanned | None, form: OutputForm, design: TestDesign, seed: np.random.SeedSequence) -> Plants:
    """Return the kind of the outputs and, for vectors, how many plants of each family the scan detected."""
    plants = Plants(form, form.columns)
    if plants.kind != VECTOR or scanned is None or scanned.screened is None:
        return plants
    if not all(map(len, scanned.screened.rows)):  # one dataset gave no numbers at all
        return plants
    rows = without_copies(without_constants(scanned.screened.rows))
    plants = Plants(form, rows[0].shape[1], dropped=form.columns - rows[0].shape[1])
    size = event_size(design, plants.columns)
    if plants.kind != VECTOR or size is None:  # no two coordinates are left in which something could be planted
        return plants
    trial = PlantingTrial(rows, design, plants.columns, float(scanned.screened.evidence.max()), size, seed)
    families = (searched.plant(trial, searched) for searched in SEARCHED if searched.family in plants.required)
    return replace(plants, families=tuple(families))


def without_constants(rows: Rows) -> Rows:
    """Return the rows without the columns that have one value in all outputs, or in all but a few of them.

    A relation to another column, such as an agreement of signs, is an event of half that probability. No budget helps
    to find it, and a PASS says that events so rare were not examined.
    """
    usual = np.median(rows[0][:USUAL_ROWS], axis=0)
    suspected = np.flatnonzero(np.mean(rows[0][:USUAL_ROWS] == usual, axis=0) > 0.8)
    unusual = [np.mean([np.mean(side[:, index] != usual[index]) for side in rows]) for index in suspected]
    dropped = suspected[np.array(unusual) <= UNUSUAL] if len(suspected) else suspected
    kept = np.setdiff1d(np.arange(rows[0].shape[1]), dropped)
    return rows if not len(dropped) or not len(kept) else (rows[0][:, kept], rows[1][:, kept])


def without_copies(rows: Rows) -> Rows:
    """Return the rows without the columns that equal an earlier one on both sides in every row.

    A plant in one of two copies alone tears them apart, and a plant in their order or their signs makes no difference
    at all. Copies that part company in one of a thousand outputs are kept: they differ in some row.
    """
    first: dict[bytes, list[int]] = {}
    kept: list[int] = []
    for index in range(rows[0].shape[1]):
        alike = first.setdefault(rows[0][:SAMPLE, index].tobytes(), [])
        if not any(all(np.array_equal(side[:, index], side[:, other]) for side in rows) for other in alike):
            alike.append(index)
            kept.append(index)
    return rows if len(kept) == rows[0].shape[1] else (rows[0][:, kept], rows[1][:, kept])


@np.errstate(all="ignore")
def scan(training: Training, design: TestDesign, reading: Reading | None = None) -> Scanned | None:
    """Return the interval event with the most evidence against the claim; None where outputs hold no numbers."""
    if reading is not None:
        training = training.with_sides(*map(reading.read, training.sides))
    excess = design.excess
    screened = None
    found: list[tuple[Feature | None, RatedInterval]] = []
    if all(side.is_scalar for side in training.sides):
        column = SortedColumn.near_the_best(training.left.numbers, training.right.numbers, excess)
        found = [(None, next(column.intervals(excess, SCAN_DISJOINT), NEVER))]
    elif training.has_vectors:
        rows = _thin_sides(training)
        features = read_features(rows, Layout.of(training.pair, rows[0].shape[1]))
        screened = Screened.of(rows, features, replace(excess, size=len(rows[0])))
        found = list(screened.best())
    else:
        return None
    if not any(np.isfinite(side.numbers).any() for side in training.sides):
        return None
    score = IntervalScore(*max(found, key=lambda each: each[1].evidence))
    thresholds = Thresholds(1.0, np.nan) if score.interval.sign > 0 else Thresholds(np.nan, -1.0)
    events = EventPair(score, thresholds, -np.inf, reading=reading)
    return Scanned(events, score.interval.evidence, screened)


def read_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return the columns of the scan: coordinates, summaries of the row, and numbers of the pairs that differ most."""
    width = rows[0].shape[1]
    pairs = pairs_that_differ((rows[0][:SCANNED_ROWS], rows[1][:SCANNED_ROWS]), SCANNED_PAIRS)
    found = [Feature(kind, (i,), layout) for i in range(width) for kind in _kinds_of(COLUMN)]
    found += [Feature(kind, tuple(range(width)), layout) for kind in _kinds_of(ROW)]
    return found + [Feature(kind, pair, layout) for pair in pairs for kind in reversed(_kinds_of(PAIR))]


def _kinds_of(numbers: str) -> list[str]:
    return list(dict.fromkeys(kind for searched in SEARCHED if searched.of == numbers for kind in searched.kinds))


def _most_rows(width: int) -> int:
    return max(SCANNED_ROWS, min(SCAN_NEEDS, SCANNED_NUMBERS // max(1, width)))


def _thin_sides(training: Training) -> Rows:
    """Return the vectors of both sides, as many rows as the numbers scanned allow."""
    most = _most_rows(training.left.numbers.shape[1])
    training = training.with_sides(*map(by_column, training.sides))
    left, right = (thin_rows(part, most) for part in training.numeric)
    size = min(len(left), len(right))  # where some rows are symbols, as many on either side
    return left[:size], right[:size]
