"""Test whether runs are independent: by outputs that are swapped, and by the counts of the calls of a guess game.

Are the partners in (P, Q) and (P', Q') more alike than in (P, Q') and (P', Q)? The score
< f(P) - f(P'), f(Q) - f(Q') >, with f the indicator of a value or the rank, summed over a group, changes its sign with
the swap, and independent outputs keep their law: section "Reused noise" of `docs/method.md`.

Outputs of different calls are independent as long as the mechanism keeps no state, so the calls are the independent
units of a game: noise shared within a call, and drift over the calls. `docs/method.md` derives the design effect, the
two tests, and their false-alarm probabilities.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from audit.errors import InvalidCertificate
from audit.outputs.encode import Outputs, by_column, concatenate
from audit.outputs.walk import Raised
from audit.statistics.bounds import GameCounts
from audit.validate import Number

STATE = "state"
REPEATED = "repeated calls"
SAME_PLACE, BETWEEN = "same noise in every call", "reused between calls"
WITHIN, SHARED = "repeats within a call", "shared within a call"
PERIOD, PERIOD_WITHIN = "short period", "short period within a call"
OF_CALLS = {  # what `compare_calls` finds
    STATE: "outputs of one call are more alike than those of different calls",
    SAME_PLACE: "different calls give the same outputs at the same place, whatever generator they get",
    BETWEEN: "outputs of one call come back in another call",
    WITHIN: "outputs of one call repeat each other",
    SHARED: "outputs of one call lie on the same side of those of another call",
    PERIOD: "the outputs of successive calls repeat themselves at a fixed distance",
    PERIOD_WITHIN: "the outputs of one long call repeat themselves at a fixed distance",
    REPEATED: "calls repeat other calls, as if there were only a few seeds",
}
LOG_LEVEL = math.log(_LEVEL := 1e-9)  # false-alarm probability of each kind that `compare_calls` finds
_COMPARED, _COMPARED_CALLS, _COMPARED_DATASETS = 64, 64, 64  # outputs of a call, calls, datasets that are compared
_MATCHED, _SEQUENCE = 512, 2**14  # outputs of a call that are matched, and of a dataset in which a period is looked for
_REPEAT_LEVELS = (1e-3, 1e-6, 1e-9, 1e-12)  # p-values of a call that repeats an earlier one, which are counted
_SHARE_OF_LAGS = 0.75  # distances up to this part of the sequence are tried
_MOST_COORDINATES = 8  # a vector with more is compared as a whole beyond these

COUNTS, SPENT = "counter: ", "spent: "  # how these anomalies begin; the place and the call follow
_FEWEST_RISING = 20  # numbers in a row that rise, one after the other: by chance with probability 1 / 20!

Scores = tuple[np.ndarray, np.ndarray]  # the scores, and their values if each Q repeated its P


@dataclass(frozen=True)
class SwapComparison:
    """The numbers of comparisons won and lost that look for one kind of dependence; they have no output in common."""

    kind: str
    won: int  # the partners in (P, Q) and (P', Q') are more alike than after swapping Q and Q'
    lost: int  # they are less alike
    tied: int
    able: int  # would be won if each Q repeated its P: those with P and P' different
    lag: Number | None = None  # distance between partners, chosen on outputs that are not compared

    @classmethod
    def of(cls, kind: str, scores: Scores, lag: int | None = None) -> SwapComparison:
        """Count the signs of scores, and those that could have been won."""
        found, most = (np.asarray(part) for part in scores)
        won, lost = int((found > 0).sum()), int((found < 0).sum())
        return cls(kind, won, lost, len(found) - won - lost, int((most > 0).sum()), lag)

    @property
    def pvalue(self) -> float:
        """Exact: under independence each comparison that is not tied is won with probability 1/2."""
        return float(special.betainc(self.won, self.lost + 1, 0.5)) if self.won else 1.0


@dataclass(frozen=True)
class Values:
    """Outputs as codes and ranks; a permutation of the outputs permutes both and changes nothing else."""

    # Equal values have equal codes; one column per coordinate, or one for the outputs as a whole; shape (size, c)
    codes: np.ndarray
    ranks: np.ndarray  # dense ranks of the outputs, of the sums of vectors, of the codes of symbols; shape (size,)

    @classmethod
    def of(cls, outputs: Outputs) -> Values:
        outputs = by_column(outputs)
        numbers = outputs.numbers if outputs.is_scalar else outputs.numbers.sum(axis=1)
        finite = np.isfinite(numbers)
        whole = None if finite.all() else _codes_of(outputs.keys())
        order = _codes_of(numbers if whole is None else np.where(finite, numbers, whole))
        if whole is None:  # where different numbers are all that is to see, the keys need not be computed
            is_order = _all_differ(order) or (outputs.is_scalar and outputs.is_plain)
            whole = order if is_order else _codes_of(outputs.keys())
        is_single = outputs.is_scalar or bool(outputs.symbolic.any())
        if is_single or (_all_differ(whole) and not any(map(_repeats, outputs.numbers.T[:_MOST_COORDINATES]))):
            return cls(whole[:, None], order)  # where no number comes twice, one column says so
        columns = [_codes_of(column) for column in outputs.numbers.T[:_MOST_COORDINATES]]
        if len(columns) < outputs.numbers.shape[1]:
            columns.append(whole)
        return cls(np.stack(columns, axis=1), order)

    def __getitem__(self, rows: slice | np.ndarray) -> Values:
        return Values(self.codes[rows], self.ranks[rows])

    def __len__(self) -> int:
        return len(self.ranks)

    def compare_places(self, kind: str, rows: np.ndarray, rng: np.random.Generator) -> SwapComparison:
        """Compare two places of a call with the same places of the next call; places are paired at random."""
        rows = rows[:, rng.permutation(rows.shape[1])]
        half = rows.shape[1] // 2
        first, second = rows[0::2], rows[1::2]
        quads = (first[:, :half], second[:, :half], first[:, half:], second[:, half:])
        return SwapComparison.of(kind, equality(self, *(part.ravel() for part in quads)))

    def compare_groups(self, rows: np.ndarray, rng: np.random.Generator) -> list[SwapComparison]:
        """Compare random halves of two calls by their values: alike between the calls, or within one."""
        within = SwapComparison.of(WITHIN, group_equality(*(self.codes[part] for part in _halve(rows, rng))))
        # partners between the calls are those swapped within the calls: won there is lost here
        return [SwapComparison(BETWEEN, within.lost, within.won, within.tied, within.able), within]

    def compare_ranks(self, rows: np.ndarray, rng: np.random.Generator) -> SwapComparison:
        """Compare random halves of two calls by their mean ranks."""
        return SwapComparison.of(SHARED, group_concordance(*(self.ranks[part] for part in _halve(rows, rng))))

    def compare_period(self, kind: str, rng: np.random.Generator) -> SwapComparison:
        """Compare outputs of the second half at the distance at which those of the first half repeat most."""
        half = len(self) // 2
        numbered = [rng.standard_normal(codes.max() + 1)[codes] for codes in self.codes.T]
        training = sum(autocorrelate(part[:half] - part.mean()) for part in numbered)
        lag = 1 + int(np.argmax(np.asarray(training)[1 : int(_SHARE_OF_LAGS * half)]))
        first = half + rng.permutation(list_partners(half, lag, _start(self[:half], lag) - half))
        return SwapComparison.of(kind, equality(self, *pair_rows(first, lag)), lag)


def _halve(rows: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return random halves of every first and of every second call."""
    half, mixed = rows.shape[1] // 2, rng.permuted(rows, axis=1)
    return [calls[:, side] for calls in (mixed[0::2], mixed[1::2]) for side in (slice(half), slice(half, None))]


def _codes_of(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(values, return_inverse=True)[1]).reshape(-1)


def _repeats(values: np.ndarray) -> bool:
    ordered = np.sort(values)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _all_differ(codes: np.ndarray) -> bool:
    return bool(codes.max(initial=-1) + 1 == codes.size)


def equality(values: Values, *rows: np.ndarray) -> Scores:
    """Return the scores of single outputs by equal values; the rows of P, Q, P' and Q' have shape (k,) each."""
    p, q, p2, q2 = (values.codes[part] for part in rows)
    signed = (p == q).astype(int) + (p2 == q2) - (p == q2) - (p2 == q)
    return signed.sum(axis=1), (p != p2).sum(axis=1)


def group_equality(p: np.ndarray, q: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> Scores:
    """Return the scores of groups of outputs by the numbers of equal values; their codes, shape (k, size, c)."""

    def equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray((a[:, :, None] == b[:, None]).sum(axis=(1, 2, 3)))

    score = equal(p, q) + equal(p2, q2) - equal(p, q2) - equal(p2, q)
    return score, equal(p, p) + equal(p2, p2) - 2 * equal(p, p2)


def group_concordance(p: np.ndarray, q: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> Scores:
    """Return the scores of groups by their mean ranks, shape (k, size); a difference of rounding size counts as 0."""
    gap, other = (a.mean(axis=1) - b.mean(axis=1) for a, b in ((p, p2), (q, q2)))
    gap, other = (np.where(np.abs(x) < 1e-9, 0.0, x) for x in (gap, other))
    return gap * other, gap**2


@np.errstate(all="ignore")  # outputs may be infinite, with both signs, or overflow in sums
def compare_calls(datasets: Sequence[Sequence[Outputs]], rng: np.random.Generator) -> list[str]:
    """Return the kinds of dependence, keys of `OF_CALLS`, that calls of one size show; given are those on each dataset.

    For independent outputs, each kind is returned with probability at most 1e-9; for `STATE` by the chi-square
    approximation of the Kruskal-Wallis test.
    """
    won, lost = Counter[str](), Counter[str]()  # comparisons of each kind
    log_repeats, log_state = [0.0], [0.0]
    for calls in datasets[:_COMPARED_DATASETS]:
        count = min(len(calls), _COMPARED_CALLS) // 2 * 2
        if count < 2 or len({call.numbers.shape[1:] for call in calls}) > 1:
            continue
        matched = concatenate([call if len(call) <= _MATCHED else call[:_MATCHED] for call in calls[:count]])
        values = Values.of(matched)
        for found in _compare_on(calls[:count], values, rng):
            won[found.kind] += found.won
            lost[found.kind] += found.lost
        whole = values.codes if values.codes.shape[1] == 1 else _codes_of(matched.keys())
        log_repeats.append(_log_repeats(whole.reshape(count, -1)))
        pvalue = kruskal_pvalue(values.ranks.reshape(count, -1)) if values.ranks.any() else 1.0
        log_state.append(math.log(max(pvalue, 1e-300)))
    found_kinds = [kind for kind in won if SwapComparison(kind, won[kind], lost[kind], 0, 0).pvalue <= _LEVEL]
    for kind, log_pvalues in ((STATE, log_state), (REPEATED, log_repeats)):
        if min(log_pvalues) + math.log(len(log_pvalues)) <= LOG_LEVEL:
            found_kinds.append(kind)
    return found_kinds


@np.errstate(all="ignore")
def compare_long_call(outputs: Outputs, rng: np.random.Generator) -> list[str]:
    """Return the kinds of dependence, keys of `OF_CALLS`, that one long call shows; each level is 1e-9."""
    found = Values.of(outputs).compare_period(PERIOD_WITHIN, rng)
    return [found.kind] if found.pvalue <= _LEVEL else []


def _compare_on(calls: Sequence[Outputs], values: Values, rng: np.random.Generator) -> Iterator[SwapComparison]:
    """Yield the comparisons of an even number of calls on one dataset, of which `values` are the first outputs."""
    size, count = len(calls[0]), len(calls)
    rows = np.arange(len(values)).reshape(count, -1)[:, : min(size, _COMPARED) // 2 * 2]
    if size >= 2:
        yield values.compare_ranks(rows, rng)
    if size >= 2 and not _all_differ(values.codes):  # else no comparison of values is won or lost
        yield from (values.compare_places(SAME_PLACE, rows, rng), *values.compare_groups(rows, rng))
    if size * count >= _COMPARED:
        first = calls[: max(1, _SEQUENCE // size)]
        sequence = values if size <= _MATCHED else Values.of(concatenate(first))
        if not _all_differ(sequence.codes):
            yield sequence[: len(first) * size // 2 * 2].compare_period(PERIOD, rng)


def _log_repeats(codes: np.ndarray) -> float:
    """Return log p that no more calls (rows) repeat earlier ones at the same places than chance explains.

    Given the contents of a call and all earlier calls, the order within the call is uniform. The places at which it
    agrees with an earlier one are bounded by Chatterjee (2007, proposition 1.1); if neither repeats a value, by 1 / t!.
    """
    count, size = codes.shape
    if size < 2 or _all_differ(codes):
        return 0.0
    few = codes.astype(np.int16)  # of the few outputs that are matched. TIME
    agree = np.tril((few[:, None] == few).sum(axis=2, dtype=np.int16), -1)  # with earlier calls
    if not agree.any():
        return 0.0
    kinds = int(codes.max()) + 1
    of_call = codes + kinds * np.arange(count)[:, None]
    counts = np.bincount(of_call.ravel(), minlength=count * kinds).reshape(count, kinds).astype(float)
    expected, distinct = counts @ counts.T / size, counts.max(axis=1) <= 1
    excess = np.maximum(0.0, agree - expected)
    log_p = np.log(2) - excess**2 / (4 * expected + 2 * excess + 1e-300)
    both = distinct[:, None] & distinct
    log_p = np.minimum(0.0, np.where(both, np.minimum(log_p, -special.gammaln(agree + 1.0)), log_p))
    log_best = np.where(np.tri(count, k=-1), log_p, 0.0).min(axis=1)[1:] + np.log(np.arange(1, count))
    repeats = ((level, int((log_best <= np.log(level)).sum())) for level in _REPEAT_LEVELS)
    tails = [np.log(max(special.bdtrc(most - 1, count - 1, level), 1e-300)) if most else 0.0 for level, most in repeats]
    return float(min(0.0, min(tails) + np.log(len(tails))))


def pair_rows(first: np.ndarray, lag: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows (P, Q, P', Q') with Q at `lag` behind P, the two halves of `first` as P and P'."""
    pairs = len(first) // 2
    return first[:pairs], first[:pairs] + lag, first[pairs : 2 * pairs], first[pairs : 2 * pairs] + lag


def _start(training: Values, lag: int) -> int:
    """Return where the pairs (t, t + lag) that agree most begin, modulo 2 lag; the end if the lag leaves no choice."""
    size = len(training)
    if 4 * lag > size:
        return size
    agree = (training.codes[:-lag] == training.codes[lag:]).sum(axis=1)
    folded = np.bincount(np.arange(size - lag) % (2 * lag), weights=agree, minlength=2 * lag)
    sums = np.cumsum(np.concatenate([[0.0], folded, folded]))
    return int(np.argmax(sums[lag : 3 * lag] - sums[: 2 * lag]))


def list_partners(size: int, lag: int, start: int = 0) -> np.ndarray:
    """Return first places of disjoint pairs (t, t + lag) among `size` places: `lag` from `start` on, modulo 2 lag."""
    places = np.arange(max(0, size - lag))
    return places[(places - start) // lag % 2 == 0]


def autocorrelate(values: np.ndarray) -> np.ndarray:
    """Return the mean of x_t x_(t + lag) over t, in units of its deviation, for every lag."""
    # a transform of a length with large factors is several times slower
    length = min(odd << (-(-2 * len(values) // odd) - 1).bit_length() for odd in (1, 3, 5))
    spectrum = np.fft.rfft(values, length)
    sums = np.fft.irfft(np.abs(spectrum) ** 2, length)[: len(values)]
    return np.asarray(sums / np.sqrt(np.arange(len(values), 0, -1)))


def kruskal_pvalue(samples: Sequence[np.ndarray] | np.ndarray) -> float:
    """Return the p-value of the Kruskal-Wallis test that samples are of one law; NaN if a value is NaN.

    `scipy.stats.kruskal` returns the same number. Every process that runs a check needs it, and the import of
    `scipy.stats` takes longer than many a check.
    """
    pooled, sizes = np.concatenate(samples), np.array([len(sample) for sample in samples])
    if np.isnan(pooled).any():
        return math.nan
    are_ranks = pooled.dtype.kind == "i" and pooled.min() >= 0 and pooled.max() < pooled.size
    codes = pooled if are_ranks else _codes_of(pooled)
    counts, total = np.bincount(codes), len(codes)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    sums = np.add.reduceat(ranks, np.cumsum(sizes) - sizes)
    statistic = 12 / (total * (total + 1)) * float(np.sum(sums**2 / sizes)) - 3 * (total + 1)
    ties = 1 - float(np.sum(counts.astype(float) ** 3 - counts)) / (total**3 - total)
    return float(special.chdtrc(len(samples) - 1, statistic / ties))


def find_counters(drawn: Sequence[Sequence[Outputs]]) -> Iterator[str]:
    """Yield the places of numbers that rise from each output to the next on every dataset.

    `drawn` has the calls on each dataset, in their order.
    """
    for name, first in sorted(drawn[0][0].list_blocks().items() if drawn and drawn[0] else ()):
        if _rises(first) and all(_rises(_join_column(calls, name), _FEWEST_RISING) for calls in drawn):
            yield f"output{name}"


def _rises(column: np.ndarray, fewest: int = 0) -> bool:
    return column.ndim == 1 and len(column) >= fewest and bool(np.all(column[1:] > column[:-1]))


def _join_column(calls: Sequence[Outputs], name: str) -> np.ndarray:
    """Return a single number of every output of some calls; no number where some output has none of this name."""
    columns = [call.list_blocks().get(name) for call in calls if call.symbols is None]
    found = [column for column in columns if column is not None and column.ndim == 1]
    return np.concatenate(found) if len(found) == len(calls) else np.empty(0)


def find_spending(drawn: Sequence[Sequence[Outputs]]) -> str | None:
    """Return from which call on a dataset on every output is the same exception, where none is before; else None."""
    for calls in drawn:
        raised = (
            np.concatenate([call.find_symbols(Raised.begins) for call in calls]) if calls else np.zeros(0, dtype=bool)
        )
        first = int(raised.argmax()) if raised.any() else 0
        if first and raised[first:].all() and len(raised) - first >= _FEWEST_RISING:
            last = calls[-1].symbols
            return f"from output {first + 1} on it {last.table[0] if last else 'raised'}"
    return None


PARTS = 8  # consecutive parts of the calls, beside the early ones, between which a change of behavior is looked for
FEWEST_SHOWN = 20  # runs that did not end as most of their side did; with fewer, nothing shows the design effect
_RATES = np.concatenate([np.geomspace(1e-3, 0.3, 24), np.linspace(0.32, 0.7, 20)])  # tried in Chernoff's bound


@dataclass(frozen=True)
class SideCalls:
    """Sum the counts of the whole calls on one side."""

    calls: int
    plus: int  # guesses "left"
    minus: int
    plus_squares: int  # sum over the calls of the squared count
    minus_squares: int
    products: int  # of the two counts

    def variances(self, size: int, a: float, b: float) -> tuple[float, float]:
        """Return the variance of a plus + b minus over all calls: between the calls, and if runs were independent."""
        if self.calls < 2:
            return 0.0, 0.0
        runs, total = self.calls * size, a * self.plus + b * self.minus
        squares = a * a * self.plus_squares + 2 * a * b * self.products + b * b * self.minus_squares
        between = (squares - total**2 / self.calls) * self.calls / (self.calls - 1)
        within = (a * a * self.plus + b * b * self.minus - total**2 / runs) * runs / (runs - 1)
        rounding = 1e-9 * max(a * a, b * b) * runs
        return (between, within) if within > rounding else (0.0, 0.0)

    def unusual(self, size: int) -> int:
        """Return the number of runs that did not end as most did."""
        return self.calls * size - max(self.plus, self.minus, self.calls * size - self.plus - self.minus)


@dataclass(frozen=True)
class CallStatistics:
    """Hold the statistics of the calls of a guess game; the judge computes design effect and tests from them."""

    size: int  # outputs of a call
    left: SideCalls
    right: SideCalls
    # Runs, guesses "left" and guesses "right" on the left dataset, then on the right one: in the calls drawn among the
    # training calls, and in consecutive parts of the others
    parts: tuple[tuple[int, ...], ...] = field(default=())
    # Of one long call: number of the side, outputs, guesses "left" and guesses "right"; empty without such a call
    long: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        sums = [*vars(self.left).values(), *vars(self.right).values()]
        if (
            min(self.size, *sums, *itertools.chain(*self.parts), *self.long) < 0
            or self.size < 1
            or any(len(part) != 6 for part in self.parts)
            or len(self.long) not in (0, 4)
        ):
            raise InvalidCertificate("the statistics of the calls contradict each other")
        for side in (self.left, self.right):
            runs = side.calls * self.size
            if side.plus + side.minus > runs or side.plus_squares > self.size * side.plus:
                raise InvalidCertificate("the statistics of the calls contradict each other")
            if (side.plus_squares - side.plus) % 2 or (side.minus_squares - side.minus) % 2:
                raise InvalidCertificate("squares of counts are as odd as the counts, and so are their sums")

    def agree_with(self, counts: GameCounts) -> bool:
        """Return whether these can be the statistics of the calls of a game with these counts."""
        ends, parts = np.reshape(list(vars(counts).values()), (2, 3)), np.reshape(self.parts, (-1, 2, 3)).sum(axis=0)
        for side, (plus, minus, abstained), part in zip((self.left, self.right), ends, parts, strict=True):
            whole = side.calls * self.size
            rest = (plus - side.plus, minus - side.minus, abstained - (whole - side.plus - side.minus))
            if min(rest) < 0 or sum(rest) >= self.size or part.tolist() != [whole, side.plus, side.minus]:
                return False
            squares = np.array([[side.plus_squares, side.products], [side.products, side.minus_squares]], dtype=float)
            spread = side.calls * squares - np.outer(part[1:], part[1:])
            if np.linalg.eigvalsh(spread)[0] < -1e-9 * np.trace(squares) * side.calls:
                return False
        return True

    def design_effect(self, epsilon: float, significance: float) -> float:
        """Return by how much dependence within calls inflates the variance of the test at `epsilon`; at least 1.

        It includes the square of the ratio of Student's and of the normal quantile, as in the interval of Korn and
        Graubard, since the variance between the calls is estimated.
        """
        degrees = self.left.calls + self.right.calls - 2
        if self.size == 1 or degrees < 2:
            return 1.0
        theta = float(special.expit(epsilon))
        pairs = (
            self.left.variances(self.size, 1 - theta, -theta),
            self.right.variances(self.size, -theta, 1 - theta),
        )
        between, within = map(sum, zip(*pairs, strict=True))
        if within <= 0:
            return 1.0
        level = min(significance, 0.4)
        student = (special.stdtrit(degrees, level) / special.ndtri(level)) ** 2
        return float(min(self.size, max(1.0, between / within * student)))

    def explain_dependence(self) -> str | None:
        """Return how the calls show that their outputs depend on each other, or None."""
        ratio, log_p = self.dispersion()
        if self.drift() <= LOG_LEVEL * max(1.0, ratio):  # shared noise makes the parts of the calls differ by as much
            return "it behaves otherwise in later calls than in the first ones, among which events were learned"
        if log_p <= LOG_LEVEL:
            said = f"outputs of one call of {self.size} are more alike than those of different calls"
            return f"{said}: the counts of the calls vary {ratio:.3g} times as much as independent ones would"
        if self.of_size() <= LOG_LEVEL:
            said = f"it behaves otherwise in a call of {self.long[1]} outputs than in calls of {self.size}"
            return f"{said}, or shares noise within a call"
        return None

    @property
    def is_uniform(self) -> bool:
        """True when nearly all runs of either side ended alike, so that shared noise would not show."""
        return self.size > 1 and self.left.unusual(self.size) + self.right.unusual(self.size) < FEWEST_SHOWN

    @lru_cache(maxsize=8)  # noqa: B019  frozen, small, and asked for by every judgment of one evidence
    def dispersion(self) -> tuple[float, float]:
        """Return the largest ratio of the variance between calls to that of independent runs, and log p of its test."""
        found = (0.0, 0.0)
        for a, b in ((1.0, 0.0), (0.0, 1.0)):
            excess, weight, terms = 0.0, 0, []
            for side in (self.left, self.right):
                between, within = side.variances(self.size, a, b)
                if within > 0:
                    statistic = (side.calls - 1) * between / within
                    total = side.plus if a else side.minus
                    terms.append((statistic, side.calls, total))
                    excess, weight = excess + statistic, weight + side.calls - 1
            if terms:
                found = min(found, (excess / weight, self._log_tail(terms) + math.log(2)), key=lambda pair: pair[1])
        return found

    def _log_tail(self, terms: list[tuple[float, int, int]]) -> float:
        """Bound the log probability that the sum of the statistics is as large, given all totals (Chernoff).

        Given its total, the counts of the calls are those of independent binomial variables given their sum. The sum
        takes its expected value with probability at least 1 / sqrt(8 n p q), which bounds what the condition costs.
        """
        if sum(self._squares(statistic, calls) - calls for statistic, calls, _ in terms) <= 0:
            return 0.0  # at most their expectation, where Jensen's inequality leaves nothing to the bound
        log_p = np.zeros(len(_RATES))
        for statistic, calls, total in terms:
            runs, n = calls * self.size, self.size
            p, counts = total / runs, np.arange(n + 1)
            squares = (counts - n * p) ** 2 / (n * p * (1 - p))
            ways = special.gammaln(n + 1) - special.gammaln(counts + 1) - special.gammaln(n - counts + 1)
            log_mass = ways + special.xlogy(counts, p) + special.xlog1py(n - counts, -p)
            exponents = log_mass + _RATES[:, None] * squares
            largest = exponents.max(axis=1)  # special.logsumexp takes four times as long for so few numbers
            growth = largest + np.log(np.exp(exponents - largest[:, None]).sum(axis=1))
            log_p += (
                calls * growth
                - _RATES * self._squares(statistic, calls)
                + 0.5 * math.log(max(1.0, 8 * runs * p * (1 - p)))
            )
        return float(min(0.0, log_p.min()))

    def _squares(self, statistic: float, calls: int) -> float:
        """Return the sum of the squared deviations of the counts, in units of their variance."""
        return statistic * calls * self.size / (calls * self.size - 1)

    @lru_cache(maxsize=8)  # noqa: B019  as above
    def drift(self) -> float:
        """Return log p that some part of the calls behaves as the others do: guesses and abstentions on both sides.

        The first parts are compared with the rest, at every cut. Given all counts, a count in the first parts is
        hypergeometric; Hoeffding (1963) bounds its tails by those of sampling with replacement.
        """
        parts = np.array(self.parts, dtype=float).reshape(-1, 2, 3)
        if len(parts) < 2:
            return 0.0
        parts[:, :, 0], runs = parts[:, :, 0] - parts[:, :, 1] - parts[:, :, 2], parts[:, :, 0].copy()
        first, first_runs = parts.cumsum(axis=0)[:-1], runs.cumsum(axis=0)[:-1, :, None]  # at every cut
        others, other_runs = parts.sum(axis=0) - first, runs.sum(axis=0)[:, None] - first_runs
        smallest = float(_log_tails(first, first_runs, others, other_runs).min())
        return min(0.0, smallest + math.log(2 * first.size))

    def of_size(self) -> float:
        """Return log p that the outputs of the long call are guessed as those of the others on its dataset."""
        if not self.long:
            return 0.0
        side, runs, plus, minus = self.long
        whole = self.right if side else self.left
        others = whole.calls * self.size
        pairs = [(plus, whole.plus), (minus, whole.minus), (runs - plus - minus, others - whole.plus - whole.minus)]
        counts, rest_counts = np.array(pairs, dtype=float).T
        return min(0.0, float(_log_tails(counts, runs, rest_counts, others).min()) + math.log(6))


def log_agreement(first: GameCounts, again: GameCounts) -> float:
    """Return log p that two games with the same events end alike: guesses and abstentions on both sides."""
    one, other = (np.array(list(vars(counts).values()), dtype=float).reshape(2, 3) for counts in (first, again))
    runs = (one.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True))
    return min(0.0, float(_log_tails(one, runs[0], other, runs[1]).min()) + math.log(2 * one.size))


def _log_tails(first: np.ndarray, first_runs: Any, rest: np.ndarray, rest_runs: Any) -> np.ndarray:
    """Bound log P of hypergeometric counts as far from their means, in their own directions; 0 without runs."""
    runs = first_runs + rest_runs
    p = (first + rest) / np.maximum(runs, 1)
    with np.errstate(invalid="ignore"):  # no runs times an infinite divergence
        bounds = [
            number * _divergence(count / np.maximum(number, 1), p)
            for count, number in ((first, first_runs), (rest, rest_runs))
        ]
    return np.where((first_runs == 0) | (rest_runs == 0), 0.0, -np.maximum(*bounds))


def _divergence(share: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the Kullback-Leibler divergence of Bernoulli laws."""
    return np.asarray(special.rel_entr(share, p) + special.rel_entr(1 - share, 1 - p))


@dataclass
class Tally:
    """Add up the counts of calls, in order, until the runs that are due on each side are complete."""

    size: int
    due: tuple[int, int]
    # Of the whole calls: calls, plus, minus, their squares and product; then runs, plus, minus of each part
    sums: np.ndarray = field(default_factory=lambda: np.zeros((2, 6), dtype=np.int64))
    parts: np.ndarray = field(default_factory=lambda: np.zeros((1 + PARTS, 2, 3), dtype=np.int64))
    # Counts of the last call of each side, which is not due as a whole
    last: np.ndarray = field(default_factory=lambda: np.zeros((2, 2), dtype=np.int64))

    def add(self, side: int, counts: np.ndarray, is_early: bool = False) -> None:
        """Add calls of one side; `counts` has shape (calls, 2)."""
        if not len(counts):
            return
        before, whole = int(self.sums[side, 0]), self.due[side] // self.size
        kept = counts[: max(0, whole - before)]
        if len(counts) > len(kept) and self.due[side] % self.size and len(kept) + before == whole:
            self.last[side] = counts[len(kept)]
        plus, minus = kept.T
        sums = (len(kept), plus.sum(), minus.sum(), (plus * plus).sum(), (minus * minus).sum(), (plus * minus).sum())
        self.sums[side] += np.array(sums, dtype=np.int64)
        early, later = int(self.parts[0, side, 0]) // self.size, before + np.arange(len(kept))
        part = 0 * later if is_early else 1 + (later - early) * PARTS // max(1, whole - early)
        np.add.at(self.parts[:, side], part, np.stack([np.full(len(kept), self.size), plus, minus], axis=1))

    def finish(self, rng: np.random.Generator) -> tuple[GameCounts, CallStatistics]:
        """Return the counts of all runs that are due, and the statistics of the whole calls."""
        found = []
        for side in (0, 1):
            plus, minus = self.last[side]
            due = self.due[side] - int(self.sums[side, 0]) * self.size
            drawn = (plus, minus, self.size - plus - minus)
            taken = rng.multivariate_hypergeometric(drawn, due) if due else np.zeros(3, dtype=np.int64)
            total = self.sums[side, 1:3] + taken[:2]
            found += [*total, self.due[side] - total.sum()]
        left, right = (SideCalls(*map(int, row)) for row in self.sums)
        parts = tuple(tuple(map(int, part.ravel())) for part in self.parts)
        return GameCounts(*map(int, found)), CallStatistics(self.size, left, right, parts)
