"""Plant violations of known size in training outputs, and let the scan and the fitted direction look for them.

The base of a plant is both sides together, dealt again at random: no difference is left but the planted one. A plant
is found if it stands out more than all that the scan saw in the outputs as they are, and if the event that it leads to
would be certified: its probabilities are counted on a second dealing, and the power of the test is computed, not drawn.
A plant changes one column, or one number derived from each row, and only that is searched again.

A shift of the mean changes only the difference of the means, to which chance has added its part, so that no output is
drawn or read again: the direction that the fit would give and the projections of the outputs on it are sums of a few
known vectors. Columns are cut after the shift, as the score cuts them: beyond the cut nothing is seen. Where each of
many coordinates moves by little, the cut does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from audit.game import tuning
from audit.game.plants import (
    COUNTED,
    EQUAL,
    INTERVAL,
    NORM,
    NUMBER,
    ORDER,
    PLACE,
    PLANTED,
    SHIFT,
    SIGNS,
    SURE_POWER,
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
from audit.game.resolution import POWER
from audit.game.scanned import Column, Scanned
from audit.game.scorers.directions import Moments, Standard
from audit.game.scorers.rows import Rows, finite_or_zero
from audit.game.scorers.vectors import Feature

SIZING = range(4)  # parts of chance in the difference of the means that size the plants
PLANTING = len(SIZING)  # the part that meets them


@dataclass
class Shifts:
    """Hold the outputs on which shifts are planted."""

    rows: Rows
    standard: Standard
    claimed: Claimed
    varied: np.ndarray  # coordinates that vary
    rng: np.random.Generator

    def family(self) -> Family:
        """Plant dense shifts and shifts of single coordinates, each at a size that the fit is sure to find."""
        size, found = 0.0, 0
        along = self.directions()
        fitted = self.moments.directions(along)
        for direction in map(Direction, along, fitted, (self.plain @ fitted.T).T):
            shift = 0.0
            for chance in SIZING:
                if not self._is_sure(direction, chance, shift):  # rarely more than once
                    shift = tuning.PLANT_MARGIN * least(partial(self._is_sure, direction, chance))
            size, found = max(size, shift), found + (self.power(direction, shift, PLANTING) >= POWER)
        return Family(SHIFT, f"{size:.2g} standard deviations of the noise", PLANTED, found)

    def _is_sure(self, direction: Direction, chance: int, shift: float) -> bool:
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
    def uncut(self) -> np.ndarray:
        """Some outputs of both sides, centered and scaled."""
        sample = np.concatenate([side[: tuning.PROJECTED_ROWS] for side in self.rows])
        return finite_or_zero((sample - self.standard.center) / self.standard.scale)

    @cached_property
    def plain(self) -> np.ndarray:
        """The same, cut as the score cuts them."""
        return np.clip(self.uncut, -tuning.CLIP, tuning.CLIP)

    def directions(self) -> np.ndarray:
        """Return directions in which a shift of one standard deviation has length 1, shape (PLANTED, d)."""
        dense = np.zeros((PLANTED // 2, len(self.moments.gap)))
        dense[:, self.varied] = self.rng.standard_normal((len(dense), len(self.varied)))
        single = np.zeros((PLANTED - len(dense), dense.shape[1]))
        single[np.arange(len(single)), self.rng.choice(self.varied, len(single))] = 1.0
        along = np.concatenate([dense, single])
        lengths = np.einsum("ij,ij->i", along, self.moments.directions(along))
        return np.asarray(along / np.sqrt(np.maximum(lengths, 1e-12))[:, None])

    def power(self, direction: Direction, shift: float, chance: int) -> float:
        """Return the power of the best threshold on the direction that is fitted to outputs with this shift."""
        along, weights, projected = direction.along, self.by_chance[0][chance], self.by_chance[1][:, chance]
        moved = np.flatnonzero(along)
        if len(moved) > tuning.CUT_COORDINATES:
            ordered = np.sort(projected + shift * direction.projected)
            return best_power(
                self.claimed, ordered + shift * float((weights + shift * direction.fitted) @ along), ordered
            )
        change = np.clip(self.uncut[:, moved] + shift * along[moved], -tuning.CLIP, tuning.CLIP) - self.plain[:, moved]
        gap = np.zeros(len(along))
        gap[moved] = change.mean(axis=0)
        if len(moved) == 1:
            seen = float(gap[moved[0]] / along[moved[0]])
            fitted, added = seen * direction.fitted, seen * direction.projected
        else:
            fitted = self.moments.directions(gap[None, :])[0]
            added = self.plain @ fitted
        usual = projected + added
        return best_power(self.claimed, np.sort(usual + change @ (weights + fitted)[moved]), np.sort(usual))


@dataclass(frozen=True)
class Direction:
    """Hold a direction of a shift, the weights that a fit would give to it, and the projections on these."""

    along: np.ndarray  # shape (d,)
    fitted: np.ndarray  # shape (d,)
    projected: np.ndarray  # shape (size,)


def best_power(claimed: Claimed, leading: np.ndarray, other: np.ndarray) -> float:
    """Return the power of the best threshold between two samples of a score, both sorted."""
    right, wrong = tails(leading, other)
    misses = wrong + claimed.delta * math.exp(-claimed.epsilon)
    theta = 1 / (1 + math.exp(-claimed.epsilon))
    excess = (right - theta * (right + misses)) / np.sqrt(np.maximum(right + misses, 1e-12))
    best = int(np.argmax(excess))
    return claimed.test.power(claimed.runs, float(right[best]) / 2, float(wrong[best]) / 2)


Sides = tuple[np.ndarray, np.ndarray]
Dealing = Callable[[], Sides]  # the values of one column on both sides: a base dealt at random, with the plant


def plant(scanned: Scanned | None, complete: bool, claimed: Claimed, seed: np.random.SeedSequence) -> Plants:
    """Return the kind of the outputs and, for vectors, how many plants of each family were found."""
    if complete:
        return Plants(COUNTED, 1)
    if scanned is None:
        return Plants(UNREADABLE, 1)
    if scanned.rows is None or scanned.screened is None or scanned.rows[0].shape[1] == 1:
        return Plants(NUMBER, 1)
    columns, rows = len(scanned.screened.features), without_copies(scanned.rows)
    if rows[0].shape[1] == 1:  # nothing that several coordinates have to do with each other is left to be planted
        return Plants(NUMBER, columns)
    size = event_size(claimed, columns)
    if size is None:
        return Plants(VECTOR, columns)
    base = _Base(rows, claimed, columns, float(scanned.screened.evidence.max()), size, seed)
    return Plants(VECTOR, columns, tuple(base.families()))


def without_copies(rows: Rows) -> Rows:
    """Return the rows without the columns that equal an earlier one on both sides in every row.

    What is planted in one of two copies alone tears them apart, and what is planted in their order or their signs is
    no difference at all. Copies that part company in one of a thousand outputs are kept: they differ in some row.
    """
    first: dict[bytes, list[int]] = {}
    kept: list[int] = []
    for index in range(rows[0].shape[1]):
        alike = first.setdefault(rows[0][: tuning.SAMPLE, index].tobytes(), [])
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
        sample = np.concatenate([side[: tuning.SAMPLE] for side in self.rows])
        varied = np.flatnonzero((sample != sample[0]).any(axis=0))
        self.varied = varied if len(varied) else np.arange(self.width)
        self.standard = Standard.of(self.rows)
        half, places = len(self.rows[0]), np.arange(len(self.rows[0]))
        self.known: dict[int, np.ndarray] = {}  # standardized columns
        swaps = self.rng.random((tuning.DEALINGS, half)) < 0.5
        self.dealt = [(places + half * swap, places + half * ~swap) for swap in swaps]

    def families(self) -> Iterator[Family]:
        """Plant every family."""
        size = str(self.size)
        yield self._family(INTERVAL, size, [self._interval(j) for j in self._chosen()])
        yield self._family(VALUE, size, [self._value(self._column(j)) for j in self._chosen()])
        yield Shifts(self.rows, self.standard, self.claimed, self.varied, self.rng).family()
        norm = self._derived("sum of squares")
        yield self._moved(NORM, norm)
        yield self._places()
        gaps = self._derived("smallest gap")
        yield self._family(EQUAL, size, [self._value(gaps, 0.0) for _ in range(PLANTED)])
        pairs = [self._pair() for _ in range(PLANTED)]
        yield self._family(SIGNS, "in all outputs", [self._signs(*pair) for pair in pairs])
        yield self._family(ORDER, "in all outputs", [self._order(*pair) for pair in pairs])

    def _family(self, name: str, size: str, dealings: list[Dealing]) -> Family:
        return Family(name, size, len(dealings), sum(map(self._is_found, dealings)))

    def _is_found(self, deal: Dealing) -> bool:
        """Scan one column with a plant on either side, and compute the power of the test of the event that is found."""
        leads = 1 if self.rng.random() < 0.5 else -1
        left, right = deal()[::leads]
        column = Column.of(left, right, tuning.SCREENING_STEP)
        found = column.intervals(self.claimed.excess.thinned(len(left)), 1, self.columns)
        if not found or found[0].evidence <= self.most:
            return False
        _, low, high, sign = found[0]
        shares = [float(np.mean((side >= low) & (side <= high))) for side in deal()[::leads]]
        likelier, other = shares[::sign]
        return self.claimed.test.power(self.claimed.runs, likelier / 2, other / 2) >= POWER

    def _chosen(self) -> np.ndarray:
        return self.rng.choice(self.varied, PLANTED, replace=len(self.varied) < PLANTED)

    def _column(self, index: int) -> np.ndarray:
        return np.concatenate([side[:, index] for side in self.rows])

    def _derived(self, kind: str) -> np.ndarray:
        feature = Feature(kind, tuple(range(self.width)), layout=None)  # type: ignore[arg-type]  # nothing near inputs
        return np.concatenate([feature(side) for side in self.rows])

    def _pair(self) -> tuple[int, int]:
        several = self.varied if len(self.varied) > 1 else np.arange(self.width)
        first, second = self.rng.choice(several, 2, replace=False)
        return int(first), int(second)

    def _deal(self, values: np.ndarray) -> Sides:
        """Deal the outputs of both sides again; `values` may hold a row for each of them."""
        left, right = self.dealt[self.rng.integers(len(self.dealt))]
        return values[left], values[right]

    def _interval(self, index: int) -> Dealing:
        """Let one side have an interval less often than the other, by the ratio of the size."""
        values = self._column(index)
        ordered = np.sort(values)
        first = self.rng.uniform(0, 1 - self.size.probability)
        ends = ordered[(np.array([first, first + self.size.probability]) * (len(ordered) - 1)).astype(int)]
        outside = values[(values < ends[0]) | (values > ends[1])]

        def deal() -> Sides:
            leading, other = self._deal(values)
            inside = np.flatnonzero((other >= ends[0]) & (other <= ends[1]))
            moved = inside[self.rng.random(len(inside)) > math.exp(-self.size.log_ratio)]
            if len(outside):
                other[moved] = self.rng.choice(outside, len(moved))
            return leading, other

        return deal

    def _value(self, values: np.ndarray, value: float | None = None) -> Dealing:
        """Let one side take a value more often; or the other one never, where it is frequent enough for that."""
        planted = self.rng.choice(values) if value is None else value
        usual = float(np.mean(values == planted))
        if usual == 1.0:  # all outputs have it: let some have another one
            usual, planted = 0.0, planted + 1.0
        never, more = self._more_often(usual)
        others = values[values != planted]

        def deal() -> Sides:
            leading, other = self._deal(values)
            if never:
                gone = np.flatnonzero(other == planted)
                other[gone] = self.rng.choice(others, len(gone))
            else:
                leading[self.rng.random(len(leading)) < more] = planted
            return leading, other

        return deal

    def _more_often(self, usual: float) -> tuple[bool, float]:
        """Return whether a value of this probability is found where one side lacks it, and what else to add to it."""
        if self.claimed.finds(usual, 0.0, self.columns):
            return True, 0.0
        added = least(lambda share: self.claimed.finds(min(1.0, usual + share), usual, self.columns), 1.0)
        return False, min(1.0, max(self.size.probability, tuning.PLANT_MARGIN * added))

    def _moved(self, name: str, values: np.ndarray) -> Family:
        """Shift a number derived from each row on one side, by the least that the scan is sure to find."""
        ordered = np.sort(finite_or_zero(values))
        spread = float(np.std(ordered)) or 1.0
        sure = partial(_scan_finds, self.claimed, ordered / spread, self.columns)
        shift = tuning.PLANT_MARGIN * least(sure)

        def deal() -> Sides:
            leading, other = self._deal(values)
            return leading + shift * spread, other

        return self._family(name, f"moved by {shift:.2g} of its standard deviations", [deal] * PLANTED)

    def _places(self) -> Family:
        """Let one coordinate be the largest more often on one side; never on the other where that is enough."""
        values = self._derived("place of the largest")
        never, more = self._more_often(1 / self.width)
        size = "one place never" if never else f"one place with probability {1 / self.width + more:.2g}"
        return self._family(PLACE, size, [self._value(values) for _ in range(PLANTED)])

    def _signs(self, first: int, second: int) -> Dealing:
        """Let two coordinates lie on the same side of their medians, or means, on one side always."""
        pair = self._standardized(first, second)
        gaps = np.abs(_moment(pair * np.sign(pair)) - _moment(pair))

        def deal() -> Sides:
            leading, other = self._deal(pair)
            return np.abs(leading[:, 0] * leading[:, 1]), other[:, 0] * other[:, 1]

        return deal if gaps > self._moment_gap else lambda: self._deal(pair[:, 0])  # where the pair is not looked at

    @property
    def _moment_gap(self) -> float:
        """Return what a second moment must differ by so that its pair is among those that are scanned."""
        pairs = max(1, self.width * (self.width - 1) // 2)
        return math.sqrt(2 * math.log(pairs) + 1) * math.sqrt(2 / min(len(self.rows[0]), tuning.SCANNED_ROWS))

    def _order(self, first: int, second: int) -> Dealing:
        """Let one coordinate be the larger of the two, in spreads from their medians, on one side always."""
        pair = self._standardized(first, second)

        def deal() -> Sides:
            leading, other = self._deal(pair)
            return leading.max(axis=1), other[:, 0]

        return deal

    def _standardized(self, first: int, second: int) -> np.ndarray:
        return np.stack([self._of_column(first), self._of_column(second)], axis=1)

    def _of_column(self, index: int) -> np.ndarray:
        """Return a column in spreads from its median, or from its mean if it is of bits; each is read once."""
        if index not in self.known:
            part = Standard(self.standard.center[[index]], self.standard.scale[[index]])
            column = part(self._column(index)[:, None])[:, 0]
            repeats = np.mean(column == 0) > tuning.FREQUENT  # bits: nothing would lie on one side of the median
            self.known[index] = column - column.mean() if repeats else column
        return self.known[index]


def _scan_finds(claimed: Claimed, ordered: np.ndarray, columns: int, shift: float) -> bool:
    likelier, other = tails(ordered + shift, ordered)
    evidence = claimed.excess.evidence(claimed.training * likelier, claimed.training * other, columns)
    best = int(np.argmax(evidence))
    return claimed.finds(float(likelier[best]), float(other[best]), columns)


def _moment(pair: np.ndarray) -> float:
    return float(np.mean(pair[:, 0] * pair[:, 1]))
