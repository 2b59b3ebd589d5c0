"""Score fine structure of floating-point outputs, where a cheap test of few training outputs shows any.

These scorers compete in every privacy audit. They guess no answer, and they leave rounding alone: noise in
floating-point numbers is rough at the last places, and the sum with an answer is rounded there (Mironov 2012). The last
bits of x = fl(c + n) are zero where n has a larger exponent than x, which is rare in the largest quarter of the
outputs. Low bits are read only where those of this quarter tell most outputs apart: rounding alone changed up to half
of them. `audit.check_precision` reads low bits always, and guesses answers.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.events import tuning
from audit.outputs.encode import Outputs, mix_keys
from audit.scorers import FineScorer, Score, Screening, Training
from audit.scorers.base import RatioTable, columns, count_keys, distinct, numeric_columns
from audit.scorers.float_bits.patterns import BitFeature, Tables, classes, exponents, lowest_bits
from audit.scorers.rows import Layout

SINGLE, DOUBLE = 24, 53  # bits of a significand
LOW_BITS = "low bits beyond rounding (see check_precision)"  # sought, and no part of what a PASS says
_BELOW = -1  # the code of outputs that are not read
_MOST_DECIMALS, _SLACK, _CLEAR = 8, 4.0, 2.0**16  # last places that a decimal may be off, and that its grid is wide


@dataclass(frozen=True)
class ScreenedTables(Tables, FineScorer):
    """Tables of codes that must differ between the sides on few outputs before they are fitted to all."""

    def coordinates(self, training: Training) -> Sequence[int]:
        """Return all coordinates if they are few; else those whose inputs differ, and others spaced evenly."""
        width = columns(training.left).shape[1]
        if width <= tuning.FINE_COORDINATES:
            return range(width)
        layout = Layout.of(training.pair, width)
        changed = [] if layout.left is None else np.flatnonzero(layout.left != layout.right).tolist()
        spaced = np.linspace(0, width - 1, tuning.FINE_COORDINATES).astype(int).tolist()
        return sorted(list(dict.fromkeys([*changed, *spaced]))[: tuning.FINE_COORDINATES])

    def screen(self, training: Training) -> Screening:
        sides = numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return Screening(False, "")
        chosen = self.coordinates(training)
        found = [self.compare(*(side[:, index] for side in sides)) for index in chosen]
        if not any(words for _, words in found):
            return Screening(False, "")
        words, width = next(words for _, words in found if words), sides[0].shape[1]
        where = f" in {len(chosen)} of {width} coordinates" if len(chosen) < width else ""
        return Screening(any(differs for differs, _ in found), words + where)

    def compare(self, left: np.ndarray, right: np.ndarray) -> tuple[bool, str]:
        """Return whether the numbers of one coordinate differ, and what was looked for in words."""
        thin = few(left, right)
        feature = self.fit(*thin)
        if feature is None:
            return False, ""
        return _differ(*map(feature, thin)), self.name

    @abstractmethod
    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        """Return what to read of one coordinate; None where it takes few values, which are counted as they are."""


def few(left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """Return few of the numbers of either side, spaced evenly."""
    return [side[:: 1 + len(side) // tuning.SCREENED_OUTPUTS] for side in (left, right)]


def takes_few_values(left: np.ndarray, right: np.ndarray) -> bool:
    """Test whether numbers are so few that counting them sees everything, or not enough to read."""
    some = [side[:: 1 + len(side) // tuning.SAMPLE] for side in (left, right)]
    return len(distinct(np.sort(np.concatenate(some)))) <= tuning.FEW_NUMBERS


def precision(values: np.ndarray) -> int:
    """Return 24 if single precision holds all the numbers, and they lie on no common grid; else 53."""
    return SINGLE if bool(np.all(significant_bits(values) <= SINGLE)) and common_grid(values) is None else DOUBLE


def common_grid(values: np.ndarray) -> float | None:
    """Return the largest power of two of which finite numbers are multiples, many of them odd ones; else None."""
    lowest = lowest_bits(values[values != 0])
    if not len(lowest) or np.mean(lowest == lowest.min()) < tuning.ODD_SHARE:
        return None
    return float(2.0 ** int(lowest.min()))


def significant_bits(values: np.ndarray) -> np.ndarray:
    """Return the bits from the first to the last one of each finite number; 0 for 0."""
    return np.where(values == 0, 0, exponents(values) - lowest_bits(values))


@dataclass(frozen=True)
class LowBits:
    """Return the last four bits of the significand, in the precision of the outputs; -1 for small outputs."""

    least: float
    bits: int

    def __call__(self, values: np.ndarray) -> np.ndarray:
        words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) >> np.uint64(DOUBLE - self.bits)
        return np.where(np.abs(values) >= self.least, (words & np.uint64(15)).astype(np.int64), _BELOW)


@dataclass(frozen=True)
class LowBitTables(ScreenedTables):
    """Read the low bits of the largest quarter of the outputs, where they tell most of these apart."""

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        left, right = few(left, right)
        feature = self.readable(left, right)
        return replace(feature, least=0.0) if feature is not None and _decide(feature, left, right) else None

    def compare(self, left: np.ndarray, right: np.ndarray) -> tuple[bool, str]:
        left, right = few(left, right)
        feature = self.readable(left, right)
        return feature is not None and _decide(feature, left, right), "" if feature is None else LOW_BITS

    def readable(self, left: np.ndarray, right: np.ndarray) -> LowBits | None:
        """Return what to read; None for outputs that take few values."""
        pooled = np.concatenate([side[np.isfinite(side)] for side in (left, right)])
        if takes_few_values(left, right) or not len(pooled):
            return None
        return LowBits(float(np.quantile(np.abs(pooled), tuning.LARGE_OUTPUTS)), precision(pooled))


def _decide(feature: LowBits, left: np.ndarray, right: np.ndarray) -> bool:
    """Test whether the low bits of the large outputs differ by more than rounding explains, in total variation."""
    codes = [feature(side) for side in (left, right)]
    counts = [np.bincount(code[code >= 0], minlength=16) for code in codes]
    if min(count.sum() for count in counts) < tuning.FEWEST_LARGE:
        return False
    shares = [count / count.sum() for count in counts]
    return bool(np.abs(shares[0] - shares[1]).sum() / 2 > tuning.ROUNDING_EXPLAINS)


@dataclass(frozen=True)
class SignificandBits:
    """Return one bit of the significand, counted from the last one; -1 for numbers without it."""

    place: int

    def __call__(self, values: np.ndarray) -> np.ndarray:
        words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) >> np.uint64(self.place)
        return np.where(np.isfinite(values) & (values != 0), (words & np.uint64(1)).astype(np.int64), _BELOW)


@dataclass(frozen=True)
class SingleBitTables(ScreenedTables):
    """Read the bit of the significand that tells the sides apart nearly always: rounding alone makes none do so."""

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        if takes_few_values(left, right):
            return None
        shares = [_shares_of_bits(side) for side in few(left, right)]
        apart = np.abs(shares[0] - shares[1])
        return SignificandBits(int(apart.argmax())) if apart.max() > tuning.PERFECT_BIT else None

    def compare(self, left: np.ndarray, right: np.ndarray) -> tuple[bool, str]:
        return self.fit(left, right) is not None, "" if takes_few_values(left, right) else self.name


def _shares_of_bits(values: np.ndarray) -> np.ndarray:
    """Return the share of numbers with a set bit, for each bit of the significand; 1/2 without finite numbers."""
    words = np.ascontiguousarray(values[np.isfinite(values) & (values != 0)]).view(np.uint64)
    if not len(words):
        return np.full(DOUBLE - 1, 0.5)
    bits = np.unpackbits(words.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    return np.asarray(bits[:, : DOUBLE - 1].sum(axis=0, dtype=np.uint32) / len(words))


@dataclass(frozen=True)
class FormatTables(ScreenedTables):
    """Read how many significant bits the outputs have, up to a number that only few outputs stay below by chance."""

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        pooled = np.concatenate([side[np.isfinite(side)] for side in few(left, right)])
        if takes_few_values(left, right) or common_grid(pooled) is not None:
            return None
        return SignificantBits(precision(pooled) - tuning.FREE_BITS)


@dataclass(frozen=True)
class SignificantBits:
    """Return how many bits a number needs, at most one more than `most`."""

    most: int

    def __call__(self, values: np.ndarray) -> np.ndarray:
        known = np.isfinite(values)
        bits = significant_bits(np.where(known, values, 0.0))
        return np.where(known, np.minimum(bits, self.most + 1), _BELOW)


@dataclass(frozen=True)
class FineFeature(ScreenedTables):
    """Read the same feature of all outputs."""

    feature: BitFeature

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        return None if takes_few_values(left, right) else self.feature


def near_decimals(values: np.ndarray) -> np.ndarray:
    """Return the fewest decimals, 0..8, that give a number back up to a few last places; 9 when more are needed."""
    found = np.full(values.shape, _MOST_DECIMALS + 1, dtype=np.int64)
    finite = np.where(np.isfinite(values), values, 0.5**60)
    last_place = np.spacing(np.abs(finite))
    for places in reversed(range(_MOST_DECIMALS + 1)):
        near = np.abs(np.round(finite, places) - finite) <= _SLACK * last_place
        found[near & (_CLEAR * last_place < 10.0**-places)] = places
    return found


def _differ(left: np.ndarray, right: np.ndarray) -> bool:
    """Test whether the frequencies of codes differ between two samples."""
    _, of_left, of_right = count_keys(np.sort(left), np.sort(right))
    return bool(count_separation(of_left, of_right, len(left), len(right)) > tuning.FINE_ERRORS)


def count_separation(left: np.ndarray, right: np.ndarray, of_left: int, of_right: int) -> np.ndarray:
    """Return the chi-square statistic along the last axis, with mean 0 and variance 1 under one law.

    Cells that hold fewer than 5 outputs are not compared.
    """
    share, total = of_left / (of_left + of_right), left + right
    used = total >= 5
    expected = np.where(used, total * share, 1.0)
    chi = np.sum(np.where(used, (left - expected) ** 2 / (expected * (1 - share)), 0.0), axis=-1)
    freedom = np.maximum(used.sum(axis=-1) - 1, 1)
    return np.asarray((chi - freedom) / np.sqrt(2 * freedom))


@dataclass(frozen=True)
class PayloadScore(Score):
    """Log-ratio of the bits of the NaN in an output."""

    table: RatioTable
    name = "bits of NaN"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return self.table(_payloads(outputs))


class Payloads(FineScorer):
    """Read the bits of NaN: a NaN has 52 of them that no comparison shows."""

    seeks = (PayloadScore.name,)

    def propose(self, training: Training) -> Sequence[Score]:
        if not any(np.isnan(side.numbers).any() for side in training.sides):
            return []
        return [PayloadScore(RatioTable.fit(*map(_payloads, training.sides)))]

    def screen(self, training: Training) -> Screening:
        if not any(np.isnan(side.numbers).any() for side in training.sides):
            return Screening(False, "")
        return Screening(_differ(*map(_payloads, training.sides)), PayloadScore.name)


def _payloads(outputs: Outputs) -> np.ndarray:
    numbers = np.ascontiguousarray(columns(outputs))
    bits = np.where(np.isnan(numbers), numbers.view(np.uint64), np.uint64(0))
    return mix_keys(bits.T, len(outputs)).view(np.int64)


FINE_PATTERNS: tuple[FineScorer, ...] = (
    LowBitTables("low bits"),
    FormatTables("significant bits"),
    SingleBitTables("single bits of the significand"),
    FineFeature("decimals", near_decimals),
    FineFeature("floating-point class", classes),
    Payloads(),
)
