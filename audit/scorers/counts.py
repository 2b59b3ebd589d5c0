"""Score by counting cells: outputs that repeat, intervals of the line, and residues modulo round widths.

Noise of few decimals, or of single precision, lies on a grid that moves with the answer, which need not be known; so
does an output that is rounded on one side only: its residues show it. Widths are powers of 2 and of 10. The longest is
a fifth of the spread: cells of the output see longer ones. The shortest is 256 times the last place of the large
outputs: below that, honest noise in floating-point numbers is rough as well (Mironov 2012), and
`audit.check_precision` looks there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from scipy import special

from audit.outputs.columns import Texts
from audit.outputs.encode import Outputs, Repeats, hash_text, hash_texts
from audit.outputs.tables import restore
from audit.outputs.walk import identify, shorten
from audit.scorers.base import (
    Layout,
    RatioTable,
    Score,
    Scorer,
    Training,
    columns,
    count_keys,
    distinct,
    log_ratio,
    merge_in_order,
    numeric_columns,
    shrunk_log_ratio,
)

# The judgment of candidates: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
SHORT_TABLE = 12  # learned tables of at most this many values are exempt from a deduction: overfitting is negligible

# Counting scorers: atoms, cells, flags: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
ATOM_COUNT = 5  # occurrences that make an output an atom; rarer outputs share one cell for each kind
MOST_CELLS = 256  # intervals of the line
HALVING_PRICE = 6.0  # deviance that a halving of cells must explain where sums are read; chance explains 1


@dataclass(frozen=True)
class AtomScore(Score):
    """Estimated log-likelihood ratio of the output's atom; texts of the atoms for reports."""

    table: RatioTable
    values: Repeats | None = None
    texts: dict[int, str] = field(default_factory=dict)
    name = "atoms"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.symbols is None:
            return self.table(outputs.keys())
        known = replace(self.table, rare=np.nan)
        scores = known(outputs.keys())
        scores = np.where(np.isnan(scores), known(_kind_keys(outputs.symbols)), scores)
        return np.where(np.isnan(scores), self.table.rare, scores)

    def name_values(self, training: Training) -> Self:
        texts: dict[int, str] = {}
        for outputs in training.sides:
            keys, rows = np.unique(_read_keys(outputs), return_index=True)
            known = np.isin(keys, self.table.keys)
            for key, row in zip(keys[known].tolist(), rows[known].tolist(), strict=True):
                texts.setdefault(key, _show_output(outputs, row, key))
        return replace(self, texts=texts)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        ratios, rare = self.table.ratios, self.table.rare
        return self._event(ratios >= upper, rare >= upper), self._event(ratios <= lower, rare <= lower)

    def _event(self, atoms: np.ndarray, rare: bool, most: int = 6) -> str:
        """Return the event in words: some atoms, and all rarer outputs or none of them."""
        chosen = ~atoms if rare else atoms
        if not chosen.any():
            return "any output" if rare else "no output"
        order = np.argsort(-np.abs(np.where(chosen, self.table.ratios, 0)))[: int(chosen.sum())]
        shown = [self.texts[int(self.table.keys[i])] for i in order[:most]]
        more = f", and {len(order) - len(shown)} more" if len(order) > len(shown) else ""
        return f"output {'not ' if rare else ''}in {{{', '.join(shown)}{more}}}"


class Atoms(Scorer):
    """Count how often each output occurred on either side."""

    needs_all = True

    def reads_values(self, training: Training) -> bool:
        return not training.has_vectors  # which `SmoothedAtoms` counts

    def propose(self, training: Training) -> Sequence[AtomScore]:
        score = count_atoms(training)
        return [] if score is None else [score]


def count_atoms(training: Training) -> AtomScore | None:
    """Return the score of the values that repeat, without their texts; None when none does."""
    plain = all(outputs.is_scalar and outputs.symbols is None for outputs in training.sides)
    if plain and not _repeats(np.sort(np.concatenate([outputs.numbers for outputs in training.sides]))):
        return None  # continuous outputs: save the cost of their keys
    keys, of_left, of_right = count_keys(*(np.sort(_read_keys(outputs)) for outputs in training.sides))
    counts = of_left + of_right
    frequent = counts >= ATOM_COUNT
    if not frequent.any():
        return None
    totals = len(training.left), len(training.right)
    ratios = shrunk_log_ratio(of_left, of_right, *totals)[frequent]
    ratio_of_rare = log_ratio(of_left[~frequent].sum(), of_right[~frequent].sum(), *totals)
    table = RatioTable(keys[frequent], ratios, float(ratio_of_rare))
    if any(outputs.symbols is not None for outputs in training.sides):  # rare is the own value of one, not its kind
        counts = np.unique(np.concatenate([outputs.keys() for outputs in training.sides]), return_counts=True)[1]
    rare = int(counts[counts < ATOM_COUNT].sum())
    return AtomScore(table, Repeats(sum(totals), len(counts), rare, ATOM_COUNT))


def _kind_keys(symbols: Texts) -> np.ndarray:
    return hash_texts(Texts(tuple(map(_kind, symbols.table)), symbols.codes))


def _repeats(ordered: np.ndarray) -> bool:
    """Return whether any value occurs often enough to be an atom."""
    return bool(np.any(ordered[ATOM_COUNT - 1 :] == ordered[: 1 - ATOM_COUNT]))


def _read_keys(outputs: Outputs) -> np.ndarray:
    """Return keys of the outputs; a symbol that is rare on its side is counted as its kind."""
    keys = outputs.keys()
    if outputs.symbols is None:
        return keys
    _, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.where((counts[where] < ATOM_COUNT) & outputs.symbolic, _kind_keys(outputs.symbols), keys)


def _show_output(outputs: Outputs, row: int, key: int) -> str:
    symbol = outputs.symbols.at(row) if outputs.symbols is not None else None
    if symbol is not None:
        return symbol if hash_text(symbol) == key else f"any {_kind(symbol)}"
    if outputs.names is not None or not outputs.is_plain:  # the columns are not what the caller sees
        return shorten(identify(restore(outputs.raw[row])))
    numbers = outputs.numbers[row]
    return f"{numbers:.17g}" if outputs.is_scalar else "(" + ", ".join(f"{x:.6g}" for x in numbers) + ")"


def _kind(symbol: str) -> str:
    return symbol.split(": ", 1)[0] + ":"


@dataclass(frozen=True)
class SignedOutput(Score):
    """sign * output; symbols abstain."""

    sign: int
    name = "monotone"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return self.sign * outputs.numbers if outputs.is_scalar else np.full(len(outputs), np.nan)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = (">=", "<=") if self.sign > 0 else ("<=", ">=")
        return f"output {plus} {self.sign * upper:.9g}", f"output {minus} {self.sign * lower:.9g}"


class Monotone(Scorer):
    """Propose both directions of the line, for laws whose likelihood ratio is monotone."""

    learned = False

    def propose(self, training: Training) -> Sequence[SignedOutput]:
        usable = all(outputs.is_scalar for outputs in training.sides)
        usable = usable and not all(np.isnan(outputs.numbers).all() for outputs in training.sides)
        return [SignedOutput(1), SignedOutput(-1)] if usable else []


@dataclass(frozen=True)
class CellScore(Score):
    """Estimated log-likelihood ratio of the repeated value or symbol when the output is one, else of its interval."""

    edges: np.ndarray  # inner edges; interval i holds edges[i - 1] <= x < edges[i]; shape (k - 1,)
    ratios: np.ndarray  # log-likelihood ratio of each interval; shape (k,)
    atoms: AtomScore | None  # of the values that repeat; NaN for any other
    name = "cells"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if not outputs.is_scalar:
            return np.full(len(outputs), np.nan)
        cells = self.ratios[np.searchsorted(self.edges, outputs.numbers, side="right")]
        scores = np.where(np.isnan(outputs.numbers), np.nan, cells)
        if self.atoms is None:
            return scores
        special = self.atoms(outputs)
        return np.where(np.isnan(special), scores, special)

    def name_values(self, training: Training) -> Self:
        if self.atoms is None or all(outputs.symbols is None for outputs in training.sides):
            return self
        return replace(self, atoms=self.atoms.name_values(training))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        named = self.atoms.describe(upper, lower) if self.atoms and self.atoms.texts else ("a special value",) * 2
        return self._union(self.ratios >= upper, named[0]), self._union(self.ratios <= lower, named[1])

    def _union(self, chosen: np.ndarray, atoms: str, most: int = 4) -> str:
        edges = np.concatenate([[-np.inf], self.edges, [np.inf]])
        starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
        stops = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
        parts = [f"[{edges[a]:.6g}, {edges[b + 1]:.6g})" for a, b in zip(starts, stops, strict=True)]
        more = f" and {len(parts) - most} more intervals" if len(parts) > most else ""
        intervals = [f"output in {' or '.join(parts[:most])}{more}"] if parts else []
        return " or ".join([*intervals, *([atoms] if self.atoms and atoms != "no output" else [])]) or "no output"


class Cells(Scorer):
    """Cut the line into intervals between quantiles of the pooled numbers; their number grows with the cube root."""

    def propose(self, training: Training) -> Sequence[CellScore]:
        counted = CountedCells.of(training)
        return [] if counted is None else [counted.score()]


@dataclass(frozen=True)
class CountedCells:
    """Hold how often the numbers of either side fall into each interval."""

    edges: np.ndarray  # as of a `CellScore`
    left: np.ndarray  # outputs in each interval, shape (k,)
    right: np.ndarray
    totals: tuple[int, int]  # outputs of either side, symbols and repeated values included
    atoms: AtomScore | None

    @classmethod
    def of(cls, training: Training, with_atoms: bool = True) -> Self | None:
        """Count single numbers; None for other outputs, and where fewer than two numbers do not repeat."""
        if not all(outputs.is_scalar for outputs in training.sides):
            return None
        atoms = count_atoms(training) if with_atoms else None
        if atoms is not None:  # other values are left to the intervals
            atoms = replace(atoms, table=replace(atoms.table, rare=math.nan))
        plain = [~np.isnan(outputs.numbers) for outputs in training.sides]
        if atoms is not None:
            plain = [keep & np.isnan(atoms(outputs)) for keep, outputs in zip(plain, training.sides, strict=True)]
        left, right = (outputs.numbers[keep] for outputs, keep in zip(training.sides, plain, strict=True))
        pooled = np.sort(np.concatenate([left, right]))
        if len(pooled) < 2:
            return None
        cells = int(np.clip(2.0 * len(pooled) ** (1 / 3), 2, MOST_CELLS))
        edges = np.unique(pooled[(len(pooled) * np.arange(1, cells)) // cells])
        counts = [np.bincount(np.searchsorted(edges, x, "right"), minlength=len(edges) + 1) for x in (left, right)]
        return cls(edges, counts[0], counts[1], (len(training.left), len(training.right)), atoms)

    def score(self) -> CellScore:
        """Return a log-ratio of each interval, shrunk."""
        return CellScore(self.edges, shrunk_log_ratio(self.left, self.right, *self.totals), self.atoms)

    def few(self, training: Training) -> CellScore:
        """Return log-ratios of few cells for the numbers that were counted; many repeated values are a line too."""
        if self.atoms is None or len(self.atoms.table.keys) <= SHORT_TABLE:
            return self.merge()
        line = CountedCells.of(training, with_atoms=False)
        return self.merge() if line is None else line.merge()

    def merge(self) -> CellScore:
        """Return log-ratios of neighboring intervals merged, as a tree of halvings that is cut back.

        A halving is kept where it, with those below it, explains more than `HALVING_PRICE` (Donoho 1997, CART and best
        orthonormal basis, section 3). Sums over many coordinates add the noise of all cells: few ones have little.
        """
        width = 1 << len(self.edges).bit_length()
        places = np.arange(len(self.left)) * width // len(self.left)  # halvings are of about equal mass
        sides = [np.bincount(places, side, width) for side in (self.left, self.right)]
        levels = [sides]  # from single intervals to all of them
        while len(levels[-1][0]) > 1:
            levels.append([side.reshape(-1, 2).sum(axis=1) for side in levels[-1]])
        costs, kept = _misfit(*sides), [np.array([True])]
        for merged_sides in levels[1:]:
            halves, whole = costs.reshape(-1, 2).sum(axis=1), _misfit(*merged_sides)
            kept.insert(1, halves < whole)
            costs = np.minimum(halves, whole)
        ratios, is_split = log_ratio(levels[-1][0], levels[-1][1], *self.totals), kept[0]
        for level, splits in zip(reversed(levels[:-1]), kept[1:], strict=True):
            is_split = np.repeat(is_split & splits, 2)
            ratios = np.where(is_split, log_ratio(level[0], level[1], *self.totals), np.repeat(ratios, 2))
        ratios = ratios[places]
        steps = np.flatnonzero(np.diff(ratios))
        return CellScore(self.edges[steps], ratios[np.r_[steps, len(ratios) - 1]], self.atoms)


def _misfit(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the deviance of the outputs in each cell, at its own share of left ones, with the price of a cell."""
    both = np.maximum(left + right, 1)
    return np.asarray(HALVING_PRICE - 2 * (special.xlogy(left, left / both) + special.xlogy(right, right / both)))


# Noise of few values: a 15-bit or a 24-bit random number takes at most that many. Moved by the answer, they lie
# elsewhere, so that a single output may tell the dataset, while both samples look alike in every interval. Of n outputs
# of N equally likely values, n^2 / (2 N) pairs are equal: the birthday problem. As many pairs, up to e^epsilon, should
# be equal across the datasets; a grid that both share, as rounding makes one, has them.
FEWEST_REPEATED = 2  # numbers that one sample has twice: two of 7,600 with 53 random bits, with probability 1e-17
FEWEST_OUTPUTS = 2_000  # per dataset: among fewer, noise that is read again from a table looks like noise of few values
_MEET = 0.02  # of the pairs that should be equal across the datasets: with fewer, the values do not meet
_PER_VALUE = 50  # pairs for each number that repeats, up to which the numbers are noise
_MOST_COLUMNS = 8  # of a vector, spaced evenly


@dataclass(frozen=True)
class CollisionCounts:
    """Hold how often numbers of two samples are equal."""

    within: int  # pairs of equal numbers of one sample
    repeated: int  # numbers that are in a sample more than once
    across: int  # pairs of equal numbers of two samples
    size: int  # of one sample

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> Self:
        """Count equal pairs of two samples of finite numbers."""
        sides = [np.sort(side) for side in (left, right)]
        ordered = merge_in_order(*sides)
        again = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(again):
            return cls(0, 0, 0, min(len(left), len(right)))
        of_left, of_right = (np.searchsorted(side, again, "right") - np.searchsorted(side, again) for side in sides)
        within = sum(int((each * (each - 1) // 2).sum()) for each in (of_left, of_right))
        repeated = int((of_left > 1).sum() + (of_right > 1).sum())
        return cls(within, repeated, int((of_left * of_right).sum()), min(len(left), len(right)))

    @property
    def is_apart(self) -> bool:
        """True if numbers repeat within the samples, and hardly any is in both."""
        return self.repeated >= FEWEST_REPEATED and self.across <= _MEET * self.within

    @property
    def values(self) -> float:
        """Number of equally likely values that give as many pairs: an estimate."""
        return self.size**2 / max(1, self.within)


def supports_of(sides: Sequence[Outputs]) -> list[tuple[int, CollisionCounts]]:
    """Return the support of some columns of numbers, by their index; none of sides with other columns."""
    tables = _tables_of(sides)
    if tables is None:
        return []
    width = tables[0].shape[1]
    chosen = sorted({int(place) for place in np.linspace(0, width - 1, min(width, _MOST_COLUMNS))})
    return [(place, CollisionCounts.of(*(_finite(table[:, place]) for table in tables))) for place in chosen]


def _tables_of(sides: Sequence[Outputs]) -> list[np.ndarray] | None:
    tables = [columns(side) if side.symbols is None else columns(side)[~side.symbolic] for side in sides]
    usable = tables[0].shape[1] == tables[1].shape[1] and min(map(len, tables)) >= FEWEST_OUTPUTS
    return tables if usable else None


def _finite(numbers: np.ndarray) -> np.ndarray:
    return numbers[np.isfinite(numbers)]


_LISTED = 4  # numbers that an event names
CERTAIN = 40.0  # log-likelihood ratio of an output that only one side can give, in place of infinity


@dataclass(frozen=True)
class SeenScore(Score):
    """40 for a number that the left dataset alone gave in training, -40 for one of the right, 0 for any other."""

    place: int  # of the column
    left: np.ndarray  # sorted
    right: np.ndarray
    name = "seen values"
    calibrated = True

    def __call__(self, outputs: Outputs) -> np.ndarray:
        table = columns(outputs)
        if table.shape[1] <= self.place:
            return np.full(len(outputs), np.nan)
        numbers = table[:, self.place]
        found = CERTAIN * (_is_in(numbers, self.left).astype(float) - _is_in(numbers, self.right))
        return np.where(outputs.symbolic, np.nan, found)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        where = f"coordinate {self.place}: output"
        return _list_numbers(where, self.left), _list_numbers(where, self.right)


def _list_numbers(where: str, values: np.ndarray) -> str:
    if len(values) > _LISTED:
        return f"{where} in {len(values):,} numbers seen in training"
    return f"{where} in {{{', '.join(f'{value:.9g}' for value in values)}}}"


def _is_in(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    if not len(values):
        return np.zeros(len(numbers), dtype=bool)
    nearest = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
    return np.asarray(values[nearest] == numbers)


class SeenValues(Scorer):
    """Propose the numbers that one dataset alone gave, of the column whose values repeat most and do not meet."""

    def reads(self, training: Training) -> bool:
        return _tables_of(training.sides) is not None

    def propose(self, training: Training) -> Sequence[SeenScore]:
        apart = [(support.within, place) for place, support in supports_of(training.sides) if support.is_apart]
        if not apart:
            return []
        place = max(apart)[1]
        left, right = (np.unique(_finite(columns(side)[~side.symbolic][:, place])) for side in training.sides)
        shared = np.intersect1d(left, right)
        return [SeenScore(place, np.setdiff1d(left, shared), np.setdiff1d(right, shared))]


def find_coarse(sides: Sequence[Outputs], label: Callable[[int], str], most: int) -> dict[str, float]:
    """Return which of the first `most` columns have numbers that repeat and never meet, and how many values they have.

    A number that is most of its column, as an answer without noise is, does not say how many there are.
    """
    apart = [(place, support) for place, support in supports_of(sides) if support.is_apart and place < most]
    return {label(place): each.values for place, each in apart if each.within <= _PER_VALUE * each.repeated}


_CELLS = 64  # of a width
_OUTSIDE = _CELLS  # the code of numbers that are too large to have a residue, or not finite
_TRIED, _COORDINATES = 1000, 16  # outputs of either side, and coordinates, on which all widths are tried
_FEW = 64  # distinct numbers up to which counting them sees everything
_ERRORS = 5.0  # standard errors by which the sides must differ before the score competes
_SMALLEST, _LARGEST = 2.0**-900, 2.0**1000  # usual sizes beyond which sums overflow
_SINGLE = 0.0  # in place of a width: whether single precision holds the number


def find_residues(values: np.ndarray, width: Any, largest: float) -> np.ndarray:
    """Return the cell of x mod width, 0..63; multiples of the width lie in the middle of cell 0. Widths broadcast.

    An edge is not a decimal of few digits, so that rounding errors do not divide a grid between two cells.
    """
    if np.ndim(width) == 0 and width == _SINGLE:
        with np.errstate(over="ignore"):
            return np.where(np.isfinite(values), values == values.astype(np.float32), _OUTSIDE).astype(np.int64)
    inside = np.abs(values) <= largest  # not for NaN
    turns = np.floor(np.where(inside, values, 0.0) * (_CELLS / width) + 0.5).astype(np.int64)
    return np.where(inside, turns & (_CELLS - 1), _OUTSIDE)


@dataclass(frozen=True)
class ResidueScore(Score):
    """Log-ratio of the residue of one coordinate."""

    place: int
    width: float
    largest: float  # residues of larger numbers are not read
    table: RatioTable
    name = "residues"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        if numbers.shape[1] <= self.place:
            return np.full(len(outputs), np.nan)
        scores = self.table(find_residues(numbers[:, self.place], self.width, self.largest))
        return np.where(outputs.symbolic, np.nan, scores)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        ratios = self.table.ratios
        return self._event(self.table.keys[ratios >= upper]), self._event(self.table.keys[ratios <= lower])

    def _event(self, codes: np.ndarray, most: int = 3) -> str:
        if self.width == _SINGLE:
            return f"coordinate {self.place} {'is' if 1 in codes else 'is not'} a number of single precision"
        step, codes = self.width / _CELLS, codes[codes != _OUTSIDE]
        cells = [f"[{(code - 0.5) * step:.4g}, {(code + 0.5) * step:.4g})" for code in codes[:most].tolist()]
        more = f" and {len(codes) - most} more cells" if len(codes) > most else ""
        return f"coordinate {self.place} mod {self.width:.9g} in {' or '.join(cells) or 'no cell'}{more}"


class Residues(Scorer):
    """Propose the coordinate and the width at which few outputs of the two sides differ most, if they do."""

    def reads(self, training: Training) -> bool:
        sides = numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return False
        return not _take_few_values(np.concatenate(_thin(sides)).ravel())

    def propose(self, training: Training) -> Sequence[ResidueScore]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        places = _choose_places(training, sides[0].shape[1])
        strength, place, width, largest = max(_find_width(sides[0][:, i], sides[1][:, i], i) for i in places)
        if strength <= _ERRORS:
            return []
        table = RatioTable.fit(*(find_residues(side[:, place], width, largest) for side in sides))
        return [ResidueScore(place, width, largest, table)]


def _thin(sides: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [side[:: 1 + len(side) // _TRIED] for side in sides]


def _take_few_values(numbers: np.ndarray) -> bool:
    return len(distinct(np.sort(numbers))) <= _FEW


def _choose_places(training: Training, width: int) -> list[int]:
    """Return all coordinates if they are few; else those whose inputs differ, and others spaced evenly."""
    if width <= _COORDINATES:
        return list(range(width))
    layout = Layout.of(training.pair, width)
    changed = [] if layout.left is None else np.flatnonzero(layout.left != layout.right).tolist()
    spaced = np.linspace(0, width - 1, _COORDINATES).astype(int).tolist()
    return list(dict.fromkeys([*changed, *spaced]))[:_COORDINATES]


def _find_width(left: np.ndarray, right: np.ndarray, place: int) -> tuple[float, int, float, float]:
    """Return by how many standard errors the residues differ, the place, the width, and the largest number read."""
    few = [side[np.isfinite(side)] for side in _thin((left, right))]
    both = np.concatenate(few)
    usual = 0.0 if _take_few_values(both) or min(map(len, few)) < 2 else float(np.quantile(np.abs(both), 0.99))
    if not _SMALLEST < usual < _LARGEST:
        return -math.inf, place, _SINGLE, usual
    largest = 2.0 ** math.ceil(math.log2(usual))
    is_single = bool(np.all(find_residues(both, _SINGLE, largest)))  # all are finite
    shortest = 256 * largest * 2.0 ** -(24 if is_single else 53)
    longest = min(float(np.subtract(*np.quantile(side, (0.75, 0.25)))) for side in few) / 10
    widths = [_SINGLE, *find_round_widths(shortest, longest)]
    strengths = separate(few[0], few[1], widths, largest)
    best = int(np.argmax(strengths))
    return float(strengths[best]), place, widths[best], largest


def find_round_widths(shortest: float, longest: float) -> list[float]:
    """Return the powers of 2 and of 10 between two widths."""
    if not 0 < shortest < longest:
        return []
    found = []
    for base in (2.0, 10.0):
        first, last = math.ceil(math.log(shortest, base)), math.floor(math.log(longest, base))
        found += [2.0**k if base == 2.0 else float(f"1e{k}") for k in range(first, last + 1)]
    return found


def separate(left: np.ndarray, right: np.ndarray, widths: Sequence[float], largest: float) -> np.ndarray:
    """Return the chi-square statistic of the residues for each width, scaled to mean 0 and variance 1 under one law.

    The first width is that of single precision.
    """
    values = np.concatenate([left, right])
    others = find_residues(values, np.array(widths[1:])[:, None], largest)
    cells = np.concatenate([[find_residues(values, _SINGLE, largest)], others])
    cells += (_CELLS + 1) * (2 * np.arange(len(widths))[:, None] + (np.arange(cells.shape[1]) >= len(left)))
    counts = np.bincount(cells.ravel(), minlength=2 * len(widths) * (_CELLS + 1)).reshape(len(widths), 2, -1)
    total, share = counts.sum(axis=1), len(left) / cells.shape[1]
    used, expected = total > 0, np.maximum(total, 1) * share
    chi = np.sum(used * (counts[:, 0] - expected) ** 2 / (expected * (1 - share)), axis=-1)
    freedom = np.maximum(used.sum(axis=-1) - 1, 1)
    return np.asarray((chi - freedom) / np.sqrt(2 * freedom))
