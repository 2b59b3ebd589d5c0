"""Find periods of the outputs, and score outputs by their residues: grids, shifted grids, and combs.

Noise of single precision, noise rounded to decimals, a grid that moves with the data, and a parity that the data decide
all show in x mod P for some period P, and no answer needs to be guessed. Binary and decimal periods are tried as such.

Others are found by peaks of the characteristic function: that of numbers which prefer some residues modulo P has a peak
at 1 / P, as narrow as one over the spread of the numbers. A search of all frequencies up to 1 / P therefore takes
spread / P steps, too many for short periods. Differences between numbers of nearby ranks have the same periods and a
small spread: their peaks are wide, a short Fourier transform finds them, and they are followed to larger differences.

No period is shorter than 256 times the last place of the large outputs: below that, honest noise in floating-point
numbers is rough as well, and rounding around the answers shows (Mironov 2012). `audit.check_precision` looks there.
`docs/method.md` says what few outputs can miss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from audit.events import tuning
from audit.scorers.base import RatioTable, distinct, sorted_finite
from audit.scorers.float_bits.patterns import BitFeature, TableScore
from audit.scorers.float_bits.screened import ScreenedTables, common_grid, count_separation, precision, takes_few_values

_CELLS = 64  # of a period
_TRIED_CELLS = 32  # of a period that is only tried
_OUTSIDE = _CELLS  # the code of numbers that are too large to have a residue, or not finite
_BINARY, _DECIMAL = (1, 3, 5, 7), (1, 2, 3, 4, 5, 6, 7, 9)  # multiples: residues modulo a few cells repeat after them

Sides = tuple[np.ndarray, np.ndarray]  # sorted numbers of either side


def residues(values: np.ndarray, periods: float | np.ndarray, cells: int = _CELLS) -> np.ndarray:
    """Return the cell of x mod period, 0..cells - 1; multiples of the period lie in the middle of cell 0.

    An edge is not a decimal of few digits, so that rounding errors do not divide a grid between two cells.
    """
    turns = values * (cells / periods)
    turns += 0.5
    found = np.floor(turns, out=turns).astype(np.int64)
    found &= cells - 1  # a power of two: whole turns fall away, negative ones too
    return found


@dataclass(frozen=True)
class Residues:
    """Read x mod period of the numbers of at most a size, in cells."""

    period: float
    largest: float

    def __call__(self, values: np.ndarray) -> np.ndarray:
        inside = np.abs(values) <= self.largest  # not for NaN
        return np.where(inside, residues(np.where(inside, values, 0.0), self.period), _OUTSIDE)


@dataclass(frozen=True)
class CombScore(TableScore):
    """Sum over some coordinates of the log-ratio of the residue."""

    def _listed(self, chosen: np.ndarray, most: int = 3) -> str:
        index, feature, table = self.parts[0]
        assert isinstance(feature, Residues)
        width, codes = feature.period / _CELLS, table.keys[chosen & (table.keys != _OUTSIDE)]
        cells = [f"[{(code - 0.5) * width:.4g}, {(code + 0.5) * width:.4g})" for code in codes[:most].tolist()]
        more = f" and {len(codes) - most} more cells" if len(codes) > most else ""
        return f"coordinate {index} mod {feature.period:.9g} in {' or '.join(cells) or 'no cell'}{more}"


@dataclass(frozen=True)
class Periods:
    """Hold the finite numbers of a coordinate on both sides, sorted, and which periods are worth trying on them."""

    left: np.ndarray
    right: np.ndarray
    largest: float  # residues of larger numbers are not read
    shortest: float
    longest: float

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> Periods | None:
        """Return None for numbers that take few values, or have no room for a period."""
        left, right = map(sorted_finite, (left, right))
        if min(len(left), len(right)) < 2 or takes_few_values(left, right):
            return None
        some = np.concatenate([_thin(side, tuning.SAMPLE) for side in (left, right)])
        usual = float(np.quantile(np.abs(some), tuning.USUAL_OUTPUTS))
        least, most = tuning.COMB_RANGE
        if not least < usual < most:
            return None
        largest = 2.0 ** math.ceil(math.log2(usual))
        longest = min(_spread(left), _spread(right)) / tuning.LONGEST_PERIODS
        shortest = _shortest(some[np.abs(some) <= largest], largest)
        left, right = (side[slice(*np.searchsorted(side, (-largest, largest)))] for side in (left, right))
        if min(len(left), len(right)) < 2 or not shortest < longest:
            return None
        return cls(left, right, largest, shortest, longest)

    @cached_property
    def gaps(self) -> Spacings:
        """The gaps between the numbers."""
        return Spacings((self.left, self.right))

    def best(self) -> tuple[float, float]:
        """Return the period whose residues differ most between the sides, and by how many standard errors."""
        size = int(np.clip(len(self.left) // tuning.COMB_SHARE, *tuning.COMB_OUTPUTS))
        thin = _thin(self.left, size), _thin(self.right, size)
        peaks = frequencies(self.gaps, thin, 1 / self.longest)
        found = [k * _rounded(1 / peak, float(np.ptp(np.concatenate(thin)))) for peak in peaks for k in (1, 2, 3)]
        found = [period for period in found if self.shortest <= period <= self.longest]
        periods = np.array([*round_periods(self.shortest, self.longest), *found])
        if not len(periods):
            return math.nan, 0.0
        strengths = separations(*thin, periods)
        best = int(np.argmax(strengths))
        period, strength = float(periods[best]), float(strengths[best])
        is_estimate = best >= len(periods) - len(found)
        return self._polished(period) if is_estimate and strength > tuning.FINE_ERRORS else period, strength

    def _polished(self, period: float) -> float:
        """Return the period near another at which most outputs have the residues of one side only."""
        thin = [_thin(side, tuning.POLISHING_OUTPUTS) for side in (self.left, self.right)]
        width = tuning.UNSURE_PHASE / float(np.ptp(np.concatenate(thin)))
        for _ in range(2):
            tried = 1 / (1 / period + np.linspace(-width, width, 2 * tuning.SCAN_STEPS + 1))
            period, width = float(tried[np.argmax(separations(thin[0], thin[1], tried, _CELLS))]), width / 4
        return period


def _shortest(values: np.ndarray, largest: float) -> float:
    """Return the shortest period at which honest noise is smooth, or half of which is the grid of the outputs."""
    last_place, grid = largest * 2.0 ** -precision(values), common_grid(values)
    smooth = tuning.ROUGH_PLACES * last_place
    return 1.99 * grid if grid is not None and grid > 8 * largest * 2.0**-53 else smooth


def _thin(ordered: np.ndarray, size: int) -> np.ndarray:
    return ordered[:: 1 + (len(ordered) - 1) // size]


def _spread(ordered: np.ndarray) -> float:
    """Return half the distance of the quartiles; of the distinct values if half of all are equal."""
    for values in (ordered, distinct(ordered)):
        lower, upper = values[[len(values) // 4, 3 * len(values) // 4]]
        if upper > lower:
            return float(upper - lower) / 2
    return 0.0


def _rounded(period: float, span: float) -> float:
    """Return a round number that an estimated period cannot be told from over the span of the outputs, if any."""
    mantissa, exponent = math.frexp(period)
    for round_one in (math.ldexp(round(mantissa * 256), exponent - 8), float(f"{period:.3g}")):
        if abs(span / period - span / round_one) < tuning.UNSURE_PHASE:
            return round_one
    return period


def round_periods(shortest: float, longest: float) -> list[float]:
    """Return binary and decimal periods; more multiples of the short ones, which the search for others cannot reach."""
    found = []
    for base, multiples in ((2.0, _BINARY), (10.0, _DECIMAL)):
        first, last = (math.floor(math.log(length, base)) for length in (shortest / 10, longest))
        for unit in (2.0**power if base == 2.0 else float(f"1e{power}") for power in range(first, last + 1)):
            steps = multiples if unit < tuning.SHORT_PERIOD * longest else multiples[: 1 + (base == 10.0)]
            found += [step * unit for step in steps if shortest <= step * unit <= longest]
    return found


def separations(left: np.ndarray, right: np.ndarray, periods: np.ndarray, cells: int = _TRIED_CELLS) -> np.ndarray:
    """Return how far the counts of the residues differ between the sides, for each period."""
    values = np.concatenate([left, right])
    found = []
    step = max(1, tuning.COMB_BLOCK // len(values))
    for some in np.split(periods, range(step, len(periods), step)):
        codes = residues(values[None, :], some[:, None], cells)
        codes += 2 * cells * np.arange(len(some))[:, None]
        codes[:, len(left) :] += cells
        counts = np.bincount(codes.ravel(), minlength=2 * cells * len(some)).reshape(len(some), 2, -1)
        found.append(count_separation(counts[:, 0], counts[:, 1], len(left), len(right)))
    return np.concatenate(found)


@dataclass(frozen=True)
class Combs(ScreenedTables):
    """Read the residues of each coordinate modulo the period at which the sides differ most."""

    seeks = ("grids and combs of round width down to # and of any down to #",)

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        sides = Periods.of(left, right)
        period, strength = sides.best() if sides else (math.nan, 0.0)
        return Residues(period, sides.largest) if sides and strength > tuning.FINE_ERRORS else None

    def compare(self, left: np.ndarray, right: np.ndarray) -> tuple[bool, str]:
        sides = Periods.of(left, right)
        if sides is None:
            return False, ""
        scanned = max(sides.shortest, sides.gaps.shortest_scanned)
        words = f"grids and combs of round width down to {sides.shortest / 2:.1g} and of any down to {scanned / 2:.1g}"
        return sides.best()[1] > tuning.FINE_ERRORS, words

    def score(self, parts: tuple[tuple[int, BitFeature, RatioTable], ...]) -> TableScore:
        return CombScore(parts, self.name)


@dataclass
class Spacings:
    """Hold differences between numbers of nearby ranks: several searches look at the same ones."""

    sides: Sides
    known: dict[tuple[int, float], tuple[np.ndarray, float]] = field(default_factory=dict)

    def of(self, lag: int, share: float = 0.9) -> tuple[np.ndarray, float]:
        """Return differences between numbers whose ranks differ by `lag`, the smallest, and how large these are."""
        if (lag, share) not in self.known:
            self.known[lag, share] = self._smallest(lag, share)
        return self.known[lag, share]

    def _smallest(self, lag: int, share: float) -> tuple[np.ndarray, float]:
        sizes = [max(0, len(side) - lag) for side in self.sides]
        step = max(1, int(share * sum(sizes)) // tuning.SCAN_GAPS)  # through the gaps of one side, then of the other
        places = [slice(start, size, step) for start, size in zip((0, -sizes[0] % step), sizes, strict=True)]
        gaps = np.concatenate([side[lag:][at] - side[at] for side, at in zip(self.sides, places, strict=True)])
        gaps = np.sort(gaps[gaps > 0])  # the order serves the quantile: faster than to partition
        if not len(gaps):
            return gaps, np.inf
        reach = float(np.quantile(gaps, share))
        return gaps[: np.searchsorted(gaps, reach)], reach

    @property
    def shortest_scanned(self) -> float:
        """The shortest period that `frequencies` finds."""
        return 4 * self.of(*tuning.SCANS[-1])[1] / tuning.SCAN_BINS


def frequencies(gaps: Spacings, thin: Sides, lowest: float) -> Iterator[float]:
    """Yield frequencies above the lowest at which either side has a peak.

    `thin` holds few of the numbers between which the gaps lie, sorted as well.
    """
    low, high = np.quantile(np.concatenate(thin), (0.01, 0.99))
    peak = None if low == high else _peak([side - low for side in thin], high - low, lowest)
    if peak is not None:
        yield _sharpened(peak, 1 / (high - low), thin)
    for lag, share in tuning.SCANS:
        yield from _of_gaps(gaps, thin, lag, share, lowest)


def _of_gaps(gaps: Spacings, thin: Sides, lag: int, share: float, lowest: float) -> Iterator[float]:
    """Yield the peak of the gaps of one size, followed to gaps of the size of the whole sample."""
    smallest, reach = gaps.of(lag, share)
    if not len(smallest):
        return
    peak = _peak([smallest], reach, max(lowest, tuning.SMOOTH_BINS / reach))
    if peak is None:
        return
    width = 1 / reach
    if share < 0.5:  # small gaps: all of this rank come before those of larger ranks
        peak, width = _highest(peak, width, [gaps.of(lag)[0]])
    while lag < len(gaps.sides[0]) // 8:
        lag *= tuning.LAG_GROWTH
        peak, width = _highest(peak, width, [gaps.of(lag)[0]])
    yield _sharpened(peak, width, thin)


def _peak(samples: Sequence[np.ndarray], reach: float, lowest: float) -> float | None:
    """Return the frequency above the lowest with the largest sum of powers; None if chance explains it."""
    power = np.zeros(tuning.SCAN_BINS // 2 + 1)
    for sample in samples:
        inside = sample[(sample >= 0) & (sample < reach)]
        bins = (inside * (tuning.SCAN_BINS / reach)).astype(np.int64)
        counts = np.bincount(bins, minlength=tuning.SCAN_BINS)[: tuning.SCAN_BINS]
        power += np.abs(np.fft.rfft(counts)) ** 2 / max(1, len(inside))
    first = int(lowest * reach) + 1
    if first >= len(power):
        return None
    best = first + int(np.argmax(power[first:]))
    return best / reach if power[best] > tuning.PEAK_POWER + len(samples) else None


def _highest(frequency: float, width: float, samples: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the best frequency within `width` of another, and the width of the steps that were tried."""
    tried = frequency + np.linspace(-width, width, 2 * tuning.SCAN_STEPS + 1)
    height = np.zeros(len(tried))
    for sample in samples:
        some = sample[:: 1 + len(sample) // tuning.SCAN_POINTS]
        height += np.abs(np.exp(2j * np.pi * np.outer(tried, some)).sum(axis=1)) ** 2
    return float(tried[int(np.argmax(height))]), width / tuning.SCAN_STEPS


def _sharpened(frequency: float, width: float, thin: Sides) -> float:
    """Return the best frequency near another, so sharp that all residues agree."""
    spread = float(np.ptp(np.concatenate(thin)))
    while width * spread > tuning.SAME_PHASE:
        frequency, width = _highest(frequency, width, thin)
    return frequency
