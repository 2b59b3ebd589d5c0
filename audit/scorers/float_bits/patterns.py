"""Score the bit patterns of outputs, and of their differences from the guessed answers, by counting their cells.

A finite double is odd * 2^k or zero; k is the exponent of its lowest set bit. A sum fl(c + noise) inherits the grid of
whichever of the two is coarser, and that grid is what the bits leak.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit.outputs.encode import Outputs, mix_keys
from audit.scorers import Score, Scorer, Training
from audit.scorers._arrays import columns
from audit.scorers.base import RatioTable, numeric_columns
from audit.scorers.float_bits.reachability import (
    AnswerPair,
    InverseCdf,
    RoundTrips,
    RoundTripScore,
    guess_answers,
    shown,
)

# Scorers of bits: tuned by `tests/core/checks/precision`, `benchmarks.overhead`
MOST_GRIDS, GRID_BITS = 3, (-4, 6)  # guesses proposed; bits about the last place beyond which cells are merged

MANTISSA = 53  # bits of a double's significand, the implicit one included
_SPECIAL = 1 << 20  # codes above this stand for values that have no lowest bit
ZERO, MINUS_ZERO, INFINITE, MISSING = (_SPECIAL + i for i in range(4))
_DECIMALS = 9  # a number with more decimals than this is taken to have no decimal grid
_MOST_ZEROS = 8


def exponents(values: np.ndarray) -> np.ndarray:
    """Return e with 2^(e-1) <= |x| < 2^e; `ZERO` and its neighbors for values that have none."""
    return _with_specials(values, np.frexp(values)[1].astype(np.int64))


def lowest_bits(values: np.ndarray) -> np.ndarray:
    """Return k such that |x| = odd * 2^k; `ZERO` and its neighbors for values that have none."""
    fraction, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    whole = np.ldexp(np.abs(fraction), MANTISSA).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return _with_specials(values, exponent - MANTISSA + np.frexp(lowest)[1] - 1)


def trailing_zeros(values: np.ndarray) -> np.ndarray:
    """Count the zero bits at the end of the significand, 0..8 (8 means 8 or more); special values as they are."""
    k = lowest_bits(values)
    zeros = np.minimum(k - (exponents(values) - MANTISSA), _MOST_ZEROS)
    return np.where(k >= _SPECIAL, k, zeros)


def low_bytes(values: np.ndarray) -> np.ndarray:
    """Return the last eight bits of the significand, 0..255."""
    return (np.ascontiguousarray(values, dtype=np.float64).view(np.uint64) & np.uint64(255)).astype(np.int64)


def bit(values: np.ndarray, place: int) -> np.ndarray:
    """Return one bit of the significand, 0 or 1; the last one has place 0."""
    words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return (words >> np.uint64(place) & np.uint64(1)).astype(np.int64)


def decimals(values: np.ndarray) -> np.ndarray:
    """Return the fewest decimals that give the double back, 0..8; 9 when more are needed."""
    found = np.full(values.shape, _DECIMALS, dtype=np.int64)
    finite = np.where(np.isfinite(values), values, 0.5**60)
    for places in reversed(range(_DECIMALS)):
        found[np.round(finite, places) == finite] = places
    return found


def classes(values: np.ndarray) -> np.ndarray:
    """Return 0 for normal, 1 for subnormal, else the special codes (zero, minus zero, infinite, missing)."""
    tiny = np.abs(values) < np.finfo(np.float64).tiny
    return _with_specials(values, tiny.astype(np.int64))


def difference_bits(values: np.ndarray, constant: float) -> np.ndarray:
    """Return the lowest set bit of the exact real number x - c, rounding error included (Knuth's two-sum)."""
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = values - constant
        back = rounded - values
        error = (values - (rounded - back)) + (-constant - back)
    return np.where(error == 0, lowest_bits(rounded), lowest_bits(error))


def _with_specials(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    zero = np.where(np.signbit(values), MINUS_ZERO, ZERO)
    codes = np.where(values == 0, zero, codes)
    codes = np.where(np.isinf(values), INFINITE, codes)
    return np.where(np.isnan(values), MISSING, codes)


BitFeature = Callable[[np.ndarray], np.ndarray]  # from numbers, shape (size,), to codes: integers


@dataclass(frozen=True)
class TableScore(Score):
    """Sum over some coordinates of the log-ratio of a code of the number there; 0 for codes not seen in training."""

    parts: tuple[tuple[int, BitFeature, RatioTable], ...]
    name: str

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        if numbers.shape[1] <= max(index for index, _, _ in self.parts):
            return np.full(len(outputs), np.nan)
        total = np.sum([table(feature(numbers[:, index])) for index, feature, table in self.parts], axis=0)
        return np.where(outputs.symbolic, np.nan, total)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.parts) > 1:
            return super().describe(upper, lower)
        ratios = self.parts[0][2].ratios
        return self._listed(ratios >= upper), self._listed(ratios <= lower)

    def meaning(self) -> str:
        return f"sum over coordinates of the log-ratios of the {self.name}"

    def _listed(self, chosen: np.ndarray, most: int = 8) -> str:
        index, _, table = self.parts[0]
        codes = table.keys[chosen]
        more = f" and {len(codes) - most} more" if len(codes) > most else ""
        return f"{self.name} of coordinate {index} in {{{', '.join(map(str, codes[:most].tolist()))}}}{more}"


@dataclass(frozen=True)
class Tables(Scorer):
    """Propose one feature of the numbers: of the most informative coordinate alone, and of all together."""

    name: str

    @property
    def seeks(self) -> tuple[str, ...]:
        return (self.name,)

    @abstractmethod
    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        """Return what to read of one coordinate; None where there is nothing to read."""

    def coordinates(self, training: Training) -> Sequence[int]:
        """Return the coordinates that are read."""
        return range(columns(training.left).shape[1])

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return []
        parts, strengths = [], []
        for index in self.coordinates(training):
            feature = self.fit(*(side[:, index] for side in sides))
            if feature is not None:
                left, right = (feature(side[:, index]) for side in sides)
                table = RatioTable.fit(left, right)
                parts.append((index, feature, table))
                strengths.append(float(table(left).mean() - table(right).mean()))
        if not parts:
            return []
        alone = self.score((parts[int(np.argmax(strengths))],))
        return [alone] if sides[0].shape[1] == 1 else [alone, self.score(tuple(parts))]

    def score(self, parts: tuple[tuple[int, BitFeature, RatioTable], ...]) -> TableScore:
        """Return the score that reads these parts."""
        return TableScore(parts, self.name)


@dataclass(frozen=True)
class BitPatterns(Tables):
    """Read the same feature of the bits everywhere."""

    feature: BitFeature

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature:
        return self.feature


@dataclass(frozen=True)
class OneBit(Tables):
    """Read the bit of the significand whose shares differ most."""

    def fit(self, left: np.ndarray, right: np.ndarray) -> BitFeature | None:
        if not len(left) or not len(right):
            return None
        apart = [abs(bit(left, place).mean() - bit(right, place).mean()) for place in range(MANTISSA - 1)]
        return partial(bit, place=int(np.argmax(apart)))


@dataclass(frozen=True)
class GridScore(TableScore):
    """Read the cell of each number: last place of x, of x - left and x - right, and the lowest bits of both."""

    answers: AnswerPair

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        return Score.describe(self, upper, lower)

    def meaning(self) -> str:
        left, right = shown(self.answers.left), shown(self.answers.right)
        return f"log-ratio of the grids of x - {left} and x - {right} ({self.answers.origin})"


@dataclass(frozen=True)
class Grids(Scorer):
    """Propose the grids around the guessed answers that their own outputs contradict least."""

    query: Any = None
    seeks = ("grid around the answers",)

    def propose(self, training: Training) -> Sequence[Score]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        guesses = guess_answers(training, self.query)
        guesses.sort(key=lambda guess: RoundTripScore(guess, calibrated=False).rates(sides), reverse=True)
        scores: list[Score] = []
        for answers in guesses[:MOST_GRIDS]:
            parts = []
            for index in range(sides[0].shape[1]):
                feature = partial(grid_code, answers=answers, index=index)
                parts.append((index, feature, RatioTable.fit(*(feature(side[:, index]) for side in sides))))
            scores.append(GridScore(tuple(parts), "grid around the answers", answers))
        return scores


def grid_code(values: np.ndarray, answers: AnswerPair, index: int) -> np.ndarray:
    """Return one code per number of a coordinate: the trailing zeros of x - c, exact, for both answers at once."""
    parts = [np.sign(values), exponents(values), np.minimum(trailing_zeros(values), 1)]
    for constant in (float(c if c.ndim == 0 else c[index]) for c in (answers.left, answers.right)):
        place = exponents(values - constant)
        grid = difference_bits(values, constant) - (place - MANTISSA)
        parts += [place, np.clip(grid, *GRID_BITS)]
    return pack(*parts)


def pack(*parts: np.ndarray) -> np.ndarray:
    """Return one code for several: equal codes for equal parts, and for others with probability 2^-64 at most."""
    whole = [np.nan_to_num(np.asarray(part, dtype=np.float64), nan=2.0**40).astype(np.int64) for part in parts]
    return mix_keys((part.view(np.uint64) for part in whole), len(parts[0])).view(np.int64)


def exponent_and_zeros(values: np.ndarray) -> np.ndarray:
    return pack(np.sign(values), exponents(values), trailing_zeros(values))


PATTERN_SCORERS: tuple[Scorer, ...] = (
    BitPatterns("exponent of the lowest set bit", lowest_bits),
    BitPatterns("exponent and trailing zeros", exponent_and_zeros),
    BitPatterns("low-order byte", low_bytes),
    OneBit("one bit of the significand"),
    BitPatterns("number of decimals", decimals),
    BitPatterns("floating-point class", classes),
)


def bit_scorers(epsilon: float, query: Any = None) -> tuple[Scorer, ...]:
    """Return the scorers of the precision audit; `epsilon` of the claim helps to guess the scale of the noise."""
    return (*PATTERN_SCORERS, Grids(query), RoundTrips(query), InverseCdf(epsilon, query))
